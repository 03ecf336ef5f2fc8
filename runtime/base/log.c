/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "base/context.h"

/* Longer messages are cut: no message may fail for want of memory. */
enum { MESSAGE_SIZE = 1024 };

void daedalus_rt_log_stderr(void *user, daedalus_log_level level, const char *message) {
  (void)user;
  if (level == DAEDALUS_LOG_ERROR || level == DAEDALUS_LOG_WARNING) {
    fprintf(stderr, "daedalus: %s: %s\n", level == DAEDALUS_LOG_ERROR ? "error" : "warning",
            message);
  }
}

void daedalus_rt_log(const daedalus_ctx *ctx, daedalus_log_level level, const char *format, ...) {
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  ctx->log(ctx->log_user, level, message);
}
