/* SPDX-License-Identifier: BSD-2-Clause */
/* Life of a batch, from begin to destroy; what is put into it stands in append.c. */
#include "batch/batch.h"

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
  *begun = (daedalus_batch){.ctx = ctx, .next = ctx->batches, .gpu = {.work = &begun->work}};
  if (ctx->batches != NULL) {
    ctx->batches->previous = begun;
  }
  ctx->batches = begun;
  *batch = begun;
  return 0;
}

/** Everything from group `i` on was not done. */
static void give_up(daedalus_batch *batch, size_t i) {
  daedalus_group *groups = batch->work.list.data;
  for (; i < batch->work.list.size; i++) {
    groups[i].undefined = true;
  }
}

/*
 * Runs of groups for the GPU are handed to it as one; before the CPU goes on
 * behind one, it has to be done.
 */
int daedalus_batch_submit(daedalus_batch *batch) {
  if (batch == NULL) {
    return -EINVAL;
  }
  if (batch->submitted) {
    return -EALREADY;
  }
  batch->submitted = true;
  const daedalus_group *groups = batch->work.list.data;
  const size_t n = batch->work.list.size;
  for (size_t i = 0; i < n && batch->error == 0;) {
    if (groups[i].variant->cpu != NULL) {
      batch->error = daedalus_rt_gpu_before_cpu(batch->ctx, &batch->work, &groups[i]);
      if (batch->error != 0) {
        give_up(batch, i);
        break;
      }
      daedalus_rt_cpu_run(&batch->work, &groups[i]);
      daedalus_rt_gpu_after_cpu(batch->ctx, &batch->work, &groups[i]);
      i++;
      continue;
    }
    const size_t first = i;
    while (i < n && groups[i].variant->cpu == NULL) {
      i++;
    }
    batch->error = daedalus_rt_gpu_submit(batch->ctx, &batch->gpu, first, i);
    if (batch->error == 0 && i < n) {
      batch->error = daedalus_rt_gpu_wait(&batch->gpu, -1);
    }
    if (batch->error != 0) {
      give_up(batch, i);
    }
  }
  return batch->error;
}

int daedalus_batch_wait(daedalus_batch *batch, int64_t timeout_ns) {
  if (batch == NULL || !batch->submitted) {
    return -EINVAL;
  }
  if (!batch->done) {
    const int error = daedalus_rt_gpu_wait(&batch->gpu, timeout_ns);
    if (error == -ETIME) {
      return -ETIME;
    }
    batch->done = true;
    batch->error = batch->error != 0 ? batch->error : error;
  }
  return batch->error;
}

int daedalus_batch_poll(daedalus_batch *batch) {
  const int error = daedalus_batch_wait(batch, 0);
  return error == 0 ? 1 : error == -ETIME ? 0 : error;
}

int daedalus_batch_export_fence(daedalus_batch *batch, int *fd) {
  if (fd == NULL) {
    return -EINVAL;
  }
  *fd = -1;
  return batch != NULL && batch->submitted ? daedalus_rt_gpu_export_fence(&batch->gpu, fd)
                                           : -EINVAL;
}

int daedalus_batch_reset(daedalus_batch *batch) {
  if (batch == NULL) {
    return -EINVAL;
  }
  if (batch->submitted && daedalus_batch_wait(batch, 0) == -ETIME) {
    return -EBUSY;
  }
  batch->submitted = batch->done = batch->gpu.rescued = false;
  batch->error = batch->gpu.error = 0;
  batch->n_appends = batch->gpu.n_parts = 0;
  batch->work.list.size = 0;
  batch->work.buffers.size = 0;
  batch->work.meta.size = 0;
  batch->work.items.size = 0;
  return 0;
}

void daedalus_batch_destroy(daedalus_batch *batch) {
  if (batch == NULL) {
    return;
  }
  daedalus_ctx *ctx = batch->ctx;
  if (batch->submitted) {
    daedalus_batch_wait(batch, -1);
  }
  daedalus_rt_gpu_forget(&batch->gpu);
  if (batch->next != NULL) {
    batch->next->previous = batch->previous;
  }
  if (batch->previous != NULL) {
    batch->previous->next = batch->next;
  } else {
    ctx->batches = batch->next;
  }
  daedalus_vec *const vecs[] = {&batch->work.list,  &batch->work.buffers, &batch->work.meta,
                                &batch->work.items, &batch->bins,         &batch->class_of,
                                &batch->spans,      &batch->picks,        &batch->places};
  for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++) {
    daedalus_rt_vec_free(&ctx->allocator, vecs[i]);
  }
  ctx->allocator.release(ctx->allocator.user, batch);
}

size_t daedalus_batch_choice_count(const daedalus_batch *batch) {
  return batch == NULL ? 0 : batch->work.list.size;
}

int daedalus_batch_choice(const daedalus_batch *batch, size_t index, daedalus_choice *choice) {
  if (batch == NULL || choice == NULL || index >= batch->work.list.size) {
    return -EINVAL;
  }
  const daedalus_group *group = (const daedalus_group *)batch->work.list.data + index;
  *choice = (daedalus_choice){
      .kernel = group->kernel->id,
      .class_name = group->kernel->classes[group->variant->class_index].name,
      .variant = group->variant->name,
      .reason = group->reason,
      .substrate = group->variant->cpu == NULL ? DAEDALUS_SUBSTRATE_QPU : DAEDALUS_SUBSTRATE_CPU,
      .n_items = group->n_items,
  };
  return 0;
}

int daedalus_batch_set_flags(daedalus_batch *batch, uint32_t flags) {
  const uint32_t opposites = DAEDALUS_BATCH_SHADOW | DAEDALUS_BATCH_NO_SHADOW;
  if (batch == NULL || (flags & ~(opposites | DAEDALUS_BATCH_TIMESTAMPS)) != 0 ||
      (flags & opposites) == opposites) {
    return -EINVAL;
  }
  if (batch->submitted || batch->n_appends != 0) {
    return -EBUSY;
  }
  batch->gpu.flags = flags;
  return 0;
}

int daedalus_batch_gpu_time(const daedalus_batch *batch, uint64_t *ns) {
  if (batch == NULL || ns == NULL || !batch->submitted) {
    return -EINVAL;
  }
  return batch->done ? daedalus_rt_gpu_time(&batch->gpu, ns) : -EBUSY;
}

size_t daedalus_batch_undefined_count(const daedalus_batch *batch) {
  size_t n = 0;
  for (size_t i = 0; batch != NULL && batch->error != 0 && i < batch->work.list.size; i++) {
    const daedalus_group *group = (const daedalus_group *)batch->work.list.data + i;
    n += group->undefined ? group->n_items : 0;
  }
  return n;
}

int daedalus_batch_undefined(const daedalus_batch *batch, size_t index,
                             daedalus_undefined_item *item) {
  if (batch == NULL || item == NULL || batch->error == 0) {
    return -EINVAL;
  }
  for (size_t i = 0; i < batch->work.list.size; i++) {
    const daedalus_group *group = (const daedalus_group *)batch->work.list.data + i;
    if (group->undefined && index < group->n_items) {
      *item = (daedalus_undefined_item){
          .kernel = group->kernel->id,
          .append = group->append,
          .item = ((const uint32_t *)batch->work.items.data)[group->items_at + index],
      };
      return 0;
    }
    index -= group->undefined ? group->n_items : 0;
  }
  return -EINVAL;
}
