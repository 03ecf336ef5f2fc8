/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of recipes share: a table, contexts with a recipe, what they choose. */
#ifndef DAEDALUS_TESTS_RECIPE_SUPPORT_H
#define DAEDALUS_TESTS_RECIPE_SUPPORT_H

#include "check.h"
#include "recorder.h"

#define HEAD "daedalus-recipe 1\ngenerator 0123abcd\n"
#define BOARD "fingerprint 00ff a board of the tests\n"
#define ONE "choose recorder one cpu one_worse - 0 ; R 0.5 YELLOW, measured\n"

/* The recorder's kernel in a table; its class "full" has a variant for the QPU, too. */
static daedalus_variant variants[RECORDER_N + 2];
static daedalus_kernel_desc kernels[2];
static const daedalus_alias aliases[] = {{"recorder_alias", 1}};
static const daedalus_gpu_code no_gpu_code;
static const daedalus_qpu_code no_qpu_code;
static daedalus_kernel_table table = {.version = DAEDALUS_TABLE_VERSION,
                                      .generator = "0123abcd",
                                      .kernels = kernels,
                                      .n_kernels = 2,
                                      .aliases = aliases,
                                      .n_aliases = 1};

static logged last; /* of level WARNING and above; INFO apart */
static int n_infos;

static inline void log_message(void *user, daedalus_log_level level, const char *message) {
  if (level == DAEDALUS_LOG_INFO) {
    n_infos++;
  } else {
    logged_fn(user, level, message);
  }
}

static inline void make_table(void) {
  memcpy(variants, recorder_variants, sizeof(recorder_variants));
  variants[RECORDER_N] = (daedalus_variant){
      .name = "shader", .class_index = 2, .rank = 50, .reason = "g", .gpu = &no_gpu_code};
  variants[RECORDER_N + 1] = (daedalus_variant){
      .name = "machine", .class_index = 2, .rank = 51, .reason = "q", .qpu = &no_qpu_code};
  kernels[0] = recorder_kernel;
  kernels[0].id = "before"; /* so that the kernel of the tests is not the first */
  kernels[1] = recorder_kernel;
  kernels[1].variants = variants;
  kernels[1].n_variants = RECORDER_N + 2;
}

static inline daedalus_ctx *open_at(const char *path) {
  last = (logged){0};
  n_infos = 0;
  const daedalus_config config = {.size = sizeof(config),
                                  .flags = DAEDALUS_CONFIG_NO_QPU,
                                  .log = log_message,
                                  .log_user = &last,
                                  .recipe = path};
  return daedalus_rt_ctx_create(&config, &table, &daedalus_rt_libc_allocator);
}

static inline daedalus_ctx *open_text(const char *text) {
  return open_at(written(text, strlen(text)));
}

static inline daedalus_recipe_info info_of(const daedalus_ctx *ctx) {
  daedalus_recipe_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_recipe(ctx, &info), 0);
  return info;
}

/* What items with the value take: the choice of a batch of one append. */
static inline daedalus_choice choice_for(daedalus_ctx *ctx, daedalus_substrate substrate,
                                         int32_t value) {
  static daedalus_batch *batch;
  const recorder_meta meta = {0, value, 7};
  daedalus_choice choice = {0};
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_append(batch, &kernels[1], substrate, &recorder_buffer, 1, &meta), 0);
  recorder_n = 0;
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(recorder_n, 1);
  CHECK_INT(daedalus_batch_choice_count(batch), 1);
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_STR(recorder[0].variant, choice.variant);
  return choice;
}

static inline daedalus_choice chosen(daedalus_ctx *ctx, int32_t value) {
  return choice_for(ctx, DAEDALUS_SUBSTRATE_AUTO, value);
}

enum { VALUE_ONE = 1, VALUE_FEW = 5, VALUE_FULL = 50 };

#endif /* DAEDALUS_TESTS_RECIPE_SUPPORT_H */
