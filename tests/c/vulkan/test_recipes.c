/* SPDX-License-Identifier: BSD-2-Clause */
/* What AUTO and callers of the QPU get of a recipe: variant, workgroup, reason, correct results. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

#define HEAD "daedalus-recipe 1\ngenerator written by hand\n"
#define BYTE "fake_add full qpu daedalus_fake_add__glsl_full vulkan 32 ; GREEN\n"

static add_work work, untouched;
static uint8_t expected[sizeof(work.plane)];
static uint32_t workgroup_seen;

/* Between the stub and the executor: notes the size of the dispatch's workgroups. */
static void noting(void *user, const stub_dispatch *dispatch) {
  workgroup_seen = dispatch->workgroup;
  executor_run(user, dispatch);
}

static void open_with(fixture *f, const char *text, daedalus_config config) {
  stub_reset();
  config.recipe = written(text, strlen(text));
  config.cache_dir = "";
  fixture_open(f, &config);
  stub.execute = noting;
  workgroup_seen = 0;
  add_fill(&work, 5);
  untouched = work;
  memcpy(expected, work.plane, sizeof(expected));
}

/*
 * Appends items begin..end, the plane's first byte `shift` bytes further, and checks what comes out
 * of it.  @return the choice number `index` of the batch
 */
static daedalus_choice run(fixture *f, daedalus_substrate substrate, size_t shift, size_t n_choices,
                           size_t index) {
  daedalus_batch *batch = NULL;
  daedalus_choice choice = {0};
  daedalus_buffer buffers[2];
  enum { END = N_BLOCKS - 1 };
  CHECK_INT(daedalus_batch_begin(f->ctx, &batch), 0);
  add_buffers(&work, work.plane + shift, 0, buffers);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), substrate, buffers, END, work.meta), 0);
  CHECK_INT(daedalus_batch_choice_count(batch), n_choices);
  CHECK_INT(daedalus_batch_choice(batch, index, &choice), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  add_expect(&untouched, expected + shift, 0, END);
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  daedalus_batch_destroy(batch);
  return choice;
}

/* The variant is not that of lowest rank, and the workgroup not the variant's. */
static void test_auto_goes_to_the_qpu(void) {
  fixture f;
  open_with(&f, HEAD "choose " BYTE, (daedalus_config){0});
  const daedalus_choice choice = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0);
  CHECK_STR(choice.variant, "daedalus_fake_add__glsl_full");
  CHECK_STR(choice.reason, "GREEN");
  CHECK(choice.substrate == DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(workgroup_seen, 32);
  daedalus_placement placement = {.size = sizeof(placement)};
  CHECK_INT(daedalus_ctx_placement(f.ctx, "fake_add", NULL, &placement), 0);
  CHECK_STR(placement.variant, choice.variant);
  CHECK_STR(placement.reason, "GREEN");
  CHECK_STR(placement.route, "vulkan");
  CHECK(placement.substrate == DAEDALUS_SUBSTRATE_QPU && placement.recorded == 1);
  /* Whoever asks for a substrate gets it. */
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_QPU, 0, 1, 0).variant, "daedalus_fake_add__glsl_full");
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_CPU, 0, 1, 0).variant, "daedalus_fake_add__c_full");
  CHECK_INT(f.log.n, 0);
  CHECK_INT(fixture_close(&f), 0);
}

static void test_other_is_for_who_asks(void) {
  fixture f;
  open_with(&f, HEAD "choose fake_add full cpu daedalus_fake_add__c_full - 0 ; RED\nother " BYTE,
            (daedalus_config){0});
  const daedalus_choice cpu = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0);
  CHECK_STR(cpu.reason, "RED");
  CHECK(cpu.substrate == DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(stub_all_calls(), 0); /* nobody looked for a GPU */
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_QPU, 0, 1, 0).reason, "GREEN");
  CHECK_INT(workgroup_seen, 32);
  CHECK_INT(fixture_close(&f), 0);
}

/* One append, two substrates. */
static void test_classes_part(void) {
  fixture f;
  open_with(&f, HEAD "choose " BYTE "choose fake_add dc cpu daedalus_fake_add__c_dc - 0 ; small\n",
            (daedalus_config){0});
  for (size_t i = 0; i < N_BLOCKS; i += 3) {
    work.meta[i].count = untouched.meta[i].count = 1;
  }
  const daedalus_choice dc = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 2, 0);
  CHECK_STR(dc.class_name, "dc");
  CHECK_STR(dc.reason, "small");
  const daedalus_choice full = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 2, 1);
  CHECK_STR(full.reason, "GREEN");
  CHECK_INT(dc.n_items + full.n_items, N_BLOCKS - 1);
  CHECK_INT(dc.n_items, (N_BLOCKS - 1 + 2) / 3);
  CHECK_INT(fixture_close(&f), 0);
}

/* Items of a narrow class on the QPU, where only a variant of the wide one is. */
static void test_wider_variant_on_the_qpu(void) {
  fixture f;
  open_with(&f, HEAD "choose fake_add dc qpu daedalus_fake_add__glsl_full_word vulkan 16 ; wide\n",
            (daedalus_config){0});
  for (size_t i = 0; i < N_BLOCKS; i++) {
    work.meta[i].count = untouched.meta[i].count = 1;
  }
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0).reason, "wide");
  CHECK_INT(workgroup_seen, 16);
  const daedalus_choice bytes = run(&f, DAEDALUS_SUBSTRATE_AUTO, 1, 1, 0);
  CHECK_STR(bytes.variant, "daedalus_fake_add__glsl_full");
  CHECK_INT(fixture_close(&f), 0);
}

static const char rank_reason[] =
    "the recipe's variant cannot run here with these buffers: the one of lowest rank";

static void test_what_cannot_run(void) {
  fixture f;
  /* Alignment, append by append. */
  open_with(&f,
            HEAD "choose fake_add full qpu daedalus_fake_add__glsl_full_word vulkan 0 ; words\n",
            (daedalus_config){0});
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0).reason, "words");
  const daedalus_choice bytes = run(&f, DAEDALUS_SUBSTRATE_AUTO, 1, 1, 0);
  CHECK_STR(bytes.variant, "daedalus_fake_add__glsl_full");
  CHECK_STR(bytes.reason, rank_reason);
  CHECK_INT(workgroup_seen, 64);
  CHECK_INT(f.log.n, 0);
  CHECK_INT(fixture_close(&f), 0);
  /* A workgroup that the variant has not, and one that the device has not. */
  static const char *const recipes[] = {
      HEAD "choose fake_add full qpu daedalus_fake_add__glsl_full vulkan 40 ; odd\n",
      HEAD "choose fake_add full qpu daedalus_fake_add__glsl_full vulkan 512 ; large\n"};
  for (size_t i = 0; i < 2; i++) {
    open_with(&f, recipes[i], (daedalus_config){0});
    const daedalus_choice choice = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0);
    CHECK_STR(choice.variant, "daedalus_fake_add__glsl_full_word");
    CHECK_STR(choice.reason, rank_reason);
    CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_QPU, 0, 1, 0).reason, rank_reason);
    CHECK_INT(fixture_close(&f), 0);
  }
  /* Nothing there has what is needed. */
  open_with(&f, HEAD "choose " BYTE, (daedalus_config){0});
  stub.devices[0].no_storage16 = true;
  const daedalus_choice cpu = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0);
  CHECK_STR(cpu.variant, "daedalus_fake_add__c_full");
  CHECK_STR(cpu.reason,
            "the recipe says QPU, but no variant can run there with these buffers: the CPU");
  CHECK_INT(fixture_close(&f), 0);
}

/* A variant whose self-test fails is not used, whatever was measured. */
static void test_self_test_goes_first(void) {
  fixture f;
  open_with(&f, HEAD "choose " BYTE, (daedalus_config){0});
  f.executor.spoil = 3;
  const daedalus_choice choice = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0);
  CHECK_STR(choice.variant, "daedalus_fake_add__glsl_full_word");
  CHECK_STR(choice.reason, rank_reason);
  CHECK_INT(f.log.n, 1);
  CHECK(strstr(f.log.message, "its self-test failed") != NULL);
  CHECK_INT(fixture_close(&f), 0);
}

static void test_without_the_gpu(void) {
  fixture f;
  open_with(&f, HEAD "choose " BYTE "other fake_add full cpu daedalus_fake_add__c_full - 0 ; c\n",
            (daedalus_config){.device = "none"});
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0).reason,
            "the recipe says QPU, but there is none here: the CPU");
  CHECK_INT(f.log.n, 0);
  CHECK_INT(fixture_close(&f), 0);
  /* Lost in the middle: by the self-test's submission, and later. */
  for (unsigned long nth = 0; nth < 2; nth++) {
    open_with(&f, HEAD "choose " BYTE, (daedalus_config){0});
    stub_fail("vkQueueSubmit", nth, VK_ERROR_DEVICE_LOST);
    const daedalus_choice first = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0);
    CHECK(first.substrate == (nth == 0 ? DAEDALUS_SUBSTRATE_CPU : DAEDALUS_SUBSTRATE_QPU));
    const daedalus_choice later = run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0);
    CHECK(later.substrate == DAEDALUS_SUBSTRATE_CPU);
    CHECK_STR(later.reason, "the GPU was lost, and the CPU does what is meant for it");
    CHECK_INT(f.log.n, 1);
    CHECK_INT(fixture_close(&f), 0);
  }
}

/* What was measured by one route says nothing of the other. */
static void test_another_route(void) {
  fixture f;
  open_with(&f, HEAD "choose fake_add full qpu daedalus_fake_add__qpu_full drm 0 ; machine code\n",
            (daedalus_config){.route = "vulkan"});
  daedalus_recipe_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_recipe(f.ctx, &info), 0);
  CHECK_INT(info.n_records, 1);
  CHECK_STR(info.route, "drm");
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_AUTO, 0, 1, 0).reason,
            "the recipe says QPU by another route than this context has: the CPU");
  CHECK_STR(run(&f, DAEDALUS_SUBSTRATE_QPU, 0, 1, 0).variant, "daedalus_fake_add__glsl_full_word");
  CHECK_INT(f.log.n, 0);
  CHECK_INT(fixture_close(&f), 0);
}

/* A steady caller allocates nothing, with a recipe either. */
static void test_warm(void) {
  fixture f;
  open_with(&f, HEAD "choose " BYTE, (daedalus_config){0});
  daedalus_buffer buffers[2];
  add_buffers(&work, work.plane, 0, buffers);
  long before = 0;
  for (int i = 0; i < 5; i++) {
    before = f.memory.n_allocations;
    CHECK_INT(daedalus_dispatch(f.ctx, KERNEL(ADD), DAEDALUS_SUBSTRATE_AUTO, buffers, N_BLOCKS,
                                work.meta),
              0);
  }
  CHECK_INT(f.memory.n_allocations, before);
  CHECK_INT(fixture_close(&f), 0);
}

static const char word_recipe[] =
    HEAD "choose fake_add full qpu daedalus_fake_add__glsl_full_word vulkan 0 ; w\n";

/* What was found out once is looked up, by alignment, too, until the device is lost and after. */
static void test_second_append_asks_nobody(void) {
  static const daedalus_substrate substrates[] = {DAEDALUS_SUBSTRATE_AUTO, DAEDALUS_SUBSTRATE_QPU};
  for (size_t s = 0; s < 2; s++) {
    fixture f;
    open_with(&f, word_recipe, (daedalus_config){0});
    CHECK_INT(daedalus_ctx_prepare(f.ctx, "fake_add", substrates[s]), 0);
    run(&f, DAEDALUS_SUBSTRATE_CPU, 0, 1, 0);
    unsigned long calls = stub_all_calls();
    const unsigned long tests = f.executor.dispatches;
    CHECK_INT(tests, 2); /* one of each alignment */
    daedalus_batch *batch = NULL;
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    for (size_t round = 0; round < 6; round++) {
      const size_t shift = round % 2;
      const bool lost = round >= 4;
      daedalus_buffer buffers[2];
      daedalus_choice choice = {0};
      add_buffers(&work, work.plane + shift, 0, buffers);
      const long before = f.memory.n_allocations;
      CHECK_INT(daedalus_append(batch, KERNEL(ADD), substrates[s], buffers, 8, work.meta), 0);
      CHECK(round < 2 || f.memory.n_allocations == before);
      CHECK_INT(stub_all_calls(), calls);
      CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
      CHECK_STR(choice.variant, lost    ? "daedalus_fake_add__c_full"
                                : shift ? "daedalus_fake_add__glsl_full"
                                        : "daedalus_fake_add__glsl_full_word");
      CHECK_STR(choice.reason, lost    ? "the GPU was lost, and the CPU does what is meant for it"
                               : shift ? rank_reason
                                       : "w");
      if (round == 3) {
        stub_fail("vkQueueSubmit", 0, VK_ERROR_DEVICE_LOST);
      }
      CHECK_INT(daedalus_batch_submit(batch), 0);
      CHECK_INT(daedalus_batch_wait(batch, -1), 0);
      CHECK_INT(daedalus_batch_reset(batch), 0);
      calls = stub_all_calls();
    }
    CHECK_INT(f.executor.dispatches, tests + 3);
    daedalus_batch_destroy(batch);
    CHECK_INT(f.log.n, 1);
    CHECK_INT(fixture_close(&f), 0);
  }
}

/* A self-test for which there was no memory is tried again by the next append that needs it. */
static void test_self_test_without_memory(void) {
  size_t n_untested = 0;
  bool failed = true;
  for (long i = 0; failed; i++) {
    fixture f;
    open_with(&f, HEAD "other fake_add full cpu daedalus_fake_add__c_full - 0 ; c\n",
              (daedalus_config){0});
    stub.devices[0].no_storage8 = true; /* there is one variant alone */
    daedalus_buffer buffers[2];
    daedalus_batch *batch = NULL;
    daedalus_choice choice = {.reason = ""};
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    add_buffers(&work, work.plane, 0, buffers);
    f.memory.fail_at = f.memory.n_allocations + i;
    daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, 8, work.meta);
    failed = f.memory.n_allocations > f.memory.fail_at;
    daedalus_batch_choice(batch, 0, &choice);
    if (strstr(choice.reason, "could not be tested for want of memory") != NULL) {
      n_untested++;
      CHECK_STR(choice.variant, "daedalus_fake_add__c_full");
      CHECK_INT(daedalus_batch_reset(batch), 0);
      CHECK_INT(daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, 8, work.meta),
                0);
      CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
      CHECK_STR(choice.variant, "daedalus_fake_add__glsl_full_word");
    }
    daedalus_batch_destroy(batch);
    CHECK_INT(fixture_close(&f), 0);
  }
  CHECK(n_untested >= 5);
}

/* Appends for which there is a tested variant have nothing tested again on account of another. */
static void test_another_variant_without_memory(void) {
  fixture f;
  open_with(&f, word_recipe, (daedalus_config){0});
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  stub_fail("vkCreateComputePipelines", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
  unsigned long calls = 0;
  for (size_t round = 0; round < 7; round++) {
    const size_t shift = round == 3 || round == 5; /* where only the variant of bytes can run */
    daedalus_buffer buffers[2];
    daedalus_choice choice = {.reason = ""};
    add_buffers(&work, work.plane + shift, 0, buffers);
    CHECK_INT(daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, 8, work.meta),
              0);
    CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
    CHECK_STR(choice.variant,
              shift ? "daedalus_fake_add__glsl_full" : "daedalus_fake_add__glsl_full_word");
    CHECK((stub_all_calls() != calls) == (round == 0 || round == 3));
    CHECK_INT(f.executor.dispatches, round < 3 ? 1 : 2);
    CHECK_INT(f.log.n, 1);
    calls = stub_all_calls();
    CHECK_INT(daedalus_batch_reset(batch), 0);
  }
  CHECK(stub_failed());
  daedalus_batch_destroy(batch);
  CHECK_INT(fixture_close(&f), 0);
}

/* An append that adds nothing opens no GPU, but for who asks for it. */
static void test_appends_of_nothing(void) {
  fixture f;
  open_with(&f, word_recipe, (daedalus_config){0});
  daedalus_batch *batch = NULL;
  daedalus_buffer buffers[2];
  const daedalus_substrate automatic = DAEDALUS_SUBSTRATE_AUTO, qpu = DAEDALUS_SUBSTRATE_QPU;
  add_buffers(&work, work.plane, 0, buffers);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), automatic, NULL, 0, NULL), 0);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), automatic, buffers, 8, NULL), -EINVAL);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), (daedalus_substrate)3, NULL, 0, NULL), -EINVAL);
  CHECK_INT(stub_all_calls(), 0);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), qpu, NULL, 0, NULL), 0);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), qpu, buffers, 8, NULL), -EINVAL);
  CHECK(stub_all_calls() != 0);
  CHECK_INT(f.executor.dispatches, 0);
  daedalus_batch_destroy(batch);
  CHECK_INT(fixture_close(&f), 0);

  open_with(&f, word_recipe, (daedalus_config){.device = "none"});
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), qpu, NULL, 0, NULL), -ENODEV);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), automatic, NULL, 0, NULL), 0);
  daedalus_batch_destroy(batch);
  CHECK_INT(fixture_close(&f), 0);
}

int main(void) {
  unsetenv("DAEDALUS_RECIPE");
  unsetenv("DAEDALUS_QPU_ROUTE");
  unsetenv("DAEDALUS_VULKAN_DEVICE");
  RUN(test_auto_goes_to_the_qpu);
  RUN(test_other_is_for_who_asks);
  RUN(test_classes_part);
  RUN(test_wider_variant_on_the_qpu);
  RUN(test_what_cannot_run);
  RUN(test_self_test_goes_first);
  RUN(test_without_the_gpu);
  RUN(test_another_route);
  RUN(test_warm);
  RUN(test_second_append_asks_nobody);
  RUN(test_self_test_without_memory);
  RUN(test_another_variant_without_memory);
  RUN(test_appends_of_nothing);
  unlink(written_path());
  return CHECK_RESULT();
}
