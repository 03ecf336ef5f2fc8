/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "gpu/drm/node.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../v3d/device/abi.h"

enum { DEVICES_MOST = 64, REASON_SIZE = 256 };

/* Numbers of DRM_V3D_GET_PARAM. */
enum { HUB_IDENT3 = 3, CORE0_IDENT0 = 4, CORE0_IDENT1 = 5, SUPPORTS_CSD = 8 };

/** A parameter, or 0 where the kernel does not tell. */
static uint32_t param(const daedalus_drm_functions *fn, int fd, uint32_t number) {
  struct abi_get_param get = {.param = number};
  const unsigned long request = ABI_REQUEST(1, ABI_V3D_GET_PARAM, struct abi_get_param);
  return fn->drmIoctl(fd, request, &get) == 0 ? (uint32_t)get.value : 0;
}

/** Whether the device tree says that it is a V3D, for a node that cannot be asked itself. */
static bool looks_like_v3d(const daedalus_drm_listed *device) {
  char **names = device->bustype == DAEDALUS_DRM_BUS_PLATFORM && device->deviceinfo.platform != NULL
                     ? device->deviceinfo.platform->compatible
                     : NULL;
  for (; names != NULL && *names != NULL; names++) {
    if (strstr(*names, "v3d") != NULL) {
      return true;
    }
  }
  return false;
}

static void explain_refusal(const char *path, int error, char *why, size_t why_size) {
  struct stat status;
  if ((error != EACCES && error != EPERM) || stat(path, &status) != 0) {
    snprintf(why, why_size, "%s cannot be opened: %s", path, strerror(error));
    return;
  }
  if ((status.st_mode & (S_IRGRP | S_IWGRP)) != (S_IRGRP | S_IWGRP)) {
    snprintf(why, why_size,
             "%s may not be opened: its mode %03o is for no group; udev makes it 660, of the group "
             "render",
             path, (unsigned)(status.st_mode & 0777));
    return;
  }
  char room[1024];
  struct group group, *found = NULL;
  if (getgrgid_r(status.st_gid, &group, room, sizeof(room), &found) == 0 && found != NULL) {
    snprintf(why, why_size,
             "%s may not be opened: it is for the group %s; sudo usermod -aG %s $USER, and log in "
             "again",
             path, group.gr_name, group.gr_name);
  } else {
    snprintf(why, why_size, "%s may not be opened: it is for the group of number %lu", path,
             (unsigned long)status.st_gid);
  }
}

static bool is_v3d(const daedalus_drm_functions *fn, daedalus_drm_node *node) {
  daedalus_drm_version *version = fn->drmGetVersion(node->fd);
  if (version == NULL) {
    return false;
  }
  const bool is = version->name_len == 3 && memcmp(version->name, "v3d", 3) == 0;
  snprintf(node->driver, sizeof(node->driver), "v3d %d.%d.%d", version->version_major,
           version->version_minor, version->version_patchlevel);
  fn->drmFreeVersion(version);
  return is;
}

/** What it is; whether QPU code for 7.1 can run there. */
static bool identify(const daedalus_drm_functions *fn, daedalus_drm_node *node, char *why,
                     size_t why_size) {
  const uint32_t ident0 = param(fn, node->fd, CORE0_IDENT0);
  const uint32_t ident1 = param(fn, node->fd, CORE0_IDENT1);
  node->major = ident0 >> 24;
  node->minor = ident1 & 0xf;
  node->revision = param(fn, node->fd, HUB_IDENT3) >> 8 & 0xff;
  node->n_qpus = (ident1 >> 4 & 0xf) * (ident1 >> 8 & 0xf);
  snprintf(node->name, sizeof(node->name), "V3D %u.%u.%u", node->major, node->minor,
           node->revision);
  if (node->major != 7 || node->minor != 1 || node->n_qpus == 0) {
    snprintf(why, why_size, "%s is a %s; the QPU code is for V3D 7.1", node->path, node->name);
    return false;
  }
  if (param(fn, node->fd, SUPPORTS_CSD) == 0) {
    snprintf(why, why_size, "the kernel's driver of %s (%s) has no compute", node->path,
             node->driver);
    return false;
  }
  return true;
}

/** What keeps a V3D from being the one, behind what keeps those before it. */
static void add_reason(const char *reason, char *why, size_t why_size) {
  const size_t n = strlen(why);
  snprintf(why + n, why_size - n, "%s%s", n == 0 ? "" : "; and ", reason);
}

/** @return whether this is the one; else `why` may be set to what keeps a V3D from being it */
static bool try_node(const daedalus_drm_functions *fn, daedalus_drm_open_fn *open_node,
                     const daedalus_drm_listed *device, daedalus_drm_node *node, char *why,
                     size_t why_size) {
  if ((device->available_nodes & 1 << DAEDALUS_DRM_NODE_RENDER) == 0) {
    return false;
  }
  *node = (daedalus_drm_node){.fd = -1};
  snprintf(node->path, sizeof(node->path), "%s", device->nodes[DAEDALUS_DRM_NODE_RENDER]);
  node->fd = open_node(node->path, O_RDWR | O_CLOEXEC);
  if (node->fd < 0) {
    if (looks_like_v3d(device)) {
      explain_refusal(node->path, errno, why, why_size);
    }
    return false;
  }
  if (is_v3d(fn, node) && identify(fn, node, why, why_size)) {
    return true;
  }
  close(node->fd);
  node->fd = -1;
  return false;
}

int daedalus_rt_drm_find(const daedalus_drm_functions *fn, daedalus_drm_open_fn *open_node,
                         daedalus_drm_node *node, char *why, size_t why_size) {
  daedalus_drm_listed *devices[DEVICES_MOST];
  *node = (daedalus_drm_node){.fd = -1};
  const int n = fn->drmGetDevices2(0, devices, DEVICES_MOST);
  if (n <= 0) {
    snprintf(why, why_size, "there is no DRM device");
    return -ENODEV;
  }
  bool found = false;
  why[0] = '\0';
  for (int i = 0; !found && i < n; i++) {
    char reason[REASON_SIZE] = "";
    found = try_node(fn, open_node, devices[i], node, reason, sizeof(reason));
    if (reason[0] != '\0') {
      add_reason(reason, why, why_size);
    }
  }
  if (why[0] == '\0') {
    snprintf(why, why_size, "none of the %d DRM devices has the driver v3d", n);
  }
  fn->drmFreeDevices(devices, n);
  return found ? 0 : -ENODEV;
}
