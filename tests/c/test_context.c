/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts, configuration, logging, errors, the table. */
#include <errno.h>

#include "check.h"
#include "recorder.h"

static void test_create(void) {
  daedalus_ctx *a = daedalus_ctx_create();
  daedalus_ctx *b = daedalus_ctx_create_no_qpu();
  daedalus_ctx *c = daedalus_ctx_create_with(NULL);
  CHECK(a != NULL && b != NULL && c != NULL);
  daedalus_ctx_destroy(a);
  daedalus_ctx_destroy(b);
  daedalus_ctx_destroy(c);
  daedalus_ctx_destroy(NULL);
}

static void test_wrong_size(void) {
  logged log = {0};
  const size_t wrong[] = {0,
                          1,
                          offsetof(daedalus_config, device) - 1,
                          offsetof(daedalus_config, timeout_ms),
                          sizeof(daedalus_config) - 1,
                          DAEDALUS_CONFIG_SIZE_MOST + 1,
                          SIZE_MAX};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    const daedalus_config config = {.size = wrong[i], .log = logged_fn, .log_user = &log};
    errno = 0;
    CHECK(daedalus_ctx_create_with(&config) == NULL);
    CHECK_INT(errno, EINVAL);
  }
  CHECK_INT(log.n, 0); /* nothing of a struct of unknown size may be used */
}

/* A program that was compiled with a later minor version's headers. */
static void test_larger_size(void) {
  union {
    daedalus_config config;
    unsigned char bytes[DAEDALUS_CONFIG_SIZE_MOST];
  } later = {.config = {.flags = DAEDALUS_CONFIG_NO_QPU, .log = logged_fn, .version = 0x00050007}};
  logged log = {0};
  later.config.log_user = &log;
  const size_t larger[] = {sizeof(daedalus_config) + 1, sizeof(daedalus_config) + 8,
                           sizeof(later.bytes)};
  for (size_t i = 0; i < sizeof(larger) / sizeof(larger[0]); i++) {
    const size_t last = larger[i] - 1;
    later.config.size = larger[i];
    later.bytes[last] = 0;
    daedalus_ctx *ctx = daedalus_ctx_create_with(&later.config);
    CHECK(ctx != NULL && ctx->flags == DAEDALUS_CONFIG_NO_QPU);
    daedalus_ctx_destroy(ctx);
    CHECK_INT(log.n, (int)i);
    later.bytes[last] = 1;
    errno = 0;
    CHECK(daedalus_ctx_create_with(&later.config) == NULL);
    CHECK_INT(errno, EINVAL);
    char offset[32];
    snprintf(offset, sizeof(offset), "at offset %zu is set", last);
    CHECK(strstr(log.message, offset) != NULL);
    CHECK(strstr(log.message, daedalus_version()) != NULL && strstr(log.message, "5.7") != NULL);
    later.bytes[last] = 0;
  }
  later.config.size = sizeof(daedalus_config);
  later.config.reserved = 1;
  later.config.version = 0;
  CHECK(daedalus_ctx_create_with(&later.config) == NULL);
  CHECK(strstr(log.message, "a version that it does not tell") != NULL);
}

/* The struct of 0.3 ended before what tells the version. */
static void test_size_of_0_3(void) {
  logged log = {0};
  daedalus_config config;
  memset(&config, 0, sizeof(config));
  config.size = offsetof(daedalus_config, version);
  config.log = logged_fn;
  config.log_user = &log;
  config.recipe = "none";
  config.reserved = 1; /* behind its end */
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  CHECK(ctx != NULL);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(log.n, 0);
}

/* A program that was compiled with the headers of 0.1, whose struct ended sooner. */
static void test_size_of_0_1(void) {
  logged log = {0};
  daedalus_config config;
  memset(&config, 0xff, sizeof(config)); /* what lies behind its end is not looked at */
  config.size = offsetof(daedalus_config, device);
  config.flags = 0;
  config.log = logged_fn;
  config.log_user = &log;
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  CHECK(ctx != NULL);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(log.n, 0);
}

/* The same of 0.2, which knew no recipe. */
static void test_size_of_0_2(void) {
  logged log = {0};
  const daedalus_config config = {.size = offsetof(daedalus_config, recipe),
                                  .log = logged_fn,
                                  .log_user = &log,
                                  .route = "drm",
                                  .recipe = "/nowhere/not-to-be-read"};
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  CHECK(ctx != NULL);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(log.n, 0);
}

static void test_unknown_flag(void) {
  logged log = {0};
  const daedalus_config config = {
      .size = sizeof(config), .flags = 0x81, .log = logged_fn, .log_user = &log};
  errno = 0;
  CHECK(daedalus_ctx_create_with(&config) == NULL);
  CHECK_INT(errno, EINVAL);
  CHECK_INT(log.n, 1);
  CHECK_STR(log.message, "daedalus_config.flags has unknown bits 0x80");
}

static void test_other_table(void) {
  logged log = {0};
  const daedalus_config config = {.size = sizeof(config), .log = logged_fn, .log_user = &log};
  daedalus_kernel_table table = daedalus_kernels;
  table.version = DAEDALUS_TABLE_VERSION + 1;
  errno = 0;
  CHECK(daedalus_rt_ctx_create(&config, &table, &daedalus_rt_libc_allocator) == NULL);
  CHECK_INT(errno, EINVAL);
  CHECK_INT(log.n, 1);
  CHECK(log.level == DAEDALUS_LOG_ERROR);
  char expected[64];
  snprintf(expected, sizeof(expected), "kernel table has version %d, this runtime needs %d",
           DAEDALUS_TABLE_VERSION + 1, DAEDALUS_TABLE_VERSION);
  CHECK(strstr(log.message, expected) != NULL);
}

static void test_out_of_memory(void) {
  counting state = {.fail_at = 0};
  const daedalus_allocator allocator = counting_allocator(&state);
  errno = 0;
  CHECK(daedalus_rt_ctx_create(NULL, &daedalus_kernels, &allocator) == NULL);
  CHECK_INT(errno, ENOMEM);
  CHECK_INT(state.n_live, 0);
}

static void test_destroys_batches(void) {
  counting state = {.fail_at = -1};
  const daedalus_allocator allocator = counting_allocator(&state);
  daedalus_ctx *ctx = daedalus_rt_ctx_create(NULL, &daedalus_kernels, &allocator);
  daedalus_batch *batch[4];
  for (int i = 0; i < 4; i++) {
    CHECK_INT(daedalus_batch_begin(ctx, &batch[i]), 0);
  }
  daedalus_batch_destroy(batch[1]); /* from the middle, the end and the front of the list */
  daedalus_batch_destroy(batch[0]);
  daedalus_batch_destroy(batch[3]);
  CHECK_INT(state.n_live, 2);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(state.n_live, 0);
}

static void test_log(void) {
  logged log = {0};
  const daedalus_config config = {.size = sizeof(config), .log = logged_fn, .log_user = &log};
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  char text[600];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  daedalus_rt_log(ctx, DAEDALUS_LOG_INFO, "%s", text);
  CHECK_INT(log.n, 1);
  CHECK(log.level == DAEDALUS_LOG_INFO);
  CHECK_INT(strlen(log.message), 511);
  daedalus_ctx_destroy(ctx);
}

static void test_strerror(void) {
  const int known[] = {0,      -EINVAL, -ENOMEM,  -EALREADY, -EBUSY,
                       -ETIME, -ENODEV, -ENOTSUP, -EOVERFLOW};
  const char *unknown = daedalus_strerror(-12345);
  CHECK(unknown != NULL);
  CHECK_STR(daedalus_strerror(EINVAL), unknown);
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    CHECK(strcmp(daedalus_strerror(known[i]), unknown) != 0);
    for (size_t k = 0; k < i; k++) {
      CHECK(strcmp(daedalus_strerror(known[i]), daedalus_strerror(known[k])) != 0);
    }
  }
}

static void test_version(void) {
  char expected[32];
  snprintf(expected, sizeof(expected), "%d.%d", DAEDALUS_VERSION_MAJOR, DAEDALUS_VERSION_MINOR);
  CHECK_STR(daedalus_version(), expected);
}

static void test_find_kernel(void) {
  CHECK(daedalus_find_kernel("fake_add") == &daedalus_kernels.kernels[0]);
  CHECK(daedalus_find_kernel("fake_copy") == &daedalus_kernels.kernels[1]);
  CHECK(daedalus_find_kernel("fake_copy_put") == &daedalus_kernels.kernels[1]);
  CHECK(daedalus_find_kernel("fake") == NULL);
  CHECK(daedalus_find_kernel("") == NULL);
  CHECK(daedalus_find_kernel(NULL) == NULL);
}

int main(void) {
  RUN(test_create);
  RUN(test_wrong_size);
  RUN(test_larger_size);
  RUN(test_size_of_0_3);
  RUN(test_size_of_0_1);
  RUN(test_size_of_0_2);
  RUN(test_unknown_flag);
  RUN(test_other_table);
  RUN(test_out_of_memory);
  RUN(test_destroys_batches);
  RUN(test_log);
  RUN(test_strerror);
  RUN(test_version);
  RUN(test_find_kernel);
  return CHECK_RESULT();
}
