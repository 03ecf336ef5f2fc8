/* SPDX-License-Identifier: BSD-2-Clause */
#include "device.h"

int dev_device_init(struct dev_device *device, const daedalus_v3d_executor *executor,
                    const daedalus_v3d_profile *profile, uint64_t memory_limit) {
  *device = (struct dev_device){.executor = *executor, .profile = *profile, .done_event = -1};
  device->last_sync_file = &device->sync_files;
  device->memory.fd = -1;
  device->gpu_ns = dev_now_ns();
  const int result = dev_memory_init(&device->memory, memory_limit);
  return result != 0 ? result : dev_queues_start(device, dev_kinds);
}

void dev_device_destroy(struct dev_device *device) {
  dev_queues_stop(device);
  dev_clients_close(device);
  dev_exports_destroy(device);
  dev_sync_files_destroy(device);
  dev_memory_destroy(&device->memory);
}

void dev_device_progress(struct dev_device *device) {
  /* An answered client's next request may be there already, and be a submission. */
  do {
    dev_queues_progress(device);
    dev_sync_files_progress(device); /* before anybody is told that a fence is signaled */
  } while (dev_waits_progress(device));
}
