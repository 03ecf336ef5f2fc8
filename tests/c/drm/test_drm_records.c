/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of a dispatch's records, and that each item has exactly one. */
#include <string.h>

#include "check.h"
#include "drm/program.h"
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
  daedalus_batch batch = {.meta = {.data = meta}, .items = {.data = items}};
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

int main(void) {
  test_groups();
  test_in_order();
  return CHECK_RESULT();
}
