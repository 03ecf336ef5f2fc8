/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes that lead nowhere: what is said, once, and that the CPU works.  Run without /dev/dri, and
 * with no_libdrm.c preloaded, which keeps libdrm from being found.
 *
 *   test_drm_absent MESSAGE    a part of what is logged, with DAEDALUS_QPU_ROUTE as the caller has
 * it
 */
#include <daedalus.h>
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "recorder.h"
#include "sum.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    return 2;
  }
  logged log = {0};
  const daedalus_config config = {.size = sizeof(config), .log = logged_fn, .log_user = &log};
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  daedalus_device_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_device(ctx, &info), -ENODEV);
  CHECK_INT(daedalus_ctx_device(ctx, &info), -ENODEV);
  CHECK_INT(log.n, 1);
  CHECK_INT(log.level, DAEDALUS_LOG_WARNING);
  if (strstr(log.message, argv[1]) == NULL) {
    CHECK_STR(log.message, argv[1]);
  }
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
