/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator/timing/calendar.h"

#include <string.h>

void daedalus_v3d_calendar_clear(v3d_calendar *calendar) {
  calendar->floor = 0;
  calendar->first = calendar->n = 0;
}

/* The first of the intervals that ends after `from`; n: none. */
static unsigned search(const v3d_taken *taken, unsigned n, uint64_t from) {
  unsigned low = 0, high = n;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (taken[middle].to <= from)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Puts [start, end), which touches no other, before interval i. */
static void insert_new(v3d_calendar *calendar, unsigned i, uint64_t start, uint64_t end) {
  if (calendar->n == V3D_CALENDAR_ENTRIES) {
    calendar->floor = calendar->taken[calendar->first].to;
    calendar->first++;
    calendar->n--;
    if (!i)
      return; /* it lies before the floor now */
    i--;
  }
  if (calendar->first + calendar->n == 2 * V3D_CALENDAR_ENTRIES) {
    memmove(calendar->taken, calendar->taken + calendar->first,
            calendar->n * sizeof *calendar->taken);
    calendar->first = 0;
  }
  v3d_taken *taken = calendar->taken + calendar->first;
  memmove(taken + i + 1, taken + i, (calendar->n - i) * sizeof *taken);
  taken[i] = (v3d_taken){start, end};
  calendar->n++;
}

/* Puts [start, end) before interval i, joined with what it touches. */
static void insert(v3d_calendar *calendar, unsigned i, uint64_t start, uint64_t end) {
  v3d_taken *taken = calendar->taken + calendar->first;
  const unsigned n = calendar->n;
  const int before = i > 0 && taken[i - 1].to == start, after = i < n && taken[i].from == end;
  if (before && after) {
    taken[i - 1].to = taken[i].to;
    memmove(taken + i, taken + i + 1, (n - i - 1) * sizeof *taken);
    calendar->n--;
  } else if (before) {
    taken[i - 1].to = end;
  } else if (after) {
    taken[i].from = start;
  } else {
    insert_new(calendar, i, start, end);
  }
}

uint64_t daedalus_v3d_calendar_take(v3d_calendar *calendar, uint64_t from, uint64_t length) {
  const v3d_taken *taken = calendar->taken + calendar->first;
  uint64_t start = from > calendar->floor ? from : calendar->floor;
  if (!length)
    return start;
  unsigned i = calendar->n;
  if (i && start < taken[i - 1].to)
    i = search(taken, i, start);
  for (; i < calendar->n && taken[i].from < start + length; i++)
    start = taken[i].to > start ? taken[i].to : start;
  insert(calendar, i, start, start + length);
  return start;
}
