/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/route.h"

#include <errno.h>

#include "gpu/job.h"

static daedalus_gpu_job *job_of(daedalus_ctx *ctx, daedalus_gpu_batch *batch) {
  if (batch->job == NULL) {
    batch->job = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(*batch->job));
    if (batch->job != NULL) {
      *batch->job = (daedalus_gpu_job){.gpu = ctx->gpu, .batch = batch};
    }
  }
  return batch->job;
}

static void enter_flight(daedalus_gpu_job *job) {
  daedalus_gpu *gpu = job->gpu;
  if (gpu->in_flight == NULL) {
    gpu->in_flight = job;
  } else {
    gpu->in_flight_last->next = job;
    job->previous = gpu->in_flight_last;
  }
  gpu->in_flight_last = job;
  job->active = true;
}

/** Everything up to the submission.  A job that conflicts with this one is done then. */
static int start(daedalus_gpu_job *job) {
  daedalus_gpu *gpu = job->gpu;
  int error = daedalus_rt_gpu_job_collect(job);
  if (error != 0) {
    job->uses.size = 0; /* not all of them: as good as none */
    return error;
  }
  daedalus_rt_gpu_finish_conflicting(gpu, job->uses.data, job->uses.size);
  if (gpu->backend->lost) {
    return -ECANCELED; /* which has been said */
  }
  enter_flight(job);
  error = daedalus_rt_gpu_job_fill(job);
  if (error == 0) {
    error = daedalus_rt_gpu_job_shadow(job);
  }
  return error == 0 ? daedalus_rt_gpu_job_emit(job) : error;
}

/** What is in flight of a job that failed half-way runs to its end. */
static void let_run_out(daedalus_gpu_job *job) {
  daedalus_gpu *gpu = job->gpu;
  for (size_t i = 0; i < job->submissions.size && !gpu->backend->lost; i++) {
    const int error = daedalus_rt_gpu_submission_wait(job, i, gpu->backend->timeout_ns);
    if (error != 0) {
      gpu->backend->lost = true;
      gpu->backend->hung = error == -ETIME;
    }
  }
}

/** The CPU does it, after all that was submitted before. */
static int give_up(daedalus_gpu_job *job, int error) {
  daedalus_gpu *gpu = job->gpu;
  const bool was_lost = gpu->backend->lost, in_flight = job->active;
  if (error != -ECANCELED) {
    daedalus_rt_gpu_report(gpu, error);
  }
  daedalus_gpu_job *other = gpu->in_flight;
  while (other != NULL && !gpu->backend->lost) {
    if (other != job) {
      daedalus_rt_gpu_job_wait(other, -1);
      other = gpu->in_flight; /* all may have ended with it, this one, too */
    } else {
      other = other->next;
    }
  }
  if (!gpu->backend->lost) {
    let_run_out(job);
    if (gpu->backend->lost && !was_lost) {
      daedalus_rt_gpu_report(gpu, -EIO);
    }
  }
  if (gpu->backend->lost) {
    daedalus_rt_gpu_finish_lost(gpu);
  }
  if (in_flight && !job->active) { /* it was done with the others, just now or in waiting for one */
    return job->batch->error;
  }
  daedalus_rt_gpu_job_undo(job);
  const int outcome = daedalus_rt_gpu_job_rescue(job);
  if (gpu->backend->lost) { /* on the way */
    daedalus_rt_gpu_finish_lost(gpu);
  }
  return outcome;
}

/** Without a job there is no memory for anything: the groups one by one. */
static int run_all_on_cpu(daedalus_gpu *gpu, daedalus_gpu_batch *batch, size_t first, size_t end) {
  daedalus_rt_gpu_finish_conflicting(gpu, NULL, 0);
  daedalus_gpu_job job = {.gpu = gpu, .batch = batch, .first = first, .end = end};
  return daedalus_rt_gpu_job_rescue(&job);
}

int daedalus_rt_gpu_submit(daedalus_ctx *ctx, daedalus_gpu_batch *batch, size_t first, size_t end) {
  daedalus_gpu *gpu = ctx->gpu;
  daedalus_gpu_job *job = job_of(ctx, batch);
  batch->error = 0;
  if (job == NULL) {
    return run_all_on_cpu(gpu, batch, first, end);
  }
  job->first = first;
  job->end = end;
  if (batch->n_parts++ == 0) {
    job->gpu_time_ns = 0;
    job->measured = false;
  }
  job->timed =
      (batch->flags & DAEDALUS_BATCH_TIMESTAMPS) != 0 && gpu->backend->info.timestamps != 0;
  gpu->backend->failed_call = NULL;
  if (gpu->backend->lost) { /* since the append; that has been said */
    const int error = daedalus_rt_gpu_job_collect(job);
    if (error != 0) {
      job->uses.size = 0;
    }
    return daedalus_rt_gpu_job_rescue(job);
  }
  const int error = start(job);
  return error == 0 ? 0 : give_up(job, error);
}

int daedalus_rt_gpu_wait(daedalus_gpu_batch *batch, int64_t timeout_ns) {
  daedalus_gpu_job *job = batch->job;
  if (job == NULL || !job->active) {
    return batch->error;
  }
  const int error = daedalus_rt_gpu_job_wait(job, timeout_ns);
  return error != 0 ? error : batch->error;
}

/** What a group of the CPU touches.  @return how many uses */
static size_t uses_of(const daedalus_gpu *gpu, const daedalus_groups *work,
                      const daedalus_group *group,
                      daedalus_gpu_use uses[DAEDALUS_GPU_BUFFERS_MOST]) {
  const size_t n = group->kernel->n_buffers;
  for (size_t b = 0; b < n && b < DAEDALUS_GPU_BUFFERS_MOST; b++) {
    const daedalus_gpu_part part = daedalus_rt_gpu_part(work, group, b);
    uses[b] = daedalus_rt_gpu_use(gpu, &part);
    uses[b].by_cpu = true;
  }
  return n < DAEDALUS_GPU_BUFFERS_MOST ? n : DAEDALUS_GPU_BUFFERS_MOST;
}

static bool has_to_care(const daedalus_gpu *gpu) {
  return gpu != NULL && gpu->backend != NULL && (gpu->in_flight != NULL || gpu->memories != NULL);
}

int daedalus_rt_gpu_before_cpu(daedalus_ctx *ctx, const daedalus_groups *work,
                               const daedalus_group *group) {
  daedalus_gpu *gpu = ctx->gpu;
  if (!has_to_care(gpu)) {
    return 0;
  }
  daedalus_gpu_use uses[DAEDALUS_GPU_BUFFERS_MOST];
  const size_t n = uses_of(gpu, work, group, uses);
  const bool all = n < group->kernel->n_buffers;
  daedalus_rt_gpu_finish_conflicting(gpu, all ? NULL : uses, n);
  for (size_t b = 0; b < n; b++) {
    daedalus_memory *memory = uses[b].memory;
    if (memory == NULL) {
      continue;
    }
    if (!memory->readable) {
      daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_ERROR,
                      "%s: %s lies in a dma-buf that the CPU cannot map: only the QPU can use it",
                      group->kernel->id, group->kernel->buffers[b].name);
      return -EIO;
    }
    const daedalus_gpu_extent missing = memory->staged
                                            ? daedalus_gpu_common(memory->newer, uses[b].all)
                                            : (daedalus_gpu_extent){0, 0};
    if (missing.begin != missing.end && daedalus_rt_gpu_memory_copy(memory, missing, false) != 0) {
      daedalus_rt_gpu_finish_lost(gpu);
      return -EIO;
    }
    daedalus_rt_gpu_memory_cpu(memory, true);
  }
  return 0;
}

void daedalus_rt_gpu_after_cpu(daedalus_ctx *ctx, const daedalus_groups *work,
                               const daedalus_group *group) {
  daedalus_gpu *gpu = ctx->gpu;
  if (!has_to_care(gpu)) {
    return;
  }
  daedalus_gpu_use uses[DAEDALUS_GPU_BUFFERS_MOST];
  const size_t n = uses_of(gpu, work, group, uses);
  for (size_t b = 0; b < n; b++) {
    if (uses[b].memory != NULL) {
      daedalus_rt_gpu_memory_cpu(uses[b].memory, false);
      if (uses[b].memory->staged && !gpu->backend->lost) {
        if (daedalus_rt_gpu_memory_copy(uses[b].memory, uses[b].writes, true) != 0) {
          daedalus_rt_gpu_finish_lost(gpu);
        }
      }
    }
  }
}

int daedalus_rt_gpu_time(const daedalus_gpu_batch *batch, uint64_t *ns) {
  const daedalus_gpu_job *job = batch->job;
  if (job == NULL || batch->n_parts == 0 || !job->measured) {
    return -ENOTSUP;
  }
  *ns = job->gpu_time_ns;
  return 0;
}

int daedalus_rt_gpu_export_fence(daedalus_gpu_batch *batch, int *fd) {
  daedalus_gpu_job *job = batch->job;
  if (job == NULL || !job->active) {
    return -ENOTSUP;
  }
  daedalus_gpu *gpu = job->gpu;
  const int error = gpu->backend->route->export_fence(gpu->backend, fd);
  if (gpu->backend->lost) { /* by that call, as this job is in flight */
    daedalus_rt_gpu_report(gpu, error);
    daedalus_rt_gpu_finish_lost(gpu);
  }
  return error == 0 ? 0 : -ENOTSUP;
}

void daedalus_rt_gpu_forget(daedalus_gpu_batch *batch) {
  daedalus_gpu_job *job = batch->job;
  if (job == NULL) {
    return;
  }
  const daedalus_allocator *allocator = &job->gpu->ctx->allocator;
  daedalus_vec *const vecs[] = {&job->uses, &job->extents, &job->regions, &job->shadows,
                                &job->submissions};
  for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++) {
    daedalus_rt_vec_free(allocator, vecs[i]);
  }
  allocator->release(allocator->user, job);
  batch->job = NULL;
}
