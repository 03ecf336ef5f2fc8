/* SPDX-License-Identifier: BSD-2-Clause */
/* A library with a recipe in it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include <daedalus/fake.h>

#include "check.h"
#include "recorder.h"

static const char other[] =
    "daedalus-recipe 1\ngenerator written by hand\n"
    "choose fake_add dc cpu daedalus_fake_add__c_dc - 0 ; of a file\n";

/* Adds 3 to a block by AUTO.  @return what was chosen */
static daedalus_choice add(daedalus_ctx *ctx) {
  uint8_t plane[16];
  const int16_t block[16] = {3};
  const daedalus_fake_add_meta meta = {.dst_off = 0, .count = 1, .gain = 1};
  daedalus_batch *batch;
  daedalus_choice choice = {0};
  memset(plane, 1, sizeof(plane));
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_append_fake_add(batch, DAEDALUS_SUBSTRATE_AUTO, plane, 4, block, 1, &meta), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_INT(plane[0], 4);
  return choice;
}

static daedalus_recipe_info info_of(const daedalus_ctx *ctx) {
  daedalus_recipe_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_recipe(ctx, &info), 0);
  return info;
}

static void test_is_followed(void) {
  logged log = {0};
  const daedalus_config config = {
      .size = sizeof(config), .log = logged_fn, .log_user = &log, .device = "none"};
  daedalus_ctx *ctx = daedalus_ctx_create_with(&config);
  CHECK_STR(log.message,
            "recipe built in: 1 records, measured by 0123456789abcdef no board: "
            "written by hand");
  CHECK(log.level == DAEDALUS_LOG_INFO);
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_BUILT_IN);
  CHECK(info_of(ctx).path == NULL && info_of(ctx).problem == NULL);
  CHECK_STR(add(ctx).variant, "daedalus_fake_add__c_full");
  CHECK_STR(add(ctx).reason, "one variant is simpler than two \"quoted\\\"");
  daedalus_ctx_destroy(ctx);
}

static void test_gives_way(void) {
  setenv("DAEDALUS_RECIPE", written(other, strlen(other)), 1);
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_ENVIRONMENT);
  CHECK_STR(add(ctx).reason, "of a file");
  daedalus_ctx_destroy(ctx);
  setenv("DAEDALUS_RECIPE", "none", 1);
  ctx = daedalus_ctx_create_no_qpu();
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_NONE);
  CHECK_STR(add(ctx).variant, "daedalus_fake_add__c_dc");
  daedalus_ctx_destroy(ctx);
  /* A file that is missing is not made good by the one built in. */
  setenv("DAEDALUS_RECIPE", "/nowhere/recipe", 1);
  ctx = daedalus_ctx_create_no_qpu();
  CHECK(info_of(ctx).problem != NULL);
  CHECK_STR(add(ctx).variant, "daedalus_fake_add__c_dc");
  daedalus_ctx_destroy(ctx);
  unsetenv("DAEDALUS_RECIPE");
}

int main(void) {
  unsetenv("DAEDALUS_RECIPE");
  RUN(test_is_followed);
  RUN(test_gives_way);
  unlink(written_path());
  return CHECK_RESULT();
}
