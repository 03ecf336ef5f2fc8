/* SPDX-License-Identifier: BSD-2-Clause */
/* A card: memory of its own, which the CPU sees through a copy. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "fixture.h"

static add_work work;
static uint8_t expected[sizeof(work.plane)];

static void reset_to_card(void) {
  stub_reset();
  stub.devices[0] = (stub_device_desc){
      .name = "a card",
      .driver = VK_DRIVER_ID_NVIDIA_PROPRIETARY,
      .type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
      .memory = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT}};
}

/* A plane in memory of the card, and a batch to be filled. */
typedef struct staged {
  fixture f;
  daedalus_memory *memory;
  uint8_t *plane;
  daedalus_batch *batch;
} staged;

static void open_staged(staged *s, uint32_t flags) {
  reset_to_card();
  fixture_open(&s->f, NULL);
  add_fill(&work, 7);
  memcpy(expected, work.plane, sizeof(expected));
  daedalus_device_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_device(s->f.ctx, &info), 0);
  CHECK_INT(info.in_place, 0);
  CHECK_INT(info.kind, DAEDALUS_DEVICE_OTHER);
  CHECK_INT(daedalus_memory_create(s->f.ctx, sizeof(work.plane), &s->memory), 0);
  s->plane = daedalus_memory_data(s->memory);
  for (size_t i = 0; i < sizeof(work.plane); i++) {
    CHECK(s->plane[i] == 0);
  }
  memcpy(s->plane, work.plane, sizeof(work.plane));
  CHECK_INT(daedalus_memory_flush(s->memory, 0, sizeof(work.plane)), 0);
  CHECK_INT(daedalus_batch_begin(s->f.ctx, &s->batch), 0);
  CHECK_INT(daedalus_batch_set_flags(s->batch, flags), 0);
}

static void append(staged *s, daedalus_substrate substrate) {
  daedalus_buffer buffers[2];
  add_buffers(&work, s->plane, 0, buffers);
  CHECK_INT(daedalus_append(s->batch, KERNEL(ADD), substrate, buffers, N_BLOCKS, work.meta), 0);
  add_expect(&work, expected, 0, N_BLOCKS);
}

/* @return the first error of submitting and waiting */
static int run(staged *s) {
  int error = daedalus_batch_submit(s->batch);
  if (error == 0) {
    error = daedalus_batch_wait(s->batch, -1);
  }
  return error;
}

static bool right(const staged *s) {
  return memcmp(s->plane, expected, sizeof(expected)) == 0;
}

static void close_staged(staged *s) {
  daedalus_batch_destroy(s->batch);
  daedalus_memory_destroy(s->memory);
  CHECK_INT(fixture_close(&s->f), 0);
}

static void test_stays_on_the_card(void) {
  staged s;
  open_staged(&s, 0);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  stub_done = (stub_work){0};
  CHECK_INT(run(&s), 0);
  CHECK_INT(stub_done.copied_bytes, 0);
  CHECK(memcmp(s.plane, work.plane, sizeof(work.plane)) == 0);
  /* The next batch goes on with what the card has. */
  CHECK_INT(daedalus_batch_reset(s.batch), 0);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(run(&s), 0);
  CHECK_INT(stub_done.copied_bytes, 0);
  CHECK_INT(daedalus_memory_invalidate(s.memory, 0, sizeof(work.plane)), 0);
  CHECK_INT(stub_done.copied_bytes, sizeof(work.plane));
  CHECK(right(&s));
  CHECK_INT(s.f.log.n, 0);
  close_staged(&s);
}

static void test_a_part_is_brought_over(void) {
  staged s;
  open_staged(&s, 0);
  memset(s.plane + 100, 9, 50);
  CHECK_INT(daedalus_memory_flush(s.memory, 100, 20), 0);
  memset(expected + 100, 9, 20); /* the rest is not known to the card */
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(run(&s), 0);
  CHECK_INT(daedalus_memory_invalidate(s.memory, 64, 256), 0);
  CHECK(memcmp(s.plane + 64, expected + 64, 256) == 0);
  CHECK(memcmp(s.plane + 320, work.plane + 320, sizeof(work.plane) - 320) == 0);
  CHECK_INT(daedalus_memory_invalidate(s.memory, 1, sizeof(work.plane)), -EINVAL);
  CHECK_INT(daedalus_memory_flush(s.memory, sizeof(work.plane) + 1, 0), -EINVAL);
  CHECK_INT(daedalus_memory_invalidate(s.memory, 0, sizeof(work.plane)), 0);
  CHECK(right(&s));
  close_staged(&s);
}

/* What is in flight is done before its memory is fetched. */
static void test_fetching_waits(void) {
  staged s;
  open_staged(&s, 0);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(daedalus_batch_submit(s.batch), 0);
  CHECK_INT(daedalus_memory_invalidate(s.memory, 0, sizeof(work.plane)), 0);
  CHECK(right(&s));
  CHECK_INT(daedalus_batch_poll(s.batch), 1);
  close_staged(&s);
}

/* The CPU's groups see what the GPU's wrote, and the other way around. */
static void test_the_cpu_takes_turns(void) {
  staged s;
  open_staged(&s, 0);
  append(&s, DAEDALUS_SUBSTRATE_CPU);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  append(&s, DAEDALUS_SUBSTRATE_CPU);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(run(&s), 0);
  CHECK_INT(daedalus_memory_invalidate(s.memory, 0, sizeof(work.plane)), 0);
  CHECK(right(&s));
  CHECK_INT(s.f.log.n, 0);
  close_staged(&s);
}

static int lose(staged *s) {
  stub_fail("vkWaitForFences", 0, VK_ERROR_DEVICE_LOST);
  const int error = run(s);
  CHECK(stub_failed());
  return error;
}

/* The card's memory goes with it; the CPU's half is what the batch began with. */
static void test_lost_with_a_good_copy(void) {
  staged s;
  open_staged(&s, 0);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(lose(&s), 0);
  CHECK_INT(daedalus_memory_invalidate(s.memory, 0, sizeof(work.plane)), 0);
  CHECK(right(&s));
  CHECK_INT(s.f.log.n, 1);
  /* Later batches are the CPU's, on the same memory. */
  CHECK_INT(daedalus_batch_reset(s.batch), 0);
  append(&s, DAEDALUS_SUBSTRATE_QPU);
  daedalus_choice choice;
  CHECK_INT(daedalus_batch_choice(s.batch, 0, &choice), 0);
  CHECK_INT(choice.substrate, DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(run(&s), 0);
  CHECK_INT(daedalus_memory_flush(s.memory, 0, sizeof(work.plane)), 0);
  CHECK(right(&s));
  CHECK_INT(s.f.log.n, 1);
  close_staged(&s);
}

/* What only the card had is gone, and said to be, unless it was fetched first. */
static void test_lost_with_results_on_the_card(void) {
  for (int shadow = 0; shadow < 2; shadow++) {
    staged s;
    open_staged(&s, shadow != 0 ? DAEDALUS_BATCH_SHADOW : 0);
    append(&s, DAEDALUS_SUBSTRATE_QPU);
    CHECK_INT(run(&s), 0);
    CHECK_INT(daedalus_batch_reset(s.batch), 0);
    append(&s, DAEDALUS_SUBSTRATE_QPU);
    /* With a shadow the first wait is that for what is fetched. */
    stub_fail("vkWaitForFences", shadow != 0 ? 1 : 0, VK_ERROR_DEVICE_LOST);
    CHECK_INT(run(&s), shadow != 0 ? 0 : -EIO);
    CHECK(stub_failed());
    CHECK_INT(daedalus_batch_undefined_count(s.batch), shadow != 0 ? 0 : N_BLOCKS);
    CHECK_INT(daedalus_memory_invalidate(s.memory, 0, sizeof(work.plane)), shadow != 0 ? 0 : -EIO);
    CHECK(shadow == 0 || right(&s));
    close_staged(&s);
  }
}

/* Whatever fails, what is said to be done is right. */
static void test_every_call_fails_once(void) {
  const char *const *names = stub_functions();
  size_t n_stories = 0;
  for (size_t i = 0; names[i] != NULL; i++) {
    for (unsigned long nth = 0; stub_can_fail(names[i]) && nth < 3; nth++) {
      staged s;
      open_staged(&s, 0);
      append(&s, DAEDALUS_SUBSTRATE_QPU);
      append(&s, DAEDALUS_SUBSTRATE_CPU);
      append(&s, DAEDALUS_SUBSTRATE_QPU);
      stub_fail(names[i], nth, VK_ERROR_OUT_OF_DEVICE_MEMORY);
      const int error = run(&s);
      const bool failed = stub_failed();
      stub_fail(NULL, 0, VK_SUCCESS);
      const int fetched = daedalus_memory_invalidate(s.memory, 0, sizeof(work.plane));
      const bool good =
          error == 0 && fetched == 0
              ? right(&s)
              : s.f.log.n >= 1 && (error == -EIO) == (daedalus_batch_undefined_count(s.batch) != 0);
      if (!good) {
        fprintf(stderr, "%s, call %lu: error %d, fetched %d, %s, %d messages: %s\n", names[i], nth,
                error, fetched, right(&s) ? "right" : "WRONG", s.f.log.n, s.f.log.message);
      }
      CHECK(good);
      close_staged(&s);
      n_stories += failed;
    }
  }
  CHECK(n_stories >= 5);
}

int main(void) {
  RUN(test_stays_on_the_card);
  RUN(test_a_part_is_brought_over);
  RUN(test_fetching_waits);
  RUN(test_the_cpu_takes_turns);
  RUN(test_lost_with_a_good_copy);
  RUN(test_lost_with_results_on_the_card);
  RUN(test_every_call_fails_once);
  return CHECK_RESULT();
}
