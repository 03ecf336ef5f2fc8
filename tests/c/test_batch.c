/* SPDX-License-Identifier: BSD-2-Clause */
/* Life of a batch, order of work, choices, and results of the fake kernels. */
#include <daedalus.h>
#include <errno.h>

#include "check.h"
#include "recorder.h"

static void test_states(void) {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  daedalus_batch *batch = NULL;
  int fd = 0;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), -EINVAL);
  CHECK_INT(daedalus_batch_poll(batch), -EINVAL);
  CHECK_INT(daedalus_batch_export_fence(batch, &fd), -EINVAL);
  CHECK_INT(fd, -1);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_submit(batch), -EALREADY);
  CHECK_INT(daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 0, NULL),
            -EALREADY);
  CHECK_INT(daedalus_batch_wait(batch, 0), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  CHECK_INT(daedalus_batch_poll(batch), 1);
  fd = 0;
  CHECK_INT(daedalus_batch_export_fence(batch, &fd), -ENOTSUP);
  CHECK_INT(fd, -1);
  CHECK_INT(daedalus_batch_reset(batch), 0);
  CHECK_INT(daedalus_batch_poll(batch), -EINVAL);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  daedalus_batch_destroy(batch);
  daedalus_ctx_destroy(ctx);
}

static void test_null(void) {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  daedalus_batch *batch = (daedalus_batch *)&batch;
  daedalus_choice choice;
  int fd = 0;
  CHECK_INT(daedalus_batch_begin(ctx, NULL), -EINVAL);
  CHECK_INT(daedalus_batch_begin(NULL, &batch), -EINVAL);
  CHECK(batch == NULL);
  CHECK_INT(daedalus_batch_submit(NULL), -EINVAL);
  CHECK_INT(daedalus_batch_wait(NULL, 0), -EINVAL);
  CHECK_INT(daedalus_batch_poll(NULL), -EINVAL);
  CHECK_INT(daedalus_batch_export_fence(NULL, &fd), -EINVAL);
  CHECK_INT(fd, -1);
  CHECK_INT(daedalus_batch_reset(NULL), -EINVAL);
  CHECK_INT(daedalus_batch_choice_count(NULL), 0);
  CHECK_INT(daedalus_batch_choice(NULL, 0, &choice), -EINVAL);
  daedalus_batch_destroy(NULL);
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_batch_export_fence(batch, NULL), -EINVAL);
  CHECK_INT(daedalus_append(NULL, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 0, NULL),
            -EINVAL);
  CHECK_INT(daedalus_append(batch, NULL, DAEDALUS_SUBSTRATE_CPU, NULL, 0, NULL), -EINVAL);
  CHECK_INT(daedalus_dispatch(NULL, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 0, NULL),
            -EINVAL);
  daedalus_ctx_destroy(ctx);
}

static void test_empty(void) {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_AUTO, NULL, 0, NULL), 0);
  CHECK_INT(daedalus_batch_choice_count(batch), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  CHECK_INT(daedalus_dispatch(ctx, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 0, NULL), 0);
  daedalus_ctx_destroy(ctx);
}

static int append_values(daedalus_batch *batch, const daedalus_kernel_desc *kernel,
                         const int32_t *values, size_t n, uint32_t first_tag) {
  recorder_meta meta[64];
  for (size_t i = 0; i < n; i++) {
    meta[i] = (recorder_meta){(uint32_t)i, values[i], first_tag + (uint32_t)i};
  }
  const int error =
      daedalus_append(batch, kernel, DAEDALUS_SUBSTRATE_AUTO, &recorder_buffer, n, meta);
  memset(meta, 0xff, sizeof(meta)); /* the append has to have its own copy */
  return error;
}

static void check_recorded(const recorder_entry *expected, size_t n) {
  CHECK_INT(recorder_n, n);
  for (size_t i = 0; i < n && i < recorder_n; i++) {
    CHECK_STR(recorder[i].variant, expected[i].variant);
    CHECK_INT(recorder[i].tag, expected[i].tag);
  }
}

static void check_choice(const daedalus_batch *batch, size_t index, const char *class_name,
                         const char *variant, size_t n_items) {
  daedalus_choice choice;
  CHECK_INT(daedalus_batch_choice(batch, index, &choice), 0);
  CHECK_STR(choice.kernel, "recorder");
  CHECK_STR(choice.class_name, class_name);
  CHECK_STR(choice.variant, variant);
  CHECK(choice.substrate == DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(choice.n_items, n_items);
}

static void test_binning(void) {
  const int32_t first[] = {50, 1, 0, 1, -1, 10, 11, 1}, second[] = {-7, 5, -7};
  const recorder_entry expected[] = {
      {"one", 1},  {"one", 3},  {"one", 7},   {"few", 2},    {"few", 5},    {"full", 0},
      {"full", 4}, {"full", 6}, {"few", 101}, {"full", 100}, {"full", 102},
  };
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  daedalus_batch *batch = NULL;
  daedalus_choice choice;
  recorder_n = 0;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(append_values(batch, &recorder_kernel, first, 8, 0), 0);
  CHECK_INT(daedalus_batch_choice_count(batch), 3);
  CHECK_INT(append_values(batch, &recorder_kernel, second, 3, 100), 0);
  CHECK_INT(recorder_n, 0); /* nothing runs before submit */
  CHECK_INT(daedalus_batch_choice_count(batch), 5);
  check_choice(batch, 0, "one", "one", 3);
  check_choice(batch, 1, "few", "few", 2);
  check_choice(batch, 2, "full", "full", 3);
  check_choice(batch, 3, "few", "few", 1);
  check_choice(batch, 4, "full", "full", 2);
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_STR(choice.reason, "the better one");
  CHECK_INT(daedalus_batch_choice(batch, 5, &choice), -EINVAL);
  CHECK_INT(daedalus_batch_choice(batch, 0, NULL), -EINVAL);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  check_recorded(expected, 11);
  daedalus_ctx_destroy(ctx);
}

static void test_classes_without_variant(void) {
  const int32_t values[] = {1, 0, 50, 1};
  daedalus_variant variants[RECORDER_N];
  /* Three with the same variants: what runs a kernel is found out once. */
  daedalus_kernel_desc kernels[3] = {recorder_kernel, recorder_kernel, recorder_kernel};
  kernels[0].variants = kernels[1].variants = kernels[2].variants = variants;
  memcpy(variants, recorder_variants, sizeof(variants));
  variants[RECORDER_ONE].cpu = variants[RECORDER_ONE_WORSE].cpu = NULL;
  logged log = {0};
  const daedalus_config config = {.size = sizeof(config), .log = logged_fn, .log_user = &log};
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);

  const recorder_entry to_few[] = {{"few", 0}, {"few", 1}, {"few", 3}, {"full", 2}};
  recorder_n = 0;
  CHECK_INT(append_values(batch, &kernels[0], values, 4, 0), 0);
  check_choice(batch, 0, "few", "few", 3);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  check_recorded(to_few, 4);

  variants[RECORDER_FEW].cpu = NULL;
  const recorder_entry to_full[] = {{"full", 0}, {"full", 1}, {"full", 2}, {"full", 3}};
  recorder_n = 0;
  CHECK_INT(daedalus_batch_reset(batch), 0);
  CHECK_INT(append_values(batch, &kernels[1], values, 4, 0), 0);
  CHECK_INT(daedalus_batch_choice_count(batch), 1);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  check_recorded(to_full, 4);

  variants[RECORDER_FULL].cpu = NULL;
  CHECK_INT(daedalus_batch_reset(batch), 0);
  CHECK_INT(log.n, 0);
  CHECK_INT(append_values(batch, &kernels[2], values, 4, 0), -ENODEV);
  CHECK_INT(log.n, 1);
  CHECK_INT(daedalus_batch_choice_count(batch), 0);
  daedalus_ctx_destroy(ctx);
}

static void test_many_items(void) {
  enum { N = 1500 };
  static recorder_meta meta[N];
  uint32_t next[3] = {0, 0, 0};
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  recorder_n = 0;
  uint32_t seed = 7;
  for (uint32_t i = 0; i < N; i++) {
    seed = seed * 1664525u + 1013904223u;
    meta[i] = (recorder_meta){i, (int32_t)(seed >> 24) % 13 - 1, i};
  }
  CHECK_INT(
      daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, &recorder_buffer, N, meta),
      0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(recorder_n, N);
  for (size_t i = 0; i < recorder_n; i++) {
    const int32_t value = meta[recorder[i].tag].value;
    const int c = value == 1 ? 0 : value >= 0 && value <= 10 ? 1 : 2;
    const char *const names[] = {"one", "few", "full"};
    CHECK_STR(recorder[i].variant, names[c]);
    CHECK(recorder[i].tag >= next[c]); /* stable: tags rise within a class */
    next[c] = recorder[i].tag + 1;
  }
  daedalus_ctx_destroy(ctx);
}

static void test_results(void) {
  uint8_t plane[16 * 32], copy[16 * 32] = {0};
  int16_t src[2 * 16];
  for (int i = 0; i < 512; i++) {
    plane[i] = (uint8_t)i;
  }
  for (int i = 0; i < 32; i++) {
    src[i] = (int16_t)(100 * i);
  }
  const daedalus_fake_add_meta add[] = {{.dst_off = 36, .count = 16, .gain = -2},
                                        {.dst_off = 8, .count = 1, .gain = 1}};
  const daedalus_fake_copy_meta copies[] = {{.dst_off = 0, .src_off = 32, .rows = 3},
                                            {.dst_off = 96, .src_off = 4, .rows = 8}};
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_append_fake_add(batch, DAEDALUS_SUBSTRATE_AUTO, plane, 32, src, 2, add), 0);
  CHECK_INT(
      daedalus_append_fake_copy(batch, DAEDALUS_SUBSTRATE_AUTO, copy, 32, plane, 32, 2, copies), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  for (int i = 0; i < 512; i++) {
    uint8_t expected = (uint8_t)i;
    const int row = i / 32 - 1, col = i % 32 - 4;
    if (row >= 0 && row < 4 && col >= 0 && col < 4) {
      expected = (uint8_t)(expected - 200 * (row * 4 + col));
    }
    if (i == 8) {
      expected = (uint8_t)(expected + 1600);
    }
    CHECK_INT(plane[i], expected);
    const bool first = i % 32 < 8 && i / 32 < 3, second = i % 32 < 8 && i / 32 >= 3 && i / 32 < 11;
    CHECK_INT(copy[i], first ? plane[i + 32] : second ? plane[i - 92] : 0);
  }
  CHECK_INT(daedalus_recipe_dispatch_fake_add(ctx, plane, 32, src, 2, add), 0);
  CHECK_INT(plane[8], (uint8_t)(8 + 2 * 1600));
  daedalus_ctx_destroy(ctx);
}

int main(void) {
  RUN(test_states);
  RUN(test_null);
  RUN(test_empty);
  RUN(test_binning);
  RUN(test_classes_without_variant);
  RUN(test_many_items);
  RUN(test_results);
  return CHECK_RESULT();
}
