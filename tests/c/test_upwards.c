/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Negative strides: a picture that is stored bottom-up, beside the same one stored top-down.
 *
 * Every generated call does the same work on both: appends, dispatches and those of the recipe, on
 * the CPU and as AUTO, and the decoder entries. Row for row both must then hold the same, also
 * where nothing was to be written.
 */
#include <daedalus.h>

#include "check.h"

enum { WIDE = 96, HIGH = 64, ALL = WIDE * HIGH, ITEMS = 6, MARGIN = 16 };

/* A source and a destination, as they lie in memory; upwards: the last row comes first. */
typedef struct {
  int upwards;
  _Alignas(64) uint8_t dst[ALL];
  _Alignas(64) uint8_t src[ALL];
  _Alignas(64) int16_t coeffs[ITEMS * 64];
} pictures;

static pictures down, up;
static uint32_t state;

static uint32_t next(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % below;
}

/* Where a pixel lies, and what leads from its row to the next. */
static size_t at(const pictures *p, int y, int x) {
  return (size_t)((p->upwards ? HIGH - 1 - y : y) * WIDE + x);
}

static ptrdiff_t stride(const pictures *p) {
  return p->upwards ? -WIDE : WIDE;
}

/* Both with the same pixels: noise over an edge that filters take for one. */
static void draw(uint32_t seed) {
  state = seed;
  up.upwards = 1;
  for (int y = 0; y < HIGH; y++) {
    for (int x = 0; x < WIDE; x++) {
      const int base = 100 + y / 4 % 2 * 6 + x / 4 % 2 * 5;
      down.dst[at(&down, y, x)] = up.dst[at(&up, y, x)] = (uint8_t)(base + (int)next(4));
      down.src[at(&down, y, x)] = up.src[at(&up, y, x)] = (uint8_t)next(256);
    }
  }
  for (int i = 0; i < ITEMS * 64; i++) {
    down.coeffs[i] = up.coeffs[i] = (int16_t)((int)next(401) - 200);
  }
}

/* Whether both hold the same, and other pixels than before. */
static int alike(const uint8_t *before) {
  int same = memcmp(down.coeffs, up.coeffs, sizeof(up.coeffs)) == 0;
  for (int y = 0; y < HIGH; y++) {
    same &= memcmp(&down.dst[at(&down, y, 0)], &up.dst[at(&up, y, 0)], WIDE) == 0;
    same &= memcmp(&down.src[at(&down, y, 0)], &up.src[at(&up, y, 0)], WIDE) == 0;
  }
  return same && memcmp(down.dst, before, ALL) != 0;
}

#define CHECK_ALIKE(name, ...)                             \
  do {                                                     \
    static uint8_t before[ALL];                            \
    draw(__LINE__);                                        \
    memcpy(before, down.dst, ALL);                         \
    for (int upwards = 0; upwards < 2; upwards++) {        \
      pictures *p = upwards ? &up : &down;                 \
      __VA_ARGS__;                                         \
    }                                                      \
    if (!alike(before)) {                                  \
      fprintf(stderr, "%s: other pixels upwards\n", name); \
      CHECK(0);                                            \
    }                                                      \
  } while (0)

/* ------------------------------------------------------------------ batches and dispatches */

static daedalus_ctx *ctx;

static int append_and_wait(int appended, daedalus_batch *batch) {
  const int error = appended ? appended : daedalus_batch_submit(batch);
  return error ? error : daedalus_batch_wait(batch, -1);
}

/* Origins in two rows of items, with room for what any kernel reads around one. */
static int row_of(int item) {
  return MARGIN + item / 3 * 24;
}
static int column_of(int item) {
  return MARGIN + item % 3 * 24;
}

/* Arguments of a kernel's calls, and how its meta lies. */
#define ONE_PLANE p->dst, stride(p), ITEMS, meta
#define COEFFS p->dst, stride(p), p->coeffs, ITEMS, meta
#define TWO_PLANES p->dst, stride(p), p->src, stride(p), ITEMS, meta
#define DST .dst_off = (uint32_t)at(p, row_of(i), column_of(i))
#define SRC DST, .src_off = (uint32_t)at(p, row_of(i), column_of(i))

/* All calls of a kernel; what follows its arguments are the members of an item's meta. */
#define CALLS(kernel, arguments, ...)                                                             \
  do {                                                                                            \
    for (int which = 0; which < 5; which++) {                                                     \
      const daedalus_substrate on = which % 2 ? DAEDALUS_SUBSTRATE_AUTO : DAEDALUS_SUBSTRATE_CPU; \
      CHECK_ALIKE(#kernel, {                                                                      \
        daedalus_##kernel##_meta meta[ITEMS];                                                     \
        for (int i = 0; i < ITEMS; i++) {                                                         \
          meta[i] = (daedalus_##kernel##_meta){__VA_ARGS__};                                      \
        }                                                                                         \
        daedalus_batch *batch = NULL;                                                             \
        if (which < 2) {                                                                          \
          CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);                                        \
          CHECK_INT(append_and_wait(daedalus_append_##kernel(batch, on, arguments), batch), 0);   \
          daedalus_batch_destroy(batch);                                                          \
        } else if (which < 4) {                                                                   \
          CHECK_INT(daedalus_dispatch_##kernel(ctx, on, arguments), 0);                           \
        } else {                                                                                  \
          CHECK_INT(daedalus_recipe_dispatch_##kernel(ctx, arguments), 0);                        \
        }                                                                                         \
      });                                                                                         \
    }                                                                                             \
  } while (0)

static void test_batches_and_dispatches(void) {
  ctx = daedalus_ctx_create_no_qpu();
  CALLS(vp9_idct8, COEFFS, DST, .eob = 64);
  CALLS(h264_idct4, COEFFS, DST);
  CALLS(h264_idct8, COEFFS, DST);
  CALLS(vp9_lpf4_h, ONE_PLANE, DST, .blimit = 60, .limit = 20, .thresh = 2);
  CALLS(vp9_lpf4_v, ONE_PLANE, DST, .blimit = 60, .limit = 20, .thresh = 2);
  CALLS(vp9_lpf8_h, ONE_PLANE, DST, .blimit = 60, .limit = 20, .thresh = 2);
  CALLS(vp9_lpf8_v, ONE_PLANE, DST, .blimit = 60, .limit = 20, .thresh = 2);
  CALLS(h264_deblock_luma_v, ONE_PLANE, DST, .alpha = 40, .beta = 12, .tc0 = {4, 3, -1, 2});
  CALLS(h264_qpel_mc20, TWO_PLANES, SRC);
  CALLS(vp9_mc_8h, TWO_PLANES, SRC, .filter = 2, .mx = 5, .rows = 8);
  CALLS(vp9_mc_8h_avg, TWO_PLANES, SRC, .filter = 1, .mx = 3, .rows = 5);
  CALLS(av1_cdef8, TWO_PLANES, SRC, .pri = 9, .sec = 4, .damping = 6, .dir = 1, .edges = 15);
  CALLS(av1_sgr8, TWO_PLANES, SRC, .set = 3, .w0 = -32, .w1 = 31);
  daedalus_ctx_destroy(ctx);
}

/* ------------------------------------------------------------------------ decoder entries */

#define ENTRY(name, arguments) CHECK_ALIKE(#name, daedalus_##name arguments)

static void test_decoder_entries(void) {
#define PIXEL &p->dst[at(p, MARGIN, MARGIN)]
#define SOURCE &p->src[at(p, MARGIN, MARGIN)]
  int8_t tc0[] = {4, 3, -1, 2};
  ENTRY(ffmpeg_vp9_idct8, (PIXEL, stride(p), p->coeffs, 64));
  ENTRY(ffmpeg_h264_idct4, (PIXEL, p->coeffs, (int)stride(p)));
  ENTRY(ffmpeg_h264_idct8, (PIXEL, p->coeffs, (int)stride(p)));
  ENTRY(ffmpeg_vp9_lpf4_h, (PIXEL, stride(p), 60, 20, 2));
  ENTRY(ffmpeg_vp9_lpf4_v, (PIXEL, stride(p), 60, 20, 2));
  ENTRY(ffmpeg_vp9_lpf8_h, (PIXEL, stride(p), 60, 20, 2));
  ENTRY(ffmpeg_vp9_lpf8_v, (PIXEL, stride(p), 60, 20, 2));
  ENTRY(ffmpeg_h264_deblock_luma_v, (PIXEL, stride(p), 40, 12, tc0));
  ENTRY(ffmpeg_h264_qpel_mc20, (PIXEL, SOURCE, stride(p)));
  ENTRY(ffmpeg_vp9_mc_8h_sharp, (PIXEL, stride(p), SOURCE, stride(p), 12, 5, 0));
  ENTRY(ffmpeg_vp9_mc_8h_avg_smooth, (PIXEL, stride(p), SOURCE, stride(p), 7, 3, 0));
  /* The lines above and below are rows of the source, left of it is packed; all edges are there. */
  const uint8_t left[8][2] = {{100, 102}, {104, 101}, {99, 103}, {102, 102},
                              {107, 100}, {101, 105}, {98, 100}, {103, 104}};
  ENTRY(dav1d_av1_cdef8, (PIXEL, stride(p), left, &p->src[at(p, MARGIN - 2, MARGIN)],
                          &p->src[at(p, MARGIN + 8, MARGIN)], 9, 4, 1, 6, 15));
}

int main(void) {
  RUN(test_batches_and_dispatches);
  RUN(test_decoder_entries);
  return CHECK_RESULT();
}
