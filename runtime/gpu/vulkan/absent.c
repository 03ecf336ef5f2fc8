/* SPDX-License-Identifier: BSD-2-Clause */
/* The route through Vulkan in a build without its headers: it leads nowhere. */
#include <errno.h>
#include <stdio.h>

#include "gpu/backend.h"

static int create(daedalus_ctx *ctx, daedalus_gpu_backend **backend, char *why, size_t why_size) {
  (void)ctx;
  *backend = NULL;
  snprintf(why, why_size, "this library was built without the Vulkan headers");
  return -ENODEV;
}

const daedalus_gpu_route daedalus_gpu_vulkan = {.name = "vulkan", .create = create};
