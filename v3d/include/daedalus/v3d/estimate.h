/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/estimate.h - what a job takes by the timing model, as an interval: the least and the
 * most by all settings that public facts leave open, at once.
 *
 * Settings cannot go to any end of their intervals together: most such boards would not take what
 * was measured of one.  So the interval is that of a few alternatives to the default settings, as
 * far from it as they can be while they reproduce each figure that the model is calibrated by
 * within 10 % (docs/v3d-timing.md).
 */
#ifndef DAEDALUS_V3D_ESTIMATE_H
#define DAEDALUS_V3D_ESTIMATE_H

#include <daedalus/v3d/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/** mid is by the settings that were asked for, low and high by whichever: low <= mid <= high. */
typedef struct daedalus_v3d_range {
  uint64_t low, mid, high;
} daedalus_v3d_range;

/** How many alternatives there are. */
#define DAEDALUS_V3D_ALTERNATIVES 7

/** What a job takes by one profile, in clocks of its clock_mhz where nothing else is said. */
typedef struct daedalus_v3d_taken {
  uint64_t issue;       /**< of the QPU that issues most: daedalus_v3d_times.most_active */
  uint64_t tmu, memory; /**< by these alone: .most_tmu_busy, .memory_busy */
  uint64_t clocks;      /**< of the job */
  uint64_t ns;          /**< of the job */
  uint64_t dispatch_ns; /**< as below */
} daedalus_v3d_taken;

/** What a job takes. Clocks are those of the GPU, each at its own clock_mhz. */
typedef struct daedalus_v3d_timing {
  daedalus_v3d_range issue;       /**< clocks in which the QPU that issues most does so. */
  daedalus_v3d_range clocks;      /**< of the job: daedalus_v3d_times.clocks. */
  daedalus_v3d_range ns;          /**< the same in nanoseconds. */
  daedalus_v3d_range dispatch_ns; /**< with what the kernel and the queue add: one dispatch. */
  daedalus_v3d_times times;       /**< all of mid. */
  /**
   * By each of the alternatives, in their order. Who compares two jobs compares them alternative by
   * alternative: both run on one board, and their ratio lies within less than their ranges say.
   */
  daedalus_v3d_taken by[DAEDALUS_V3D_ALTERNATIVES];
} daedalus_v3d_timing;

/** An alternative to the default settings. */
typedef struct daedalus_v3d_alternative {
  const char *name;
  const char *settings; /**< lines of a profile. */
} daedalus_v3d_alternative;

/** The alternatives, *n (DAEDALUS_V3D_ALTERNATIVES) of them; static. */
const daedalus_v3d_alternative *daedalus_v3d_alternatives(size_t *n);

/**
 * Changes *profile by the alternative.  Settings that differ from their defaults are taken for
 * known, and stay.
 */
void daedalus_v3d_apply_alternative(const daedalus_v3d_alternative *alternative,
                                    daedalus_v3d_profile *profile);

/** Nanoseconds of a dispatch that took *times on a board by *profile: with job_ns, and the cleaning
 * of the L2T that the kernel waits for. */
uint64_t daedalus_v3d_dispatch_ns(const daedalus_v3d_times *times,
                                  const daedalus_v3d_profile *profile);

/**
 * Times *job on *machine, whose settings give mid, once for each alternative, and puts back after
 * each run what the job has stored: nothing else may use the buffers meanwhile.  job->trace is not
 * filled in.  Returns report->outcome; on anything but DONE *timing is 0, and *report is that of
 * the run which ended so.
 */
daedalus_v3d_outcome daedalus_v3d_machine_estimate(daedalus_v3d_machine *machine,
                                                   const daedalus_v3d_job *job,
                                                   daedalus_v3d_timing *timing,
                                                   daedalus_v3d_report *report);

#ifdef __cplusplus
}
#endif

#endif
