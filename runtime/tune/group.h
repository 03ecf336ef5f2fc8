/* SPDX-License-Identifier: BSD-2-Clause */
/* Measuring a group of points whatever becomes of the processes that do it. */
#ifndef DAEDALUS_TUNE_GROUP_H
#define DAEDALUS_TUNE_GROUP_H

#include "tune/measure.h"

/*
 * Measures points of one kernel, class and route, at most GROUP_MOST.  Where one crashes, hangs or
 * loses the GPU, the others go on without it, on the samples that setup->progress has of them.
 * @param keys  of the points' results
 * @param device_was_there  whether the route had one when the program began
 * @param record  called once a point, in the order in which they end; false ends it all
 * @return false when it was ended so, or the program is to stop
 */
bool group_run(const tune_setup *setup, const tune_point *const *points,
               const char (*keys)[ID_BYTES], size_t n, bool device_was_there,
               bool (*record)(void *user, const tune_point *point, const tune_outcome *outcome),
               void *user);

#endif
