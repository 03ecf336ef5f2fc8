/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where the structs of versions ended: 0.1, 0.2, 0.3 and this one. */
static const size_t sizes[] = {offsetof(daedalus_config, device), offsetof(daedalus_config, recipe),
                               offsetof(daedalus_config, version), sizeof(daedalus_config)};

static const uint32_t known_flags =
    DAEDALUS_CONFIG_NO_QPU | DAEDALUS_CONFIG_CHECK_OVERLAP | DAEDALUS_CONFIG_QPU_FALLBACK_CPU;

/** Whether that is the size of an earlier version, this one or, possibly, a later one. */
static bool plausible(size_t size) {
  bool known = size > sizeof(daedalus_config) && size <= DAEDALUS_CONFIG_SIZE_MOST;
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    known = known || size == sizes[i];
  }
  return known;
}

/** @return the offset of the first byte beyond what is known that is not zero, or 0 */
static size_t unknown_byte(const daedalus_config *given) {
  const unsigned char *bytes = (const unsigned char *)given;
  for (size_t i = offsetof(daedalus_config, reserved); i < given->size; i++) {
    if (bytes[i] != 0) {
      return i;
    }
  }
  return 0;
}

static int refuse_byte(const daedalus_ctx *ctx, const daedalus_config *known, size_t offset) {
  char version[32] = "a version that it does not tell";
  if (known->version != 0) {
    snprintf(version, sizeof(version), "%u.%u", (unsigned)(known->version >> 16),
             (unsigned)(known->version & 0xffff));
  }
  daedalus_rt_log(
      ctx, DAEDALUS_LOG_ERROR,
      "daedalus_config: the byte at offset %zu is set, which this library, %s, does not "
      "know; the program was compiled for %s: set it to zero or use a later library",
      offset, daedalus_version(), version);
  return -EINVAL;
}

int daedalus_rt_config_read(daedalus_ctx *ctx, const daedalus_config *given,
                            daedalus_config *known) {
  *known = (daedalus_config){0};
  ctx->log = daedalus_rt_log_stderr;
  if (given == NULL) {
    return 0;
  }
  if (!plausible(given->size)) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "daedalus_config.size is %zu: this library, %s, knows %zu, %zu, %zu, %zu and "
                    "what is larger, up to %d; use sizeof(daedalus_config)",
                    given->size, daedalus_version(), sizes[0], sizes[1], sizes[2], sizes[3],
                    DAEDALUS_CONFIG_SIZE_MOST);
    return -EINVAL;
  }
  memcpy(known, given, given->size < sizeof(*known) ? given->size : sizeof(*known));
  if (known->log != NULL) {
    ctx->log = known->log;
    ctx->log_user = known->log_user;
  }
  const size_t offset = unknown_byte(given);
  if (offset != 0) {
    return refuse_byte(ctx, known, offset);
  }
  if ((known->flags & ~known_flags) != 0) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "daedalus_config.flags has unknown bits 0x%lx",
                    (unsigned long)(known->flags & ~known_flags));
    return -EINVAL;
  }
  return 0;
}
