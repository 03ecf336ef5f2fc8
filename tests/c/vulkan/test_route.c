/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches on the stub driver: results, order, what is copied, what a warm one costs. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

static add_work work, untouched;
static uint8_t expected[sizeof(work.plane)];

static void fresh_work(uint32_t seed) {
  add_fill(&work, seed);
  untouched = work;
  memcpy(expected, work.plane, sizeof(expected));
}

/* Everything but the plane is as it was, and that is as expected. */
static void check_work(void) {
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  memcpy(untouched.plane, expected, sizeof(expected));
  CHECK(memcmp(&work, &untouched, sizeof(work)) == 0);
}

static void test_dispatch(void) {
  fixture f;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(1);
  CHECK_INT(add_run(f.ctx, &work), 0);
  add_expect(&untouched, expected, 0, N_BLOCKS);
  check_work();
  CHECK(f.executor.items >= N_BLOCKS);
  CHECK_INT(f.log.n, 0);
  CHECK_INT(fixture_close(&f), 0);
}

/* Nothing is done by submit, nothing is copied back before somebody asks. */
static void test_waits_for_the_device(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(2);
  CHECK_INT(add_run(f.ctx, &work), 0); /* the self-test is over */
  fresh_work(3);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_poll(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, 0), -ETIME);
  CHECK_INT(daedalus_batch_reset(batch), -EBUSY);
  check_work();
  stub_run_queue();
  CHECK_INT(daedalus_batch_poll(batch), 1);
  add_expect(&untouched, expected, 0, N_BLOCKS);
  check_work();
  CHECK_INT(daedalus_batch_poll(batch), 1);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  check_work();
  /* The caller's inputs are read by submit: what changes afterwards is not seen. */
  CHECK_INT(daedalus_batch_reset(batch), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  daedalus_batch_destroy(batch); /* waits */
  add_expect(&untouched, expected, 0, N_BLOCKS);
  check_work();
  CHECK_INT(fixture_close(&f), 0);
}

static void test_destroying_the_context_waits(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(4);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(fixture_close(&f), 0);
  add_expect(&untouched, expected, 0, N_BLOCKS);
  check_work();
}

/* ------------------------------------------------------------------------------ order */

/* Appends over the same memory, on one substrate or the other: as if done one after the other. */
static void test_appends_are_ordered(void) {
  static const daedalus_substrate patterns[][5] = {
      {DAEDALUS_SUBSTRATE_QPU, DAEDALUS_SUBSTRATE_QPU, DAEDALUS_SUBSTRATE_QPU,
       DAEDALUS_SUBSTRATE_QPU, DAEDALUS_SUBSTRATE_QPU},
      {DAEDALUS_SUBSTRATE_QPU, DAEDALUS_SUBSTRATE_CPU, DAEDALUS_SUBSTRATE_QPU,
       DAEDALUS_SUBSTRATE_QPU, DAEDALUS_SUBSTRATE_CPU},
      {DAEDALUS_SUBSTRATE_CPU, DAEDALUS_SUBSTRATE_QPU, DAEDALUS_SUBSTRATE_CPU,
       DAEDALUS_SUBSTRATE_CPU, DAEDALUS_SUBSTRATE_QPU},
  };
  static const size_t ranges[5][2] = {
      {0, N_BLOCKS}, {3, 90}, {0, N_BLOCKS}, {60, N_BLOCKS}, {1, N_BLOCKS - 1}};
  for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
    fixture f;
    daedalus_batch *batch = NULL;
    stub_reset();
    fixture_open(&f, NULL);
    fresh_work(5);
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    for (int i = 0; i < 5; i++) {
      CHECK_INT(add_append(batch, &work, patterns[p][i], ranges[i][0], ranges[i][1]), 0);
      add_expect(&untouched, expected, ranges[i][0], ranges[i][1]);
    }
    const unsigned long submits = stub_done.submits, barriers = stub_done.barriers;
    CHECK_INT(daedalus_batch_submit(batch), 0);
    CHECK_INT(daedalus_batch_wait(batch, -1), 0);
    check_work();
    if (p == 0) {
      CHECK_INT(stub_done.submits - submits, 1);
      CHECK(stub_done.barriers - barriers >= 4);
    }
    CHECK_INT(fixture_close(&f), 0);
  }
}

/* A kernel reads what another one of the batch wrote. */
static void test_kernels_see_each_other(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  static uint8_t copied[sizeof(work.plane)];
  daedalus_fake_copy_meta metas[HEIGHT / 8 * (WIDTH / 8)];
  size_t n = 0;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(6);
  memset(copied, 0x11, sizeof(copied));
  for (uint32_t row = 0; row < HEIGHT; row += 8) {
    for (uint32_t column = 0; column < WIDTH; column += 8) {
      const uint32_t at = row * WIDTH + column;
      metas[n++] = (daedalus_fake_copy_meta){.dst_off = at, .src_off = at, .rows = 8};
    }
  }
  const daedalus_buffer buffers[] = {{copied, WIDTH}, {work.plane, WIDTH}};
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_append(batch, KERNEL(COPY), DAEDALUS_SUBSTRATE_QPU, buffers, n, metas), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  add_expect(&untouched, expected, 0, N_BLOCKS);
  CHECK(memcmp(copied, expected, sizeof(copied)) == 0);
  add_expect(&untouched, expected, 0, N_BLOCKS);
  check_work();
  CHECK_INT(fixture_close(&f), 0);
}

/* A batch touches memory of one that is still in flight. */
static void test_batches_are_ordered(void) {
  fixture f;
  daedalus_batch *batches[3] = {NULL};
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(7);
  for (int i = 0; i < 3; i++) {
    CHECK_INT(daedalus_batch_begin(f.ctx, &batches[i]), 0);
    CHECK_INT(add_append(batches[i], &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  }
  for (int i = 0; i < 3; i++) {
    CHECK_INT(daedalus_batch_submit(batches[i]), 0);
    add_expect(&untouched, expected, 0, N_BLOCKS);
  }
  CHECK_INT(daedalus_batch_wait(batches[2], -1), 0);
  CHECK_INT(daedalus_batch_wait(batches[0], -1), 0);
  CHECK_INT(daedalus_batch_wait(batches[1], -1), 0);
  check_work();
  CHECK_INT(fixture_close(&f), 0);
}

/* Two batches on memory apart are in flight at once. */
static void test_batches_apart_do_not_wait(void) {
  static add_work other;
  fixture f;
  daedalus_batch *first = NULL, *second = NULL;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(8);
  add_fill(&other, 9);
  CHECK_INT(add_run(f.ctx, &work), 0);
  CHECK_INT(daedalus_batch_begin(f.ctx, &first), 0);
  CHECK_INT(daedalus_batch_begin(f.ctx, &second), 0);
  CHECK_INT(add_append(first, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(add_append(second, &other, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  const unsigned long items = f.executor.items;
  CHECK_INT(daedalus_batch_submit(first), 0);
  CHECK_INT(daedalus_batch_submit(second), 0);
  CHECK_INT(f.executor.items, items);
  CHECK_INT(daedalus_batch_wait(second, -1), 0);
  CHECK_INT(daedalus_batch_wait(first, -1), 0);
  CHECK_INT(fixture_close(&f), 0);
}

/* ------------------------------------------------------------------------ what is copied */

/* While the GPU works, others write between the items: that stays. */
static void test_only_what_is_written_comes_back(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(10);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  /* Every other block of the plane: items 0, 2, 4, ... */
  daedalus_fake_add_meta metas[N_BLOCKS / 2];
  daedalus_buffer buffers[2];
  for (size_t i = 0; i < N_BLOCKS / 2; i++) {
    metas[i] = work.meta[2 * i];
  }
  add_buffers(&work, work.plane, 0, buffers);
  CHECK_INT(
      daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, N_BLOCKS / 2, metas), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  for (size_t i = 0; i < N_BLOCKS / 2; i++) {
    VARIANT(ADD, ADD_C_FULL)
        ->cpu((daedalus_buffer[]){{expected, WIDTH}, {work.blocks, 0}}, metas,
              &(uint32_t){(uint32_t)i}, 1);
  }
  for (size_t row = 0; row < HEIGHT; row++) {
    for (size_t column = 0; column < WIDTH; column++) {
      if (column / 4 % 2 == 1) {
        work.plane[row * WIDTH + column] = expected[row * WIDTH + column] = 0x77;
      }
    }
  }
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  check_work();
  CHECK_INT(fixture_close(&f), 0);
}

/* Items of fewer rows than there can be: the others are neither read nor written. */
static void test_fewer_rows(void) {
  fixture f;
  uint8_t dst[8 * 16], want[8 * 16];
  const size_t page = 8 * 16;
  uint8_t *src = malloc(page);
  stub_reset();
  fixture_open(&f, NULL);
  memset(dst, 0x33, sizeof(dst));
  memset(want, 0x33, sizeof(want));
  for (size_t i = 0; i < page; i++) {
    src[i] = (uint8_t)(i * 7);
  }
  /* The second item's window ends with the memory, three rows down. */
  const daedalus_fake_copy_meta metas[] = {{.dst_off = 0, .src_off = 0, .rows = 5},
                                           {.dst_off = 8, .src_off = 5 * 16 + 8, .rows = 3}};
  const daedalus_buffer buffers[] = {{dst, 16}, {src, 16}};
  VARIANT(COPY, COPY_C)
      ->cpu((daedalus_buffer[]){{want, 16}, {src, 16}}, metas, (uint32_t[]){0, 1}, 2);
  CHECK_INT(daedalus_dispatch(f.ctx, KERNEL(COPY), DAEDALUS_SUBSTRATE_QPU, buffers, 2, metas), 0);
  CHECK(memcmp(dst, want, sizeof(dst)) == 0);
  free(src);
  CHECK_INT(fixture_close(&f), 0);
}

/* Rows that run upwards. */
static void test_negative_strides(void) {
  fixture f;
  stub_reset();
  fixture_open(&f, NULL);
  CHECK_INT(daedalus_ctx_has_qpu(f.ctx), 1);
  fresh_work(11);
  daedalus_fake_add_meta metas[WIDTH / 4];
  for (uint32_t i = 0; i < WIDTH / 4; i++) {
    metas[i] = (daedalus_fake_add_meta){.dst_off = 4 * i, .count = 16, .gain = 1};
  }
  uint8_t *bottom = work.plane + (HEIGHT - 1) * WIDTH;
  const daedalus_buffer buffers[] = {{bottom, -WIDTH}, {work.blocks, 0}};
  const daedalus_buffer want[] = {{expected + (HEIGHT - 1) * WIDTH, -WIDTH}, {work.blocks, 0}};
  for (uint32_t i = 0; i < WIDTH / 4; i++) {
    VARIANT(ADD, ADD_C_FULL)->cpu(want, metas, &i, 1);
  }
  CHECK_INT(
      daedalus_dispatch(f.ctx, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, WIDTH / 4, metas), 0);
  check_work();
  CHECK_INT(fixture_close(&f), 0);
}

/* --------------------------------------------------------------------------- variants */

static const char *taken(daedalus_ctx *ctx, size_t shift, ptrdiff_t stride) {
  daedalus_batch *batch = NULL;
  daedalus_choice choice = {.variant = "none"};
  const daedalus_fake_add_meta meta = {.dst_off = 4, .count = 3, .gain = 1};
  const daedalus_buffer buffers[] = {{work.plane + shift, stride}, {work.blocks, 0}};
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, 1, &meta), 0);
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_INT(choice.substrate, DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  daedalus_batch_destroy(batch);
  return choice.variant;
}

/* A kernel that the GPU has no variant of: refused, or the CPU's where the context says so. */
static void test_falls_back(void) {
  for (int allowed = 0; allowed < 2; allowed++) {
    fixture f;
    stub_reset();
    fixture_open(&f, &(daedalus_config){.cache_dir = "",
                                        .flags = allowed ? DAEDALUS_CONFIG_QPU_FALLBACK_CPU : 0});
    fresh_work(13);
    daedalus_kernel_desc kernel = *KERNEL(ADD);
    kernel.variants = VARIANT(ADD, ADD_C_FULL);
    kernel.n_variants = 1;
    daedalus_batch *batch = NULL;
    daedalus_choice choice = {0};
    const daedalus_fake_add_meta meta = {.dst_off = 4, .count = 3, .gain = 1};
    const daedalus_buffer buffers[] = {{work.plane, WIDTH}, {work.blocks, 0}};
    const daedalus_substrate qpu = DAEDALUS_SUBSTRATE_QPU;
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(daedalus_append(batch, &kernel, qpu, buffers, 1, &meta), allowed ? 0 : -ENODEV);
    CHECK_INT(daedalus_batch_choice(batch, 0, &choice), allowed ? 0 : -EINVAL);
    CHECK(!allowed || (choice.substrate == DAEDALUS_SUBSTRATE_CPU &&
                       strstr(choice.reason, "no variant can run there") != NULL));
    /* Where there is one, the flag changes nothing. */
    CHECK_INT(daedalus_append(batch, KERNEL(ADD), qpu, buffers, 1, &meta), 0);
    CHECK_INT(daedalus_batch_choice(batch, (size_t)allowed, &choice), 0);
    CHECK(choice.substrate == DAEDALUS_SUBSTRATE_QPU);
    CHECK_INT(fixture_close(&f), 0);
  }
}

static void test_alignment_chooses(void) {
  fixture f;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(12);
  CHECK_INT((uintptr_t)work.plane % 4, 0);
  const char *word = VARIANT(ADD, ADD_GPU_WORD)->name, *byte = VARIANT(ADD, ADD_GPU_BYTE)->name;
  CHECK_STR(taken(f.ctx, 0, WIDTH), word);
  CHECK_STR(taken(f.ctx, 1, WIDTH), byte);
  CHECK_STR(taken(f.ctx, 0, WIDTH - 1), byte);
  CHECK_STR(taken(f.ctx, 0, WIDTH), word);
  /* Asked for by name it is refused, not exchanged. */
  daedalus_batch *batch = NULL;
  const daedalus_fake_add_meta meta = {.dst_off = 2, .count = 3, .gain = 1};
  const daedalus_buffer buffers[] = {{work.plane, WIDTH}, {work.blocks, 0}};
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(
      daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_WORD), 0, buffers, 1, &meta),
      -ENODEV);
  CHECK_INT(
      daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_BYTE), 0, buffers, 1, &meta),
      0);
  CHECK_INT(daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_BYTE), 24, buffers, 1,
                                    &meta),
            -ENODEV);
  CHECK_INT(daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_BYTE), 512, buffers, 1,
                                    &meta),
            -ENODEV);
  CHECK_INT(
      daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_C_FULL), 0, buffers, 1, &meta),
      0);
  CHECK_INT(daedalus_batch_choice_count(batch), 2);
  CHECK_INT(fixture_close(&f), 0);
}

static void test_workgroup_sizes(void) {
  static const uint32_t sizes[] = {16, 32, 48, 64, 128, 256};
  fixture f;
  stub_reset();
  fixture_open(&f, NULL);
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    daedalus_batch *batch = NULL;
    daedalus_buffer buffers[2];
    fresh_work(13);
    add_buffers(&work, work.plane, 0, buffers);
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_BYTE), sizes[i],
                                      buffers, N_BLOCKS - 1, work.meta),
              0);
    CHECK_INT(daedalus_batch_submit(batch), 0);
    CHECK_INT(daedalus_batch_wait(batch, -1), 0);
    add_expect(&untouched, expected, 0, N_BLOCKS - 1);
    check_work();
    daedalus_batch_destroy(batch);
  }
  CHECK_INT(fixture_close(&f), 0);
}

/* ------------------------------------------------------------------------ large batches */

static void test_limits_split(void) {
  fixture f;
  enum { TIMES = 40 };
  stub_reset();
  stub.devices[0].max_range = 4096;
  fixture_open(&f, NULL);
  fresh_work(14);
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  for (int i = 0; i < TIMES; i++) {
    CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
    add_expect(&untouched, expected, 0, N_BLOCKS);
  }
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  check_work();
  CHECK_INT(fixture_close(&f), 0);
}

/* So many items that one submission would run for long. */
static void test_work_of_a_submit_is_bounded(void) {
  enum { MANY = 400000 };
  fixture f;
  stub_reset();
  fixture_open(&f, NULL);
  uint8_t *plane = calloc(MANY * 4 / 1024 + 1, 4 * 1024);
  int16_t *blocks = calloc(MANY, sizeof(int16_t) * BLOCK);
  daedalus_fake_add_meta *metas = calloc(MANY, sizeof(*metas));
  for (uint32_t i = 0; i < MANY; i++) {
    blocks[(size_t)i * BLOCK] = (int16_t)i;
    metas[i] = (daedalus_fake_add_meta){
        .dst_off = i / 256 * 4 * 1024 + i % 256 * 4, .count = 2, .gain = 1};
  }
  const daedalus_buffer buffers[] = {{plane, 1024}, {blocks, 0}};
  CHECK_INT(daedalus_dispatch(f.ctx, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, MANY, metas), 0);
  size_t wrong = 0;
  for (uint32_t i = 0; i < MANY; i++) {
    wrong += plane[metas[i].dst_off] != (uint8_t)i;
  }
  CHECK_INT(wrong, 0);
  CHECK(stub_done.submits > 2);
  CHECK(stub_done.largest_submit_groups < MANY / 16);
  free(plane);
  free(blocks);
  free(metas);
  CHECK_INT(fixture_close(&f), 0);
}

/* ----------------------------------------------------------------------------- warm ones */

static void test_a_warm_dispatch_creates_nothing(void) {
  fixture f;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(15);
  for (int i = 0; i < 3; i++) {
    CHECK_INT(add_run(f.ctx, &work), 0);
  }
  const unsigned long creations = stub_creations();
  const long allocations = f.memory.n_allocations;
  const unsigned long calls = stub_all_calls();
  daedalus_pool_info before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
  CHECK_INT(daedalus_ctx_pool(f.ctx, &before), 0);
  enum { TIMES = 1000 };
  for (int i = 0; i < TIMES; i++) {
    CHECK_INT(add_run(f.ctx, &work), 0);
  }
  CHECK_INT(stub_creations() - creations, 0);
  CHECK_INT(f.memory.n_allocations - allocations, 0);
  CHECK_INT(daedalus_ctx_pool(f.ctx, &after), 0);
  CHECK(after.requests > before.requests);
  CHECK(100 * (after.hits - before.hits) >= 99 * (after.requests - before.requests));
  CHECK_INT(after.in_use, before.in_use); /* the constants of a variant that may be taken */
  CHECK(after.in_use_peak > after.in_use && after.in_use_peak <= after.reserved);
  printf("a warm dispatch: %.1f Vulkan calls, 0 creations, 0 allocations\n",
         (double)(stub_all_calls() - calls) / TIMES);
  daedalus_ctx_pool_trim(f.ctx);
  CHECK_INT(daedalus_ctx_pool(f.ctx, &after), 0);
  CHECK_INT(after.in_use_peak, before.in_use);
  CHECK_INT(add_run(f.ctx, &work), 0);
  CHECK_INT(fixture_close(&f), 0);
}

/* Sizes that come and go: after the first of each class everything is there. */
static void test_pool_hits_of_mixed_sizes(void) {
  fixture f;
  uint32_t state = 1;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(16);
  for (int i = 0; i < 2000; i++) {
    state = state * 1664525u + 1013904223u;
    const size_t n = 1 + (state >> 16) % N_BLOCKS;
    daedalus_buffer buffers[2];
    add_buffers(&work, work.plane, 0, buffers);
    CHECK_INT(daedalus_dispatch(f.ctx, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, n, work.meta),
              0);
  }
  daedalus_pool_info pool = {.size = sizeof(pool)};
  CHECK_INT(daedalus_ctx_pool(f.ctx, &pool), 0);
  CHECK(100 * pool.hits >= 99 * pool.requests);
  printf("pool: %llu of %llu requests hit\n", (unsigned long long)pool.hits,
         (unsigned long long)pool.requests);
  CHECK_INT(fixture_close(&f), 0);
}

/* ------------------------------------------------------------------------------- others */

static void test_two_contexts(void) {
  fixture f, g;
  daedalus_batch *batches[2] = {NULL};
  static add_work other;
  stub_reset();
  fixture_open(&f, NULL);
  fixture_open(&g, NULL); /* its executor does the work of both from now on */
  fresh_work(17);
  add_fill(&other, 18);
  static uint8_t other_expected[sizeof(other.plane)];
  memcpy(other_expected, other.plane, sizeof(other_expected));
  CHECK_INT(daedalus_batch_begin(f.ctx, &batches[0]), 0);
  CHECK_INT(daedalus_batch_begin(g.ctx, &batches[1]), 0);
  CHECK_INT(add_append(batches[0], &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(add_append(batches[1], &other, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(batches[0]), 0);
  CHECK_INT(daedalus_batch_submit(batches[1]), 0);
  CHECK_INT(daedalus_batch_wait(batches[1], -1), 0);
  CHECK_INT(daedalus_batch_wait(batches[0], -1), 0);
  add_expect(&untouched, expected, 0, N_BLOCKS);
  check_work();
  add_expect(&other, other_expected, 0, N_BLOCKS);
  CHECK(memcmp(other.plane, other_expected, sizeof(other_expected)) == 0);
  daedalus_ctx_destroy(f.ctx);
  CHECK_INT(f.memory.n_live, 0);
  CHECK_INT(fixture_close(&g), 0);
}

static void test_export_fence(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  int fd = 7;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(19);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_export_fence(batch, &fd), -EINVAL);
  CHECK_INT(fd, -1);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_export_fence(batch, &fd), 0);
  CHECK(fd >= 0);
  struct pollfd waiting = {.fd = fd, .events = POLLIN};
  CHECK_INT(poll(&waiting, 1, 0), 0);
  stub_run_queue();
  CHECK_INT(poll(&waiting, 1, 0), 1);
  close(fd);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  add_expect(&untouched, expected, 0, N_BLOCKS);
  check_work();
  /* Of the CPU's work there is no fence. */
  CHECK_INT(daedalus_batch_reset(batch), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_CPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_export_fence(batch, &fd), -ENOTSUP);
  CHECK_INT(fixture_close(&f), 0);
}

static void test_gpu_time(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  uint64_t ns = 0;
  stub_reset();
  fixture_open(&f, NULL);
  fresh_work(20);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(daedalus_batch_set_flags(batch, DAEDALUS_BATCH_TIMESTAMPS), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_gpu_time(batch, &ns), -EBUSY);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  CHECK_INT(daedalus_batch_gpu_time(batch, &ns), 0);
  CHECK(ns > 0);
  CHECK_INT(fixture_close(&f), 0);
}

int main(void) {
  RUN(test_dispatch);
  RUN(test_waits_for_the_device);
  RUN(test_destroying_the_context_waits);
  RUN(test_appends_are_ordered);
  RUN(test_kernels_see_each_other);
  RUN(test_batches_are_ordered);
  RUN(test_batches_apart_do_not_wait);
  RUN(test_only_what_is_written_comes_back);
  RUN(test_fewer_rows);
  RUN(test_negative_strides);
  RUN(test_falls_back);
  RUN(test_alignment_chooses);
  RUN(test_workgroup_sizes);
  RUN(test_limits_split);
  RUN(test_work_of_a_submit_is_bounded);
  RUN(test_a_warm_dispatch_creates_nothing);
  RUN(test_pool_hits_of_mixed_sizes);
  RUN(test_two_contexts);
  RUN(test_export_fence);
  RUN(test_gpu_time);
  return CHECK_RESULT();
}
