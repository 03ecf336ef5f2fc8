/* SPDX-License-Identifier: BSD-2-Clause */
/* A job's groups as dispatches, barriers between them, in submissions of bounded work. */
#include <errno.h>
#include <string.h>

#include "vulkan/job.h"

/* Dispatches begin at multiples of so many items, so that their records do at multiples of 256. */
enum { ITEMS_UNIT = 64 };

typedef struct emitter {
  daedalus_gpu_job *job;
  daedalus_vk_commands *commands;
  daedalus_vk_submission *submission; /* being put together */
  size_t n_items;                     /* in it */
  size_t barrier_uses;                /* uses from here on are not behind a barrier */
  size_t append_uses;                 /* uses of the append at hand begin here */
  size_t n_behind;                    /* groups since the last barrier */
} emitter;

static int add_barrier(emitter *e) {
  e->n_behind = 0;
  return daedalus_rt_vk_op(e->commands, e->submission, DAEDALUS_VK_OP_BARRIER) != NULL ? 0
                                                                                       : -ENOMEM;
}

/** Acquires all that the job uses in place and others do, too, or releases it. */
static int hand_over(emitter *e, daedalus_vk_op_kind kind) {
  const daedalus_gpu *gpu = e->job->gpu;
  for (const daedalus_memory *memory = gpu->memories; memory != NULL; memory = memory->next) {
    if (!memory->released || memory->used_by != gpu->n_jobs) {
      continue;
    }
    daedalus_vk_op *op = daedalus_rt_vk_op(e->commands, e->submission, kind);
    if (op == NULL) {
      return -ENOMEM;
    }
    op->of.owned.buffer = memory->block.buffer;
    op->of.owned.id = memory->block.id;
  }
  return 0;
}

static int begin(emitter *e) {
  daedalus_gpu_job *job = e->job;
  int error = daedalus_rt_vec_reserve(&job->gpu->ctx->allocator, &job->submissions, 1,
                                      sizeof(daedalus_vk_submission *));
  if (error == 0) {
    error = daedalus_rt_vk_submission_take(e->commands, &e->submission);
  }
  if (error != 0) {
    return error;
  }
  ((daedalus_vk_submission **)job->submissions.data)[job->submissions.size++] = e->submission;
  e->n_items = 0;
  if (job->timed &&
      daedalus_rt_vk_op(e->commands, e->submission, DAEDALUS_VK_OP_TIME_BEGIN) == NULL) {
    return -ENOMEM;
  }
  error = add_barrier(e); /* after what was submitted before, by this job or by others */
  return error == 0 ? hand_over(e, DAEDALUS_VK_OP_ACQUIRE) : error;
}

static int submit(emitter *e) {
  int error = hand_over(e, DAEDALUS_VK_OP_RELEASE);
  if (error != 0) {
    return error;
  }
  if (e->job->timed &&
      daedalus_rt_vk_op(e->commands, e->submission, DAEDALUS_VK_OP_TIME_END) == NULL) {
    return -ENOMEM;
  }
  daedalus_gpu_job *job = e->job;
  const daedalus_gpu_job *before = job->previous;
  if (job->submissions.size == 1 &&
      (before == NULL || before->n_done == before->submissions.size)) {
    job->gpu->progress_ns = daedalus_rt_vk_now(); /* the GPU was idle, which is no hang */
  }
  error = daedalus_rt_vk_submit(e->commands, e->submission);
  job->started = job->started || error == 0 || job->gpu->device.lost;
  return error;
}

/** The copies of what is shadowed, and behind them the mark that they are whole. */
static int emit_shadows(emitter *e) {
  const daedalus_gpu_job *job = e->job;
  const daedalus_vk_shadow *shadows = job->shadows.data;
  if (job->shadows.size == 0) {
    return 0;
  }
  for (size_t i = 0; i < job->shadows.size; i++) {
    daedalus_vk_op *op = daedalus_rt_vk_op(e->commands, e->submission, DAEDALUS_VK_OP_COPY);
    if (op == NULL) {
      return -ENOMEM;
    }
    op->of.copy.from = shadows[i].memory->block.buffer;
    op->of.copy.from_id = shadows[i].memory->block.id;
    op->of.copy.to = job->shadow->buffer;
    op->of.copy.to_id = job->shadow->id;
    op->of.copy.region = (VkBufferCopy){
        .srcOffset = shadows[i].extent.begin - shadows[i].memory->base,
        .dstOffset = shadows[i].offset,
        .size = shadows[i].extent.end - shadows[i].extent.begin,
    };
  }
  int error = add_barrier(e);
  daedalus_vk_op *mark =
      error == 0 ? daedalus_rt_vk_op(e->commands, e->submission, DAEDALUS_VK_OP_FILL) : NULL;
  if (mark == NULL) {
    return -ENOMEM;
  }
  mark->of.fill.buffer = job->shadow->buffer;
  mark->of.fill.id = job->shadow->id;
  mark->of.fill.size = sizeof(uint32_t);
  mark->of.fill.value = DAEDALUS_VK_SHADOW_MARKER;
  return add_barrier(e);
}

/** Whether the group has to wait for one since the last barrier, of another append. */
static bool depends(const emitter *e, const daedalus_vk_use *uses, size_t n) {
  const daedalus_vk_use *all = e->job->uses.data;
  for (const daedalus_vk_use *before = all + e->barrier_uses; before < all + e->append_uses;
       before++) {
    for (size_t b = 0; b < n; b++) {
      if (daedalus_vk_overlap(before->writes, uses[b].all) ||
          daedalus_vk_overlap(before->all, uses[b].writes)) {
        return true;
      }
    }
  }
  return false;
}

/** A buffer as items `first` to `end` of a group see it. */
typedef struct window {
  daedalus_vk_binding binding;
  uint32_t base; /* bytes from its start to the caller's element 0, modulo 2^32 */
} window;

/** @return false when it is larger than the device can bind */
static bool make_window(const daedalus_gpu_job *job, const daedalus_group *group, size_t buffer,
                        const daedalus_vk_use *use, size_t first, size_t end, window *out) {
  const VkPhysicalDeviceLimits *limits = &job->gpu->device.physical->limits;
  const daedalus_buffer *argument =
      (const daedalus_buffer *)job->batch->buffers.data + group->buffers_at + buffer;
  const daedalus_vk_block *block;
  uintptr_t address;     /* of the first byte that can be bound */
  uint64_t offset, size; /* where that is in the block, and how much there is */
  if (use->memory != NULL) {
    block = &use->memory->block;
    address = (uintptr_t)use->memory->data;
    offset = 0;
    size = block->size;
  } else {
    const daedalus_vk_region *region = (const daedalus_vk_region *)job->regions.data + use->region;
    block = region->block;
    address = region->extent.begin;
    offset = region->offset;
    size = (region->extent.end - region->extent.begin + 3) / 4 * 4;
  }
  if (size > limits->maxStorageBufferRange || size > INT32_MAX) {
    daedalus_vk_part part = daedalus_rt_vk_part(job->batch, group, buffer);
    part.first = first;
    part.end = end;
    const daedalus_vk_extent extent =
        daedalus_rt_vk_extent(&part, DAEDALUS_ACCESS_READ | DAEDALUS_ACCESS_WRITE);
    const uint64_t skip =
        (extent.begin - address) / DAEDALUS_VK_REGION_ALIGN * DAEDALUS_VK_REGION_ALIGN;
    address += skip;
    offset += skip;
    size = (extent.end - address + 3) / 4 * 4;
    if (size > limits->maxStorageBufferRange || size > INT32_MAX) {
      return false;
    }
  }
  *out = (window){.binding = {block->buffer, block->id, offset, size},
                  .base = (uint32_t)((uintptr_t)argument->data - address)};
  return true;
}

/** The dispatch for items `first` to `end`.  @return -E2BIG when a window is too large for it */
static int emit_dispatch(emitter *e, const daedalus_vk_pipeline *pipeline,
                         const daedalus_group *group, const daedalus_vk_use *uses, uint64_t records,
                         size_t first, size_t end) {
  daedalus_gpu_job *job = e->job;
  const daedalus_gpu_code *code = group->variant->gpu;
  const size_t n = group->kernel->n_buffers;
  size_t n_bindings = n + 1;
  const daedalus_buffer *buffers =
      (const daedalus_buffer *)job->batch->buffers.data + group->buffers_at;
  daedalus_vk_binding bindings[DAEDALUS_VK_BINDINGS_MOST];
  daedalus_vk_dispatch dispatch;
  memset(&dispatch, 0, sizeof(dispatch));
  const uint64_t record = (uint64_t)code->n_record * sizeof(uint32_t);
  const VkPhysicalDeviceLimits *limits = &job->gpu->device.physical->limits;
  const bool all_records = group->n_items * record <= limits->maxStorageBufferRange;
  const uint64_t skipped = all_records ? 0 : first * record;
  if (!all_records && (end - first) * record > limits->maxStorageBufferRange) {
    return -E2BIG;
  }
  bindings[n] = (daedalus_vk_binding){
      .buffer = job->records->buffer,
      .id = job->records->id,
      .offset = job->records_offset + records + skipped,
      .range = (all_records ? group->n_items : end - first) * record,
  };
  for (size_t b = 0; b < n; b++) {
    window w = {.binding = bindings[n]}; /* of a buffer that is not touched: anything */
    if (uses[b].all.begin != uses[b].all.end &&
        !make_window(job, group, b, &uses[b], first, end, &w)) {
      return -E2BIG;
    }
    bindings[b] = w.binding;
    dispatch.push[2 + 2 * b] = w.base;
    dispatch.push[3 + 2 * b] = (uint32_t)buffers[b].stride;
  }
  const size_t a_workgroup = (size_t)pipeline->workgroup / code->invocations * code->items;
  dispatch.pipeline = pipeline->handle;
  dispatch.layout = pipeline->layout;
  dispatch.push[0] = (uint32_t)(all_records ? first : 0);
  dispatch.push[1] = (uint32_t)(end - first);
  dispatch.n_push = (uint32_t)(2 + 2 * n);
  dispatch.groups = (uint32_t)((end - first + a_workgroup - 1) / a_workgroup);
  if (pipeline->constants != NULL) {
    bindings[n_bindings++] = (daedalus_vk_binding){.buffer = pipeline->constants->buffer,
                                                   .id = pipeline->constants->id,
                                                   .range = code->n_constants * sizeof(uint32_t)};
  }
  const int error =
      daedalus_rt_vk_bind(e->commands, e->submission, bindings, n_bindings, &dispatch.set);
  if (error != 0) {
    return error;
  }
  daedalus_vk_op *op = daedalus_rt_vk_op(e->commands, e->submission, DAEDALUS_VK_OP_DISPATCH);
  if (op == NULL) {
    return -ENOMEM;
  }
  memcpy(&op->of.dispatch, &dispatch, sizeof(dispatch));
  return 0;
}

/** Items of one dispatch at most. */
static size_t dispatch_most(const daedalus_gpu_job *job, const daedalus_group *group,
                            const daedalus_vk_pipeline *pipeline) {
  const daedalus_gpu_code *code = group->variant->gpu;
  const uint32_t limit = job->gpu->device.physical->limits.maxComputeWorkGroupCount[0];
  const size_t groups = limit < UINT16_MAX ? limit : UINT16_MAX;
  const size_t items = groups * (pipeline->workgroup / code->invocations * code->items);
  const size_t most = items < job->gpu->items_a_submission ? items : job->gpu->items_a_submission;
  return most < ITEMS_UNIT ? ITEMS_UNIT : most / ITEMS_UNIT * ITEMS_UNIT;
}

static int emit_group(emitter *e, const daedalus_group *group, const daedalus_vk_use *uses,
                      uint64_t records) {
  daedalus_gpu_job *job = e->job;
  daedalus_vk_pipeline *pipeline = daedalus_rt_vk_pipeline_find(&job->gpu->pipelines, group->kernel,
                                                                group->variant, group->workgroup);
  int error =
      pipeline == NULL ? -ENOMEM : daedalus_rt_vk_pipeline_make(&job->gpu->pipelines, pipeline);
  size_t first = 0;
  size_t most = error == 0 ? dispatch_most(job, group, pipeline) : 0;
  while (error == 0 && first < group->n_items) {
    size_t n = group->n_items - first < most ? group->n_items - first : most;
    if (e->n_items != 0 && e->n_items + n > job->gpu->items_a_submission) {
      error = submit(e);
      if (error == 0) {
        error = begin(e);
      }
      if (error != 0) {
        break;
      }
    }
    error = emit_dispatch(e, pipeline, group, uses, records, first, first + n);
    if (error == -E2BIG && most > ITEMS_UNIT) {
      most = most / 2 < ITEMS_UNIT ? ITEMS_UNIT : most / 2 / ITEMS_UNIT * ITEMS_UNIT;
      error = 0;
      continue;
    }
    first += n;
    e->n_items += n;
  }
  return error;
}

static void mark_used(daedalus_gpu_job *job) {
  const daedalus_vk_use *uses = job->uses.data;
  job->gpu->n_jobs++;
  for (size_t i = 0; i < job->uses.size; i++) {
    if (uses[i].memory != NULL) {
      uses[i].memory->used_by = job->gpu->n_jobs;
    }
  }
}

int daedalus_rt_vk_job_emit(daedalus_gpu_job *job) {
  mark_used(job);
  emitter e = {.job = job, .commands = &job->gpu->commands};
  const daedalus_group *groups = job->batch->groups.data;
  int error = begin(&e);
  if (error == 0) {
    error = emit_shadows(&e);
  }
  size_t at = 0;
  uint64_t records = 0;
  for (size_t i = job->first; error == 0 && i < job->end; i++) {
    const daedalus_group *group = &groups[i];
    const size_t uses_at = at;
    const daedalus_vk_use *uses = daedalus_vk_next_uses(job, group, &at);
    if (i == job->first || group->append != groups[i - 1].append) {
      e.append_uses = uses_at;
    }
    /* After many groups, a barrier is cheaper than the looking. */
    if (e.n_behind >= 64 || (e.n_behind != 0 && depends(&e, uses, group->kernel->n_buffers))) {
      error = add_barrier(&e);
    }
    if (e.n_behind == 0) {
      e.barrier_uses = uses_at;
    }
    if (error == 0) {
      error = emit_group(&e, group, uses, records);
      e.n_behind++;
    }
    const uint64_t size =
        (uint64_t)group->n_items * group->variant->gpu->n_record * sizeof(uint32_t);
    records +=
        (size + DAEDALUS_VK_REGION_ALIGN - 1) / DAEDALUS_VK_REGION_ALIGN * DAEDALUS_VK_REGION_ALIGN;
  }
  if (error == 0) {
    error = submit(&e);
  }
  job->whole = error == 0;
  return error;
}
