/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults as they strike calls. */
#include <errno.h>

#include "fault_jobs.h"

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
