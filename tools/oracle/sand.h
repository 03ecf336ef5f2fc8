/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sand.h - plain conversions of the Raspberry Pi's column-tiled frames, pixel by
 * pixel, from the Linux kernel's documentation of V4L2_PIX_FMT_NV12_COL128 and
 * V4L2_PIX_FMT_NV12_10_COL128.
 */
#ifndef SAND_H
#define SAND_H

#include <stddef.h>
#include <stdint.h>

/*
 * A frame in columns of 128 bytes.
 *   data    its first byte
 *   lines   from the start of a column to that of the next, in lines of 128 bytes
 *   chroma  the line of a column at which its chroma begins
 *   width   visible luma samples a row; even
 *   height  visible luma rows; even
 */
typedef struct sand_frame {
  const uint8_t *data;
  size_t lines, chroma, width, height;
} sand_frame;

/* 8 bits to NV12; strides in bytes. */
void sand_nc12_to_nv12(const sand_frame *f, uint8_t *luma, size_t luma_stride, uint8_t *chroma,
                       size_t chroma_stride);

/* 10 bits to P010, little-endian; strides in bytes. */
void sand_nc30_to_p010(const sand_frame *f, uint8_t *luma, size_t luma_stride, uint8_t *chroma,
                       size_t chroma_stride);

#endif /* SAND_H */
