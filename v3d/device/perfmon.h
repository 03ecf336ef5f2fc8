/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Performance monitors: sums of counters over the jobs that name one.  The counters are those of
 * the hardware, in the kernel's order; the timing model fills some of them.
 */
#ifndef DAEDALUS_V3D_DEVICE_PERFMON_H
#define DAEDALUS_V3D_DEVICE_PERFMON_H

#include "call.h"

struct dev_perfmon {
  unsigned refs;
  uint32_t n;
  uint8_t counters[ABI_MAX_COUNTERS];
  uint64_t values[ABI_MAX_COUNTERS];
};

void dev_perfmon_unref(struct dev_perfmon *perfmon);

/* A reference to the client's monitor; NULL: it has none of that number. */
struct dev_perfmon *dev_perfmon_get(const struct dev_client *client, uint32_t id);

/* The job has ended: what it did goes into its monitor. */
void dev_perfmon_add(const struct dev_job *job);

/* Performance queries of CPU jobs: reading the extension into the job, and running it. */
int dev_perf_read(struct dev_call *call, uint64_t address, struct dev_job *job);
int dev_perf_run(struct dev_job *job);

/* -- counters.c -- */

struct dev_counter {
  const char *category, *name;
  /* What the times of a job say of it; NULL: they say nothing, and it cannot be monitored. */
  uint64_t (*value)(const daedalus_v3d_times *times);
};

enum { DEV_N_COUNTERS = 93 };
extern const struct dev_counter dev_counters[DEV_N_COUNTERS];

#endif
