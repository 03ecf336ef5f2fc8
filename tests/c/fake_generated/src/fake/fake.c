/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/fake.h>
#include <daedalus/table.h>

int daedalus_append_fake_add(daedalus_batch *batch, daedalus_substrate substrate, uint8_t *dst,
                             ptrdiff_t dst_stride, const int16_t *src, size_t n_blocks,
                             const daedalus_fake_add_meta *meta) {
  const daedalus_buffer buffers[] = {{dst, dst_stride}, {(void *)src, 0}};
  return daedalus_append(batch, &daedalus_kernels.kernels[0], substrate, buffers, n_blocks, meta);
}

int daedalus_dispatch_fake_add(daedalus_ctx *ctx, daedalus_substrate substrate, uint8_t *dst,
                               ptrdiff_t dst_stride, const int16_t *src, size_t n_blocks,
                               const daedalus_fake_add_meta *meta) {
  const daedalus_buffer buffers[] = {{dst, dst_stride}, {(void *)src, 0}};
  return daedalus_dispatch(ctx, &daedalus_kernels.kernels[0], substrate, buffers, n_blocks, meta);
}

int daedalus_recipe_dispatch_fake_add(daedalus_ctx *ctx, uint8_t *dst, ptrdiff_t dst_stride,
                                      const int16_t *src, size_t n_blocks,
                                      const daedalus_fake_add_meta *meta) {
  return daedalus_dispatch_fake_add(ctx, DAEDALUS_SUBSTRATE_AUTO, dst, dst_stride, src, n_blocks,
                                    meta);
}

int daedalus_append_fake_copy(daedalus_batch *batch, daedalus_substrate substrate, uint8_t *dst,
                              ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                              size_t n_blocks, const daedalus_fake_copy_meta *meta) {
  const daedalus_buffer buffers[] = {{dst, dst_stride}, {(void *)src, src_stride}};
  return daedalus_append(batch, &daedalus_kernels.kernels[1], substrate, buffers, n_blocks, meta);
}
