/* SPDX-License-Identifier: BSD-2-Clause */
/* What an append refuses, with which error and which message. */
#include <daedalus.h>
#include <errno.h>

#include "check.h"
#include "recorder.h"

static logged log_of_test;

static daedalus_batch *begin(daedalus_ctx **ctx) {
  log_of_test = (logged){0};
  const daedalus_config config = {
      .size = sizeof(config), .log = logged_fn, .log_user = &log_of_test, .device = "none"};
  daedalus_batch *batch = NULL;
  *ctx = daedalus_ctx_create_with(&config);
  CHECK_INT(daedalus_batch_begin(*ctx, &batch), 0);
  return batch;
}

static void test_substrates(void) {
  daedalus_ctx *ctx;
  daedalus_batch *batch = begin(&ctx);
  const recorder_meta meta = {0, 0, 0};
  CHECK_INT(
      daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_QPU, &recorder_buffer, 1, &meta),
      -ENODEV);
  CHECK_INT(log_of_test.n, 1);
  CHECK(strstr(log_of_test.message, "recorder: the QPU was asked for") != NULL);
  CHECK_INT(
      daedalus_append(batch, &recorder_kernel, (daedalus_substrate)3, &recorder_buffer, 1, &meta),
      -EINVAL);
  CHECK_STR(log_of_test.message, "recorder: unknown substrate 3");
  CHECK_INT(daedalus_batch_choice_count(batch), 0);
  CHECK_INT(
      daedalus_dispatch(ctx, &recorder_kernel, DAEDALUS_SUBSTRATE_QPU, &recorder_buffer, 1, &meta),
      -ENODEV);
  daedalus_ctx_destroy(ctx);
}

/* The same, of a context that lets the CPU stand in. */
static void test_falls_back(void) {
  log_of_test = (logged){0};
  const daedalus_config config = {.size = sizeof(config),
                                  .flags = DAEDALUS_CONFIG_QPU_FALLBACK_CPU,
                                  .log = logged_fn,
                                  .log_user = &log_of_test,
                                  .device = "none"};
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_ctx_has_qpu(ctx), 0);
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  const recorder_meta meta = {.tag = 7};
  const daedalus_substrate qpu = DAEDALUS_SUBSTRATE_QPU;
  CHECK_INT(daedalus_append(batch, &recorder_kernel, qpu, &recorder_buffer, 1, &meta), 0);
  daedalus_choice choice;
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_INT(choice.substrate, DAEDALUS_SUBSTRATE_CPU);
  CHECK_STR(choice.variant, "few");
  CHECK(strstr(choice.reason, "as the configuration allows") != NULL);
  CHECK_INT(daedalus_append_variant(batch, &recorder_kernel, &recorder_variants[RECORDER_BEST], 0,
                                    &recorder_buffer, 1, &meta),
            -ENODEV);
  recorder_n = 0;
  CHECK_INT(daedalus_dispatch(ctx, &recorder_kernel, qpu, &recorder_buffer, 1, &meta), 0);
  CHECK_INT(recorder_n, 1);
  CHECK_INT(recorder[0].tag, 7);
  daedalus_ctx_destroy(ctx);
}

static void test_arguments(void) {
  daedalus_ctx *ctx;
  daedalus_batch *batch = begin(&ctx);
  const recorder_meta meta = {0, 0, 0};
  const daedalus_buffer no_data = {NULL, 1};
  const daedalus_substrate cpu = DAEDALUS_SUBSTRATE_CPU;
  CHECK_INT(daedalus_append(batch, &recorder_kernel, cpu, NULL, 1, &meta), -EINVAL);
  CHECK_INT(daedalus_append(batch, &recorder_kernel, cpu, &recorder_buffer, 1, NULL), -EINVAL);
  CHECK_STR(log_of_test.message, "recorder: buffers or meta is NULL");
  CHECK_INT(daedalus_append(batch, &recorder_kernel, cpu, &no_data, 1, &meta), -EINVAL);
  CHECK_STR(log_of_test.message, "recorder: buffer dst is NULL");
#if SIZE_MAX > UINT32_MAX
  CHECK_INT(daedalus_append(batch, &recorder_kernel, cpu, &recorder_buffer, (size_t)UINT32_MAX + 1,
                            &meta),
            -EOVERFLOW);
  CHECK_STR(log_of_test.message, "recorder: 4294967296 items, at most 4294967295 in one append");
#endif
  CHECK_INT(log_of_test.n, SIZE_MAX > UINT32_MAX ? 4 : 3);
  CHECK_INT(daedalus_batch_choice_count(batch), 0);
  daedalus_ctx_destroy(ctx);
}

/* A variant by name: of this kernel, and without a workgroup on the CPU. */
static void test_foreign_variants(void) {
  daedalus_ctx *ctx;
  daedalus_batch *batch = begin(&ctx);
  const recorder_meta meta = {0, 0, 0};
  const daedalus_variant foreign = recorder_variants[RECORDER_FULL];
  CHECK(foreign.cpu != NULL);
  CHECK_INT(
      daedalus_append_variant(batch, &recorder_kernel, &foreign, 0, &recorder_buffer, 1, &meta),
      -EINVAL);
  CHECK(strstr(log_of_test.message, "is another kernel's variant") != NULL);
  CHECK_INT(daedalus_append_variant(batch, &recorder_kernel, &recorder_variants[RECORDER_FULL], 64,
                                    &recorder_buffer, 1, &meta),
            -EINVAL);
  CHECK(strstr(log_of_test.message, "which has no workgroups") != NULL);
  CHECK_INT(log_of_test.n, 2);
  CHECK_INT(daedalus_append_variant(batch, &recorder_kernel, &recorder_variants[RECORDER_FULL], 0,
                                    &recorder_buffer, 1, &meta),
            0);
  daedalus_ctx_destroy(ctx);
}

static void test_range_message(void) {
  daedalus_ctx *ctx;
  daedalus_batch *batch = begin(&ctx);
  const recorder_meta meta[] = {{0, 100, 0}, {1, -100, 1}, {2, 101, 2}, {3, -101, 3}};
  CHECK_INT(
      daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, &recorder_buffer, 4, meta),
      -EINVAL);
  CHECK_STR(log_of_test.message, "recorder: item 2: value is 101, outside -100..100");
  CHECK_INT(daedalus_batch_choice_count(batch), 0);
  CHECK_INT(daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, &recorder_buffer, 1,
                            &meta[3]),
            -EINVAL);
  CHECK_STR(log_of_test.message, "recorder: item 0: value is -101, outside -100..100");
  CHECK_INT(
      daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_CPU, &recorder_buffer, 2, meta),
      0);
  CHECK_INT(log_of_test.n, 2);
  daedalus_ctx_destroy(ctx);
}

/* Every type, at the ends of a range and just outside, at an odd place in the meta. */
static void test_range_types(void) {
  static const struct {
    daedalus_type type;
    int32_t lo, hi;
    uint8_t inside[2][4], outside[2][4]; /* little endian */
  } cases[] = {
      {DAEDALUS_TYPE_U8, 3, 254, {{3}, {254}}, {{2}, {255}}},
      {DAEDALUS_TYPE_I8, -5, 5, {{0xfb}, {5}}, {{0xfa}, {6}}},
      {DAEDALUS_TYPE_U16, 1, 65534, {{1}, {0xfe, 0xff}}, {{0}, {0xff, 0xff}}},
      {DAEDALUS_TYPE_I16, -256, 255, {{0, 0xff}, {255}}, {{0xff, 0xfe}, {0, 1}}},
      {DAEDALUS_TYPE_U32, 1, INT32_MAX, {{1}, {0xff, 0xff, 0xff, 0x7f}}, {{0}, {0, 0, 0, 0x80}}},
      {DAEDALUS_TYPE_I32,
       INT32_MIN + 1,
       -1,
       {{1, 0, 0, 0x80}, {0xff, 0xff, 0xff, 0xff}},
       {{0, 0, 0, 0x80}, {0}}},
  };
  daedalus_ctx *ctx;
  daedalus_batch *batch = begin(&ctx);
  const daedalus_class_desc full = {.name = "full"};
  const daedalus_variant variant = {.name = "full", .cpu = recorder_variants[RECORDER_FULL].cpu};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const daedalus_param_desc param = {
        .name = "p", .type = cases[i].type, .meta_offset = 3, .lo = cases[i].lo, .hi = cases[i].hi};
    const daedalus_kernel_desc kernel = {.id = "types",
                                         .meta_size = 8,
                                         .params = &param,
                                         .n_params = 1,
                                         .classes = &full,
                                         .n_classes = 1,
                                         .variants = &variant,
                                         .n_variants = 1};
    for (int k = 0; k < 2; k++) {
      uint8_t meta[8] = {0};
      memcpy(meta + 3, cases[i].inside[k], 4);
      CHECK_INT(daedalus_append(batch, &kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 1, meta), 0);
      memcpy(meta + 3, cases[i].outside[k], 4);
      CHECK_INT(daedalus_append(batch, &kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 1, meta), -EINVAL);
    }
  }
  CHECK_INT(daedalus_batch_choice_count(batch), 12);
  daedalus_ctx_destroy(ctx);
}

/* What is reserved, between members and behind them, is zero in every item. */
static void test_reserved(void) {
  daedalus_ctx *ctx;
  daedalus_batch *batch = begin(&ctx);
  uint8_t plane[64] = {0};
  int16_t src[3 * 16] = {0};
  daedalus_fake_add_meta meta[3] = {{.count = 1}, {.count = 16, .gain = -2}, {.dst_off = 1}};
  CHECK_INT(daedalus_append_fake_add(batch, DAEDALUS_SUBSTRATE_CPU, plane, 4, src, 3, meta), 0);
  for (size_t i = 0; i < 6; i++) {
    meta[i / 2].reserved[i % 2] = 0x80;
    CHECK_INT(daedalus_append_fake_add(batch, DAEDALUS_SUBSTRATE_CPU, plane, 4, src, 3, meta),
              -EINVAL);
    meta[i / 2].reserved[i % 2] = 0;
  }
  CHECK_STR(log_of_test.message,
            "fake_add: an item's meta is not zero in its reserved bytes, 6 to 7: begin with a meta "
            "that is all zero");
  /* A gap before a parameter; a meta of nothing else. */
  const daedalus_class_desc full = {.name = "full"};
  const daedalus_variant variant = {.name = "full", .cpu = recorder_variants[RECORDER_FULL].cpu};
  const daedalus_param_desc params[] = {
      {.name = "a", .type = DAEDALUS_TYPE_U8, .meta_offset = 0, .hi = 255},
      {.name = "b", .type = DAEDALUS_TYPE_I16, .meta_offset = 2, .hi = 9, .count = 3}};
  daedalus_kernel_desc kernel = {.id = "gaps",
                                 .meta_size = 8,
                                 .params = params,
                                 .n_params = 2,
                                 .classes = &full,
                                 .n_classes = 1,
                                 .variants = &variant,
                                 .n_variants = 1};
  uint8_t bytes[8] = {255, 0, 9, 0, 9, 0, 9, 0};
  CHECK_INT(daedalus_append(batch, &kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 1, bytes), 0);
  bytes[1] = 1;
  CHECK_INT(daedalus_append(batch, &kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 1, bytes), -EINVAL);
  kernel.n_params = 0;
  CHECK_INT(daedalus_append(batch, &kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 1, bytes), -EINVAL);
  memset(bytes, 0, sizeof(bytes));
  CHECK_INT(daedalus_append(batch, &kernel, DAEDALUS_SUBSTRATE_CPU, NULL, 1, bytes), 0);
  CHECK_INT(daedalus_batch_choice_count(batch), 3);
  daedalus_ctx_destroy(ctx);
}

static void test_alignment(void) {
  daedalus_ctx *ctx;
  daedalus_batch *batch = begin(&ctx);
  const daedalus_buffer_desc desc = {.name = "dst",
                                     .type = DAEDALUS_TYPE_U16,
                                     .is_plane = true,
                                     .access = DAEDALUS_ACCESS_WRITE,
                                     .writes = {0, 2, 0, 2}};
  const daedalus_class_desc full = {.name = "full"};
  const daedalus_variant variant = {.name = "full", .cpu = recorder_variants[RECORDER_FULL].cpu};
  const daedalus_kernel_desc kernel = {.id = "wide",
                                       .meta_size = 4,
                                       .buffers = &desc,
                                       .n_buffers = 1,
                                       .classes = &full,
                                       .n_classes = 1,
                                       .variants = &variant,
                                       .n_variants = 1};
  uint16_t memory[64];
  const daedalus_buffer good = {memory, -16}, odd_data = {(uint8_t *)memory + 1, 16},
                        odd_stride = {memory, -15};
  const uint32_t offsets[] = {64, 2, 35};
  const daedalus_substrate cpu = DAEDALUS_SUBSTRATE_CPU;
  CHECK_INT(daedalus_append(batch, &kernel, cpu, &good, 2, offsets), 0);
  CHECK_INT(daedalus_append(batch, &kernel, cpu, &odd_data, 2, offsets), -EINVAL);
  CHECK_INT(daedalus_append(batch, &kernel, cpu, &odd_stride, 2, offsets), -EINVAL);
  CHECK_STR(log_of_test.message,
            "wide: pointer or stride of buffer dst is not a multiple of its 2 byte elements");
  CHECK_INT(daedalus_append(batch, &kernel, cpu, &good, 3, offsets), -EINVAL);
  CHECK_STR(log_of_test.message,
            "wide: item 2: dst_off is 35, not a multiple of its 2 byte elements");
  CHECK_INT(daedalus_batch_choice_count(batch), 1);
  daedalus_ctx_destroy(ctx);
}

int main(void) {
  RUN(test_substrates);
  RUN(test_falls_back);
  RUN(test_arguments);
  RUN(test_foreign_variants);
  RUN(test_range_message);
  RUN(test_range_types);
  RUN(test_reserved);
  RUN(test_alignment);
  return CHECK_RESULT();
}
