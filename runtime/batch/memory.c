/* SPDX-License-Identifier: BSD-2-Clause */
/* What of daedalus_memory has to do with batches: none that is to be submitted may lose it. */
#include <errno.h>

#include "batch/batch.h"

/** Whether a batch that is begun and not yet submitted has appends that touch it. */
static bool is_awaited(const daedalus_ctx *ctx, const daedalus_memory *memory) {
  const daedalus_batch *batch = ctx->batches;
  while (batch != NULL && (batch->submitted || !daedalus_rt_gpu_touches(&batch->work, memory))) {
    batch = batch->next;
  }
  return batch != NULL;
}

int daedalus_memory_destroy(daedalus_memory *memory) {
  if (memory == NULL) {
    return 0;
  }
  const daedalus_ctx *ctx = daedalus_rt_gpu_memory_ctx(memory);
  if (is_awaited(ctx, memory)) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "memory of %zu bytes is not destroyed: a batch that is not submitted yet uses "
                    "it; submit that batch, reset it or destroy it first",
                    daedalus_memory_size(memory));
    return -EBUSY;
  }
  daedalus_rt_gpu_memory_destroy(memory);
  return 0;
}
