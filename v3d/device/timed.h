/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modelled time: what jobs take by the timing model, and the clock that timestamps show then.
 *
 * The clock is the device's alone.  It begins at CLOCK_MONOTONIC of the device's start; each
 * compute job that ends moves it on by what its dispatch takes by the model, and by what a fault
 * made it wait.  Nothing else does: neither time that passes nor command lists, of which there is
 * no model.
 */
#ifndef DAEDALUS_V3D_DEVICE_TIMED_H
#define DAEDALUS_V3D_DEVICE_TIMED_H

#include "device.h"

/* What the model says of a job. */
struct dev_modelled {
  daedalus_v3d_report report;
  bool has_interval;
  daedalus_v3d_timing timing; /* of has_interval */
  uint64_t begin_ns, end_ns;  /* by the device's clock */
};

/* Whether the device's jobs are timed, and its executor can. */
bool dev_is_timed(const struct dev_device *device);

/* Runs csd, which is job's, timed. Returns what run_csd does. In a worker thread. */
int dev_timed_run(struct dev_job *job, const daedalus_v3d_job *csd);

/* What the job took by the model; 0: it was not timed. */
uint64_t dev_timed_ns(const struct dev_job *job);

/* The job has ended. */
void dev_timed_end(struct dev_job *job);

/* Prints `, "modelled": {...}` where the job was timed. */
void dev_timed_print(const struct dev_job *job, FILE *file);

/* What a timestamp that is written now shows. */
uint64_t dev_timestamp_ns(const struct dev_device *device);

#endif
