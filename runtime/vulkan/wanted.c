/* SPDX-License-Identifier: BSD-2-Clause */
#include "vulkan/wanted.h"

#include <stdlib.h>
#include <string.h>

const char *daedalus_rt_wanted_device(const daedalus_ctx *ctx) {
  const char *asked = ctx->device != NULL ? ctx->device : getenv("DAEDALUS_VULKAN_DEVICE");
  return asked != NULL && asked[0] != '\0' ? asked : NULL;
}

bool daedalus_rt_no_device_wanted(const daedalus_ctx *ctx) {
  const char *asked = daedalus_rt_wanted_device(ctx);
  return (ctx->flags & DAEDALUS_CONFIG_NO_QPU) != 0 ||
         (asked != NULL && strcmp(asked, "none") == 0);
}
