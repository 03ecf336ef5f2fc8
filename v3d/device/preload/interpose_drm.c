/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of libdrm that look for devices in sysfs: the device is the only one there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload.h"

/* Layouts of libdrm's <xf86drm.h>, whose functions these stand for. */
enum { NODE_PRIMARY, NODE_CONTROL, NODE_RENDER, N_NODES };
enum { BUS_PLATFORM = 2, PLATFORM_NAME_LENGTH = 512 };

typedef struct drm_platform_bus {
  char fullname[PLATFORM_NAME_LENGTH];
} drm_platform_bus;

typedef struct drm_platform_device {
  char **compatible; /* NULL-terminated */
} drm_platform_device;

typedef struct drm_device {
  char **nodes;
  int available_nodes; /* mask */
  int bustype;
  drm_platform_bus *bus;
  drm_platform_device *info;
} drm_device;

/* A device and all that it points at, so that freeing is one call. */
struct block {
  drm_device device; /* first */
  char *nodes[N_NODES];
  char names[N_NODES][32];
  drm_platform_bus bus;
  drm_platform_device info;
  char *compatible[2];
  char compatible_name[32];
};

static drm_device *make_device(void) {
  struct block *block = calloc(1, sizeof *block);
  if (block == NULL)
    return NULL;
  strcpy(block->names[NODE_PRIMARY], PRELOAD_CARD);
  strcpy(block->names[NODE_RENDER], PRELOAD_RENDER);
  for (int i = 0; i < N_NODES; i++)
    block->nodes[i] = block->names[i];
  strcpy(block->bus.fullname, "1002000000.v3d");
  strcpy(block->compatible_name, "brcm,2712-v3d");
  block->compatible[0] = block->compatible_name;
  block->info.compatible = block->compatible;
  block->device = (drm_device){.nodes = block->nodes,
                               .available_nodes = 1 << NODE_PRIMARY | 1 << NODE_RENDER,
                               .bustype = BUS_PLATFORM,
                               .bus = &block->bus,
                               .info = &block->info};
  return &block->device;
}

PRELOAD_INTERPOSED int drmGetDevices2(uint32_t flags, drm_device **devices, int max_devices);
PRELOAD_INTERPOSED int drmGetDevices(drm_device **devices, int max_devices);
PRELOAD_INTERPOSED int drmGetDevice2(int fd, uint32_t flags, drm_device **device);
PRELOAD_INTERPOSED int drmGetDevice(int fd, drm_device **device);
PRELOAD_INTERPOSED void drmFreeDevice(drm_device **device);
PRELOAD_INTERPOSED void drmFreeDevices(drm_device **devices, int count);
PRELOAD_INTERPOSED int drmGetNodeTypeFromFd(int fd);
PRELOAD_INTERPOSED char *drmGetDeviceNameFromFd2(int fd);
PRELOAD_INTERPOSED char *drmGetRenderDeviceNameFromFd(int fd);
PRELOAD_INTERPOSED char *drmGetPrimaryDeviceNameFromFd(int fd);

int drmGetDevices2(uint32_t flags, drm_device **devices, int max_devices) {
  (void)flags;
  if (devices == NULL)
    return 1;
  if (max_devices < 1)
    return 0;
  devices[0] = make_device();
  return devices[0] == NULL ? -ENOMEM : 1;
}

int drmGetDevices(drm_device **devices, int max_devices) {
  return drmGetDevices2(0, devices, max_devices);
}

int drmGetDevice2(int fd, uint32_t flags, drm_device **device) {
  (void)flags;
  if (device == NULL)
    return -EINVAL;
  if (preload_client_of(fd) == 0)
    return fd < 0 ? -EINVAL : -ENODEV;
  *device = make_device();
  return *device == NULL ? -ENOMEM : 0;
}

int drmGetDevice(int fd, drm_device **device) {
  return drmGetDevice2(fd, 0, device);
}

void drmFreeDevice(drm_device **device) {
  if (device == NULL)
    return;
  free(*device);
  *device = NULL;
}

void drmFreeDevices(drm_device **devices, int count) {
  for (int i = 0; devices != NULL && i < count; i++)
    drmFreeDevice(&devices[i]);
}

/* Which node a descriptor was opened by is not kept: all answer as the render node. */
int drmGetNodeTypeFromFd(int fd) {
  if (preload_client_of(fd) != 0)
    return NODE_RENDER;
  errno = ENODEV;
  return -1;
}

static char *name_of(int fd, const char *name) {
  return preload_client_of(fd) != 0 ? strdup(name) : NULL;
}

char *drmGetDeviceNameFromFd2(int fd) {
  return name_of(fd, PRELOAD_RENDER);
}

char *drmGetRenderDeviceNameFromFd(int fd) {
  return name_of(fd, PRELOAD_RENDER);
}

char *drmGetPrimaryDeviceNameFromFd(int fd) {
  return name_of(fd, PRELOAD_CARD);
}
