/* SPDX-License-Identifier: BSD-2-Clause */
/* Where faults (fault.h) strike: calls as they come, jobs as they are run. */
#ifndef DAEDALUS_V3D_DEVICE_FAULT_JOBS_H
#define DAEDALUS_V3D_DEVICE_FAULT_JOBS_H

#include "call.h"

/* Before an ioctl is done: 0, or the error that it returns instead. Counts the call. */
int dev_fault_ioctl(struct dev_call *call);

/* Finds the faults that are to strike a job which is about to be queued. */
void dev_fault_job(struct dev_job *job);

/* A job that hangs is not run: its result is set. Returns when the GPU is reset. */
uint64_t dev_fault_hang(struct dev_job *job, uint64_t now_ns);

/* A slow job has been run. Returns when it ends. */
uint64_t dev_fault_slow(struct dev_job *job, uint64_t now_ns);

/**
 * Before a job whose results are to be damaged: keeps its buffers' contents in job->before. After
 * it: flips bits of the bytes that it changed, job->n_flipped of them. From the job's thread.
 */
void dev_fault_keep(struct dev_job *job);
void dev_fault_flip(struct dev_job *job);
void dev_fault_forget(struct dev_job *job);

/* Reports how often each fault struck. Returns how many did not at all. */
uint64_t dev_faults_report(struct dev_device *device);

#endif
