/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/wanted.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const char *configured, const char *name) {
  const char *asked = configured != NULL ? configured : getenv(name);
  return asked != NULL && asked[0] != '\0' ? asked : NULL;
}

const char *daedalus_rt_wanted_device(const daedalus_ctx *ctx) {
  return text_of(ctx->device, "DAEDALUS_VULKAN_DEVICE");
}

bool daedalus_rt_no_device_wanted(const daedalus_ctx *ctx) {
  const char *asked = daedalus_rt_wanted_device(ctx);
  return (ctx->flags & DAEDALUS_CONFIG_NO_QPU) != 0 ||
         (asked != NULL && strcmp(asked, "none") == 0);
}

const char *daedalus_rt_wanted_route(const daedalus_ctx *ctx) {
  const char *asked = text_of(ctx->route, "DAEDALUS_QPU_ROUTE");
  return asked != NULL ? asked : ctx->recipe.route;
}

uint64_t daedalus_rt_wanted_ms(const daedalus_ctx *ctx, const char *name, uint64_t least,
                               uint64_t otherwise) {
  const char *text = getenv(name);
  if (text == NULL) {
    return otherwise;
  }
  char *end;
  const unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > UINT32_MAX) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_WARNING,
                    "%s=%s is no number of milliseconds: %" PRIu64 " is taken", name, text,
                    otherwise);
    return otherwise;
  }
  return value;
}

uint64_t daedalus_rt_wanted_timeout(const daedalus_ctx *ctx) {
  const uint64_t ms = ctx->timeout_ms != 0 ? ctx->timeout_ms
                                           : daedalus_rt_wanted_ms(ctx, "DAEDALUS_QPU_TIMEOUT_MS",
                                                                   1, DAEDALUS_TIMEOUT_MS);
  return ms * UINT64_C(1000000);
}

bool daedalus_rt_name_holds(const char *name, const char *asked) {
  const size_t n = strlen(asked);
  for (; *name != '\0'; name++) {
    size_t i = 0;
    while (i < n && name[i] != '\0' &&
           tolower((unsigned char)name[i]) == tolower((unsigned char)asked[i])) {
      i++;
    }
    if (i == n) {
      return true;
    }
  }
  return false;
}
