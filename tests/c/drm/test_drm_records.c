/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of a dispatch's records, and that each item has exactly one. */
#include <string.h>

#include "check.h"
#include "gpu/drm/program.h"
#include "gpu/job.h"

enum { META = 2, ITEMS = 1000, MOST = 3 * ITEMS };

static const uint16_t record[] = {1, DAEDALUS_RECORD_INDEX};
static const daedalus_qpu_code code = {.record = record, .n_record = 2, .threads = 2, .items = 16};

static uint32_t meta[MOST * META], items[ITEMS], out[4 + 2 * ITEMS];

/* Gathers items begin..end, as threads of 12 QPUs do them; of each item out[] has two words. */
static void gather(uint32_t threads, size_t begin, size_t end) {
  daedalus_ctx *ctx = daedalus_ctx_create();
  daedalus_drm drm = {.base = {.ctx = ctx}, .node = {.n_qpus = 12}};
  daedalus_drm_program *program = daedalus_rt_drm_program_new(&drm, &code, 1, threads);
  const daedalus_variant variant = {.qpu = &code};
  const daedalus_kernel_desc kernel = {.meta_size = META * sizeof(uint32_t)};
  const daedalus_group group = {.kernel = &kernel, .variant = &variant, .n_items = ITEMS};
  const daedalus_groups work = {.meta = {.data = meta}, .items = {.data = items}};
  daedalus_gpu_batch batch = {.work = &work};
  daedalus_gpu_block block = {.map = (unsigned char *)out};
  const daedalus_gpu_job job = {.batch = &batch, .records = &block, .records_offset = 8};
  for (size_t i = 0; i < ITEMS; i++) {
    items[i] = (uint32_t)(3 * i); /* of those that were appended, each third */
    meta[3 * i * META + 1] = ~items[i];
  }
  memset(out, 0, sizeof(out));
  daedalus_rt_gpu_job_gather(&job, &group, &program->base, 8, begin, end);
  daedalus_rt_drm_program_destroy(&drm.base, &program->base);
  daedalus_ctx_destroy(ctx);
}

/* The place among ITEMS of the item that the record of that number is of. */
static size_t item_at(size_t number) {
  const uint32_t *r = out + 4 + 2 * number;
  CHECK(r[0] == ~r[1]);
  return r[1] / 3;
}

/* Groups of four threads: of 384 items a trip each does 64. */
static void test_groups(void) {
  gather(0, 0, ITEMS);
  for (size_t number = 0; number < ITEMS; number++) {
    const size_t trip = number / 384, group = number % 384 / 64;
    const size_t expected = trip < 2 ? (2 * group + trip) * 64 + number % 64 : number;
    CHECK_INT(item_at(number), expected);
  }
}

/* One trip, threads that are no groups, and a part of the items: each keeps to its place. */
static void test_in_order(void) {
  static const struct {
    uint32_t threads;
    size_t begin, end;
  } cases[] = {{0, 0, 767}, {23, 0, ITEMS}, {4, 64, ITEMS}, {0, 128, 512}};
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    gather(cases[c].threads, cases[c].begin, cases[c].end);
    for (size_t i = cases[c].begin; i < cases[c].end; i++) {
      CHECK_INT(item_at(i), i);
    }
    for (size_t i = 0; i < 4 + 2 * cases[c].begin; i++) {
      CHECK_INT(out[i], 0);
    }
    for (size_t i = 4 + 2 * cases[c].end; i < 4 + 2 * ITEMS; i++) {
      CHECK_INT(out[i], 0);
    }
  }
}

static uint64_t asked; /* the size of the block that was made last */

static int note_size(daedalus_gpu_backend *backend, daedalus_gpu_place place, uint64_t size,
                     bool exported, daedalus_gpu_block **created) {
  static daedalus_gpu_block block;
  (void)backend;
  (void)place;
  (void)exported;
  asked = size;
  block = (daedalus_gpu_block){.size = size};
  *created = &block;
  return 0;
}

/* Records that fill a page are not the last of it: ldunifa fetches a word ahead. */
static void test_a_word_behind(void) {
  static const daedalus_gpu_route route = {.block_create = note_size};
  daedalus_ctx *ctx = daedalus_ctx_create();
  daedalus_gpu_backend backend = {.route = &route};
  daedalus_gpu gpu = {.ctx = ctx};
  const daedalus_variant variant = {.qpu = &code};
  const daedalus_kernel_desc kernel = {.meta_size = META * sizeof(uint32_t)};
  daedalus_group group = {.kernel = &kernel, .variant = &variant};
  const daedalus_groups work = {.list = {.data = &group, .size = 1}};
  daedalus_gpu_batch batch = {.work = &work};
  for (size_t pages = 1; pages <= 4; pages++) {
    const uint64_t size = pages * 4096;
    daedalus_gpu_job job = {.gpu = &gpu, .batch = &batch, .end = 1};
    daedalus_rt_gpu_pool_init(&gpu.pool, &backend);
    group.n_items = size / (2 * sizeof(uint32_t));
    CHECK_INT(daedalus_rt_gpu_job_fill(&job), 0);
    CHECK(job.records_offset + size + sizeof(uint32_t) <= asked);
  }
  daedalus_ctx_destroy(ctx);
}

int main(void) {
  test_groups();
  test_a_word_behind();
  test_in_order();
  return CHECK_RESULT();
}
