/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One side of M4: a variant that a thread runs back to back, for a while that several sides share.
 *
 * Nothing is compared or set back within that while.  So that every run has memory as it is meant
 * to be, a job has copies of its outputs, and takes a fresh one each run; all that were used are
 * compared afterwards.  Of a CPU variant one copy is used again where a second run leaves what the
 * first one did; of the GPU's never, as a dispatch that is dropped would not be seen then.
 */
#ifndef DAEDALUS_TUNE_JOB_H
#define DAEDALUS_TUNE_JOB_H

#include <pthread.h>
#include <stdatomic.h>

#include "tune/child.h"
#include "tune/execute.h"

/* What jobs at once share. */
typedef struct job_part {
  pthread_barrier_t start;
  _Atomic double end; /* ns by the clock: when the first job was done; 0: not yet */
  child_watch *watch;
  double seconds; /* a while of CPU jobs alone; 0: a GPU's job ends it */
} job_part;

typedef struct job {
  const tune_point *point;
  const tune_setup *setup;
  tune_runner runner;
  int core;
  workload *copies; /* the first has inputs, the others are its twins */
  size_t n_copies;
  bool repeats;    /* a run on what a run has left leaves the same */
  double run_ns;   /* the shortest run alone */
  size_t n_chunks; /* calls that a CPU variant does its items in */
  size_t runs;     /* of a GPU's job, after which the while is over */
  /* of the while at hand: */
  pthread_t thread;
  job_part *part;
  size_t chunk, used; /* calls so far of the copy at hand; copies that were begun */
  double began;       /* ns by the clock */
  double items, cpu;  /* done until the end, and ns of CPU that the thread has had for them */
  tune_verdict verdict;
  char why[WHY_BYTES];
} job;

/*
 * Opens the route, lays the items out and runs the variant on those of every file, compared; finds
 * out how long a run takes, and whether it can be repeated.
 * @return false with verdict and why
 */
bool job_open(job *j, const tune_setup *setup, child_watch *watch, const tune_point *point,
              int core);
/* Copies that a job needs to be at work for so many ns. */
size_t job_copies_for(const job *j, double ns);
/* Bytes of a copy. */
size_t job_copy_bytes(const job *j);
/* Makes the copies.  @return false with verdict and why */
bool job_copy(job *j, size_t n_copies);
void job_close(job *j);

/* A thread's work, of a job whose `part` is set: the while, then what it left is compared. */
void *job_work(void *job);

#endif
