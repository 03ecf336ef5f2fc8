/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "tune/mixed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tune/execute.h"
#include "tune/guard.h"
#include "tune/samples.h"

/* One thread's work: a variant on memory of its own. */
typedef struct job {
  const tune_point *point;
  tune_runner runner;
  workload work;
  int core;
  /* of the part at hand: */
  pthread_t thread;
  pthread_barrier_t *start;
  double seconds;
  double items, wall, cpu; /* items done; ns that they took, and of the thread's CPU */
  tune_verdict verdict;
  char why[WHY_BYTES];
} job;

/* Of a slice: items a second, and seconds of CPU. */
enum { CPU_RATE, CPU_WITH, QPU_RATE, QPU_WITH, TIME_WITH, TIME_ALONE, FIGURES };

typedef struct mix {
  const mixed_request *request;
  job *cpu, *instead; /* a thread each */
  job qpu;
  samples figures[FIGURES];
} mix;

/* -------------------------------------------------------------------------------- a part */

static void *work_on(void *context) {
  job *j = context;
  tune_times times;
  j->items = j->wall = j->cpu = 0;
  if (!runner_pin(j->core)) {
    j->verdict = TUNE_REFUSED;
    snprintf(j->why, sizeof(j->why), "no thread can be kept on core %d", j->core);
  }
  pthread_barrier_wait(j->start);
  const double end = now_ns() + 1e9 * j->seconds;
  while (j->verdict == TUNE_OK && (j->items == 0 || now_ns() < end)) {
    j->verdict = runner_execute(&j->runner, &j->work, j->point->variant, j->point->workgroup,
                                &times, j->why);
    j->items += (double)j->work.n_items;
    j->wall += times.wall;
    j->cpu += times.cpu;
  }
  return NULL;
}

/* Runs jobs at once, each in a thread.  @return false where one was not TUNE_OK */
static bool run_part(mix *m, job *cpu, unsigned n_cpu, job *qpu) {
  pthread_barrier_t start;
  job *all[MIXED_THREADS_MOST + 1];
  unsigned n = 0;
  bool good = true;
  for (unsigned i = 0; i < n_cpu; i++) {
    all[n++] = &cpu[i];
  }
  if (qpu != NULL) {
    all[n++] = qpu;
  }
  child_step(&m->request->shared->watch, 0);
  pthread_barrier_init(&start, NULL, n);
  for (unsigned i = 0; i < n; i++) {
    all[i]->start = &start;
    all[i]->seconds = m->request->seconds / m->request->setup->samples;
    if (pthread_create(&all[i]->thread, NULL, work_on, all[i]) != 0) {
      die("no thread", "");
    }
  }
  for (unsigned i = 0; i < n; i++) {
    pthread_join(all[i]->thread, NULL);
    if (all[i]->verdict != TUNE_OK && good) {
      mixed_outcome *outcome = &m->request->shared->outcome;
      outcome->verdict = all[i]->verdict;
      snprintf(outcome->why, sizeof(outcome->why), "%.200s: %.300s", all[i]->point->variant->name,
               all[i]->why);
      good = false;
    }
  }
  pthread_barrier_destroy(&start);
  return good;
}

/* Items a second of all, each by the time that it was at work. */
static double rate(const job *jobs, unsigned n) {
  double sum = 0;
  for (unsigned i = 0; i < n; i++) {
    sum += jobs[i].items / jobs[i].wall * 1e9;
  }
  return sum;
}

/* Seconds of CPU for as many items as a sample has. */
static double cpu_seconds(const mix *m, const job *jobs, unsigned n) {
  double ns = 0, items = 0;
  for (unsigned i = 0; i < n; i++) {
    ns += jobs[i].cpu;
    items += jobs[i].items;
  }
  return ns / items * (double)m->request->setup->items * 1e-9;
}

/* Every part once, shortly.  @param[out] figures  of this slice */
static bool slice(mix *m, double figures[FIGURES]) {
  const unsigned n = m->request->threads;
  if (!run_part(m, m->cpu, n, NULL)) {
    return false;
  }
  figures[CPU_RATE] = rate(m->cpu, n);
  figures[TIME_ALONE] = cpu_seconds(m, m->cpu, n);
  if (!run_part(m, m->instead, n, NULL)) {
    return false;
  }
  figures[TIME_ALONE] += cpu_seconds(m, m->instead, n);
  if (!run_part(m, NULL, 0, &m->qpu)) {
    return false;
  }
  figures[QPU_RATE] = rate(&m->qpu, 1);
  if (!run_part(m, m->cpu, n, &m->qpu)) {
    return false;
  }
  figures[CPU_WITH] = rate(m->cpu, n);
  figures[QPU_WITH] = rate(&m->qpu, 1);
  figures[TIME_WITH] = cpu_seconds(m, m->cpu, n) + cpu_seconds(m, &m->qpu, 1);
  return true;
}

/* ------------------------------------------------------------------------------- set up */

static bool fail(const mixed_request *r, tune_verdict verdict, const job *j) {
  r->shared->outcome.verdict = verdict;
  snprintf(r->shared->outcome.why, WHY_BYTES, "%.200s: %.300s", j->point->variant->name, j->why);
  return false;
}

/* Opens a job's place and runs it once on the items of every file, the first one's last. */
static bool prepare(const mixed_request *r, job *j, const tune_point *point, int core) {
  tune_times times;
  j->point = point;
  j->core = core;
  child_step(&r->shared->watch, 0);
  if (!runner_open(&j->runner, r->setup, point->route, NULL, j->why)) {
    return fail(r, TUNE_REFUSED, j);
  }
  for (size_t f = r->setup->n_files; f-- > 0;) {
    const sample_items *items = samples_of(&r->setup->files[f], point->kernel);
    if (!runner_place(&j->runner, &j->work, items, point->class_index, r->setup->items, j->why)) {
      return fail(r, TUNE_REFUSED, j);
    }
    child_step(&r->shared->watch, 0);
    const tune_verdict verdict =
        runner_execute(&j->runner, &j->work, point->variant, point->workgroup, &times, j->why);
    if (verdict != TUNE_OK) {
      return fail(r, verdict, j);
    }
    if (f != 0) {
      work_free(&j->work);
    }
  }
  return true;
}

static bool prepare_all(mix *m) {
  const mixed_request *r = m->request;
  m->cpu = allocate_zeroed(r->threads * sizeof(*m->cpu));
  m->instead = allocate_zeroed(r->threads * sizeof(*m->instead));
  for (unsigned i = 0; i < r->threads; i++) {
    if (!prepare(r, &m->cpu[i], &r->cpu, r->cores[i]) ||
        !prepare(r, &m->instead[i], &r->instead, r->cores[i])) {
      return false;
    }
  }
  return prepare(r, &m->qpu, &r->qpu, r->qpu_core);
}

static void tidy(mix *m) {
  for (unsigned i = 0; i < m->request->threads; i++) {
    work_free(&m->cpu[i].work);
    runner_close(&m->cpu[i].runner);
    work_free(&m->instead[i].work);
    runner_close(&m->instead[i].runner);
  }
  work_free(&m->qpu.work);
  runner_close(&m->qpu.runner);
  free(m->cpu);
  free(m->instead);
}

/* --------------------------------------------------------------------------------- slices */

static void wait_for(double seconds) {
  const struct timespec pause = {.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&pause, NULL);
}

static void conclude(mix *m) {
  mixed_outcome *o = &m->request->shared->outcome;
  o->cpu_alone = samples_quantile(&m->figures[CPU_RATE], 0.5);
  o->cpu_with = samples_quantile(&m->figures[CPU_WITH], 0.5);
  o->qpu_alone = samples_quantile(&m->figures[QPU_RATE], 0.5);
  o->qpu_with = samples_quantile(&m->figures[QPU_WITH], 0.5);
  o->cpu_time = samples_quantile(&m->figures[TIME_WITH], 0.5);
  o->cpu_time_alone = samples_quantile(&m->figures[TIME_ALONE], 0.5);
  o->samples = (unsigned)m->figures[CPU_RATE].n;
  o->verdict = TUNE_OK;
}

/* Until there are enough slices, or as many again were discarded. */
static bool run_slices(mix *m, tune_guard *guard) {
  const tune_setup *setup = m->request->setup;
  mixed_outcome *o = &m->request->shared->outcome;
  char throttled[GUARD_WHY];
  while (m->figures[CPU_RATE].n < setup->samples) {
    double figures[FIGURES];
    if (!slice(m, figures)) {
      return false;
    }
    if (!guard_look(guard, throttled)) {
      for (int f = 0; f < FIGURES; f++) {
        samples_add(&m->figures[f], figures[f]);
      }
      continue;
    }
    if (++o->discarded > setup->samples) {
      o->verdict = TUNE_THROTTLED;
      snprintf(o->why, sizeof(o->why), "%u slices were run while the machine was throttled: %s",
               o->discarded, throttled);
      return false;
    }
    child_step(&m->request->shared->watch, 0);
    wait_for(setup->cool_down);
  }
  return true;
}

int mixed_measure(void *context) {
  const mixed_request *request = context;
  mix m = {.request = request};
  tune_guard guard;
  guard_open(&guard, request->setup->sysfs);
  if (prepare_all(&m) && run_slices(&m, &guard)) {
    conclude(&m);
  }
  const bool lost = request->shared->outcome.verdict == TUNE_LOST;
  atomic_store(&request->shared->done, true);
  if (!lost) {
    tidy(&m);
  }
  for (int f = 0; f < FIGURES; f++) {
    samples_free(&m.figures[f]);
  }
  return 0;
}
