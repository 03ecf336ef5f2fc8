/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes that lead nowhere: what is said, once, and that the CPU works.  Run without /dev/dri, and
 * with no_libdrm.c preloaded, which keeps libdrm from being found.
 *
 *   test_drm_absent MESSAGE...    a part of each that is logged, DAEDALUS_QPU_ROUTE as it is
 */
#include <daedalus.h>
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "sum.h"

static char **expected; /* the next message, NULL behind the last; itself NULL: anything is fine */

static void compare(void *user, daedalus_log_level level, const char *message) {
  (void)user;
  if (expected == NULL) {
    return;
  }
  CHECK_INT(level, DAEDALUS_LOG_WARNING);
  CHECK(*expected != NULL);
  if (*expected != NULL && strstr(message, *expected++) == NULL) {
    CHECK_STR(message, expected[-1]);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    return 2;
  }
  expected = argv + 1;
  const daedalus_config config = {.size = sizeof(config), .log = compare};
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  daedalus_device_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_device(ctx, &info), -ENODEV);
  CHECK_INT(daedalus_ctx_device(ctx, &info), -ENODEV);
  CHECK(*expected == NULL);
  expected = NULL;
  uint32_t dst[8] = {1, 2, 3, 4}, src[8] = {10, 20, 30, 40};
  const daedalus_buffer buffers[] = {{dst, 16}, {src, 16}};
  const sum_meta meta = {.choice = 1};
  const daedalus_kernel_desc *kernel = &sum_table()->kernels[0];
  CHECK_INT(daedalus_dispatch(ctx, kernel, DAEDALUS_SUBSTRATE_QPU, buffers, 1, &meta), -ENODEV);
  CHECK_INT(daedalus_dispatch(ctx, kernel, DAEDALUS_SUBSTRATE_AUTO, buffers, 1, &meta), 0);
  CHECK_INT(dst[0], 12);
  CHECK_INT(dst[3], 45);
  daedalus_ctx_destroy(ctx);
  return CHECK_RESULT();
}
