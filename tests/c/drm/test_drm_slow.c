/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job that takes longer than the kernel waits for a batch to end, on the simulated device with
 * modelled times: 667 ms by the one thread that does it.  Run by daedalus-v3d-device --timed with
 * DAEDALUS_QPU_ROUTE=drm.
 */
#include <daedalus.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "batch/context.h"
#include "slow.h"
#include "sum.h"

enum { ROW = 64, ITEMS_A_ROW = ROW / 16, ITEMS = 2048, SIZE = ROW * 2 * (ITEMS / ITEMS_A_ROW) };
enum { ROUNDS = 250000 }; /* 5 ms of 960 MHz a batch of 16 items: 128 items a submission */

static uint8_t dst[SIZE], src[SIZE], expected[SIZE];
static sum_meta metas[ITEMS];

/** Has one thread do all items by code that states so many clocks; what it leaves lies in dst. */
static void run(uint32_t clocks) {
  const daedalus_config config = {.size = sizeof(config), .cache_dir = ""};
  const daedalus_kernel_table *table = sum_table();
  const daedalus_kernel_desc *kernel = &table->kernels[0];
  daedalus_qpu_code code = slow_code(ROUNDS);
  code.clocks = clocks != 0 ? clocks : code.clocks;
  daedalus_variant variant = kernel->variants[SUM_GOOD];
  variant.qpu = &code;
  daedalus_ctx *ctx = daedalus_rt_ctx_create(&config, table, &daedalus_rt_libc_allocator);
  for (uint32_t i = 0; i < SIZE; i++) {
    src[i] = (uint8_t)(i * 37 + (i >> 8));
    dst[i] = expected[i] = (uint8_t)(i * 11);
  }
  for (uint32_t i = 0; i < ITEMS; i++) {
    const uint32_t at = i / ITEMS_A_ROW * 2 * ROW + i % ITEMS_A_ROW * 16;
    metas[i] = (sum_meta){.dst_off = at, .src_off = at, .choice = i % 4};
    const daedalus_buffer buffers[] = {{expected, ROW}, {src, ROW}};
    kernel->variants[SUM_C].cpu(buffers, metas, &i, 1);
  }
  const daedalus_buffer buffers[] = {{dst, ROW}, {src, ROW}};
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(daedalus_append_variant(batch, kernel, &variant, 1, buffers, ITEMS, metas), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  daedalus_choice choice;
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_INT(choice.substrate, DAEDALUS_SUBSTRATE_QPU);
  daedalus_batch_destroy(batch);
  daedalus_ctx_destroy(ctx);
}

static void test_what_takes_long_is_divided(void) {
  run(0);
  CHECK(memcmp(dst, expected, SIZE) == 0);
}

/* In one submission it is ended before its end, so that the other test is one. */
static void test_undivided_it_is_reset(void) {
  run(1);
  CHECK(memcmp(dst, expected, SIZE) != 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "undivided") == 0) {
    RUN(test_undivided_it_is_reset);
  } else {
    RUN(test_what_takes_long_is_divided);
  }
  return CHECK_RESULT();
}
