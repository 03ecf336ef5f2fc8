/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.h - how long pieces of work take.
 */
#ifndef DAEDALUS_COUNT_MEASURE_H
#define DAEDALUS_COUNT_MEASURE_H

#include "count.h"

/* A function, and how it is called. */
typedef struct contender {
  const shape *form;
  any_fn *fn;
} contender;

/*
 * Measures two functions in turn.  Writes to stdout: the pixels that a piece of work of ours
 * leaves, and of theirs; a line with the unit, "cycles" or "ns", and the pieces of a round; and for
 * each round a line: how long the pieces of ours took, and how long as many calls of a function
 * that does nothing, then the same of theirs.  Pictures lie in the cache.  They are put back
 * outside of what is timed; in rounds of nanoseconds, which take 20 microseconds or more and so do
 * the same pieces again, also within, in the calls of nothing alike.  Returns 0; 1 when a later
 * piece of work left other pixels than the same function's first one; 2 when stdout failed.
 */
int measure(const contender *ours, const contender *theirs, long rounds);

#endif /* DAEDALUS_COUNT_MEASURE_H */
