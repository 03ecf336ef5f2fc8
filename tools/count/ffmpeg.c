/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ffmpeg.c - how FFmpeg's functions, our entries of their signatures, and our item functions are
 * called.  A shape "x" is the decoder's way; "x item" is ours where that is another one.
 */
#include <string.h>

#include "count.h"

typedef void vp9_itxfm_fn(uint8_t *dst, ptrdiff_t stride, int16_t *block, int eob);
typedef void vp9_filter_fn(uint8_t *dst, ptrdiff_t stride, int E, int I, int H);
typedef void vp9_mc_fn(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                       int h, int mx, int my);
typedef void vp9_mc_item_fn(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                            ptrdiff_t src_stride, int32_t filter, int32_t mx, int32_t rows);
typedef void h264_idct_fn(uint8_t *dst, int16_t *block, int stride);
typedef void h264_idct_item_fn(uint8_t *dst, ptrdiff_t stride, const int16_t *block);
typedef void h264_idct_items_fn(uint8_t *dst, ptrdiff_t stride, ptrdiff_t step, int16_t *block,
                                size_t n_blocks);
typedef void h264_filter_fn(uint8_t *dst, ptrdiff_t stride, int alpha, int beta, int8_t *tc0);
typedef void h264_qpel_fn(uint8_t *dst, const uint8_t *src, ptrdiff_t stride);
typedef void h264_qpel_item_fn(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                               ptrdiff_t src_stride);

/* Small ones in the upper left corner of blocks of 8x8; in the first place of one alone more. */
static void make_coefficients(int edge) {
  for (int i = 0; i < COEFFICIENTS; i++) {
    if (i % 8 < edge && i % 64 / 8 < edge) {
      start.block[i] = (int16_t)(edge == 1 ? 100 : (i * 37) % 61 - 30);
    }
  }
}

static void make_all_coefficients(void) {
  make_coefficients(8);
}

static void make_coefficients_to_eob(void) {
  make_coefficients(parameters[0] == 1 ? 1 : parameters[0] <= 12 ? 2 : 8);
}

/* An inverse transform of 8x8 that clears its coefficients; parameter: eob. */
static void call_vp9_idct8(any_fn *fn, work *w) {
  ((vp9_itxfm_fn *)fn)(w->pixels + MIDDLE, STRIDE, w->block, (int)parameters[0]);
}

/* A loop filter on an edge of 8; parameters: blimit, limit, thresh. */
static void call_vp9_filter8(any_fn *fn, work *w) {
  ((vp9_filter_fn *)fn)(w->pixels + MIDDLE, STRIDE, (int)parameters[0], (int)parameters[1],
                        (int)parameters[2]);
}

/* Interpolation along rows of a block 8 wide; parameters: filter, which is in the decoder's
 * function already, mx, rows. */
static void call_vp9_mc8(any_fn *fn, work *w) {
  ((vp9_mc_fn *)fn)(w->pixels + MIDDLE, STRIDE, start.pixels + MIDDLE, STRIDE, (int)parameters[2],
                    (int)parameters[1], 0);
}

static void call_vp9_mc8_item(any_fn *fn, work *w) {
  ((vp9_mc_item_fn *)fn)(w->pixels + MIDDLE, STRIDE, start.pixels + MIDDLE, STRIDE,
                         (int)parameters[0], (int)parameters[1], (int)parameters[2]);
}

/* An inverse transform that clears its coefficients, 16 or 64. */
static void call_h264_idct(any_fn *fn, work *w) {
  ((h264_idct_fn *)fn)(w->pixels + MIDDLE, w->block, STRIDE);
}

static void call_h264_idct_item(any_fn *fn, work *w) {
  ((h264_idct_item_fn *)fn)(w->pixels + MIDDLE, STRIDE, w->block);
}

/* Two blocks beside each other: theirs by two calls, our function for many by one. */
static void call_h264_idct4_pair(any_fn *fn, work *w) {
  ((h264_idct_fn *)fn)(w->pixels + MIDDLE, w->block, STRIDE);
  ((h264_idct_fn *)fn)(w->pixels + MIDDLE + 4, w->block + 16, STRIDE);
}

static void call_h264_idct4_pair_items(any_fn *fn, work *w) {
  ((h264_idct_items_fn *)fn)(w->pixels + MIDDLE, STRIDE, 4, w->block, 2);
}

/* A loop filter on an edge of 16; parameters: alpha, beta, tc0 of all four parts. */
static void call_h264_filter16(any_fn *fn, work *w) {
  int8_t tc0[4];
  memset(tc0, (int)parameters[2], sizeof(tc0));
  ((h264_filter_fn *)fn)(w->pixels + MIDDLE, STRIDE, (int)parameters[0], (int)parameters[1], tc0);
}

/* Interpolation of a block of 8x8. */
static void call_h264_qpel8(any_fn *fn, work *w) {
  ((h264_qpel_fn *)fn)(w->pixels + MIDDLE, start.pixels + MIDDLE, STRIDE);
}

static void call_h264_qpel8_item(any_fn *fn, work *w) {
  ((h264_qpel_item_fn *)fn)(w->pixels + MIDDLE, STRIDE, start.pixels + MIDDLE, STRIDE);
}

const shape shapes[] = {
    {"vp9_idct8", make_coefficients_to_eob, call_vp9_idct8, NULL},
    {"vp9_filter8", NULL, call_vp9_filter8, NULL},
    {"vp9_mc8", NULL, call_vp9_mc8, NULL},
    {"vp9_mc8 item", NULL, call_vp9_mc8_item, NULL},
    {"h264_idct", make_all_coefficients, call_h264_idct, NULL},
    {"h264_idct item", make_all_coefficients, call_h264_idct_item, NULL},
    {"h264_idct4 pair", make_all_coefficients, call_h264_idct4_pair, NULL},
    {"h264_idct4 pair items", make_all_coefficients, call_h264_idct4_pair_items, NULL},
    {"h264_filter16", NULL, call_h264_filter16, NULL},
    {"h264_qpel8", NULL, call_h264_qpel8, NULL},
    {"h264_qpel8 item", NULL, call_h264_qpel8_item, NULL},
    {NULL, NULL, NULL, NULL},
};

any_fn *function_of_table(const char *name) {
  (void)name;
  return NULL;
}
