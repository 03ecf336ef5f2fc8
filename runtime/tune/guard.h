/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The environment guard: whether the machine runs at less than its full speed just now.
 *
 * What it looks at, where it is there:
 *   the firmware's flags of a Raspberry Pi (get_throttled below devices/platform, else the
 *   program vcgencmd): under-voltage, capped clock, throttled, soft temperature limit, now or since
 *   the look before;
 *   a thermal zone at or above one of its passive or hot trip points;
 *   a core under the governor "performance" whose clock is below 95 % of its highest, where the
 *   driver is cpufreq-dt, with which the clock that is read is the one that is set.
 */
#ifndef DAEDALUS_TUNE_GUARD_H
#define DAEDALUS_TUNE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { GUARD_PATH = 512, GUARD_WHY = 160, GUARD_TEXT = 256 };

typedef struct tune_guard {
  char sysfs[GUARD_PATH]; /* "/sys", or a test's */
  char flags[GUARD_PATH]; /* the file of the firmware's flags; "" without one */
  bool vcgencmd;          /* the program tells them */
  unsigned long said;     /* flags at the look before */
  bool was;               /* throttled at the look before */
} tune_guard;

/* Finds what there is, and takes the first look. */
void guard_open(tune_guard *guard, const char *sysfs);
/* Whether the machine was throttled since the look before, or at either.  @param[out] why */
bool guard_look(tune_guard *guard, char why[GUARD_WHY]);
/* Governor and highest clock of the cores, each pair once, and of V3D where told; "-" for none. */
void guard_clocks(const char *sysfs, char clocks[GUARD_TEXT]);
/* The first line of a file below sysfs, without what ends it.  @return false: it is not there */
bool guard_read(const char *sysfs, const char *path, char *text, size_t size);

#endif
