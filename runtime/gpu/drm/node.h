/* SPDX-License-Identifier: BSD-2-Clause */
/* The render node of a V3D 7.1: found by its driver, opened, asked what it is. */
#ifndef DAEDALUS_DRM_NODE_H
#define DAEDALUS_DRM_NODE_H

#include <stdbool.h>

#include "gpu/drm/libdrm.h"

typedef struct daedalus_drm_node {
  int fd;
  char path[64];
  char name[32];   /* "V3D 7.1.7" */
  char driver[32]; /* "v3d 1.0.0", as the kernel says */
  unsigned major, minor, revision;
  uint32_t n_qpus;
} daedalus_drm_node;

/** How a node is opened: open() of libc, but for tests. */
typedef int daedalus_drm_open_fn(const char *path, int flags, ...);

/**
 * Opens the render node of the first device whose driver is "v3d" and that is a V3D 7.1 with
 * compute.  Nodes of other drivers are left alone.
 * @param[out] why  on failure a sentence: which node may not be opened and which group may, which
 *                  version there is, or that there is none
 * @return 0 or -ENODEV
 */
int daedalus_rt_drm_find(const daedalus_drm_functions *fn, daedalus_drm_open_fn *open_node,
                         daedalus_drm_node *node, char *why, size_t why_size);

#endif /* DAEDALUS_DRM_NODE_H */
