/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp9dsp.h - the table of functions that libavcodec's VP9 decoder works with.
 *
 * VP9DSPContext is private to FFmpeg; this is a declaration of our own of what
 * lies where in it, for libavcodec 61 (FFmpeg 7.1; the same in 59, FFmpeg 5.1).
 * Whoever uses it checks that a table filled by ff_vp9dsp_init agrees.
 */
#ifndef VP9DSP_H
#define VP9DSP_H

#include <stddef.h>
#include <stdint.h>

typedef void any_fn(void);
typedef void itxfm_fn(uint8_t *dst, ptrdiff_t stride, int16_t *block, int eob);
typedef void filter_fn(uint8_t *dst, ptrdiff_t stride, int E, int I, int H);
typedef void mc_fn(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                   int rows, int mx, int my);

/* The banks of interpolation filters, in the order of the table. */
enum { VP9_SMOOTH, VP9_REGULAR, VP9_SHARP, VP9_BILINEAR, VP9_BANKS };

/* Direction 0 filters along a row, across a vertical edge; 1 along a column. */
typedef struct vp9_dsp {
  any_fn *intra_pred[4][15];
  itxfm_fn *itxfm_add[5][4];      /* [log2(size) - 2, lossless][type], type 0 is DCT_DCT */
  filter_fn *loop_filter_8[3][2]; /* [4, 8, 16 wide][direction], an edge of 8 */
  filter_fn *loop_filter_16[2];   /* [direction], an edge of 16 */
  filter_fn *mix2[2][2][2];       /* [first half's width][second half's][direction] */
  /* [64, 32, 16, 8, 4 wide][bank][put, average][horizontal filter][vertical filter] */
  mc_fn *mc[5][VP9_BANKS][2][2][2];
  any_fn *scaled_mc[5][4][2];
} vp9_dsp;

enum { VP9_DSP_SIZE = 2368 };
_Static_assert(sizeof(void *) == 8, "offsets are those of a 64-bit machine");
_Static_assert(sizeof(vp9_dsp) == VP9_DSP_SIZE, "size of VP9DSPContext");
_Static_assert(offsetof(vp9_dsp, itxfm_add[1][0]) == 512, "8x8 DCT_DCT");
_Static_assert(offsetof(vp9_dsp, loop_filter_8) == 640, "loop_filter_8");
_Static_assert(offsetof(vp9_dsp, mix2) == 704, "mix2");
_Static_assert(offsetof(vp9_dsp, mc) == 768, "mc");

#endif /* VP9DSP_H */
