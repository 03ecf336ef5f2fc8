/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dav1d.c - how dav1d's CDEF functions, our entry of their signature, and our item functions are
 * called.  Parameters: pri, sec, damping, dir, edges.
 */
#include <string.h>

#include "count.h"

typedef void cdef_fn(uint8_t *dst, ptrdiff_t stride, const uint8_t (*left)[2], const uint8_t *top,
                     const uint8_t *bottom, int pri, int sec, int dir, int damping, int edges);
/* dav1d's filter alone: it reads a copy that has been padded. */
typedef void filter_fn(uint8_t *dst, ptrdiff_t stride, const uint16_t *padded, int pri, int sec,
                       int dir, int damping, int rows, size_t edges);
typedef void item_fn(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                     int32_t pri, int32_t sec, int32_t damping, int32_t dir, int32_t edges);

/* dav1d's table of CDEF functions, declared anew: the search, then filters for luma, 4:2:2, 4:2:0.
 */
typedef struct cdef_dsp {
  any_fn *dir;
  any_fn *fb[3];
} cdef_dsp;

void dav1d_init_cpu(void);
void dav1d_cdef_dsp_init_8bpc(cdef_dsp *dsp);
void dav1d_cdef_padding8_8bpc_neon(uint16_t *padded, const uint8_t *src, ptrdiff_t stride,
                                   const uint8_t (*left)[2], const uint8_t *top,
                                   const uint8_t *bottom, int rows, int edges);

/* Rows of dav1d's copy: 16 elements, which are bytes where all edges are there. */
enum { PITCH = 16, PADDED_ROWS = 12, PADDED_AT = 2 * PITCH + 8 };

static uint8_t left[8][2];

static void make_left(void) {
  for (int y = 0; y < 8; y++) {
    memcpy(left[y], start.pixels + MIDDLE + y * STRIDE - 2, sizeof(left[y]));
  }
}

/* The whole of it: the block and what is right of it in place, what else surrounds it apart. */
static void call_cdef8(any_fn *fn, work *w) {
  ((cdef_fn *)fn)(w->pixels + MIDDLE, STRIDE, (const uint8_t(*)[2])left,
                  start.pixels + MIDDLE - 2 * STRIDE, start.pixels + MIDDLE + 8 * STRIDE,
                  (int)parameters[0], (int)parameters[1], (int)parameters[3], (int)parameters[2],
                  (int)parameters[4]);
}

static _Alignas(16) uint16_t copy[PADDED_ROWS * PITCH + 16];

static void make_copy(void) {
  make_left();
  dav1d_cdef_padding8_8bpc_neon(copy + PADDED_AT, start.pixels + MIDDLE, STRIDE,
                                (const uint8_t(*)[2])left, start.pixels + MIDDLE - 2 * STRIDE,
                                start.pixels + MIDDLE + 8 * STRIDE, 8, (int)parameters[4]);
}

/* The filter alone. */
static void call_filter(any_fn *fn, work *w) {
  ((filter_fn *)fn)(w->pixels + MIDDLE, STRIDE, copy + PADDED_AT, (int)parameters[0],
                    (int)parameters[1], (int)parameters[3], (int)parameters[2], 8,
                    (size_t)parameters[4]);
}

static void call_filter_item(any_fn *fn, work *w) {
  ((item_fn *)fn)(w->pixels + MIDDLE, STRIDE, start.pixels + MIDDLE, STRIDE, (int)parameters[0],
                  (int)parameters[1], (int)parameters[2], (int)parameters[3], (int)parameters[4]);
}

const shape shapes[] = {
    {"cdef8", make_left, call_cdef8, NULL},
    {"cdef8_filter", make_copy, call_filter, NULL},
    {"cdef8_filter item", NULL, call_filter_item, NULL},
    {NULL, NULL, NULL, NULL},
};

any_fn *function_of_table(const char *name) {
  static cdef_dsp dsp;
  if (strcmp(name, "dav1d_cdef_dsp_init_8bpc.fb[0]") != 0) {
    return NULL;
  }
  dav1d_init_cpu();
  dav1d_cdef_dsp_init_8bpc(&dsp);
  return dsp.fb[0];
}
