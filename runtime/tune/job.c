/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "tune/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tune/samples.h"

/* ns that a call of a CPU variant takes at most, about: so soon it sees that the while is over. */
static const double CHUNK_NS = 1e6;
/* Runs that the time of one is the shortest of. */
enum { TRIALS = 5 };

static bool on_gpu(const job *j) {
  return j->runner.ctx != NULL;
}

static bool fail(job *j, tune_verdict verdict) {
  j->verdict = verdict;
  return false;
}

/* ---------------------------------------------------------------------------- preparing */

/* A run that is timed, with nothing compared. */
static bool trial(job *j, const workload *work) {
  tune_times times;
  const tune_verdict verdict =
      runner_run(&j->runner, work, j->point->variant, j->point->workgroup, &times, j->why);
  if (verdict != TUNE_OK) {
    return fail(j, verdict);
  }
  j->run_ns = fmin(j->run_ns, on_gpu(j) ? times.wall : times.cpu);
  return true;
}

/* On memory that a run has left right: whether another one does so too, and how long runs take. */
static bool try_out(job *j, workload *work, child_watch *watch) {
  char why[WHY_BYTES];
  j->run_ns = INFINITY;
  for (int i = 0; i < TRIALS; i++) {
    child_step(watch, 0);
    if (!trial(j, work)) {
      return false;
    }
    if (i == 0 && !on_gpu(j)) {
      j->repeats = work_intact(work, why, sizeof(why));
    }
    work_reset(work, true);
  }
  const double chunks = ceil(j->run_ns / CHUNK_NS);
  j->n_chunks = on_gpu(j) ? 1 : chunks < (double)work->n_items ? (size_t)chunks : work->n_items;
  j->n_chunks += j->n_chunks == 0;
  return true;
}

bool job_open(job *j, const tune_setup *setup, child_watch *watch, const tune_point *point,
              int core) {
  tune_times times;
  *j = (job){.point = point, .setup = setup, .core = core};
  child_step(watch, 0);
  if (!runner_open(&j->runner, setup, point->route, NULL, j->why)) {
    return fail(j, TUNE_UNAVAILABLE);
  }
  j->copies = allocate_zeroed(sizeof(*j->copies));
  j->n_copies = 1;
  for (size_t f = setup->n_files; f-- > 0;) { /* the first one's items stay */
    const sample_items *items = samples_of(&setup->files[f], point->kernel);
    work_free(j->copies);
    if (!runner_place(&j->runner, j->copies, items, point->class_index, setup->items, j->why)) {
      return fail(j, TUNE_UNAVAILABLE);
    }
    child_step(watch, 0);
    const tune_verdict verdict =
        runner_execute(&j->runner, j->copies, point->variant, point->workgroup, &times, j->why);
    if (verdict != TUNE_OK) {
      return fail(j, verdict);
    }
  }
  return try_out(j, j->copies, watch);
}

size_t job_copies_for(const job *j, double ns) {
  return j->repeats ? 1 : (size_t)ceil(ns / j->run_ns) + 1;
}

size_t job_copy_bytes(const job *j) {
  return work_twin_bytes(j->copies);
}

bool job_copy(job *j, size_t n_copies) {
  if (n_copies <= j->n_copies) {
    return true;
  }
  j->copies = enlarge(j->copies, n_copies * sizeof(*j->copies));
  for (; j->n_copies < n_copies; j->n_copies++) {
    workload *copy = &j->copies[j->n_copies];
    if (!work_twin(copy, &j->copies[0], j->runner.ctx, on_gpu(j))) {
      work_free(copy);
      snprintf(j->why, sizeof(j->why), "no memory for %zu copies of %zu items", n_copies,
               j->setup->items);
      return fail(j, TUNE_UNAVAILABLE);
    }
  }
  return true;
}

void job_close(job *j) {
  for (size_t i = j->n_copies; i-- > 0;) {
    work_free(&j->copies[i]);
  }
  free(j->copies);
  runner_close(&j->runner);
}

/* -------------------------------------------------------------------------------- a while */

/* The next call of a CPU variant, or run of a GPU's.  @return the items done; 0: it failed */
static size_t next_call(job *j) {
  const workload *work = &j->copies[j->used - 1];
  if (on_gpu(j)) {
    tune_times times;
    child_step(j->part->watch, 0);
    j->verdict =
        runner_run(&j->runner, work, j->point->variant, j->point->workgroup, &times, j->why);
    j->chunk = j->n_chunks;
    return j->verdict == TUNE_OK ? work->n_items : 0;
  }
  const size_t first = work->n_items * j->chunk / j->n_chunks;
  const size_t end = work->n_items * ++j->chunk / j->n_chunks;
  runner_call(&j->runner, work, j->point->variant, first, end - first);
  return end - first;
}

/* Whether there is memory for another call. */
static bool has_memory(job *j) {
  if (j->used != 0 && j->chunk < j->n_chunks) {
    return true;
  }
  if (j->used == j->n_copies && !j->repeats) {
    return false;
  }
  j->used = j->used == j->n_copies ? 1 : j->used + 1;
  j->chunk = 0;
  return true;
}

/* Ends the while, unless another job has. */
static void end_at(job_part *part, double now) {
  double open = 0;
  (void)atomic_compare_exchange_strong(&part->end, &open, now);
}

/* Whether this job is the one that ends the while. */
static bool is_last(const job *j, size_t runs, double now) {
  if (on_gpu(j)) {
    return runs == j->runs;
  }
  return j->part->seconds > 0 && now - j->began >= 1e9 * j->part->seconds;
}

/* Back to back until some job ends it; of what is at hand then, the share until then counts. */
static void go(job *j) {
  size_t runs = 0;
  double cpu = thread_ns(), now = now_ns();
  j->began = now;
  while (atomic_load(&j->part->end) == 0 && has_memory(j)) {
    const size_t done = next_call(j);
    if (done == 0) {
      break;
    }
    const double begin = now, cpu_before = cpu;
    if (j->part->seconds > 0) { /* of such a part the QPU's job tells no steps */
      child_step(j->part->watch, 0);
    }
    now = now_ns();
    cpu = thread_ns();
    const double end = atomic_load(&j->part->end);
    const double share = end == 0 ? 1 : fmin(fmax((end - begin) / (now - begin), 0), 1);
    j->items += share * (double)done;
    j->cpu += share * (cpu - cpu_before);
    if (is_last(j, ++runs, now)) {
      break;
    }
  }
  end_at(j->part, now);
}

/* Does the rest of the copy at hand, and compares all that were used. */
static void verify(job *j) {
  while (j->chunk < j->n_chunks && j->used != 0) {
    (void)next_call(j);
  }
  const size_t n = j->repeats && j->used != 0 ? j->n_copies : j->used;
  for (size_t i = 0; i < n && j->verdict == TUNE_OK; i++) {
    child_step(j->part->watch, 0);
    if (!work_intact(&j->copies[i], j->why, sizeof(j->why))) {
      j->verdict = TUNE_WRONG;
    }
  }
}

void *job_work(void *context) {
  job *j = context;
  const size_t n_spoilt = j->repeats ? j->n_copies : j->used;
  j->items = j->cpu = 0;
  if (!runner_pin(j->core)) {
    j->verdict = TUNE_UNAVAILABLE;
    snprintf(j->why, sizeof(j->why), "no thread can be kept on core %d", j->core);
  }
  for (size_t i = 0; i < n_spoilt; i++) {
    child_step(j->part->watch, 0);
    work_reset(&j->copies[i], true);
  }
  j->chunk = j->used = 0;
  pthread_barrier_wait(&j->part->start);
  if (j->verdict != TUNE_OK) {
    end_at(j->part, now_ns());
    return NULL;
  }
  go(j);
  if (j->verdict == TUNE_OK) {
    verify(j);
  }
  return NULL;
}
