/* SPDX-License-Identifier: BSD-2-Clause */
/* Life of a batch, from begin to destroy; what is put into it stands in append.c. */
#include "core/batch.h"

#include <errno.h>

#include "cpu/cpu.h"

int daedalus_batch_begin(daedalus_ctx *ctx, daedalus_batch **batch) {
  if (batch == NULL) {
    return -EINVAL;
  }
  *batch = NULL;
  if (ctx == NULL) {
    return -EINVAL;
  }
  daedalus_batch *begun = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(*begun));
  if (begun == NULL) {
    return -ENOMEM;
  }
  *begun = (daedalus_batch){.ctx = ctx, .next = ctx->batches};
  if (ctx->batches != NULL) {
    ctx->batches->previous = begun;
  }
  ctx->batches = begun;
  *batch = begun;
  return 0;
}

int daedalus_batch_submit(daedalus_batch *batch) {
  if (batch == NULL) {
    return -EINVAL;
  }
  if (batch->submitted) {
    return -EALREADY;
  }
  batch->submitted = true;
  const daedalus_group *groups = batch->groups.data;
  for (size_t i = 0; i < batch->groups.size; i++) {
    daedalus_rt_cpu_run(batch, &groups[i]);
  }
  return 0;
}

int daedalus_batch_wait(daedalus_batch *batch, int64_t timeout_ns) {
  /* Work on the CPU is done within submit, so there is never anything to wait for. */
  (void)timeout_ns;
  return batch != NULL && batch->submitted ? 0 : -EINVAL;
}

int daedalus_batch_poll(daedalus_batch *batch) {
  const int error = daedalus_batch_wait(batch, 0);
  return error == 0 ? 1 : error;
}

int daedalus_batch_export_fence(daedalus_batch *batch, int *fd) {
  if (fd == NULL) {
    return -EINVAL;
  }
  *fd = -1;
  return batch != NULL && batch->submitted ? -ENOTSUP : -EINVAL;
}

int daedalus_batch_reset(daedalus_batch *batch) {
  if (batch == NULL) {
    return -EINVAL;
  }
  batch->submitted = false;
  batch->groups.size = 0;
  batch->buffers.size = 0;
  batch->meta.size = 0;
  batch->items.size = 0;
  return 0;
}

void daedalus_batch_destroy(daedalus_batch *batch) {
  if (batch == NULL) {
    return;
  }
  daedalus_ctx *ctx = batch->ctx;
  if (batch->next != NULL) {
    batch->next->previous = batch->previous;
  }
  if (batch->previous != NULL) {
    batch->previous->next = batch->next;
  } else {
    ctx->batches = batch->next;
  }
  daedalus_vec *const vecs[] = {&batch->groups, &batch->buffers,  &batch->meta, &batch->items,
                                &batch->bins,   &batch->class_of, &batch->spans};
  for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++) {
    daedalus_rt_vec_free(&ctx->allocator, vecs[i]);
  }
  ctx->allocator.release(ctx->allocator.user, batch);
}

size_t daedalus_batch_choice_count(const daedalus_batch *batch) {
  return batch == NULL ? 0 : batch->groups.size;
}

int daedalus_batch_choice(const daedalus_batch *batch, size_t index, daedalus_choice *choice) {
  if (batch == NULL || choice == NULL || index >= batch->groups.size) {
    return -EINVAL;
  }
  const daedalus_group *group = (const daedalus_group *)batch->groups.data + index;
  *choice = (daedalus_choice){
      .kernel = group->kernel->id,
      .class_name = group->kernel->classes[group->variant->class_index].name,
      .variant = group->variant->name,
      .reason = group->variant->reason,
      .substrate = DAEDALUS_SUBSTRATE_CPU,
      .n_items = group->n_items,
  };
  return 0;
}
