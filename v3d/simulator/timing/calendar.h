/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a resource that serves one request at a time is taken.  Requests come in any order of time:
 * one that comes later, but for an earlier time, gets a gap that was left.
 */
#ifndef DAEDALUS_V3D_TIMING_CALENDAR_H
#define DAEDALUS_V3D_TIMING_CALENDAR_H

#include <stdint.h>

/** Intervals that are remembered; what lies before the oldest of them counts as taken. */
enum { V3D_CALENDAR_ENTRIES = 128 };

typedef struct v3d_taken {
  uint64_t from, to;
} v3d_taken;

typedef struct v3d_calendar {
  uint64_t floor; /**< nothing is free before. */
  unsigned first, n;
  v3d_taken taken[2 * V3D_CALENDAR_ENTRIES]; /**< from first on; disjoint, in the order of time. */
} v3d_calendar;

/** All of time is free. */
void daedalus_v3d_calendar_clear(v3d_calendar *calendar);

/** Takes the first `length` units in a row that are free from `from` on. Returns where they begin.
 */
uint64_t daedalus_v3d_calendar_take(v3d_calendar *calendar, uint64_t from, uint64_t length);

#endif
