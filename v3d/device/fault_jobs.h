/* SPDX-License-Identifier: BSD-2-Clause */
/* Where faults (fault.h) strike: calls as they come, jobs as they are run. */
#ifndef DAEDALUS_V3D_DEVICE_FAULT_JOBS_H
#define DAEDALUS_V3D_DEVICE_FAULT_JOBS_H

#include "call.h"

/* Before an ioctl is done: 0, or the error that it returns instead. Counts the call. */
int dev_fault_ioctl(struct dev_call *call);

/* Finds the faults that are to strike a job which is about to be queued. */
void dev_fault_job(struct dev_job *job);

/* Whether a job is to hang, and is not to be run before. What of it is to be run is set in cfg. */
bool dev_fault_hangs_at_once(struct dev_job *job);

/* A job hangs: its result is set. Returns when the GPU is reset. */
uint64_t dev_fault_hang(struct dev_job *job, uint64_t now_ns);

/* A slow job has been run. Returns when it ends. */
uint64_t dev_fault_slow(struct dev_job *job, uint64_t now_ns, uint64_t took_ns);

/* What a job that has ended took, which takes ns by the timing model: longer, if a fault struck. */
uint64_t dev_fault_modelled_ns(const struct dev_job *job, uint64_t ns);

/**
 * Around a job whose results are to be damaged, from the job's thread.  It runs on copies of the
 * buffers that it names, which tells what it wrote apart from what the client writes meanwhile;
 * that goes back into the buffers with bits flipped, job->n_flipped of them.  Where there is no
 * memory for the copies it runs as ever.
 */
void dev_fault_keep(struct dev_job *job);
void dev_fault_flip(struct dev_job *job);
void dev_fault_forget(struct dev_job *job);

/* Reports how often each fault struck. Returns how many did not at all. */
uint64_t dev_faults_report(struct dev_device *device);

#endif
