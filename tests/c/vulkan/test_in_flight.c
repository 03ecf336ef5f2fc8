/* SPDX-License-Identifier: BSD-2-Clause */
/* Several batches in flight: what is known of one must not be taken for news about another. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "fixture.h"

enum { N = 3, TIMEOUT_MS = 40 };

static add_work work[N];
static uint8_t expected[N][sizeof(work[0].plane)];

typedef struct several {
  fixture f;
  daedalus_batch *batch[N];
} several;

/* A context that has done its self-tests, and as many batches, each with memory of its own. */
static void open_several(several *s) {
  const daedalus_config config = {
      .size = sizeof(config), .cache_dir = "", .timeout_ms = TIMEOUT_MS};
  stub_reset();
  fixture_open(&s->f, &config);
  for (uint32_t i = 0; i < N; i++) {
    add_fill(&work[i], 40 + i);
    if (i == 0) {
      CHECK_INT(add_run(s->f.ctx, &work[0]), 0);
    }
    memcpy(expected[i], work[i].plane, sizeof(expected[i]));
    CHECK_INT(daedalus_batch_begin(s->f.ctx, &s->batch[i]), 0);
    CHECK_INT(add_append(s->batch[i], &work[i], DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
    add_expect(&work[i], expected[i], 0, N_BLOCKS);
  }
}

static void check_results(size_t n) {
  for (size_t i = 0; i < n; i++) {
    CHECK(memcmp(work[i].plane, expected[i], sizeof(expected[i])) == 0);
  }
}

static void sleep_ms(long ms) {
  const struct timespec time = {.tv_nsec = ms * 1000000};
  nanosleep(&time, NULL);
}

/*
 * A batch that its owner has not waited for, but whose end was seen through a later one's, is no
 * sign that the GPU hangs: what follows has all of the time.
 */
static void test_an_idle_gpu_does_not_hang(void) {
  several s;
  open_several(&s);
  CHECK_INT(daedalus_batch_submit(s.batch[0]), 0);
  CHECK_INT(daedalus_batch_submit(s.batch[1]), 0);
  CHECK_INT(daedalus_batch_wait(s.batch[1], -1), 0);
  sleep_ms(2 * TIMEOUT_MS);
  CHECK_INT(daedalus_batch_submit(s.batch[2]), 0);
  CHECK_INT(daedalus_batch_poll(s.batch[2]), 0);
  CHECK_INT(s.f.log.n, 0);
  CHECK_INT(daedalus_batch_wait(s.batch[0], -1), 0);
  CHECK_INT(daedalus_batch_wait(s.batch[2], -1), 0);
  check_results(N);
  CHECK_INT(fixture_close(&s.f), 0);
}

/* Of the leak sanitizer, where the program is built with it. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/*
 * A submission that fails for want of memory waits for the batches before it; when these hang, the
 * CPU does all of them, each once.
 */
static void test_a_failure_while_another_is_dealt_with(void) {
  several s;
  if (__lsan_disable != NULL) {
    __lsan_disable();
  }
  open_several(&s);
  CHECK_INT(daedalus_batch_submit(s.batch[0]), 0);
  stub.hang = true;
  stub_fail("vkQueueSubmit", 0, VK_ERROR_OUT_OF_HOST_MEMORY);
  CHECK_INT(daedalus_batch_submit(s.batch[1]), 0);
  CHECK(stub_failed());
  CHECK_INT(daedalus_batch_wait(s.batch[1], -1), 0);
  CHECK_INT(daedalus_batch_wait(s.batch[0], -1), 0);
  CHECK_INT(s.f.log.n, 2); /* want of memory, the hang */
  check_results(2);
  daedalus_ctx_destroy(s.f.ctx);
  CHECK_INT(stub_misuses(), 0);
  stub_abandon();
  if (__lsan_enable != NULL) {
    __lsan_enable();
  }
}

/* The device may be lost by a call that is about no batch in particular. */
static void test_lost_by_exporting_a_fence(void) {
  several s;
  int fd = 7;
  open_several(&s);
  CHECK_INT(daedalus_batch_submit(s.batch[0]), 0);
  CHECK_INT(daedalus_batch_submit(s.batch[1]), 0);
  stub_fail("vkQueueSubmit", 0, VK_ERROR_DEVICE_LOST);
  CHECK_INT(daedalus_batch_export_fence(s.batch[1], &fd), -ENOTSUP);
  CHECK(stub_failed());
  CHECK_INT(fd, -1);
  CHECK_INT(s.f.log.n, 1);
  CHECK_INT(daedalus_batch_poll(s.batch[0]), 1);
  CHECK_INT(daedalus_batch_poll(s.batch[1]), 1);
  check_results(2);
  CHECK_INT(fixture_close(&s.f), 0);
}

/* Of a batch that is used again without the GPU there is no time. */
static void test_no_time_of_an_earlier_use(void) {
  several s;
  uint64_t ns = 0;
  open_several(&s);
  CHECK_INT(daedalus_batch_reset(s.batch[0]), 0);
  CHECK_INT(daedalus_batch_set_flags(s.batch[0], DAEDALUS_BATCH_TIMESTAMPS), 0);
  CHECK_INT(add_append(s.batch[0], &work[0], DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(s.batch[0]), 0);
  CHECK_INT(daedalus_batch_wait(s.batch[0], -1), 0);
  CHECK_INT(daedalus_batch_gpu_time(s.batch[0], &ns), 0);
  CHECK_INT(daedalus_batch_reset(s.batch[0]), 0);
  CHECK_INT(add_append(s.batch[0], &work[0], DAEDALUS_SUBSTRATE_CPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(s.batch[0]), 0);
  CHECK_INT(daedalus_batch_wait(s.batch[0], -1), 0);
  CHECK_INT(daedalus_batch_gpu_time(s.batch[0], &ns), -ENOTSUP);
  CHECK_INT(fixture_close(&s.f), 0);
}

/* Records of all items, or of one dispatch's, that are more than can be bound. */
static void test_records_over_the_limit(void) {
  for (uint32_t limit = 2048; limit >= 1024; limit /= 2) {
    fixture f;
    stub_reset();
    stub.devices[0].max_range = limit;
    fixture_open(&f, NULL);
    add_fill(&work[0], 60);
    memcpy(expected[0], work[0].plane, sizeof(expected[0]));
    CHECK_INT(add_run(f.ctx, &work[0]), 0);
    add_expect(&work[0], expected[0], 0, N_BLOCKS);
    check_results(1);
    CHECK_INT(fixture_close(&f), 0);
  }
}

int main(void) {
  RUN(test_an_idle_gpu_does_not_hang);
  RUN(test_a_failure_while_another_is_dealt_with);
  RUN(test_lost_by_exporting_a_fence);
  RUN(test_no_time_of_an_earlier_use);
  RUN(test_records_over_the_limit);
  return CHECK_RESULT();
}
