/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences, without a server. */
#include "check.h"
#include "device.h"

/* A long chain, of which the last job is done first: all of it is signaled by the first one. */
static void backwards(void) {
  enum { N = 10000 };
  struct dev_fence *jobs[N], *chain = dev_fence_create(true);
  for (size_t i = 0; i < N; i++) {
    jobs[i] = dev_fence_create(false);
    struct dev_fence *parts[2] = {jobs[i], chain}, *whole = dev_fence_merge(parts, 2);
    dev_fence_unref(chain);
    chain = whole;
  }
  for (size_t i = N; i-- > 0;) {
    CHECK(!chain->signaled);
    dev_fence_signal(jobs[i]);
    dev_fence_unref(jobs[i]);
  }
  CHECK(chain->signaled);
  dev_fence_unref(chain);
}

/* What was merged keeps its parts, which a sync file tells of. */
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

/* By the clock of waits it was signaled with the last of its parts, in whatever order they were. */
static void merged_clock(void) {
  struct dev_fence *parts[3] = {dev_fence_create(false), dev_fence_create(false),
                                dev_fence_create(true)};
  parts[2]->clock_ns = 30;
  struct dev_fence *early = dev_fence_merge(parts, 2), *late = dev_fence_merge(parts, 3);
  struct dev_fence *nested = dev_fence_merge(&early, 1);
  parts[0]->clock_ns = 20;
  dev_fence_signal(parts[0]);
  parts[1]->clock_ns = 10;
  dev_fence_signal(parts[1]);
  CHECK_INT(early->clock_ns, 20);
  CHECK_INT(nested->clock_ns, 20);
  CHECK_INT(late->clock_ns, 30);
  struct dev_fence *over = dev_fence_merge(parts, 2);
  CHECK_INT(over->clock_ns, 20);
  struct dev_fence *const all[] = {over, nested, early, late, parts[0], parts[1], parts[2]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    dev_fence_unref(all[i]);
}

int main(void) {
  RUN(backwards);
  RUN(merged);
  RUN(merged_clock);
  return CHECK_RESULT();
}
