/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an empty job costs: SUBMIT_CSD of a program that does nothing, a SUBMIT_CL no-op that waits
 * for it, SYNCOBJ_WAIT, as a Vulkan driver's queue submission with a fence becomes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "drm_client.h"

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
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
  const struct fake_shader nothing = {.operation = FAKE_NOTHING};
  double *times = malloc((size_t)rounds * sizeof *times);
  drm_write_rcl(&list, &(struct drm_rcl){.width = 1, .height = 1}, &start, &end);
  for (int i = 0; times != NULL && i < rounds; i++) {
    const int64_t before = drm_now_ns();
    if (drm_submit(fd, &code, 0, &nothing, &code.handle, 1, 0, computed) != 0 ||
        drm_submit_cl(fd, start, end, both, 2, computed, done) != 0 ||
        drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, 10000000000, NULL) != 0) {
      fprintf(stderr, "job %d failed\n", i);
      return 1;
    }
    times[i] = (double)(drm_now_ns() - before) / 1000;
  }
  if (times == NULL)
    return 2;
  qsort(times, (size_t)rounds, sizeof *times, by_value);
  printf("empty job, %d times: median %.1f us, 95 %% below %.1f us, least %.1f us\n", rounds,
         times[rounds / 2], times[rounds * 95 / 100], times[0]);
  free(times);
  return 0;
}
