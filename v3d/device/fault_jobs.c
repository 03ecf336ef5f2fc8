/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults as they strike jobs. */
#include "fault_jobs.h"

#include <errno.h>

void dev_fault_job(struct dev_job *job) {
  const struct dev_faults *faults = &job->device->faults;
  job->submission = job->device->n_calls[DEV_FAULT_SUBMIT];
  if (job->queue == DEV_QUEUE_CPU) /* the kernel's own: the GPU has no part in it */
    return;
  job->hang = dev_fault_at(faults, DEV_FAULT_HANG, job->submission);
  job->slow = dev_fault_at(faults, DEV_FAULT_SLOW, job->submission);
  job->flip = dev_fault_at(faults, DEV_FAULT_FLIP, job->submission);
}

bool dev_fault_hangs_at_once(struct dev_job *job) {
  if (job->hang == NULL || job->skip)
    return false;
  if (job->queue != DEV_QUEUE_CSD || job->hang->batches == 0)
    return true;
  if (job->cfg[4] > job->hang->batches)
    job->cfg[4] = job->hang->batches;
  return false;
}

static uint32_t ms_of_hang(const struct dev_job *job) {
  return job->hang->ms != 0 ? job->hang->ms : job->device->profile.reset_ms;
}

uint64_t dev_fault_hang(struct dev_job *job, uint64_t now_ns) {
  const uint32_t ms = ms_of_hang(job);
  job->hang->n_struck++;
  job->hung = true;
  job->result = -ETIMEDOUT;
  snprintf(job->message, sizeof job->message,
           "it hung, and the GPU was reset after %u ms without progress (fault %s)", ms,
           job->hang->text);
  return ms == 0 ? UINT64_MAX : now_ns + ms * UINT64_C(1000000);
}

uint64_t dev_fault_slow(struct dev_job *job, uint64_t now_ns, uint64_t took_ns) {
  const struct dev_fault *fault = job->slow;
  job->slow->n_struck++;
  job->slowed = true;
  if (fault->ms != 0)
    return now_ns + fault->ms * UINT64_C(1000000);
  const uint64_t times = fault->factor - 1, most = UINT64_C(3600000000000); /* an hour */
  return now_ns + (took_ns > most / times ? most : took_ns * times);
}

uint64_t dev_fault_modelled_ns(const struct dev_job *job, uint64_t ns) {
  if (job->lost != NULL || job->skip)
    return ns;
  if (job->hung)
    return ns + ms_of_hang(job) * UINT64_C(1000000);
  if (!job->slowed)
    return ns;
  return job->slow->ms != 0 ? ns + job->slow->ms * UINT64_C(1000000) : ns * job->slow->factor;
}
