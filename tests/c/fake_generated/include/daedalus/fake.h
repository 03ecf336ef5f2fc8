/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two kernels that exist for the runtime's tests only, written by hand in the
 * shape of generated code.
 */
#ifndef DAEDALUS_FAKE_H
#define DAEDALUS_FAKE_H

#include <daedalus/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** 4x4 block: dst += gain * src for the first `count` elements of src, modulo 256. */
typedef struct daedalus_fake_add_meta {
  uint32_t dst_off;
  uint8_t count; /**< 0..16 */
  int8_t gain;   /**< -2..2 */
  uint8_t reserved[2];
} daedalus_fake_add_meta;

DAEDALUS_API int daedalus_dispatch_fake_add(daedalus_ctx *ctx, daedalus_substrate substrate,
                                            uint8_t *dst, ptrdiff_t dst_stride, const int16_t *src,
                                            size_t n_blocks, const daedalus_fake_add_meta *meta);
DAEDALUS_API int daedalus_recipe_dispatch_fake_add(daedalus_ctx *ctx, uint8_t *dst,
                                                   ptrdiff_t dst_stride, const int16_t *src,
                                                   size_t n_blocks,
                                                   const daedalus_fake_add_meta *meta);
DAEDALUS_API int daedalus_append_fake_add(daedalus_batch *batch, daedalus_substrate substrate,
                                          uint8_t *dst, ptrdiff_t dst_stride, const int16_t *src,
                                          size_t n_blocks, const daedalus_fake_add_meta *meta);

/** 8 columns by `rows` rows: dst = src. */
typedef struct daedalus_fake_copy_meta {
  uint32_t dst_off;
  uint32_t src_off;
  uint8_t rows; /**< 1..8 */
  uint8_t reserved[3];
} daedalus_fake_copy_meta;

DAEDALUS_API int daedalus_append_fake_copy(daedalus_batch *batch, daedalus_substrate substrate,
                                           uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                                           ptrdiff_t src_stride, size_t n_blocks,
                                           const daedalus_fake_copy_meta *meta);

#ifdef __cplusplus
}
#endif
#endif /* DAEDALUS_FAKE_H */
