/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frees what no descriptor holds any more.
 *
 * Nobody tells the server of a close.  It asks when that may matter: a client has hung up, a node
 * is opened, memory runs out, or many objects are exported.  The answer is exact, as the kernel
 * drops the lock with the last reference to the description, mappings of it included.
 */
#include "device.h"

void dev_sweep(struct dev_device *device) {
  dev_clients_sweep(device);
  dev_sync_files_sweep(device);
  dev_exports_sweep(device);
}

void dev_sweep_if_many(struct dev_device *device) {
  enum { LEAST = 64 };
  if (device->n_exports + device->n_sync_files < device->sweep_at)
    return;
  dev_sweep(device);
  device->sweep_at = 2 * (device->n_exports + device->n_sync_files) + LEAST;
}
