/* SPDX-License-Identifier: BSD-2-Clause */
/* Every allocation fails once; a batch that is used again allocates nothing. */
#include <daedalus.h>
#include <errno.h>

#include "check.h"
#include "recorder.h"

static const daedalus_config debug_config = {.size = sizeof(debug_config),
                                             .flags = DAEDALUS_CONFIG_CHECK_OVERLAP};

static int append(daedalus_batch *batch, size_t n) {
  static const int32_t values[] = {0, 1, 50};
  recorder_meta meta[256];
  for (size_t i = 0; i < n; i++) {
    meta[i] = (recorder_meta){(uint32_t)i, values[i % 3], (uint32_t)i};
  }
  return daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, &recorder_buffer, n,
                         meta);
}

/* @return the first error; what was done before it has to be whole */
static int run_all(counting *state, daedalus_ctx **ctx) {
  const daedalus_allocator allocator = counting_allocator(state);
  *ctx = daedalus_rt_ctx_create(&debug_config, &daedalus_kernels, &allocator);
  if (*ctx == NULL) {
    return -errno;
  }
  daedalus_batch *batch = NULL;
  int error = daedalus_batch_begin(*ctx, &batch);
  if (error != 0) {
    CHECK(batch == NULL);
    return error;
  }
  static const size_t counts[] = {3, 10, 200};
  size_t n_done = 0;
  for (int i = 0; i < 3; i++) {
    error = append(batch, counts[i]);
    if (error != 0) {
      /* Nothing has changed: the same batch goes on as if it had not been tried. */
      CHECK_INT(daedalus_batch_choice_count(batch), 3 * i);
      CHECK_INT(append(batch, counts[i]), 0);
    }
    n_done += counts[i];
    if (error != 0) {
      break;
    }
  }
  recorder_n = 0;
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(recorder_n, n_done);
  if (error != 0) {
    return error;
  }
  const recorder_meta meta = {0, 0, 0};
  return daedalus_dispatch(*ctx, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, &recorder_buffer, 1,
                           &meta);
}

static void test_failing_allocations(void) {
  counting all = {.fail_at = -1};
  daedalus_ctx *ctx = NULL;
  CHECK_INT(run_all(&all, &ctx), 0);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(all.n_live, 0);
  CHECK(all.n_allocations > 20);
  for (long i = 0; i < all.n_allocations; i++) {
    counting state = {.fail_at = i};
    errno = 0;
    CHECK_INT(run_all(&state, &ctx), -ENOMEM);
    daedalus_ctx_destroy(ctx);
    CHECK_INT(state.n_live, 0);
  }
}

static void test_reset_allocates_nothing(void) {
  counting state = {.fail_at = -1};
  const daedalus_allocator allocator = counting_allocator(&state);
  daedalus_ctx *ctx = daedalus_rt_ctx_create(&debug_config, &daedalus_kernels, &allocator);
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  long after_first = 0;
  for (int round = 0; round < 5; round++) {
    CHECK_INT(append(batch, 200), 0);
    CHECK_INT(append(batch, 100), 0);
    recorder_n = 0;
    CHECK_INT(daedalus_batch_submit(batch), 0);
    CHECK_INT(recorder_n, 300);
    CHECK_INT(daedalus_batch_choice_count(batch), 6);
    CHECK_INT(daedalus_batch_reset(batch), 0);
    CHECK_INT(daedalus_batch_choice_count(batch), 0);
    if (round == 0) {
      after_first = state.n_allocations;
    }
  }
  CHECK_INT(state.n_allocations, after_first);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(state.n_live, 0);
}

static void test_dispatch_allocates_once(void) {
  counting state = {.fail_at = -1};
  const daedalus_allocator allocator = counting_allocator(&state);
  daedalus_ctx *ctx = daedalus_rt_ctx_create(NULL, &daedalus_kernels, &allocator);
  uint8_t plane[64] = {0};
  const int16_t src[16] = {1};
  const daedalus_fake_add_meta meta = {.count = 16, .gain = 1};
  long after_first = 0;
  for (int round = 1; round < 5; round++) {
    CHECK_INT(daedalus_dispatch_fake_add(ctx, DAEDALUS_SUBSTRATE_CPU, plane, 4, src, 1, &meta), 0);
    CHECK_INT(plane[0], round);
    if (round == 1) {
      after_first = state.n_allocations;
    }
  }
  CHECK_INT(state.n_allocations, after_first);
  /* A dispatch that is refused does not spoil the next one. */
  const daedalus_fake_add_meta bad = {.count = 17};
  CHECK_INT(daedalus_dispatch_fake_add(ctx, DAEDALUS_SUBSTRATE_CPU, plane, 4, src, 1, &bad),
            -EINVAL);
  CHECK_INT(daedalus_dispatch_fake_add(ctx, DAEDALUS_SUBSTRATE_CPU, plane, 4, src, 1, &meta), 0);
  CHECK_INT(plane[0], 5);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(state.n_live, 0);
}

int main(void) {
  RUN(test_failing_allocations);
  RUN(test_reset_allocates_nothing);
  RUN(test_dispatch_allocates_once);
  return CHECK_RESULT();
}
