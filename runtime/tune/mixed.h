/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scenario M4: threads that keep a CPU variant at work, each on a core, and a GPU variant that is
 * driven from a core; alone and at once.
 */
#ifndef DAEDALUS_TUNE_MIXED_H
#define DAEDALUS_TUNE_MIXED_H

#include "tune/child.h"
#include "tune/setup.h"

enum { MIXED_THREADS_MOST = 64 };

/* What came of it; figures are there only where the verdict is TUNE_OK. */
typedef struct mixed_outcome {
  tune_verdict verdict;
  char why[WHY_BYTES];
  double cpu_alone, cpu_with, qpu_alone, qpu_with; /* items a second */
  double cpu_time, cpu_time_alone; /* seconds of CPU for setup->items items of each kernel */
  unsigned samples, discarded;
} mixed_outcome;

typedef struct mixed_shared {
  child_watch watch;
  mixed_outcome outcome;
  atomic_bool done;
} mixed_shared;

typedef struct mixed_request {
  const tune_setup *setup;
  tune_point cpu, qpu;
  tune_point instead; /* the QPU's kernel on the CPU */
  unsigned threads;
  int cores[MIXED_THREADS_MOST]; /* of the threads */
  int qpu_core;
  double seconds; /* that both are at work at once, in all */
  mixed_shared *shared;
} mixed_request;

/*
 * Measures a mixed_request in slices, of which each has every part: at least as many as the setup
 * wants samples, and until `seconds` are over; for child_run().  Returns 0 once the outcome is
 * there.
 */
int mixed_measure(void *request);

#endif
