/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "tune/mixed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tune/guard.h"
#include "tune/job.h"
#include "tune/samples.h"

/* A while lasts so long where memory allows for it, and as many runs of the QPU. */
static const double WHILE_NS = 5e7;
enum { RUNS_LEAST = 4, RUNS_MOST = 64 };
/* A throttled machine is given up on when so many times the slices wanted were run. */
enum { MOST_TRIES = 3 };
/* Copies that only tell what the CPU takes for the QPU's kernel. */
enum { INSTEAD_MOST = 8 };
/* Both at once are slower than each alone, by which a while is planned. */
static const double SLOWER = 1.5;

/* Of a slice: items a second, and seconds of CPU. */
enum { CPU_RATE, CPU_WITH, QPU_RATE, QPU_WITH, TIME_WITH, TIME_ALONE, FIGURES };

typedef struct mix {
  const mixed_request *request;
  job *cpu, *instead; /* a thread each */
  job qpu;
  double seconds;  /* a while of the CPU alone */
  double ns;       /* that the last part took, from the first job's beginning to the end */
  double measured; /* ns that both were at work for in all slices that count */
  samples figures[FIGURES];
} mix;

static bool fail(const mixed_request *r, const job *j) {
  r->shared->outcome.verdict = j->verdict;
  snprintf(r->shared->outcome.why, WHY_BYTES, "%.200s: %.300s", j->point->variant->name, j->why);
  return false;
}

/* -------------------------------------------------------------------------------- a part */

/* Runs jobs at once, each in a thread.  @return false where one was not TUNE_OK */
static bool run_part(mix *m, job *cpu, unsigned n_cpu, job *qpu) {
  const mixed_request *r = m->request;
  job *all[MIXED_THREADS_MOST + 1];
  unsigned n = 0, begun = 0;
  for (unsigned i = 0; i < n_cpu; i++) {
    all[n++] = &cpu[i];
  }
  if (qpu != NULL) {
    all[n++] = qpu;
  }
  job_part part = {.watch = &r->shared->watch, .seconds = qpu == NULL ? m->seconds : 0};
  child_step(part.watch, 0);
  pthread_barrier_init(&part.start, NULL, n);
  for (; begun < n; begun++) {
    all[begun]->part = &part;
    if (pthread_create(&all[begun]->thread, NULL, job_work, all[begun]) != 0) {
      exit(CHILD_NO_MEMORY); /* those that were begun wait for it for ever */
    }
  }
  bool good = true;
  double began = INFINITY;
  for (unsigned i = 0; i < n; i++) {
    pthread_join(all[i]->thread, NULL);
    good = good && (all[i]->verdict == TUNE_OK || fail(r, all[i]));
    began = fmin(began, all[i]->began);
  }
  m->ns = atomic_load(&part.end) - began;
  pthread_barrier_destroy(&part.start);
  return good;
}

/* Items a second of jobs, by the clock, in the while that the last part had; 0: none was done. */
static double rate(const mix *m, const job *jobs, unsigned n) {
  double items = 0;
  for (unsigned i = 0; i < n; i++) {
    items += jobs[i].items;
  }
  return items / m->ns * 1e9;
}

/* Seconds of CPU for as many items as a sample has. */
static double cpu_seconds(const mix *m, const job *jobs, unsigned n) {
  double ns = 0, items = 0;
  for (unsigned i = 0; i < n; i++) {
    ns += jobs[i].cpu;
    items += jobs[i].items;
  }
  return items != 0 ? ns / items * (double)m->request->setup->items * 1e-9 : 0;
}

/* Every part once.  @param[out] figures  of this slice, 0 where nothing was got done */
static bool slice(mix *m, double figures[FIGURES]) {
  const unsigned n = m->request->threads;
  if (!run_part(m, m->cpu, n, NULL)) {
    return false;
  }
  figures[CPU_RATE] = rate(m, m->cpu, n);
  const double alone = cpu_seconds(m, m->cpu, n);
  if (!run_part(m, m->instead, n, NULL)) {
    return false;
  }
  figures[TIME_ALONE] = alone + cpu_seconds(m, m->instead, n);
  if (!run_part(m, NULL, 0, &m->qpu)) {
    return false;
  }
  figures[QPU_RATE] = rate(m, &m->qpu, 1);
  if (!run_part(m, m->cpu, n, &m->qpu)) {
    return false;
  }
  figures[CPU_WITH] = rate(m, m->cpu, n);
  figures[QPU_WITH] = rate(m, &m->qpu, 1);
  figures[TIME_WITH] = cpu_seconds(m, m->cpu, n) + cpu_seconds(m, &m->qpu, 1);
  return true;
}

/* ------------------------------------------------------------------------------- set up */

static bool open_all(mix *m) {
  const mixed_request *r = m->request;
  child_watch *watch = &r->shared->watch;
  m->cpu = allocate_zeroed(r->threads * sizeof(*m->cpu));
  m->instead = allocate_zeroed(r->threads * sizeof(*m->instead));
  for (unsigned i = 0; i < r->threads; i++) {
    if (!job_open(&m->cpu[i], r->setup, watch, &r->cpu, r->cores[i])) {
      return fail(r, &m->cpu[i]);
    }
    if (!job_open(&m->instead[i], r->setup, watch, &r->instead, r->cores[i])) {
      return fail(r, &m->instead[i]);
    }
  }
  return job_open(&m->qpu, r->setup, watch, &r->qpu, r->qpu_core) || fail(r, &m->qpu);
}

/* Copies of a job for a while of so many runs of the QPU. */
static size_t copies(const mix *m, const job *j, size_t runs) {
  const double ns = SLOWER * (double)runs * m->qpu.run_ns;
  return j == &m->qpu ? runs : job_copies_for(j, ns);
}

static size_t copies_instead(const mix *m, const job *j, size_t runs) {
  const size_t n = copies(m, j, runs);
  return n < INSTEAD_MOST ? n : INSTEAD_MOST;
}

/* Bytes of all copies. */
static double bytes_for(const mix *m, size_t runs) {
  double bytes = (double)copies(m, &m->qpu, runs) * (double)job_copy_bytes(&m->qpu);
  for (unsigned i = 0; i < m->request->threads; i++) {
    bytes +=
        (double)copies(m, &m->cpu[i], runs) * (double)job_copy_bytes(&m->cpu[i]) +
        (double)copies_instead(m, &m->instead[i], runs) * (double)job_copy_bytes(&m->instead[i]);
  }
  return bytes;
}

/* How long a while is, and memory for it: a quarter of the machine's at most. */
static bool copy_all(mix *m) {
  const mixed_request *r = m->request;
  const double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 4;
  const double wanted = ceil(WHILE_NS / m->qpu.run_ns);
  size_t runs = wanted < RUNS_LEAST ? RUNS_LEAST : wanted > RUNS_MOST ? RUNS_MOST : (size_t)wanted;
  while (runs > 1 && bytes_for(m, runs) > most) {
    runs--;
  }
  if (bytes_for(m, runs) > most) {
    r->shared->outcome.verdict = TUNE_REFUSED;
    snprintf(r->shared->outcome.why, WHY_BYTES,
             "while the QPU does %zu items the CPU does so many that it takes %.0f MB of buffers, "
             "of at most %.0f: fewer --items",
             r->setup->items, bytes_for(m, runs) / 1e6, most / 1e6);
    return false;
  }
  m->qpu.runs = runs;
  m->seconds = (double)runs * m->qpu.run_ns * 1e-9;
  if (!job_copy(&m->qpu, copies(m, &m->qpu, runs))) {
    return fail(r, &m->qpu);
  }
  for (unsigned i = 0; i < r->threads; i++) {
    if (!job_copy(&m->cpu[i], copies(m, &m->cpu[i], runs))) {
      return fail(r, &m->cpu[i]);
    }
    if (!job_copy(&m->instead[i], copies_instead(m, &m->instead[i], runs))) {
      return fail(r, &m->instead[i]);
    }
  }
  return true;
}

static void tidy(mix *m) {
  for (unsigned i = 0; i < m->request->threads; i++) {
    job_close(&m->cpu[i]);
    job_close(&m->instead[i]);
  }
  job_close(&m->qpu);
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

/* Whether every job got something done in each part. */
static bool complete(const double figures[FIGURES]) {
  for (int f = 0; f <= QPU_WITH; f++) {
    if (figures[f] <= 0) {
      return false;
    }
  }
  return true;
}

/* Whether more has to be run: of slices, of both at work, or of slices not discarded. */
static bool wanting(const mix *m) {
  const mixed_request *r = m->request;
  const size_t kept = m->figures[CPU_RATE].n;
  return kept < r->setup->samples || r->shared->outcome.discarded > kept ||
         m->measured < 1e9 * r->seconds;
}

/* Counts a slice that was run while the machine was throttled.  @return false: it is the last, as
   more were discarded than kept after three times as many as are wanted */
static bool discard(mix *m, const char *why) {
  mixed_outcome *o = &m->request->shared->outcome;
  const size_t kept = m->figures[CPU_RATE].n, all = kept + ++o->discarded;
  if (o->discarded > kept && all >= (size_t)MOST_TRIES * m->request->setup->samples) {
    o->verdict = TUNE_THROTTLED;
    snprintf(o->why, sizeof(o->why),
             "%u of %zu slices were run while the machine was throttled: %s", o->discarded, all,
             why);
    return false;
  }
  child_step(&m->request->shared->watch, 0);
  wait_for(m->request->setup->cool_down);
  return true;
}

/* Until both were at work for as long as is wanted, and there are enough slices; or too many of
   these were of no use. */
static bool run_slices(mix *m, tune_guard *guard) {
  const tune_setup *setup = m->request->setup;
  mixed_outcome *o = &m->request->shared->outcome;
  char why[GUARD_WHY];
  unsigned short_ones = 0;
  while (wanting(m)) {
    double figures[FIGURES];
    if (!slice(m, figures)) {
      return false;
    }
    if (guard_look(guard, why)) {
      if (!discard(m, why)) {
        return false;
      }
    } else if (complete(figures)) {
      for (int f = 0; f < FIGURES; f++) {
        samples_add(&m->figures[f], figures[f]);
      }
      m->measured += m->ns; /* of the last part, that of both */
    } else if (++short_ones > setup->samples) {
      o->verdict = TUNE_UNAVAILABLE;
      snprintf(o->why, sizeof(o->why),
               "in %u slices one side had no run done while the other was "
               "at work: something else kept it from its core",
               short_ones);
      return false;
    }
  }
  return true;
}

int mixed_measure(void *context) {
  const mixed_request *request = context;
  mix m = {.request = request};
  tune_guard guard;
  guard_open(&guard, request->setup->sysfs);
  if (open_all(&m) && copy_all(&m) && run_slices(&m, &guard)) {
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
