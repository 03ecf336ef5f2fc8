/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timeouts on a timed device, whose jobs sleep on the wall and take other times by the model.
 * Argument: `stretched`, when waits go by the model, or `plain`, when they go by the wall.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "drm_client.h"

enum { MS = 1000000, US_OF_MS = 1000 };

static int fd;
static bool stretched;
static struct drm_buffer code;
static uint32_t done;

/* A job that sleeps, and takes microseconds by the model. */
static void begin(uint32_t sleeps_ms, uint32_t us) {
  const struct fake_shader shader = {.operation = FAKE_SLEEP, .n = us, .value = sleeps_ms};
  CHECK_INT(drm_submit(fd, &code, 0, &shader, &code.handle, 1, 0, done), 0);
}

static void end(void) {
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, -1, NULL), 0);
}

static int wait_until(int64_t deadline_ns) {
  struct abi_syncobj_wait wait = {
      .handles = (uintptr_t)&done, .n_handles = 1, .timeout_ns = deadline_ns};
  return DRM_CALL(fd, ABI_SYNCOBJ_WAIT, &wait);
}

/* The simulator takes longer than the device, and than the timeout. */
static void long_on_the_wall(void) {
  begin(200, 0);
  struct abi_wait_bo wait = {.handle = code.handle, .timeout_ns = 50 * MS};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait), stretched ? 0 : -ETIME);
  if (stretched)
    CHECK(wait.timeout_ns > 10 * MS && wait.timeout_ns < 50 * MS); /* what is left */
  end();
  begin(200, 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, 0, 50 * MS, NULL), stretched ? 0 : -ETIME);
  end();
}

/* A timeout that was reckoned once, for two waits; and one more that has passed in the meantime. */
static void the_same_timeout(void) {
  begin(100, 0);
  const int64_t deadline_ns = drm_now_ns() + 50 * MS;
  CHECK_INT(wait_until(deadline_ns), stretched ? 0 : -ETIME);
  end();
  begin(100, 0);
  CHECK_INT(wait_until(deadline_ns), stretched ? 0 : -ETIME);
  end();
  begin(100, 100 * US_OF_MS);
  CHECK_INT(wait_until(deadline_ns), -ETIME);
  end();
}

/* The device takes longer than the simulator: it would not be done in time. */
static void long_by_the_model(void) {
  begin(50, 2000 * US_OF_MS);
  CHECK_INT(drm_wait_bo(fd, code.handle, 1000 * (uint64_t)MS), stretched ? -ETIME : 0);
  CHECK_INT(drm_wait_bo(fd, code.handle, 0), 0);
  begin(50, 2000 * US_OF_MS);
  CHECK_INT(drm_wait_bo(fd, code.handle, 5000 * (uint64_t)MS), 0);
}

/* A wait that begins late in a job has to wait for the rest of it only. */
static void in_the_midst(void) {
  begin(200, 2000 * US_OF_MS);
  nanosleep(&(struct timespec){.tv_nsec = 150 * MS}, NULL);
  struct abi_wait_bo wait = {.handle = code.handle, .timeout_ns = 1000 * (uint64_t)MS};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait), 0);
  CHECK(wait.timeout_ns >= 400 * MS);
  end();
}

/* What does not wait does not wait, and while no job runs the device's time is the wall's. */
static void other_times(void) {
  begin(100, 0);
  int64_t begun = drm_now_ns();
  CHECK_INT(drm_wait_bo(fd, code.handle, 0), -ETIME);
  CHECK_INT(wait_until(0), -ETIME);
  CHECK(drm_now_ns() - begun < 80 * MS);
  end();
  const uint32_t never = drm_syncobj(fd, 0);
  begun = drm_now_ns();
  CHECK_INT(drm_syncobj_wait(fd, &never, 1, ABI_SYNCOBJ_WAIT_FOR_SUBMIT, 30 * MS, NULL), -ETIME);
  CHECK(drm_now_ns() - begun >= 30 * MS && drm_now_ns() - begun < 1000 * MS);
}

/* One of two is late by the model: enough of those that are in time count. */
static void one_of_two(void) {
  const uint32_t both[2] = {done, drm_syncobj(fd, ABI_SYNCOBJ_CREATE_SIGNALED)};
  uint32_t first = 7;
  begin(50, 2000 * US_OF_MS);
  CHECK_INT(drm_syncobj_wait(fd, both, 2, 0, 100 * MS, &first), 0);
  CHECK_INT(first, 1);
  CHECK_INT(drm_syncobj_wait(fd, both, 2, ABI_SYNCOBJ_WAIT_ALL, 500 * MS, NULL),
            stretched ? -ETIME : 0);
  end();
}

int main(int argc, char **argv) {
  fd = drm_open();
  if (argc != 2 || fd < 0 || drm_create(fd, 4096, &code) != 0) {
    fprintf(stderr, "no device, or not one argument\n");
    return 1;
  }
  stretched = strcmp(argv[1], "stretched") == 0;
  done = drm_syncobj(fd, 0);
  RUN(long_on_the_wall);
  RUN(the_same_timeout);
  RUN(long_by_the_model);
  RUN(in_the_midst);
  RUN(other_times);
  RUN(one_of_two);
  return CHECK_RESULT();
}
