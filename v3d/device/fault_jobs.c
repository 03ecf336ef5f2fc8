/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults as they strike calls and jobs. */
#include "fault_jobs.h"

#include <errno.h>

static void lose(struct dev_call *call, struct dev_fault *fault) {
  struct dev_device *device = call->device;
  fault->n_struck++;
  device->lost |= !fault->one_client && !fault->reopens;
  for (struct dev_client *client = device->clients; client != NULL; client = client->next)
    client->lost |= !fault->one_client || client == call->client;
  dev_queues_lose(device, fault, fault->one_client ? call->client->id : 0);
  dev_report(device, "fault %s: %s is lost", fault->text,
             fault->one_client ? "the device of one client" : "the device");
}

/* What of the counted calls this one is; DEV_N_FAULT_CALLS: none. */
static enum dev_fault_call kind_of(uint32_t code) {
  switch (ABI_NR(code)) {
    case ABI_V3D_CREATE_BO:
      return DEV_FAULT_BUFFER;
    case ABI_SYNCOBJ_CREATE:
      return DEV_FAULT_SYNCOBJ;
    case ABI_V3D_SUBMIT_CL:
    case ABI_V3D_SUBMIT_TFU:
    case ABI_V3D_SUBMIT_CSD:
    case ABI_V3D_SUBMIT_CPU:
      return DEV_FAULT_SUBMIT;
    default:
      return DEV_N_FAULT_CALLS;
  }
}

int dev_fault_ioctl(struct dev_call *call) {
  struct dev_device *device = call->device;
  if (call->client->lost)
    return -ENODEV;
  const enum dev_fault_call kind = kind_of(call->code);
  if (kind == DEV_N_FAULT_CALLS)
    return 0;
  const uint64_t number = ++device->n_calls[kind];
  struct dev_fault *fault =
      kind == DEV_FAULT_SUBMIT ? dev_fault_at(&device->faults, DEV_FAULT_LOST, number) : NULL;
  if (fault != NULL) {
    lose(call, fault);
    return -ENODEV;
  }
  fault = dev_fault_at_call(&device->faults, kind, number);
  if (fault == NULL)
    return 0;
  fault->n_struck++;
  return -ENOMEM;
}

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

uint64_t dev_fault_slow(struct dev_job *job, uint64_t now_ns) {
  const struct dev_fault *fault = job->slow;
  job->slow->n_struck++;
  if (fault->ms != 0)
    return now_ns + fault->ms * UINT64_C(1000000);
  const uint64_t times = fault->factor - 1, most = UINT64_C(3600000000000); /* an hour */
  return now_ns + (job->wall_ns > most / times ? most : job->wall_ns * times);
}

uint64_t dev_fault_modelled_ns(const struct dev_job *job, uint64_t ns) {
  if (job->lost != NULL || job->skip)
    return ns;
  if (job->hung)
    return ns + ms_of_hang(job) * UINT64_C(1000000);
  if (job->slow == NULL)
    return ns;
  return job->slow->ms != 0 ? ns + job->slow->ms * UINT64_C(1000000) : ns * job->slow->factor;
}

uint64_t dev_faults_report(struct dev_device *device) {
  uint64_t n_idle = 0;
  for (size_t i = 0; i < device->faults.n; i++) {
    const struct dev_fault *fault = &device->faults.items[i];
    if (fault->n_struck == 0)
      n_idle++;
    dev_report(device, "fault %s struck %llu time%s", fault->text,
               (unsigned long long)fault->n_struck, fault->n_struck == 1 ? "" : "s");
  }
  return n_idle;
}
