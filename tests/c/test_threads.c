/* SPDX-License-Identifier: BSD-2-Clause */
/* Two contexts, each used by a thread of its own, at the same time. */
#include <daedalus.h>
#include <pthread.h>

#include "check.h"

enum { ROUNDS = 2000, BLOCKS = 16 };

static void *work(void *user) {
  uint8_t *plane = user;
  int16_t src[BLOCKS * 16];
  daedalus_fake_add_meta meta[BLOCKS];
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  for (int i = 0; i < BLOCKS * 16; i++) {
    src[i] = (int16_t)i;
  }
  for (uint32_t i = 0; i < BLOCKS; i++) {
    meta[i] = (daedalus_fake_add_meta){.dst_off = 4 * i, .count = (uint8_t)(i + 1), .gain = 1};
  }
  for (int round = 0; round < ROUNDS; round++) {
    CHECK_INT(daedalus_append_fake_add(batch, DAEDALUS_SUBSTRATE_AUTO, plane, 4 * BLOCKS, src,
                                       BLOCKS, meta),
              0);
    CHECK_INT(daedalus_batch_submit(batch), 0);
    CHECK_INT(daedalus_batch_reset(batch), 0);
  }
  daedalus_ctx_destroy(ctx);
  return NULL;
}

static void test_two_contexts(void) {
  static uint8_t planes[2][16 * BLOCKS];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    CHECK_INT(pthread_create(&threads[i], NULL, work, planes[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    CHECK_INT(pthread_join(threads[i], NULL), 0);
  }
  for (int block = 0; block < BLOCKS; block++) {
    for (int k = 0; k < 16; k++) {
      const int at = k / 4 * 4 * BLOCKS + 4 * block + k % 4;
      const uint8_t expected = (uint8_t)(k <= block ? ROUNDS * (16 * block + k) : 0);
      CHECK_INT(planes[0][at], expected);
      CHECK_INT(planes[1][at], expected);
    }
  }
}

int main(void) {
  RUN(test_two_contexts);
  return CHECK_RESULT();
}
