/* SPDX-License-Identifier: BSD-2-Clause */
/* The synchronous call: a batch of one append, kept by the context for the next call. */
#include <errno.h>

#include "batch/batch.h"

int daedalus_dispatch(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                      daedalus_substrate substrate, const daedalus_buffer *buffers, size_t n_items,
                      const void *meta) {
  if (ctx == NULL) {
    return -EINVAL;
  }
  int error = ctx->dispatch == NULL ? daedalus_batch_begin(ctx, &ctx->dispatch)
                                    : daedalus_batch_reset(ctx->dispatch);
  if (error == 0) {
    error = daedalus_append(ctx->dispatch, kernel, substrate, buffers, n_items, meta);
  }
  if (error == 0) {
    error = daedalus_batch_submit(ctx->dispatch);
  }
  return error == 0 ? daedalus_batch_wait(ctx->dispatch, -1) : error;
}
