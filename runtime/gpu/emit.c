/* SPDX-License-Identifier: BSD-2-Clause */
/* A job's groups as dispatches, barriers between them, in submissions of bounded work. */
#include <errno.h>
#include <string.h>

#include "gpu/bound.h"
#include "gpu/job.h"

typedef struct emitter {
  daedalus_gpu_job *job;
  daedalus_gpu_backend *backend;
  daedalus_gpu_submission *submission; /* being put together */
  uint64_t clocks;                     /* that it takes so far, about */
  size_t barrier_uses;                 /* uses from here on are not behind a barrier */
  size_t append_uses;                  /* uses of the append at hand begin here */
  size_t n_behind;                     /* groups since the last barrier */
} emitter;

static int add_barrier(emitter *e) {
  e->n_behind = 0;
  return e->backend->route->barrier(e->backend, e->submission);
}

/** Acquires all that the job uses in place and others do, too, or releases it. */
static int hand_over(emitter *e, bool acquire) {
  const daedalus_gpu *gpu = e->job->gpu;
  int error = 0;
  for (const daedalus_memory *memory = gpu->memories; error == 0 && memory != NULL;
       memory = memory->next) {
    if (memory->released && memory->used_by == gpu->n_jobs) {
      error = e->backend->route->hand_over(e->backend, e->submission, memory->block, acquire);
    }
  }
  return error;
}

static int begin(emitter *e) {
  daedalus_gpu_job *job = e->job;
  int error = daedalus_rt_vec_reserve(&job->gpu->ctx->allocator, &job->submissions, 1,
                                      sizeof(daedalus_gpu_submission *));
  if (error == 0) {
    error = e->backend->route->begin(e->backend, job->timed, &e->submission);
  }
  if (error != 0) {
    return error;
  }
  ((daedalus_gpu_submission **)job->submissions.data)[job->submissions.size++] = e->submission;
  e->clocks = 0;
  error = add_barrier(e); /* after what was submitted before, by this job or by others */
  return error == 0 ? hand_over(e, true) : error;
}

static int submit(emitter *e) {
  int error = hand_over(e, false);
  if (error != 0) {
    return error;
  }
  daedalus_gpu_job *job = e->job;
  const daedalus_gpu_job *before = job->previous;
  if (job->submissions.size == 1 &&
      (before == NULL || before->n_done == before->submissions.size)) {
    job->gpu->progress_ns = daedalus_rt_gpu_now(); /* the GPU was idle, which is no hang */
  }
  error = e->backend->route->submit(e->backend, e->submission);
  job->started = job->started || error == 0 || e->backend->begun || e->backend->lost;
  return error;
}

/** The copies of what is shadowed, and behind them the mark that they are whole. */
static int emit_shadows(emitter *e) {
  const daedalus_gpu_job *job = e->job;
  const daedalus_gpu_shadow *shadows = job->shadows.data;
  int error = 0;
  for (size_t i = 0; error == 0 && i < job->shadows.size; i++) {
    const daedalus_gpu_copy copy = {
        .from = shadows[i].memory->block,
        .to = job->shadow,
        .from_offset = shadows[i].extent.begin - shadows[i].memory->base,
        .to_offset = shadows[i].offset,
        .size = shadows[i].extent.end - shadows[i].extent.begin,
    };
    error = e->backend->route->copy(e->backend, e->submission, &copy);
  }
  if (error != 0 || job->shadows.size == 0) {
    return error;
  }
  error = add_barrier(e);
  if (error == 0) {
    error =
        e->backend->route->mark(e->backend, e->submission, job->shadow, DAEDALUS_GPU_SHADOW_MARKER);
  }
  return error == 0 ? add_barrier(e) : error;
}

/** Whether the group has to wait for one since the last barrier, of another append. */
static bool depends(const emitter *e, const daedalus_gpu_use *uses, size_t n) {
  const daedalus_gpu_use *all = e->job->uses.data;
  for (const daedalus_gpu_use *before = all + e->barrier_uses; before < all + e->append_uses;
       before++) {
    for (size_t b = 0; b < n; b++) {
      if (daedalus_gpu_overlap(before->writes, uses[b].all) ||
          daedalus_gpu_overlap(before->all, uses[b].writes)) {
        return true;
      }
    }
  }
  return false;
}

/**
 * A buffer as items `first` to `end` of a group see it.
 * @return false when it is larger than the device can bind
 */
static bool make_window(const daedalus_gpu_job *job, const daedalus_group *group, size_t buffer,
                        const daedalus_gpu_use *use, size_t first, size_t end,
                        daedalus_gpu_window *out) {
  const uint64_t most =
      job->gpu->backend->range_most < INT32_MAX ? job->gpu->backend->range_most : INT32_MAX;
  const daedalus_buffer *argument =
      (const daedalus_buffer *)job->batch->work->buffers.data + group->buffers_at + buffer;
  const daedalus_gpu_block *block;
  uintptr_t address;     /* of the first byte that can be bound */
  uint64_t offset, size; /* where that is in the block, and how much there is */
  if (use->memory != NULL) {
    block = use->memory->block;
    address = (uintptr_t)use->memory->data;
    offset = 0;
    size = block->size;
  } else {
    const daedalus_gpu_region *region =
        (const daedalus_gpu_region *)job->regions.data + use->region;
    block = region->block;
    address = region->extent.begin;
    offset = region->offset;
    size = (region->extent.end - region->extent.begin + 3) / 4 * 4;
  }
  if (size > most) {
    daedalus_gpu_part part = daedalus_rt_gpu_part(job->batch->work, group, buffer);
    part.first = first;
    part.end = end;
    const daedalus_gpu_extent extent =
        daedalus_rt_gpu_extent(&part, DAEDALUS_ACCESS_READ | DAEDALUS_ACCESS_WRITE);
    const uint64_t skip =
        (extent.begin - address) / DAEDALUS_GPU_REGION_ALIGN * DAEDALUS_GPU_REGION_ALIGN;
    address += skip;
    offset += skip;
    size = (extent.end - address + 3) / 4 * 4;
    if (size > most) {
      return false;
    }
  }
  *out = (daedalus_gpu_window){.block = block,
                               .offset = offset,
                               .range = size,
                               .base = (uint32_t)((uintptr_t)argument->data - address),
                               .stride = (int32_t)argument->stride};
  return true;
}

/** The dispatch for items `first` to `end`.  @return -E2BIG when a window is too large for it */
static int emit_dispatch(emitter *e, daedalus_gpu_program *program, const daedalus_group *group,
                         const daedalus_gpu_use *uses, uint64_t records, size_t first, size_t end) {
  daedalus_gpu_job *job = e->job;
  const size_t n = group->kernel->n_buffers;
  const uint32_t *items = (const uint32_t *)job->batch->work->items.data + group->items_at;
  const uint64_t record = daedalus_gpu_arguments_of(group->variant).n_record * sizeof(uint32_t);
  const uint64_t most = job->gpu->backend->range_most;
  const bool all_records = group->n_items * record <= most;
  const uint64_t skipped = all_records ? 0 : first * record;
  if (!all_records && (end - first) * record > most) {
    return -E2BIG;
  }
  daedalus_gpu_dispatch dispatch = {
      .program = program,
      .records = {.block = job->records,
                  .offset = job->records_offset + records + skipped,
                  .range = (all_records ? group->n_items : end - first) * record},
      .first = (uint32_t)(all_records ? first : 0),
      .n_items = (uint32_t)(end - first),
      .index_most = items[end - 1], /* they ascend */
  };
  for (size_t b = 0; b < n; b++) {
    dispatch.buffers[b] = dispatch.records; /* of a buffer that is not touched: anything */
    if (uses[b].all.begin != uses[b].all.end &&
        !make_window(job, group, b, &uses[b], first, end, &dispatch.buffers[b])) {
      return -E2BIG;
    }
  }
  daedalus_rt_gpu_job_gather(job, group, program, records, first, end);
  return e->backend->route->dispatch(e->backend, e->submission, &dispatch);
}

static int emit_group(emitter *e, const daedalus_group *group, const daedalus_gpu_use *uses,
                      uint64_t records) {
  daedalus_gpu_job *job = e->job;
  daedalus_gpu_program *program =
      daedalus_rt_gpu_program_find(job->gpu, group->kernel, group->variant, group->workgroup);
  int error = program == NULL ? -ENOMEM : e->backend->route->program_make(e->backend, program);
  size_t first = 0;
  size_t most = error == 0 ? daedalus_rt_gpu_dispatch_most(program) : 0;
  while (error == 0 && first < group->n_items) {
    size_t n = group->n_items - first < most ? group->n_items - first : most;
    const uint64_t clocks = daedalus_rt_gpu_dispatch_clocks(program, n);
    if (e->clocks != 0 && e->clocks + clocks > DAEDALUS_GPU_CLOCKS_A_SUBMISSION) {
      error = submit(e);
      if (error == 0) {
        error = begin(e);
      }
      if (error != 0) {
        break;
      }
    }
    error = emit_dispatch(e, program, group, uses, records, first, first + n);
    if (error == -E2BIG && most > DAEDALUS_GPU_ITEMS_UNIT) {
      most = most / 2 < DAEDALUS_GPU_ITEMS_UNIT
                 ? DAEDALUS_GPU_ITEMS_UNIT
                 : most / 2 / DAEDALUS_GPU_ITEMS_UNIT * DAEDALUS_GPU_ITEMS_UNIT;
      error = 0;
      continue;
    }
    first += n;
    e->clocks += clocks;
  }
  return error;
}

static void mark_used(daedalus_gpu_job *job) {
  const daedalus_gpu_use *uses = job->uses.data;
  job->gpu->n_jobs++;
  for (size_t i = 0; i < job->uses.size; i++) {
    if (uses[i].memory != NULL) {
      uses[i].memory->used_by = job->gpu->n_jobs;
    }
  }
}

int daedalus_rt_gpu_job_emit(daedalus_gpu_job *job) {
  mark_used(job);
  emitter e = {.job = job, .backend = job->gpu->backend};
  const daedalus_group *groups = job->batch->work->list.data;
  int error = begin(&e);
  if (error == 0) {
    error = emit_shadows(&e);
  }
  size_t at = 0;
  uint64_t records = 0;
  for (size_t i = job->first; error == 0 && i < job->end; i++) {
    const daedalus_group *group = &groups[i];
    const size_t uses_at = at;
    const daedalus_gpu_use *uses = daedalus_gpu_next_uses(job, group, &at);
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
    const uint64_t size = (uint64_t)group->n_items *
                          daedalus_gpu_arguments_of(group->variant).n_record * sizeof(uint32_t);
    records += (size + DAEDALUS_GPU_REGION_ALIGN - 1) / DAEDALUS_GPU_REGION_ALIGN *
               DAEDALUS_GPU_REGION_ALIGN;
  }
  if (error == 0) {
    error = submit(&e);
  }
  job->whole = error == 0;
  return error;
}
