/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs in flight: waiting for them, and what ends them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "gpu/job.h"

uint64_t daedalus_rt_gpu_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void daedalus_rt_gpu_report(daedalus_gpu *gpu, int error) {
  const daedalus_gpu_backend *device = gpu->backend;
  const char *name = device->info.name;
  if (error == -E2BIG) {
    daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_WARNING, "%s: %s; the CPU does the work instead", name,
                    device->too_large);
  } else if (device->hung) {
    daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_ERROR,
                    "%s made no progress for %" PRIu64
                    " ms; the CPU does the work instead, and all that follows",
                    name, gpu->backend->timeout_ns / 1000000);
  } else if (device->failed_call == NULL) {
    daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_ERROR,
                    "%s: out of memory for commands; the CPU does the work instead", name);
  } else {
    daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_ERROR,
                    "%s: %s failed: %s; the CPU does the work instead%s", name, device->failed_call,
                    device->failed_why, device->lost ? ", and all that follows" : "");
  }
}

/*
 * v3dv submits from a thread of its own.  When that fails the device is lost, but a wait that has
 * begun is not told, so none is long.
 */
static const uint64_t slice_most = UINT64_C(50000000);

/* Resets after which the device is not used any more; each costs half a second. */
static const unsigned resets_most = 3;

int daedalus_rt_gpu_submission_wait(daedalus_gpu_job *job, size_t index, uint64_t timeout_ns) {
  daedalus_gpu_backend *backend = job->gpu->backend;
  daedalus_gpu_submission **submissions = job->submissions.data;
  const int error = backend->route->wait(backend, submissions[index], timeout_ns);
  if (error != 0 && error != -ETIME && backend->was_reset && backend->copies_reset) {
    job->shadows.size = 0; /* what it is worth nobody knows, and what was to be kept is gone */
  }
  return error;
}

/** Those of one job; the ones before it have ended. */
static int look_at(daedalus_gpu_job *job, uint64_t timeout_ns) {
  while (job->n_done < job->submissions.size) {
    const int error = daedalus_rt_gpu_submission_wait(job, job->n_done, timeout_ns);
    if (error != 0) {
      return error;
    }
    job->n_done++;
    job->gpu->progress_ns = daedalus_rt_gpu_now();
    timeout_ns = 0;
  }
  return 0;
}

/**
 * Submissions up to the job's that have ended by now, in their order: what went wrong is to be seen
 * in the first that it befell.
 * @return 0 all, -ETIME some, or an error
 */
static int look(daedalus_gpu_job *job, uint64_t timeout_ns) {
  int error = 0;
  for (daedalus_gpu_job *each = job->gpu->in_flight; error == 0; each = each->next) {
    const size_t before = each->n_done;
    error = look_at(each, timeout_ns);
    timeout_ns = each->n_done != before ? 0 : timeout_ns; /* some of it has gone by */
    if (each == job) {
      break;
    }
  }
  return error;
}

/** Everything went well. */
static void complete(daedalus_gpu_job *job) {
  const daedalus_gpu_use *uses = job->uses.data;
  for (size_t i = 0; i < job->uses.size; i++) {
    if (uses[i].memory != NULL && uses[i].memory->staged) {
      uses[i].memory->newer = daedalus_gpu_together(uses[i].memory->newer, uses[i].writes);
    }
  }
  daedalus_rt_gpu_job_copy_back(job);
  daedalus_gpu_submission **submissions = job->submissions.data;
  uint64_t ns;
  daedalus_gpu_backend *backend = job->gpu->backend;
  if (job->timed && backend->route->elapsed(backend, submissions[0],
                                            submissions[job->submissions.size - 1], &ns) == 0) {
    job->gpu_time_ns += ns;
    job->measured = true;
  }
  daedalus_rt_gpu_job_release(job);
}

void daedalus_rt_gpu_finish_lost(daedalus_gpu *gpu) {
  while (gpu->in_flight != NULL && gpu->in_flight->whole &&
         gpu->in_flight->n_done == gpu->in_flight->submissions.size) {
    complete(gpu->in_flight);
  }
  if (gpu->in_flight != NULL && !gpu->backend->hung) {
    /* Losing a device need not stop what it had been given before. */
    for (daedalus_memory *memory = gpu->memories; memory != NULL; memory = memory->next) {
      daedalus_rt_gpu_memory_settle(memory);
    }
  }
  for (daedalus_gpu_job *job = gpu->in_flight_last; job != NULL; job = job->previous) {
    daedalus_rt_gpu_job_undo(job);
  }
  while (gpu->in_flight != NULL) {
    daedalus_gpu_job *job = gpu->in_flight;
    job->batch->error = daedalus_rt_gpu_job_rescue(job);
  }
}

bool daedalus_rt_gpu_any_progress(daedalus_gpu *gpu) {
  const uint64_t before = gpu->progress_ns;
  for (daedalus_gpu_job *job = gpu->in_flight; job != NULL; job = job->next) {
    if (look(job, 0) != 0) {
      break;
    }
  }
  return gpu->progress_ns != before;
}

/** Lets all that is in flight run to its end, whatever becomes of it. */
static void let_all_run_out(daedalus_gpu *gpu) {
  daedalus_gpu_backend *backend = gpu->backend;
  for (daedalus_gpu_job *job = gpu->in_flight; job != NULL; job = job->next) {
    for (size_t i = 0; i < job->submissions.size && !backend->lost; i++) {
      if (daedalus_rt_gpu_submission_wait(job, i, backend->timeout_ns) == -ETIME) {
        backend->lost = backend->hung = true;
      }
    }
  }
}

/**
 * After a submission that failed: the CPU does all that is in flight.  There is no way back from a
 * fence that failed; after a reset, which ends one job, the device goes on, unless it comes to that
 * again and again.
 */
static void end_failed(daedalus_gpu *gpu, int error) {
  daedalus_gpu_backend *backend = gpu->backend;
  const bool goes_on = !backend->lost && backend->was_reset && ++gpu->n_resets < resets_most;
  backend->lost = !goes_on;
  daedalus_rt_gpu_report(gpu, error);
  let_all_run_out(gpu);
  daedalus_rt_gpu_finish_lost(gpu);
}

int daedalus_rt_gpu_job_wait(daedalus_gpu_job *job, int64_t timeout_ns) {
  daedalus_gpu *gpu = job->gpu;
  const uint64_t begun = timeout_ns == 0 ? 0 : daedalus_rt_gpu_now();
  for (uint64_t slice = 0;;) {
    const int error = look(job, slice);
    if (error == 0) {
      complete(job);
      if (gpu->backend->lost) { /* by asking for the time that it took */
        daedalus_rt_gpu_report(gpu, -EIO);
        daedalus_rt_gpu_finish_lost(gpu);
      }
      return 0;
    }
    if (error != -ETIME) {
      end_failed(gpu, error);
      return 0;
    }
    const uint64_t now = daedalus_rt_gpu_now();
    if (now - gpu->progress_ns >= gpu->backend->timeout_ns && !daedalus_rt_gpu_any_progress(gpu)) {
      gpu->backend->lost = gpu->backend->hung = true;
      daedalus_rt_gpu_report(gpu, -ETIME);
      daedalus_rt_gpu_finish_lost(gpu);
      return 0;
    }
    const uint64_t waited = now - begun;
    if (timeout_ns >= 0 && (timeout_ns == 0 || waited >= (uint64_t)timeout_ns)) {
      return -ETIME;
    }
    const uint64_t since = now - gpu->progress_ns;
    slice = since < gpu->backend->timeout_ns ? gpu->backend->timeout_ns - since : 1;
    slice = slice < slice_most ? slice : slice_most;
    if (timeout_ns > 0 && (uint64_t)timeout_ns - waited < slice) {
      slice = (uint64_t)timeout_ns - waited;
    }
  }
}

bool daedalus_rt_gpu_jobs_conflict(const daedalus_gpu_job *earlier, const daedalus_gpu_use *uses,
                                   size_t n_uses) {
  const daedalus_gpu_use *theirs = earlier->uses.data;
  for (size_t i = 0; i < earlier->uses.size; i++) {
    for (size_t k = 0; k < n_uses; k++) {
      /* In place on the GPU on both sides, the order of the queue is enough. */
      if (theirs[i].memory != NULL && uses[k].memory != NULL && !uses[k].by_cpu) {
        continue;
      }
      if (daedalus_gpu_overlap(theirs[i].writes, uses[k].all) ||
          daedalus_gpu_overlap(theirs[i].all, uses[k].writes)) {
        return true;
      }
    }
  }
  return false;
}

void daedalus_rt_gpu_finish_conflicting(daedalus_gpu *gpu, const daedalus_gpu_use *uses,
                                        size_t n_uses) {
  daedalus_gpu_job *job = gpu->in_flight;
  while (job != NULL) {
    if (uses == NULL || daedalus_rt_gpu_jobs_conflict(job, uses, n_uses)) {
      daedalus_rt_gpu_job_wait(job, -1);
      job = gpu->in_flight; /* others may have ended with it */
    } else {
      job = job->next;
    }
  }
}
