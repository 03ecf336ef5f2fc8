/* SPDX-License-Identifier: BSD-2-Clause */
/* The calendar of a resource against one that looks at each unit of time. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "simulator/timing/calendar.h"

static void gaps(void) {
  static v3d_calendar c;
  daedalus_v3d_calendar_clear(&c);
  CHECK_INT(daedalus_v3d_calendar_take(&c, 100, 10), 100);
  CHECK_INT(daedalus_v3d_calendar_take(&c, 100, 10), 110);
  /* Asked later, for an earlier time. */
  CHECK_INT(daedalus_v3d_calendar_take(&c, 50, 40), 50);
  CHECK_INT(daedalus_v3d_calendar_take(&c, 50, 20), 120); /* 90..100 is too short */
  CHECK_INT(daedalus_v3d_calendar_take(&c, 50, 10), 90);
  CHECK_INT(c.n, 1); /* all joined */
  CHECK_INT(daedalus_v3d_calendar_take(&c, 45, 0), 45);
  CHECK_INT(daedalus_v3d_calendar_take(&c, 0, 50), 0);
  CHECK_INT(daedalus_v3d_calendar_take(&c, 0, 1), 140);
}

/* Requests in disorder, as far back as no interval is forgotten. */
static void disorder(void) {
  enum { TIME = 4096, REQUESTS = 400 };
  static v3d_calendar c;
  static char taken[2 * TIME];
  uint32_t seed = 1;
  unsigned joined = 0;
  for (unsigned round = 0; round < 50; round++) {
    daedalus_v3d_calendar_clear(&c);
    memset(taken, 0, sizeof taken);
    for (unsigned i = 0; i < REQUESTS && !c.floor; i++) {
      seed = seed * 1664525 + 1013904223;
      const unsigned from = seed >> 8 & (TIME - 1), length = 1 + (seed >> 24) % 24;
      unsigned expected = from, free = 0;
      for (unsigned at = from; free < length; at++) {
        free = taken[at] ? 0 : free + 1;
        expected = at + 1 - free;
      }
      CHECK_INT(daedalus_v3d_calendar_take(&c, from, length), expected);
      memset(taken + expected, 1, length);
      joined += c.n < i;
    }
  }
  CHECK(joined > 0);
}

/* With more intervals than are kept, nothing is given twice. */
static void forgetting(void) {
  static v3d_calendar c;
  daedalus_v3d_calendar_clear(&c);
  for (unsigned i = 0; i < 3 * V3D_CALENDAR_ENTRIES; i++)
    CHECK_INT(daedalus_v3d_calendar_take(&c, 10 * i, 1), 10 * i);
  CHECK_INT(c.n, V3D_CALENDAR_ENTRIES);
  CHECK_INT(c.floor, 10 * (2 * V3D_CALENDAR_ENTRIES - 1) + 1);
  const uint64_t floor = c.floor;
  CHECK_INT(daedalus_v3d_calendar_take(&c, 0, 1), floor);
  CHECK(daedalus_v3d_calendar_take(&c, 0, 1) > floor);
}

int main(void) {
  RUN(gaps);
  RUN(disorder);
  RUN(forgetting);
  return CHECK_RESULT();
}
