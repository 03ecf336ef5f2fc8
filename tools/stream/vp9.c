/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp9.c - libavcodec's VP9 decoder with some functions replaced.
 *
 * Linked with --wrap=ff_vp9dsp_init: the decoder's call of that function comes
 * here, the real one fills the table, then entries are exchanged.
 */
#include <daedalus/ffmpeg.h>
#include <string.h>

#include "libav.h"
#include "stream.h"
#include "vp9dsp.h"

void __real_ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact);
void __wrap_ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact);

/* Its first member is what libavcodec's interface calls the decoder. */
extern const struct AVCodec ff_vp9_decoder;

const struct AVCodec *stream_decoder(void) {
  return &ff_vp9_decoder;
}

enum { IDCT8, LPF4_H, LPF4_V, LPF8_H, LPF8_V, PUT, AVG = PUT + VP9_BANKS };

#define EDGES {"edge of 8", "half of an edge of 16"}
#define BLOCKS {"8 wide", "part of 16 to 64 wide"}
stream_function stream_functions[] = {
    [IDCT8] = {.id = "vp9_idct8", .classes = {"eob 1", "eob 2..12", "eob 13..64"}},
    [LPF4_H] = {.id = "vp9_lpf4_h", .classes = EDGES},
    [LPF4_V] = {.id = "vp9_lpf4_v", .classes = EDGES},
    [LPF8_H] = {.id = "vp9_lpf8_h", .classes = EDGES},
    [LPF8_V] = {.id = "vp9_lpf8_v", .classes = EDGES},
    [PUT + VP9_SMOOTH] = {.id = "vp9_mc_8h_smooth", .classes = BLOCKS},
    [PUT + VP9_REGULAR] = {.id = "vp9_mc_8h_regular", .classes = BLOCKS},
    [PUT + VP9_SHARP] = {.id = "vp9_mc_8h_sharp", .classes = BLOCKS},
    [PUT + VP9_BILINEAR] = {.id = "vp9_mc_8h_bilinear", .classes = BLOCKS},
    [AVG + VP9_SMOOTH] = {.id = "vp9_mc_8h_avg_smooth", .classes = BLOCKS},
    [AVG + VP9_REGULAR] = {.id = "vp9_mc_8h_avg_regular", .classes = BLOCKS},
    [AVG + VP9_SHARP] = {.id = "vp9_mc_8h_avg_sharp", .classes = BLOCKS},
    [AVG + VP9_BILINEAR] = {.id = "vp9_mc_8h_avg_bilinear", .classes = BLOCKS},
};
const size_t stream_n_functions = sizeof(stream_functions) / sizeof(stream_functions[0]);

/* -------------------------------------------------------------------------- the transform */

static void idct8(uint8_t *dst, ptrdiff_t stride, int16_t *block, int eob) {
  const int class_index = eob == 1 ? 0 : eob <= 12 ? 1 : 2;
  daedalus_ffmpeg_vp9_idct8(dst, stride, block, eob);
  if (stream_count(&stream_functions[IDCT8], class_index)) {
    dst[3 * stride + 5] ^= 1;
  }
}

/* ----------------------------------------------------------------------- the loop filters */

static const struct {
  filter_fn *filter;
  int index;
} filters[2][2] = {
    {{daedalus_ffmpeg_vp9_lpf4_h, LPF4_H}, {daedalus_ffmpeg_vp9_lpf4_v, LPF4_V}},
    {{daedalus_ffmpeg_vp9_lpf8_h, LPF8_H}, {daedalus_ffmpeg_vp9_lpf8_v, LPF8_V}},
};

/* An edge of 8; `wide`: 0 for the 4-tap filter, 1 for the 8-tap one. */
static void edge(uint8_t *dst, ptrdiff_t stride, int E, int I, int H, int wide, int direction,
                 int class_index) {
  filters[wide][direction].filter(dst, stride, E, I, H);
  if (stream_count(&stream_functions[filters[wide][direction].index], class_index)) {
    dst[direction ? 3 : 3 * stride] ^= 1;
  }
}

/* An edge of 16: each half with a filter of its own and limits of its own, the second half's in
 * the second byte. */
static void mixed(uint8_t *dst, ptrdiff_t stride, int E, int I, int H, int wide0, int wide1,
                  int direction) {
  edge(dst, stride, E & 0xff, I & 0xff, H & 0xff, wide0, direction, 1);
  edge(dst + (direction ? 8 : 8 * stride), stride, E >> 8, I >> 8, H >> 8, wide1, direction, 1);
}

/* The table's functions get their filter by name: the arguments say nothing of it. */
#define EDGE(wide, direction)                                                               \
  static void edge_##wide##direction(uint8_t *dst, ptrdiff_t stride, int E, int I, int H) { \
    edge(dst, stride, E, I, H, wide, direction, 0);                                         \
  }
#define MIXED(wide0, wide1, direction)                                                      \
  static void mixed_##wide0##wide1##direction(uint8_t *dst, ptrdiff_t stride, int E, int I, \
                                              int H) {                                      \
    mixed(dst, stride, E, I, H, wide0, wide1, direction);                                   \
  }
#define DIRECTION(d) \
  EDGE(0, d) EDGE(1, d) MIXED(0, 0, d) MIXED(0, 1, d) MIXED(1, 0, d) MIXED(1, 1, d)
DIRECTION(0)
DIRECTION(1)

static void replace_filters(vp9_dsp *dsp) {
  static filter_fn *const edges[2][2] = {{edge_00, edge_01}, {edge_10, edge_11}};
  static filter_fn *const mix2[2][2][2] = {{{mixed_000, mixed_001}, {mixed_010, mixed_011}},
                                           {{mixed_100, mixed_101}, {mixed_110, mixed_111}}};
  memcpy(dsp->loop_filter_8, edges, sizeof(edges));
  memcpy(dsp->mix2, mix2, sizeof(mix2));
}

/* ------------------------------------------------------------------- horizontal prediction */

static void predict(int index, mc_fn *fn, int width, uint8_t *dst, ptrdiff_t dst_stride,
                    const uint8_t *src, ptrdiff_t src_stride, int rows, int mx, int my) {
  for (int x = 0; x < width; x += 8) {
    fn(dst + x, dst_stride, src + x, src_stride, rows, mx, my);
    if (stream_count(&stream_functions[index], width > 8)) {
      dst[x + 2 * dst_stride + 3] ^= 1;
    }
  }
}

#define PREDICT(name, index, width)                                                           \
  static void name##_##width(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,          \
                             ptrdiff_t src_stride, int rows, int mx, int my) {                \
    predict(index, daedalus_ffmpeg_vp9_mc_8h_##name, width, dst, dst_stride, src, src_stride, \
            rows, mx, my);                                                                    \
  }
#define WIDTHS(name, index) \
  PREDICT(name, index, 64) PREDICT(name, index, 32) PREDICT(name, index, 16) PREDICT(name, index, 8)
WIDTHS(smooth, PUT + VP9_SMOOTH)
WIDTHS(regular, PUT + VP9_REGULAR)
WIDTHS(sharp, PUT + VP9_SHARP)
WIDTHS(bilinear, PUT + VP9_BILINEAR)
WIDTHS(avg_smooth, AVG + VP9_SMOOTH)
WIDTHS(avg_regular, AVG + VP9_REGULAR)
WIDTHS(avg_sharp, AVG + VP9_SHARP)
WIDTHS(avg_bilinear, AVG + VP9_BILINEAR)

/* In the order of the table's widths; 4 wide is no multiple of 8 and stays the decoder's. */
#define ALL_WIDTHS(name) {name##_64, name##_32, name##_16, name##_8}
static void replace_predictions(vp9_dsp *dsp) {
  static mc_fn *const fns[2][VP9_BANKS][4] = {
      {
          [VP9_SMOOTH] = ALL_WIDTHS(smooth),
          [VP9_REGULAR] = ALL_WIDTHS(regular),
          [VP9_SHARP] = ALL_WIDTHS(sharp),
          [VP9_BILINEAR] = ALL_WIDTHS(bilinear),
      },
      {
          [VP9_SMOOTH] = ALL_WIDTHS(avg_smooth),
          [VP9_REGULAR] = ALL_WIDTHS(avg_regular),
          [VP9_SHARP] = ALL_WIDTHS(avg_sharp),
          [VP9_BILINEAR] = ALL_WIDTHS(avg_bilinear),
      },
  };
  for (int average = 0; average < 2; average++) {
    for (int bank = 0; bank < VP9_BANKS; bank++) {
      for (int width = 0; width < 4; width++) {
        dsp->mc[width][bank][average][1][0] = fns[average][bank][width];
      }
    }
  }
}

/* ------------------------------------------------------------------------- the self-check */

#define SLOT(member) offsetof(vp9_dsp, member)
#if defined(__aarch64__)
#define OCCUPANTS(X)                                         \
  X(itxfm_add[1][0], ff_vp9_idct_idct_8x8_add_neon)          \
  X(loop_filter_8[0][0], ff_vp9_loop_filter_h_4_8_neon)      \
  X(loop_filter_8[0][1], ff_vp9_loop_filter_v_4_8_neon)      \
  X(loop_filter_8[1][0], ff_vp9_loop_filter_h_8_8_neon)      \
  X(loop_filter_8[1][1], ff_vp9_loop_filter_v_8_8_neon)      \
  X(mix2[0][0][0], ff_vp9_loop_filter_h_44_16_neon)          \
  X(mix2[0][0][1], ff_vp9_loop_filter_v_44_16_neon)          \
  X(mix2[0][1][0], ff_vp9_loop_filter_h_48_16_neon)          \
  X(mix2[1][0][1], ff_vp9_loop_filter_v_84_16_neon)          \
  X(mix2[1][1][1], ff_vp9_loop_filter_v_88_16_neon)          \
  X(mc[0][VP9_SHARP][0][1][0], ff_vp9_put_sharp64_h_neon)    \
  X(mc[1][VP9_SMOOTH][0][1][0], ff_vp9_put_smooth32_h_neon)  \
  X(mc[3][VP9_REGULAR][0][1][0], ff_vp9_put_regular8_h_neon) \
  X(mc[3][VP9_SMOOTH][1][1][0], ff_vp9_avg_smooth8_h_neon)
#elif defined(__x86_64__)
/* The entries of mc are functions that cannot be named from outside. */
#define OCCUPANTS(X)                                      \
  X(itxfm_add[1][0], ff_vp9_idct_idct_8x8_add_sse2)       \
  X(itxfm_add[1][0], ff_vp9_idct_idct_8x8_add_ssse3)      \
  X(itxfm_add[1][0], ff_vp9_idct_idct_8x8_add_avx)        \
  X(loop_filter_8[0][0], ff_vp9_loop_filter_h_4_8_mmxext) \
  X(loop_filter_8[0][1], ff_vp9_loop_filter_v_4_8_mmxext) \
  X(loop_filter_8[1][0], ff_vp9_loop_filter_h_8_8_mmxext) \
  X(loop_filter_8[1][1], ff_vp9_loop_filter_v_8_8_mmxext) \
  X(mix2[0][0][0], ff_vp9_loop_filter_h_44_16_sse2)       \
  X(mix2[0][0][0], ff_vp9_loop_filter_h_44_16_ssse3)      \
  X(mix2[0][0][0], ff_vp9_loop_filter_h_44_16_avx)        \
  X(mix2[0][1][0], ff_vp9_loop_filter_h_48_16_sse2)       \
  X(mix2[0][1][0], ff_vp9_loop_filter_h_48_16_ssse3)      \
  X(mix2[0][1][0], ff_vp9_loop_filter_h_48_16_avx)        \
  X(mix2[1][0][1], ff_vp9_loop_filter_v_84_16_sse2)       \
  X(mix2[1][0][1], ff_vp9_loop_filter_v_84_16_ssse3)      \
  X(mix2[1][0][1], ff_vp9_loop_filter_v_84_16_avx)        \
  X(mix2[1][1][1], ff_vp9_loop_filter_v_88_16_sse2)       \
  X(mix2[1][1][1], ff_vp9_loop_filter_v_88_16_ssse3)      \
  X(mix2[1][1][1], ff_vp9_loop_filter_v_88_16_avx)
#else
#error "the decoder's table is known for aarch64 and x86-64 only"
#endif

#define DECLARE(slot, name) void name(void);
#define OCCUPANT(slot, name) {SLOT(slot), name},
OCCUPANTS(DECLARE)
static const stream_occupant occupants[] = {OCCUPANTS(OCCUPANT)};

static void check_layout(void) {
  static union {
    vp9_dsp dsp;
    unsigned char bytes[VP9_DSP_SIZE + STREAM_GUARD];
  } trial;
  memset(&trial, STREAM_PATTERN, sizeof(trial));
  __real_ff_vp9dsp_init(&trial.dsp, 8, 0);
  stream_check_table("VP9DSPContext", &trial, VP9_DSP_SIZE, occupants,
                     sizeof(occupants) / sizeof(occupants[0]));
}

void __wrap_ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact) {
  __real_ff_vp9dsp_init(dsp, bpp, bitexact);
  if (bpp != 8) {
    return;
  }
  if (stream_slots_good == 0) {
    check_layout();
  }
  if (stream_replace) {
    dsp->itxfm_add[1][0] = idct8;
    replace_filters(dsp);
    replace_predictions(dsp);
  }
}
