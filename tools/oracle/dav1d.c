/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dav1d.c - functions of dav1d 1.5 that no decoder entry of ours can stand for.
 */
#include "oracle.h"

#include <string.h>

enum {
  WIDE = 256, /* bytes a row: functions may write up to a multiple of 64 */
  LEFT = 32,
  SIZE = 8,     /* of a unit, both ways */
  BESIDE = 3,   /* columns on each side, rows above and below that a unit reads */
  BOUNDARY = 2, /* rows that are kept from beyond a stripe */
  BELOW = 6,    /* row of that memory that those below begin with */
  EDGES = 15    /* all four are there */
};

typedef int direction_fn(const uint8_t *src, ptrdiff_t stride, unsigned *variance);

typedef union restoration_parameters {
  _Alignas(16) int16_t filter[2][8];
  struct {
    uint32_t s0, s1;
    int16_t w0, w1;
  } guided;
} restoration_parameters;

typedef void restoration_fn(uint8_t *dst, ptrdiff_t stride, const uint8_t (*left)[4],
                            const uint8_t *boundary, int w, int h,
                            const restoration_parameters *parameters, unsigned edges);

/* The tables: dir and three filters; two Wiener filters, and the guided ones by radius. */
static oracle_target *cdef[4], *restoration[5];

extern const uint16_t dav1d_sgr_params[16][2];
extern unsigned dav1d_cpu_flags, dav1d_cpu_flags_mask;
void dav1d_init_cpu(void);
void dav1d_set_cpu_flags_mask(unsigned mask);
void dav1d_cdef_dsp_init_8bpc(void *table);
void dav1d_loop_restoration_dsp_init_8bpc(void *table, int depth);

static void find_direction(oracle_target *const *targets, const oracle_item *item, size_t n) {
  direction_fn *fn = (direction_fn *)targets[0];
  for (; n > 0; n--, item++) {
    unsigned variance = 0;
    int32_t found[2];
    found[0] = fn(item->plane[0], item->stride, &variance);
    found[1] = (int32_t)variance;
    memcpy(item->block, found, sizeof(found));
  }
}

/* A unit at the top of a stripe of its own height: what is beyond lies elsewhere. */
static void restore(oracle_target *const *targets, const oracle_item *item, size_t n) {
  for (; n > 0; n--, item++) {
    _Alignas(64) uint8_t frame[SIZE][WIDE] = {{0}}, rows[BELOW + BOUNDARY][WIDE] = {{0}};
    uint8_t left[SIZE][4] = {{0}};
    const uint8_t *src = item->plane[1];
    const ptrdiff_t stride = item->stride;
    const size_t bytes = SIZE + 2 * BESIDE;
    for (int y = 0; y < SIZE; y++) {
      memcpy(&frame[y][LEFT], src + y * stride, SIZE + BESIDE);
      memcpy(&left[y][1], src + y * stride - BESIDE, BESIDE);
    }
    for (int y = 0; y < BOUNDARY; y++) {
      memcpy(&rows[y][LEFT - BESIDE], src + (y - BOUNDARY) * stride - BESIDE, bytes);
      memcpy(&rows[BELOW + y][LEFT - BESIDE], src + (SIZE + y) * stride - BESIDE, bytes);
    }
    const uint16_t *s = dav1d_sgr_params[item->params[0]];
    restoration_parameters parameters = {.filter = {{0}}};
    parameters.guided.s0 = s[0];
    parameters.guided.s1 = s[1];
    parameters.guided.w0 = (int16_t)item->params[1];
    parameters.guided.w1 = (int16_t)(128 - item->params[1] - item->params[2]);
    restoration_fn *fn = (restoration_fn *)targets[(s[0] != 0) + 2 * (s[1] != 0) - 1];
    fn(&frame[0][LEFT], WIDE, (const uint8_t(*)[4])left, &rows[0][LEFT], SIZE, SIZE, &parameters,
       EDGES);
    for (int y = 0; y < SIZE; y++) {
      memcpy(item->plane[0] + y * stride, &frame[y][LEFT], SIZE);
    }
  }
}

const oracle_entry *oracle_entries(oracle_mode mode, const char **wrong) {
  static oracle_entry entries[3];
  dav1d_init_cpu();
  dav1d_set_cpu_flags_mask(mode == ORACLE_C ? 0 : ~0u);
  dav1d_cdef_dsp_init_8bpc(cdef);
  dav1d_loop_restoration_dsp_init_8bpc(restoration, 8);
  if (!cdef[3] || !restoration[4]) {
    *wrong = "dav1d's tables are not those of 1.5";
    return NULL;
  }
  entries[0] = (oracle_entry){.name = "cdef_dir", .fn = find_direction, .theirs = {cdef[0]}};
  entries[1] = (oracle_entry){
      .name = "sgr8", .fn = restore, .theirs = {restoration[2], restoration[3], restoration[4]}};
  return entries;
}
