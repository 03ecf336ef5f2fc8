/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of one kernel, fake_add of fake_generated/, with CPU variants that do what variants must
 * not.  Each process counts a variant's calls from the start.
 */
#ifndef DAEDALUS_TESTS_TUNE_VARIANTS_H
#define DAEDALUS_TESTS_TUNE_VARIANTS_H

#include "tune/setup.h"

/* Calls on items that are right of a variant that goes wrong later; of the throttled ones. */
enum { RIGHT_CALLS = 6, THROTTLED_FIRST = 6, THROTTLED_LAST = 8 };
/* Calls on items that are right of "killed" before the system kills it; ms that "slow" takes. */
enum { CALLS_BEFORE_KILL = 4, SLOW_MS = 4 };
enum { GOOD_VARIANTS = 24, SLOW_VARIANTS = 8 };

/* A table with "good_00" ..., "slow_0" ... and what else is in variants.c; points name variants by
 * fake_point().
 */
const tune_world *fake_world(void);
/* "fake_add/full/daedalus_fake_add__c_NAME/<compiler>/-/0", in a buffer of its own a call. */
const char *fake_point(const char *name);

/* Whether "killed" is killed: as if there was no memory left. */
extern bool fake_no_memory;
/* The file of throttle flags that "throttled" writes while it runs; set before. */
extern char fake_flags[512];

#endif
