/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of one client for its objects: from 1, the lowest that is free. */
#ifndef DAEDALUS_V3D_DEVICE_HANDLES_H
#define DAEDALUS_V3D_DEVICE_HANDLES_H

#include <stddef.h>
#include <stdint.h>

struct dev_handles {
  void **items; /* [handle - 1]; NULL: free */
  size_t room;
  size_t lowest; /* no index below it is free */
};

uint32_t dev_handles_add(struct dev_handles *handles, void *item);         /* 0: no memory */
void *dev_handles_get(const struct dev_handles *handles, uint32_t handle); /* NULL: unknown */
void *dev_handles_remove(struct dev_handles *handles, uint32_t handle);    /* NULL: unknown */

#endif
