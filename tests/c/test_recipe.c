/* SPDX-License-Identifier: BSD-2-Clause */
/* Recipes: where they come from, what the CPU and a caller get of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/wanted.h"
#include "recipe_support.h"

/* -------------------------------------------------------------------------- followed */

static void test_none(void) {
  daedalus_ctx *ctx = open_at(NULL);
  const daedalus_recipe_info info = info_of(ctx);
  CHECK_INT(info.source, DAEDALUS_RECIPE_NONE);
  CHECK(info.path == NULL && info.problem == NULL && info.generator == NULL);
  CHECK_INT(info.n_records, 0);
  daedalus_recipe_record record;
  CHECK_INT(daedalus_ctx_recipe_record(ctx, 0, &record), -EINVAL);
  CHECK_STR(chosen(ctx, VALUE_ONE).variant, "one");
  CHECK_INT(last.n + n_infos, 0);
  daedalus_ctx_destroy(ctx);
}

static void test_is_followed(void) {
  daedalus_ctx *ctx =
      open_text(HEAD BOARD
                "# a comment with \x07 and \xc3\xa9\n"
                "\n" ONE "choose\trecorder_alias  few cpu full - 0 ;  for a reason ; two  \n");
  const daedalus_recipe_info info = info_of(ctx);
  CHECK_INT(info.source, DAEDALUS_RECIPE_CONFIG);
  CHECK_STR(info.path, written_path());
  CHECK_STR(info.generator, "0123abcd");
  CHECK_STR(info.fingerprint, "00ff a board of the tests");
  CHECK(info.problem == NULL && info.route == NULL);
  CHECK_INT(info.n_records, 2);
  CHECK_INT(info.n_skipped, 0);
  CHECK_INT(last.n, 0);
  CHECK_INT(n_infos, 1);
  const daedalus_choice one = chosen(ctx, VALUE_ONE);
  CHECK_STR(one.variant, "one_worse");
  CHECK_STR(one.reason, "R 0.5 YELLOW, measured");
  CHECK(one.substrate == DAEDALUS_SUBSTRATE_CPU);
  const daedalus_choice few = choice_for(ctx, DAEDALUS_SUBSTRATE_CPU, VALUE_FEW);
  CHECK_STR(few.variant, "full"); /* of a wider class */
  CHECK_STR(few.reason, "for a reason ; two");
  CHECK_STR(chosen(ctx, VALUE_FULL).reason, "f"); /* of which it says nothing */
  daedalus_ctx_destroy(ctx);
}

static void test_placements(void) {
  daedalus_ctx *ctx = open_text(HEAD "choose recorder full qpu shader vulkan 128 ; fast\n" ONE);
  daedalus_placement placement = {.size = sizeof(placement)};
  CHECK_INT(daedalus_ctx_placement(ctx, "recorder", "one", &placement), 0);
  CHECK_STR(placement.kernel, "recorder");
  CHECK_STR(placement.class_name, "one");
  CHECK_STR(placement.variant, "one_worse");
  CHECK_STR(placement.reason, "R 0.5 YELLOW, measured");
  CHECK(placement.route == NULL);
  CHECK_INT(placement.substrate, DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(placement.recorded, 1);
  CHECK_INT(daedalus_ctx_placement(ctx, "recorder_alias", "few", &placement), 0);
  CHECK_STR(placement.variant, "few");
  CHECK_STR(placement.reason, "f");
  CHECK_INT(placement.recorded, 0);
  /* What the recipe has on the QPU, where there is none. */
  CHECK_INT(daedalus_ctx_placement(ctx, "recorder", NULL, &placement), 0);
  CHECK_STR(placement.class_name, "full");
  CHECK_STR(placement.variant, "full");
  CHECK_INT(placement.substrate, DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(placement.recorded, 1);
  CHECK(strstr(placement.reason, "there is none here") != NULL);
  CHECK_INT(daedalus_ctx_has_qpu(ctx), 0);
  CHECK_INT(daedalus_ctx_placement(ctx, "recorder", "none", &placement), -EINVAL);
  CHECK_STR(last.message, "recorder has no class none");
  CHECK_INT(daedalus_ctx_placement(ctx, "nothing", NULL, &placement), -EINVAL);
  CHECK_STR(last.message, "there is no kernel nothing in this library");
  CHECK_INT(daedalus_ctx_placement(NULL, "recorder", NULL, &placement), -EINVAL);
  CHECK_INT(daedalus_ctx_placement(ctx, NULL, NULL, &placement), -EINVAL);
  CHECK_INT(daedalus_ctx_placement(ctx, "recorder", NULL, NULL), -EINVAL);
  placement.size--;
  CHECK_INT(daedalus_ctx_placement(ctx, "recorder", NULL, &placement), -EINVAL);
  CHECK_INT(daedalus_ctx_has_qpu(NULL), -EINVAL);
  daedalus_ctx_destroy(ctx);
}

static void test_records_can_be_asked(void) {
  daedalus_ctx *ctx = open_text(HEAD
                                "choose recorder full qpu shader vulkan 128 ; fast\n"
                                "other recorder full cpu full - 0 ; slow\n" ONE);
  CHECK_STR(info_of(ctx).route, "vulkan");
  CHECK_INT(info_of(ctx).n_records, 3);
  CHECK(info_of(ctx).fingerprint == NULL);
  static const daedalus_recipe_record expected[] = {
      {"recorder", "one", "one_worse", NULL, "R 0.5 YELLOW, measured", DAEDALUS_SUBSTRATE_CPU, 0,
       1},
      {"recorder", "full", "full", NULL, "slow", DAEDALUS_SUBSTRATE_CPU, 0, 0},
      {"recorder", "full", "shader", "vulkan", "fast", DAEDALUS_SUBSTRATE_QPU, 128, 1},
  };
  for (size_t i = 0; i < 3; i++) {
    daedalus_recipe_record record;
    CHECK_INT(daedalus_ctx_recipe_record(ctx, i, &record), 0);
    CHECK_STR(record.kernel, expected[i].kernel);
    CHECK_STR(record.class_name, expected[i].class_name);
    CHECK_STR(record.variant, expected[i].variant);
    CHECK_STR(record.reason, expected[i].reason);
    CHECK((record.route == NULL) == (expected[i].route == NULL));
    CHECK_INT(record.substrate, expected[i].substrate);
    CHECK_INT(record.workgroup, expected[i].workgroup);
    CHECK_INT(record.chosen, expected[i].chosen);
  }
  daedalus_recipe_record record;
  CHECK_INT(daedalus_ctx_recipe_record(ctx, 3, &record), -EINVAL);
  CHECK_INT(daedalus_ctx_recipe_record(NULL, 0, &record), -EINVAL);
  CHECK_INT(daedalus_ctx_recipe_record(ctx, 0, NULL), -EINVAL);
  daedalus_recipe_info info = {.size = sizeof(info) - 1};
  CHECK_INT(daedalus_ctx_recipe(ctx, &info), -EINVAL);
  CHECK_INT(daedalus_ctx_recipe(NULL, &info), -EINVAL);
  /* No QPU here: the CPU, by the recipe's variant for it. */
  const daedalus_choice full = chosen(ctx, VALUE_FULL);
  CHECK_STR(full.variant, "full");
  CHECK_STR(full.reason, "the recipe says QPU, but there is none here: the CPU");
  CHECK_INT(last.n, 0);
  daedalus_ctx_destroy(ctx);
}

static void test_what_the_processor_lacks(void) {
  daedalus_ctx *ctx = open_text(HEAD "choose recorder full cpu needy - 0 ; fast\n");
  const daedalus_choice full = chosen(ctx, VALUE_FULL);
  CHECK_STR(full.variant, "full");
  CHECK(strstr(full.reason, "this processor cannot run the recipe's variant") != NULL);
  daedalus_ctx_destroy(ctx);
}

/* A kernel that is not of the context's table has no records, wherever it lies. */
static void test_foreign_kernels(void) {
  daedalus_ctx *ctx = open_text(HEAD ONE);
  daedalus_batch *batch;
  const recorder_meta meta = {0, VALUE_ONE, 0};
  daedalus_choice choice;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(
      daedalus_append(batch, &recorder_kernel, DAEDALUS_SUBSTRATE_AUTO, &recorder_buffer, 1, &meta),
      0);
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_STR(choice.variant, "one");
  daedalus_ctx_destroy(ctx);
}

/* ------------------------------------------------------------------- where it comes from */

static void test_sources(void) {
  char path[128];
  snprintf(path, sizeof(path), "%s.of_environment", written(HEAD ONE, strlen(HEAD ONE)));
  CHECK_INT(rename(written_path(), path), 0);
  setenv("DAEDALUS_RECIPE", path, 1);
  daedalus_ctx *ctx = open_at(NULL);
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_ENVIRONMENT);
  CHECK_STR(info_of(ctx).path, path);
  CHECK_INT(info_of(ctx).n_records, 1);
  daedalus_ctx_destroy(ctx);
  ctx = open_at("");
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_ENVIRONMENT);
  daedalus_ctx_destroy(ctx);
  ctx = open_text(HEAD); /* the configuration goes before it */
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_CONFIG);
  CHECK_INT(info_of(ctx).n_records, 0);
  daedalus_ctx_destroy(ctx);
  ctx = open_at("none");
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_NONE);
  daedalus_ctx_destroy(ctx);
  setenv("DAEDALUS_RECIPE", "none", 1);
  ctx = open_at(NULL);
  CHECK_INT(info_of(ctx).source, DAEDALUS_RECIPE_NONE);
  daedalus_ctx_destroy(ctx);
  unsetenv("DAEDALUS_RECIPE");
  CHECK_INT(last.n, 0);
  unlink(path);
}

/* A FIFO that nobody writes to would block. */
static void test_fifo(void) {
  char folder[] = "/tmp/daedalus-recipe-XXXXXX", fifo[64];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
  CHECK_INT(mkfifo(fifo, 0600), 0);
  daedalus_ctx *ctx = open_at(fifo);
  CHECK(strstr(info_of(ctx).problem, "it cannot be read: it is no regular file") != NULL);
  daedalus_ctx_destroy(ctx);
  CHECK_INT(unlink(fifo), 0);
  CHECK_INT(rmdir(folder), 0);
}

static void test_route(void) {
  static const char both[] = HEAD
      "choose recorder full qpu machine drm 0 ; q\n"
      "choose recorder few qpu shader vulkan 0 ; g\n"
      "choose recorder one qpu shader vulkan 0 ; g\n";
  daedalus_ctx *ctx = open_text(both);
  CHECK_STR(daedalus_rt_wanted_route(ctx), "vulkan"); /* two records of three */
  setenv("DAEDALUS_QPU_ROUTE", "drm", 1);
  CHECK_STR(daedalus_rt_wanted_route(ctx), "drm");
  unsetenv("DAEDALUS_QPU_ROUTE");
  daedalus_ctx_destroy(ctx);
  ctx = open_text(HEAD
                  "choose recorder full qpu machine drm 0 ; q\n"
                  "other recorder few qpu shader vulkan 0 ; g\n"
                  "other recorder one qpu shader vulkan 0 ; g\n");
  CHECK_STR(daedalus_rt_wanted_route(ctx), "drm"); /* what AUTO does not take does not count */
  daedalus_ctx_destroy(ctx);
  ctx = open_text(HEAD ONE);
  CHECK(daedalus_rt_wanted_route(ctx) == NULL);
  daedalus_ctx_destroy(ctx);
}

int main(void) {
  unsetenv("DAEDALUS_RECIPE");
  unsetenv("DAEDALUS_QPU_ROUTE");
  make_table();
  RUN(test_none);
  RUN(test_is_followed);
  RUN(test_placements);
  RUN(test_records_can_be_asked);
  RUN(test_what_the_processor_lacks);
  RUN(test_foreign_kernels);
  RUN(test_sources);
  RUN(test_fifo);
  RUN(test_route);
  unlink(written_path());
  return CHECK_RESULT();
}
