/* SPDX-License-Identifier: BSD-2-Clause */
/* Life of a batch, from begin to destroy; what is put into it stands in append.c. */
#include "base/batch.h"

#include <errno.h>

#include "cpu/cpu.h"
#include "gpu/route.h"

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

/** Everything from group `i` on was not done. */
static void give_up(daedalus_batch *batch, size_t i) {
  daedalus_group *groups = batch->groups.data;
  for (; i < batch->groups.size; i++) {
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
  const daedalus_group *groups = batch->groups.data;
  const size_t n = batch->groups.size;
  for (size_t i = 0; i < n && batch->error == 0;) {
    if (groups[i].variant->cpu != NULL) {
      batch->error = daedalus_rt_gpu_before_cpu(batch, &groups[i]);
      if (batch->error != 0) {
        give_up(batch, i);
        break;
      }
      daedalus_rt_cpu_run(batch, &groups[i]);
      daedalus_rt_gpu_after_cpu(batch, &groups[i]);
      i++;
      continue;
    }
    const size_t first = i;
    while (i < n && groups[i].variant->cpu == NULL) {
      i++;
    }
    batch->error = daedalus_rt_gpu_submit(batch, first, i);
    if (batch->error == 0 && i < n) {
      batch->error = daedalus_rt_gpu_wait(batch, -1);
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
    const int error = daedalus_rt_gpu_wait(batch, timeout_ns);
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
  return batch != NULL && batch->submitted ? daedalus_rt_gpu_export_fence(batch, fd) : -EINVAL;
}

int daedalus_batch_reset(daedalus_batch *batch) {
  if (batch == NULL) {
    return -EINVAL;
  }
  if (batch->submitted && daedalus_batch_wait(batch, 0) == -ETIME) {
    return -EBUSY;
  }
  batch->submitted = batch->done = batch->rescued = false;
  batch->error = batch->gpu_error = 0;
  batch->n_appends = batch->job_of_batch = 0;
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
  if (batch->submitted) {
    daedalus_batch_wait(batch, -1);
  }
  daedalus_rt_gpu_forget(batch);
  if (batch->next != NULL) {
    batch->next->previous = batch->previous;
  }
  if (batch->previous != NULL) {
    batch->previous->next = batch->next;
  } else {
    ctx->batches = batch->next;
  }
  daedalus_vec *const vecs[] = {&batch->groups, &batch->buffers,  &batch->meta,  &batch->items,
                                &batch->bins,   &batch->class_of, &batch->spans, &batch->picks};
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
  batch->flags = flags;
  return 0;
}

int daedalus_batch_gpu_time(const daedalus_batch *batch, uint64_t *ns) {
  if (batch == NULL || ns == NULL || !batch->submitted) {
    return -EINVAL;
  }
  return batch->done ? daedalus_rt_gpu_time(batch, ns) : -EBUSY;
}

size_t daedalus_batch_undefined_count(const daedalus_batch *batch) {
  size_t n = 0;
  for (size_t i = 0; batch != NULL && batch->error != 0 && i < batch->groups.size; i++) {
    const daedalus_group *group = (const daedalus_group *)batch->groups.data + i;
    n += group->undefined ? group->n_items : 0;
  }
  return n;
}

int daedalus_batch_undefined(const daedalus_batch *batch, size_t index,
                             daedalus_undefined_item *item) {
  if (batch == NULL || item == NULL || batch->error == 0) {
    return -EINVAL;
  }
  for (size_t i = 0; i < batch->groups.size; i++) {
    const daedalus_group *group = (const daedalus_group *)batch->groups.data + i;
    if (group->undefined && index < group->n_items) {
      *item = (daedalus_undefined_item){
          .kernel = group->kernel->id,
          .append = group->append,
          .item = ((const uint32_t *)batch->items.data)[group->items_at + index],
      };
      return 0;
    }
    index -= group->undefined ? group->n_items : 0;
  }
  return -EINVAL;
}
