/* SPDX-License-Identifier: BSD-2-Clause */
/* What runs the compute jobs of the simulated device. */
#ifndef DAEDALUS_V3D_DEVICE_EXECUTOR_H
#define DAEDALUS_V3D_DEVICE_EXECUTOR_H

#include <daedalus/v3d/trace.h>

typedef struct daedalus_v3d_executor {
  void *self; /**< borrowed; passed to run_csd. */
  /**
   * Runs *job to its end. Returns 0, or a negative errno with a text of what went wrong in
   * message; *counts is 0 and may say what the job did. Called from one thread, not the one that
   * made the executor; may take long.
   */
  int (*run_csd)(void *self, const daedalus_v3d_job *job, daedalus_v3d_counts *counts,
                 char *message, size_t message_size);
  /**
   * The same by the timing model. *report is filled in, its message included. Where scratch is not
   * NULL it is job->buffers on memory of their own, which nobody else sees, and *timing is filled
   * in as well. NULL: there is no model.
   */
  int (*run_timed)(void *self, const daedalus_v3d_job *job, const daedalus_v3d_buffer *scratch,
                   daedalus_v3d_report *report, daedalus_v3d_timing *timing);
  /**
   * Ends the job that runs soon, and later ones at once, with -ECANCELED. Called from another
   * thread than run_csd. NULL: jobs are short.
   */
  void (*stop)(void *self);
  /** Takes stop back; called when no job runs. NULL: stop is for good; else stop is not NULL. */
  void (*resume)(void *self);
  void (*destroy)(void *self); /**< or NULL. */
} daedalus_v3d_executor;

#endif
