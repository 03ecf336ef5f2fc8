/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * h264.c - libavcodec's H.264 functions, as its own init function chooses them.
 */
#include "oracle.h"

#include <string.h>

typedef void idct_fn(uint8_t *dst, int16_t *block, int stride);
typedef void filter_fn(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, int8_t *tc0);

/* The function table is an array of pointers; these are the places of those used. */
enum {
  V_LUMA = 64 / sizeof(void *),
  IDCT_ADD = 168 / sizeof(void *),
  IDCT8_ADD = 176 / sizeof(void *)
};
enum { SLOTS = 128 };

void ff_h264dsp_init(oracle_target **table, int bit_depth, int chroma_format_idc);
void ff_h264_idct_add_8_c(uint8_t *dst, int16_t *block, int stride);
void ff_h264_idct8_add_8_c(uint8_t *dst, int16_t *block, int stride);

static oracle_target *table[SLOTS];

static void idct4(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  (void)params;
  ((idct_fn *)table[IDCT_ADD])(plane, block, (int)stride);
}

static void idct8(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  (void)params;
  ((idct_fn *)table[IDCT8_ADD])(plane, block, (int)stride);
}

static void deblock(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  int8_t tc0[4];
  (void)block;
  for (int i = 0; i < 4; i++) {
    tc0[i] = (int8_t)params[2 + i];
  }
  ((filter_fn *)table[V_LUMA])(plane, stride, params[0], params[1], tc0);
}

const oracle_entry *oracle_h264_entries(int c_only) {
  static oracle_entry entries[4];
  memset(table, 0, sizeof(table));
  ff_h264dsp_init(table, 8, 1);
  if (c_only && (table[IDCT_ADD] != (oracle_target *)ff_h264_idct_add_8_c ||
                 table[IDCT8_ADD] != (oracle_target *)ff_h264_idct8_add_8_c)) {
    return NULL;
  }
  entries[0] = (oracle_entry){"h264_idct4", idct4, table[IDCT_ADD]};
  entries[1] = (oracle_entry){"h264_idct8", idct8, table[IDCT8_ADD]};
  entries[2] = (oracle_entry){"h264_deblock_luma_v", deblock, table[V_LUMA]};
  return entries;
}
