/* SPDX-License-Identifier: BSD-2-Clause */
/* How many items a dispatch and a submission have, by what programs state and by threads. */
#include "check.h"
#include "gpu/drm/program.h"
#include "gpu/bound.h"

enum { CLOCKS = 2290, ITEMS = 4 };

static void sizes(uint32_t n_qpus, uint32_t threads, uint32_t clocks, size_t most) {
  const daedalus_qpu_code code = {.threads = 2, .items = ITEMS, .clocks = clocks};
  daedalus_ctx *ctx = daedalus_ctx_create();
  daedalus_drm drm = {.base = {.ctx = ctx}, .node = {.n_qpus = n_qpus}};
  daedalus_drm_program *program = daedalus_rt_drm_program_new(&drm, &code, 1, threads);
  CHECK_INT(daedalus_rt_gpu_dispatch_most(&program->base), most);
  daedalus_rt_drm_program_destroy(&drm.base, &program->base);
  daedalus_ctx_destroy(ctx);
}

/* 96,468,992 clocks, less the job's 40,000 and a trip, in whole units of 64 items. */
static void test_items_of_a_dispatch(void) {
  sizes(12, 0, CLOCKS, 41984); /* of 42,012 */
  sizes(12, 24, CLOCKS, 41984);
  sizes(12, 12, CLOCKS, 20992); /* of 21,006: half the threads, twice the time */
  sizes(12, 1, CLOCKS, 1728);   /* of 1,750 */
  sizes(10, 0, CLOCKS, 35008);  /* of 35,010, on a board with fewer QPUs */
  sizes(12, 0, 735, 131072);    /* of 131,099: a frame of 4x4 blocks is 130,560 */
  sizes(12, 1, 10000000, DAEDALUS_GPU_ITEMS_UNIT); /* never none */
}

static void test_clocks_of_a_dispatch(void) {
  const daedalus_gpu_program program = {
      .items_most = 1000, .item_clocks = CLOCKS, .job_clocks = 40000};
  CHECK_INT(daedalus_rt_gpu_dispatch_clocks(&program, 97), 40000 + 97 * CLOCKS);
  CHECK_INT(daedalus_rt_gpu_dispatch_most(&program), 960); /* what a route allows is less */
}

/* What a trip of all threads takes counts as well, whatever a dispatch has of it. */
static void test_the_smallest_dispatch(void) {
  const uint64_t all = DAEDALUS_GPU_CLOCKS_A_SUBMISSION;
  daedalus_gpu_program program = {.items_most = 1000, .item_clocks = 100};
  program.job_clocks = all - UINT64_C(100) * DAEDALUS_GPU_ITEMS_UNIT;
  CHECK(daedalus_rt_gpu_dispatch_fits(&program));
  program.job_clocks++;
  CHECK(!daedalus_rt_gpu_dispatch_fits(&program));
  program.job_clocks = 0;
  program.item_clocks = all / DAEDALUS_GPU_ITEMS_UNIT;
  CHECK(daedalus_rt_gpu_dispatch_fits(&program));
  program.item_clocks++;
  CHECK(!daedalus_rt_gpu_dispatch_fits(&program));
}

/* Shaders state nothing. */
static void test_items_of_shaders(void) {
  daedalus_gpu_program program = {.items_most = SIZE_MAX};
  program.item_clocks = DAEDALUS_GPU_CLOCKS_A_SHADER_ITEM;
  CHECK_INT(daedalus_rt_gpu_dispatch_most(&program), 131072);
  program.item_clocks = DAEDALUS_GPU_CLOCKS_A_CARDS_ITEM;
  CHECK_INT(daedalus_rt_gpu_dispatch_most(&program), 4194304);
}

int main(void) {
  RUN(test_items_of_a_dispatch);
  RUN(test_clocks_of_a_dispatch);
  RUN(test_the_smallest_dispatch);
  RUN(test_items_of_shaders);
  return CHECK_RESULT();
}
