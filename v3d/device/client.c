/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients, and what of the memory their jobs may reach. */
#include <errno.h>
#include <stdlib.h>

#include "perfmon.h"

static struct wire_position position_of(uint32_t id) {
  return (struct wire_position){.object = WIRE_NODE, .number = id};
}

int dev_client_open(struct dev_device *device, int mode, int *fd) {
  struct dev_client *client = calloc(1, sizeof *client);
  if (client == NULL)
    return -ENOMEM;
  do {
    device->next_client = device->next_client % INT32_MAX + 1;
  } while (dev_client_of(device, device->next_client) != NULL);
  *fd = dev_descriptor_open(device, position_of(device->next_client), mode);
  if (*fd < 0) {
    free(client);
    return *fd;
  }
  client->id = device->next_client;
  client->device = device;
  client->next = device->clients;
  device->clients = client;
  return 0;
}

struct dev_client *dev_client_of(struct dev_device *device, uint32_t id) {
  struct dev_client *client = device->clients;
  while (client != NULL && client->id != id)
    client = client->next;
  return client;
}

static void destroy(struct dev_client *client) {
  dev_view_unref(client->view);
  for (size_t i = 0; i < client->bos.room; i++)
    dev_bo_unref(client->bos.items[i]);
  for (size_t i = 0; i < client->syncobjs.room; i++)
    dev_syncobj_unref(client->syncobjs.items[i]);
  for (size_t i = 0; i < DEV_N_QUEUES; i++)
    dev_fence_unref(client->last[i]);
  for (size_t i = 0; i < client->perfmons.room; i++)
    dev_perfmon_unref(client->perfmons.items[i]);
  free(client->perfmons.items);
  free(client->bos.items);
  free(client->syncobjs.items);
  free(client);
}

void dev_clients_sweep(struct dev_device *device) {
  struct dev_client **slot = &device->clients;
  while (*slot != NULL) {
    struct dev_client *client = *slot;
    if (client == device->calling || dev_descriptor_held(device, position_of(client->id))) {
      slot = &client->next;
      continue;
    }
    *slot = client->next;
    destroy(client);
  }
}

void dev_clients_close(struct dev_device *device) {
  while (device->clients != NULL) {
    struct dev_client *client = device->clients;
    device->clients = client->next;
    destroy(client);
  }
}

static int by_address(const void *a, const void *b) {
  const struct dev_bo *const *x = a, *const *y = b;
  return ((*x)->range.address > (*y)->range.address) - ((*x)->range.address < (*y)->range.address);
}

struct dev_view *dev_client_view(struct dev_client *client) {
  if (client->view != NULL) {
    client->view->refs++;
    return client->view;
  }
  size_t n = 0;
  for (size_t i = 0; i < client->bos.room; i++)
    n += client->bos.items[i] != NULL;
  struct dev_view *view = calloc(1, sizeof *view);
  if (view == NULL)
    return NULL;
  view->bos = calloc(n + 1, sizeof *view->bos);
  view->buffers = calloc(n + 1, sizeof *view->buffers);
  view->refs = 1;
  if (view->bos == NULL || view->buffers == NULL) {
    dev_view_unref(view);
    return NULL;
  }
  for (size_t i = 0; i < client->bos.room; i++) {
    struct dev_bo *bo = client->bos.items[i];
    if (bo == NULL)
      continue;
    bo->refs++;
    view->bos[view->n++] = bo;
  }
  qsort(view->bos, n, sizeof *view->bos, by_address);
  for (size_t i = 0; i < n; i++) {
    const struct dev_range range = view->bos[i]->range;
    view->buffers[i] = (daedalus_v3d_buffer){.address = range.address,
                                             .size = range.bytes,
                                             .data = client->device->memory.base + range.address};
  }
  client->view = view;
  view->refs++;
  return view;
}
