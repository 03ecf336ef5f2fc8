/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an empty job costs: SUBMIT_CSD of a program that does nothing, a SUBMIT_CL no-op that waits
 * for it, SYNCOBJ_WAIT, as a Vulkan driver's queue submission with a fence becomes. The program is
 * one that the GPU would run: one workgroup, three instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drm_client.h"

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int submit(int fd, const struct drm_buffer *code, uint32_t out_sync) {
  struct abi_submit_csd csd = {
      .cfg = {1 << 16, 1 << 16, 1 << 16, 16 | 1 << 8, 1, code->address | 2, code->address},
      .bo_handles = (uintptr_t)&code->handle,
      .n_bo_handles = 1,
      .out_sync = out_sync};
  return DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd);
}

/* Of this process, of all its threads. */
static double cpu_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 5000;
  const int fd = drm_open();
  struct drm_buffer code, list;
  uint32_t start, end;
  if (rounds < 1 || fd < 0 || drm_create(fd, 4096, &code) != 0 ||
      drm_create(fd, 4096, &list) != 0) {
    fprintf(stderr, "usage: bench [rounds], on a device\n");
    return 2;
  }
  const uint32_t both[2] = {code.handle, list.handle};
  const uint32_t computed = drm_syncobj(fd, 0), done = drm_syncobj(fd, 0);
  static const uint64_t nothing[3] = {
      /* nop; thrsw, and its two slots */
      UINT64_C(0x38203186bb03f000), UINT64_C(0x38003186bb03f000), UINT64_C(0x38003186bb03f000)};
  double *times = malloc((size_t)rounds * sizeof *times);
  drm_write_rcl(&list, &(struct drm_rcl){.width = 1, .height = 1}, &start, &end);
  memcpy(code.map, nothing, sizeof nothing);
  const double cpu = cpu_us();
  for (int i = 0; times != NULL && i < rounds; i++) {
    const int64_t before = drm_now_ns();
    if (submit(fd, &code, computed) != 0 ||
        drm_submit_cl(fd, start, end, both, 2, computed, done) != 0 ||
        drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, 10000000000, NULL) != 0) {
      fprintf(stderr, "job %d failed\n", i);
      return 1;
    }
    times[i] = (double)(drm_now_ns() - before) / 1000;
  }
  if (times == NULL)
    return 2;
  const double cpu_each = (cpu_us() - cpu) / rounds;
  qsort(times, (size_t)rounds, sizeof *times, by_value);
  printf("empty job, %d times: median %.1f us, 95 %% below %.1f us, least %.1f us, CPU %.1f us\n",
         rounds, times[rounds / 2], times[rounds * 95 / 100], times[0], cpu_each);
  free(times);
  return 0;
}
