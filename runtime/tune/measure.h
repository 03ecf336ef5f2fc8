/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measuring a group of points that can be compared: of one kernel, class and route, in turns, so
 * that what else the machine does falls on all alike; in a child process.
 */
#ifndef DAEDALUS_TUNE_MEASURE_H
#define DAEDALUS_TUNE_MEASURE_H

#include "tune/child.h"
#include "tune/journal.h"
#include "tune/setup.h"

enum { GROUP_MOST = 64 };

/* What came of a point.  Times are ns an item, and there only where the verdict is TUNE_OK. */
typedef struct tune_outcome {
  tune_verdict verdict;
  char why[WHY_BYTES];
  double median, mad, low, high, cpu;
  double empty;   /* ns of an empty call, or of a dispatch of one item */
  double gpu;     /* negative: the device has no clock */
  double seconds; /* that its samples took */
  unsigned samples, discarded;
  bool verified_before, verified_after;
} tune_outcome;

/* Shared by the child that measures and its parent. */
typedef struct tune_shared {
  child_watch watch; /* its steps: the point at hand, or -1 */
  atomic_bool done[GROUP_MOST];
  tune_outcome outcomes[GROUP_MOST]; /* the child's until done */
  char setting_up[WHY_BYTES];        /* why nothing could be measured */
} tune_shared;

typedef struct tune_group {
  const tune_setup *setup;
  const tune_point *points[GROUP_MOST];
  char keys[GROUP_MOST][ID_BYTES]; /* of their results */
  size_t n;
  tune_shared *shared;
} tune_group;

/*
 * How measure() ends.  MEASURE_LOST: a point's outcome says that the GPU is gone.  The last two,
 * with a text: the route's device is not there, or something else without which nothing can be
 * measured.
 */
enum { MEASURE_DONE = 0, MEASURE_LOST = 10, MEASURE_NO_DEVICE = 11, MEASURE_NO_PLACE = 12 };

/*
 * Measures the points of a tune_group that are not done, with the samples that setup->progress has
 * of them; for child_run().
 */
int measure(void *group);

#endif
