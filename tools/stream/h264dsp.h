/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * h264dsp.h - the tables of functions that libavcodec's H.264 decoder works with.
 *
 * H264DSPContext and H264QpelContext are private to FFmpeg; these are
 * declarations of our own of what lies where in them, for libavcodec 61 (FFmpeg
 * 7.1; the same in 59, FFmpeg 5.1).  Whoever uses them checks that tables
 * filled by ff_h264dsp_init and ff_h264qpel_init agree.
 */
#ifndef H264DSP_H
#define H264DSP_H

#include <stddef.h>
#include <stdint.h>

typedef void h264_any_fn(void);
/* Filters an edge of 16 pixels; tc0: a value for each quarter, below 0: not filtered. */
typedef void h264_edge_fn(uint8_t *dst, ptrdiff_t stride, int alpha, int beta, int8_t *tc0);
typedef void h264_idct_fn(uint8_t *dst, int16_t *block, int stride);
/*
 * The blocks of a macroblock: block i is added at dst + offsets[i], if
 * counts[...] (see h264.c) or its first coefficient is not 0.
 */
typedef void h264_blocks_fn(uint8_t *dst, const int *offsets, int16_t *block, int stride,
                            const uint8_t counts[5 * 8]);
typedef void h264_chroma_fn(uint8_t **dst, const int *offsets, int16_t *block, int stride,
                            const uint8_t counts[15 * 8]);
typedef void h264_qpel_fn(uint8_t *dst, const uint8_t *src, ptrdiff_t stride);

typedef struct h264_dsp {
  h264_any_fn *weight[4];
  h264_any_fn *biweight[4];
  h264_edge_fn *v_luma; /* filters vertically, across a horizontal edge */
  h264_any_fn *other_filters[12];
  h264_idct_fn *idct_add, *idct8_add, *idct_dc_add, *idct8_dc_add;
  h264_blocks_fn *idct_add16, *idct8_add4;
  h264_chroma_fn *idct_add8;
  h264_blocks_fn *idct_add16intra;
  h264_any_fn *others[5];
} h264_dsp;

typedef struct h264_qpel {
  h264_qpel_fn *put[4][16]; /* [16, 8, 4, 2 wide][x + 4 * y], in quarter samples */
  h264_qpel_fn *avg[4][16];
} h264_qpel;

enum { H264_DSP_SIZE = 272, H264_QPEL_SIZE = 1024 };
_Static_assert(sizeof(void *) == 8, "offsets are those of a 64-bit machine");
_Static_assert(sizeof(h264_dsp) == H264_DSP_SIZE, "size of H264DSPContext");
_Static_assert(sizeof(h264_qpel) == H264_QPEL_SIZE, "size of H264QpelContext");
_Static_assert(offsetof(h264_dsp, v_luma) == 64, "v_luma");
_Static_assert(offsetof(h264_dsp, idct_add) == 168, "idct_add");
_Static_assert(offsetof(h264_dsp, idct_add16intra) == 224, "idct_add16intra");

#endif /* H264DSP_H */
