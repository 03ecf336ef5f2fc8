/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdrm as far as it is used: its functions, listed once, and the layouts of <xf86drm.h> that they
 * work on.  Loaded when the route is first asked for, so that building needs no headers and running
 * without it costs this route alone.  tests/c/drm/test_abi.c compares with the system's header.
 */
#ifndef DAEDALUS_DRM_LIBDRM_H
#define DAEDALUS_DRM_LIBDRM_H

#include <stddef.h>
#include <stdint.h>

enum { DAEDALUS_DRM_NODE_RENDER = 2, DAEDALUS_DRM_BUS_PLATFORM = 2 };

typedef struct daedalus_drm_platform {
  char **compatible; /* of the device tree, NULL-terminated; may be NULL */
} daedalus_drm_platform;

/** drmDevice, up to what is used of it. */
typedef struct daedalus_drm_listed {
  char **nodes; /* paths, by kind of node */
  int available_nodes;
  int bustype;
  void *businfo;
  union {
    daedalus_drm_platform *platform;
  } deviceinfo;
} daedalus_drm_listed;

/** drmVersion. */
typedef struct daedalus_drm_version {
  int version_major, version_minor, version_patchlevel;
  int name_len;
  char *name;
  int date_len;
  char *date;
  int desc_len;
  char *desc;
} daedalus_drm_version;

/* X(result, name, parameters).  Those with a result of 0 or a negative number leave errno set. */
#define DAEDALUS_DRM_FUNCTIONS(X)                                                       \
  X(int, drmGetDevices2, (uint32_t flags, daedalus_drm_listed **devices, int max))      \
  X(void, drmFreeDevices, (daedalus_drm_listed * *devices, int count))                  \
  X(daedalus_drm_version *, drmGetVersion, (int fd))                                    \
  X(void, drmFreeVersion, (daedalus_drm_version * version))                             \
  X(int, drmIoctl, (int fd, unsigned long request, void *arg))                          \
  X(int, drmPrimeHandleToFD, (int fd, uint32_t handle, uint32_t flags, int *prime_fd))  \
  X(int, drmPrimeFDToHandle, (int fd, int prime_fd, uint32_t *handle))                  \
  X(int, drmSyncobjCreate, (int fd, uint32_t flags, uint32_t *handle))                  \
  X(int, drmSyncobjDestroy, (int fd, uint32_t handle))                                  \
  X(int, drmSyncobjExportSyncFile, (int fd, uint32_t handle, int *sync_file_fd))        \
  X(int, drmSyncobjWait,                                                                \
    (int fd, uint32_t *handles, unsigned n_handles, int64_t timeout_ns, unsigned flags, \
     uint32_t *first_signaled))

typedef struct daedalus_drm_functions {
#define DAEDALUS_DRM_MEMBER(result, name, parameters) result(*name) parameters;
  DAEDALUS_DRM_FUNCTIONS(DAEDALUS_DRM_MEMBER)
#undef DAEDALUS_DRM_MEMBER
} daedalus_drm_functions;

/**
 * Loads libdrm.so.2, which stays loaded.
 * @param[out] why  on failure a sentence, for the log
 * @return 0 or -ENODEV
 */
int daedalus_rt_drm_load(daedalus_drm_functions *fn, char *why, size_t why_size);

#endif /* DAEDALUS_DRM_LIBDRM_H */
