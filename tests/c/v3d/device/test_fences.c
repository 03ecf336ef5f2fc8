/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences and timelines, without a server. */
#include <stdlib.h>

#include "check.h"
#include "device.h"

/* Fences that wait for each other, counted from the last point of a timeline. */
static size_t length_of(const struct dev_syncobj *timeline) {
  size_t n = 0;
  for (const struct dev_fence *at = timeline->fence; at != NULL; n++)
    at = at->n_parts > 1 ? at->parts[1].part : NULL;
  return n;
}

/* A timeline that always has a job on its way keeps what is on its way, not all that was. */
static void endless_timeline(void) {
  struct dev_syncobj *timeline = calloc(1, sizeof *timeline);
  struct dev_fence *before = NULL;
  timeline->refs = 1;
  for (uint64_t i = 1; i <= 1000; i++) {
    struct dev_fence *job = dev_fence_create(false);
    CHECK_INT(dev_syncobj_add_point(timeline, job, i), 0);
    if (before != NULL)
      dev_fence_signal(before);
    dev_fence_unref(before);
    before = job;
    dev_syncobj_advance(timeline);
    CHECK_INT(timeline->reached, i - 1);
  }
  CHECK_INT(length_of(timeline), 2);
  CHECK_INT(timeline->n_points, 1);
  CHECK(!timeline->fence->signaled);
  dev_fence_signal(before);
  CHECK(timeline->fence->signaled);
  CHECK_INT(length_of(timeline), 1);
  dev_fence_unref(before);
  dev_syncobj_unref(timeline);
}

/* The last job is done first: all points are signaled at once, by the first one. */
static void backwards(void) {
  enum { N = 10000 };
  struct dev_syncobj *timeline = calloc(1, sizeof *timeline);
  struct dev_fence *jobs[N];
  timeline->refs = 1;
  for (uint64_t i = 0; i < N; i++) {
    jobs[i] = dev_fence_create(false);
    CHECK_INT(dev_syncobj_add_point(timeline, jobs[i], i + 1), 0);
  }
  for (size_t i = N; i-- > 0;) {
    CHECK(!timeline->fence->signaled);
    dev_fence_signal(jobs[i]);
    dev_fence_unref(jobs[i]);
  }
  CHECK(timeline->fence->signaled);
  CHECK_INT(length_of(timeline), 1);
  dev_syncobj_advance(timeline);
  CHECK_INT(timeline->reached, N);
  dev_syncobj_unref(timeline);
}

/* What was merged otherwise keeps its parts, which a sync file tells of. */
static void merged(void) {
  struct dev_fence *parts[2] = {dev_fence_create(false), dev_fence_create(true)};
  struct dev_fence *whole = dev_fence_merge(parts, 2);
  CHECK(!whole->signaled);
  dev_fence_signal(parts[0]);
  CHECK(whole->signaled);
  CHECK_INT(whole->n_parts, 2);
  dev_fence_unref(whole);
  for (size_t i = 0; i < 2; i++) {
    CHECK_INT(parts[i]->refs, 1);
    dev_fence_unref(parts[i]);
  }
}

int main(void) {
  RUN(endless_timeline);
  RUN(backwards);
  RUN(merged);
  return CHECK_RESULT();
}
