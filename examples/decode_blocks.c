/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds the residuals of one row of 8x8 blocks to a picture and filters the edges between them, in
 * one batch; then does the same by single calls, and compares.
 */
#include <daedalus.h>

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 6, SIZE = 8, STRIDE = 64 };

static int fail(const char *what, int error) {
  fprintf(stderr, "%s: %s\n", what, daedalus_strerror(error));
  return 1;
}

/* What a decoder's parser would give: coefficients, where they go, and how many there are. */
static void parse(int16_t *coeffs, daedalus_vp9_idct8_meta *blocks,
                  daedalus_vp9_lpf4_h_meta *edges) {
  static const uint8_t eobs[BLOCKS] = {1, 64, 12, 1, 3, 40};
  memset(coeffs, 0, BLOCKS * 64 * sizeof(*coeffs));
  for (int i = 0; i < BLOCKS; i++) {
    int16_t *block = coeffs + 64 * i; /* [h][v]: column-major */
    block[0] = (int16_t)(100 * i - 250);
    if (eobs[i] > 1) {
      block[1] = 90;
      block[8] = -70;
    }
    if (eobs[i] > 12) {
      block[8 * 5 + 4] = 60;
    }
    blocks[i] = (daedalus_vp9_idct8_meta){.dst_off = (uint32_t)(SIZE * i), .eob = eobs[i]};
  }
  for (int i = 0; i < BLOCKS - 1; i++) { /* the edge between block i and the next */
    edges[i] = (daedalus_vp9_lpf4_h_meta){
        .dst_off = (uint32_t)(SIZE * (i + 1)), .blimit = 120, .limit = 40, .thresh = 2};
  }
}

/* One batch of two appends: items of an append are unordered, appends are in order. */
static int run_batch(daedalus_ctx *ctx, uint8_t *picture, const int16_t *coeffs,
                     const daedalus_vp9_idct8_meta *blocks, const daedalus_vp9_lpf4_h_meta *edges) {
  daedalus_batch *batch;
  int error = daedalus_batch_begin(ctx, &batch);
  if (error == 0) {
    error = daedalus_append_vp9_idct8(batch, DAEDALUS_SUBSTRATE_AUTO, picture, STRIDE, coeffs,
                                      BLOCKS, blocks);
  }
  if (error == 0) {
    error = daedalus_append_vp9_lpf4_h(batch, DAEDALUS_SUBSTRATE_AUTO, picture, STRIDE, BLOCKS - 1,
                                       edges);
  }
  for (size_t i = 0; error == 0 && i < daedalus_batch_choice_count(batch); i++) {
    daedalus_choice c;
    error = daedalus_batch_choice(batch, i, &c);
    if (error == 0) {
      printf("%zu items of class %-5s by %s: %s\n", c.n_items, c.class_name, c.variant, c.reason);
    }
  }
  if (error == 0) {
    error = daedalus_batch_submit(batch);
  }
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1); /* from here on the buffers are ours again */
  }
  daedalus_batch_destroy(batch);
  return error;
}

int main(void) {
  int16_t coeffs[BLOCKS * 64];
  daedalus_vp9_idct8_meta blocks[BLOCKS];
  daedalus_vp9_lpf4_h_meta edges[BLOCKS - 1];
  uint8_t batched[SIZE * STRIDE], single[SIZE * STRIDE];
  parse(coeffs, blocks, edges);
  memset(batched, 128, sizeof(batched));
  memset(single, 128, sizeof(single));

  daedalus_ctx *ctx = daedalus_ctx_create();
  if (ctx == NULL) {
    return fail("daedalus_ctx_create", 0);
  }
  int error = run_batch(ctx, batched, coeffs, blocks, edges);
  if (error != 0) {
    daedalus_ctx_destroy(ctx);
    return fail("batch", error);
  }

  /* The same as two synchronous calls: one says where to run, one leaves it to the recipe. */
  error = daedalus_dispatch_vp9_idct8(ctx, DAEDALUS_SUBSTRATE_CPU, single, STRIDE, coeffs, BLOCKS,
                                      blocks);
  if (error == 0) {
    error = daedalus_recipe_dispatch_vp9_lpf4_h(ctx, single, STRIDE, BLOCKS - 1, edges);
  }
  daedalus_ctx_destroy(ctx);
  if (error != 0) {
    return fail("dispatch", error);
  }
  if (memcmp(batched, single, sizeof(batched)) != 0) {
    fprintf(stderr, "batch and dispatch differ\n");
    return 1;
  }

  /* And block by block through the entries of a decoder's tables; these clear the coefficients. */
  memset(single, 128, sizeof(single));
  for (int i = 0; i < BLOCKS; i++) {
    daedalus_ffmpeg_vp9_idct8(single + blocks[i].dst_off, STRIDE, coeffs + 64 * i, blocks[i].eob);
  }
  for (int i = 0; i < BLOCKS - 1; i++) {
    daedalus_ffmpeg_vp9_lpf4_h(single + edges[i].dst_off, STRIDE, edges[i].blimit, edges[i].limit,
                               edges[i].thresh);
  }
  if (memcmp(batched, single, sizeof(batched)) != 0) {
    fprintf(stderr, "batch and decoder entries differ\n");
    return 1;
  }
  printf("row 0:");
  for (int x = 0; x < SIZE * BLOCKS; x++) {
    printf(" %d", batched[x]);
  }
  printf("\nbatch, dispatch and decoder entries agree\n");
  return 0;
}
