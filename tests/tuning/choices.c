/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does VP9 8x8 transforms of every class by AUTO, as the context's recipe says, and by the CPU
 * without a recipe, and prints what was chosen and whether the pictures are the same:
 *   recipe SOURCE RECORDS SKIPPED ROUTE
 *   choice CLASS N VARIANT cpu|qpu REASON
 *   same|different
 */
#include <daedalus.h>
#include <daedalus/vp9.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 256, BLOCKS = SIDE / 8 * (SIDE / 8) };

static uint8_t picture[2][SIDE * SIDE];
static int16_t coefficients[BLOCKS][64];
static daedalus_vp9_idct8_meta meta[BLOCKS];

/* Blocks of 1, 4 x 4 and 64 coefficients in turn. */
static void fill(void) {
  uint32_t state = 5;
  for (uint32_t b = 0; b < BLOCKS; b++) {
    static const uint8_t eobs[] = {1, 12, 64}, sides[] = {1, 4, 8};
    meta[b].dst_off = b / (SIDE / 8) * 8 * SIDE + b % (SIDE / 8) * 8;
    meta[b].eob = eobs[b % 3];
    for (int i = 0; i < 64; i++) {
      state = state * 1664525u + 1013904223u;
      const int inside = i % 8 < sides[b % 3] && i / 8 < sides[b % 3];
      coefficients[b][i] = inside ? (int16_t)((int)(state >> 24) - 128) : 0;
    }
  }
  for (int i = 0; i < SIDE * SIDE; i++) {
    state = state * 1664525u + 1013904223u;
    picture[0][i] = picture[1][i] = (uint8_t)(state >> 24);
  }
}

static void print_recipe(const daedalus_ctx *ctx) {
  daedalus_recipe_info info = {.size = sizeof(info)};
  if (daedalus_ctx_recipe(ctx, &info) != 0) {
    abort();
  }
  printf("recipe %d %zu %zu %s\n", (int)info.source, info.n_records, info.n_skipped,
         info.route != NULL ? info.route : "-");
}

int main(void) {
  const daedalus_config none = {.size = sizeof(none), .recipe = "none"};
  daedalus_ctx *ctx = daedalus_ctx_create(), *plain = daedalus_ctx_create_with(&none);
  daedalus_batch *batch = NULL;
  fill();
  if (ctx == NULL || plain == NULL || daedalus_batch_begin(ctx, &batch) != 0 ||
      daedalus_append_vp9_idct8(batch, DAEDALUS_SUBSTRATE_AUTO, picture[0], SIDE, coefficients[0],
                                BLOCKS, meta) != 0 ||
      daedalus_batch_submit(batch) != 0 || daedalus_batch_wait(batch, -1) != 0 ||
      daedalus_dispatch_vp9_idct8(plain, DAEDALUS_SUBSTRATE_CPU, picture[1], SIDE, coefficients[0],
                                  BLOCKS, meta) != 0) {
    return 1;
  }
  print_recipe(ctx);
  for (size_t i = 0; i < daedalus_batch_choice_count(batch); i++) {
    daedalus_choice choice;
    if (daedalus_batch_choice(batch, i, &choice) == 0) {
      printf("choice %s %zu %s %s %s\n", choice.class_name, choice.n_items, choice.variant,
             choice.substrate == DAEDALUS_SUBSTRATE_QPU ? "qpu" : "cpu", choice.reason);
    }
  }
  puts(memcmp(picture[0], picture[1], sizeof(picture[0])) == 0 ? "same" : "different");
  daedalus_ctx_destroy(ctx);
  daedalus_ctx_destroy(plain);
  return 0;
}
