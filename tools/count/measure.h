/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.h - how long pieces of work take.
 */
#ifndef DAEDALUS_COUNT_MEASURE_H
#define DAEDALUS_COUNT_MEASURE_H

#include "count.h"

/*
 * Writes to stdout: the pixels that a piece of work leaves; a line with the unit, "cycles" or "ns",
 * and the pieces of a round; and for each round a line: how long its pieces took, and how long as
 * many calls of a function that does nothing.  Rounds of both alternate; pictures are put back
 * outside of what is timed, and lie in the cache.  Returns 0; 1 when a later piece of work left
 * other pixels than the first one; 2 when stdout failed.
 */
int measure(const shape *form, any_fn *fn, long rounds);

#endif /* DAEDALUS_COUNT_MEASURE_H */
