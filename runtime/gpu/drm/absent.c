/* SPDX-License-Identifier: BSD-2-Clause */
/* The route through DRM in a build without it: it leads nowhere. */
#include <errno.h>
#include <stdio.h>

#include "gpu/backend.h"

static int create(daedalus_ctx *ctx, daedalus_gpu_backend **backend, char *why, size_t why_size) {
  (void)ctx;
  *backend = NULL;
  snprintf(why, why_size, "this library was built without it (-DDAEDALUS_DRM=OFF, or not Linux)");
  return -ENODEV;
}

const daedalus_gpu_route daedalus_gpu_drm = {.name = "drm", .create = create};
