/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp9.c - libavcodec's VP9 decoder with some functions replaced.
 *
 * Linked with --wrap=ff_vp9dsp_init: the decoder's call of that function comes
 * here, the real one fills the table, then entries are exchanged.  The table is
 * private to FFmpeg; therefore it is compared with the addresses of functions
 * that must stand in it before it is touched.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/ffmpeg.h>

#include "vp9dsp.h"

void __real_ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact);
void __wrap_ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact);

/* Its first member is what libavcodec's interface calls the decoder. */
extern const struct AVCodec ff_vp9_decoder;

enum { GUARD = 256 };

enum { IDCT8, LPF4_H, LPF4_V };
stream_kernel stream_kernels[] = {
    [IDCT8] = {.id = "vp9_idct8", .classes = {"eob 1", "eob 2..12", "eob 13..64"}},
    [LPF4_H] = {.id = "vp9_lpf4_h", .classes = {"edge of 8", "half of an edge of 16"}},
    [LPF4_V] = {.id = "vp9_lpf4_v", .classes = {"edge of 8", "half of an edge of 16"}},
};
const size_t stream_n_kernels = sizeof(stream_kernels) / sizeof(stream_kernels[0]);

const struct AVCodec *stream_decoder(void) {
  return &ff_vp9_decoder;
}

/* --------------------------------------------------------- what takes the entries' places */

static void idct8(uint8_t *dst, ptrdiff_t stride, int16_t *block, int eob) {
  const int class_index = eob == 1 ? 0 : eob <= 12 ? 1 : 2;
  daedalus_ffmpeg_vp9_idct8(dst, stride, block, eob);
  if (stream_count(&stream_kernels[IDCT8], class_index)) {
    dst[3 * stride + 5] ^= 1;
  }
}

static void lpf4_h(uint8_t *dst, ptrdiff_t stride, int E, int I, int H, int part) {
  daedalus_ffmpeg_vp9_lpf4_h(dst, stride, E, I, H);
  if (stream_count(&stream_kernels[LPF4_H], part)) {
    dst[3 * stride] ^= 1;
  }
}

static void lpf4_v(uint8_t *dst, ptrdiff_t stride, int E, int I, int H, int part) {
  daedalus_ffmpeg_vp9_lpf4_v(dst, stride, E, I, H);
  if (stream_count(&stream_kernels[LPF4_V], part)) {
    dst[3] ^= 1;
  }
}

static void filter_h(uint8_t *dst, ptrdiff_t stride, int E, int I, int H) {
  lpf4_h(dst, stride, E, I, H, 0);
}

static void filter_v(uint8_t *dst, ptrdiff_t stride, int E, int I, int H) {
  lpf4_v(dst, stride, E, I, H, 0);
}

/* An edge of 16 with its own limits for each half, the second half's in the second byte. */
static void mix_h(uint8_t *dst, ptrdiff_t stride, int E, int I, int H) {
  lpf4_h(dst, stride, E & 0xff, I & 0xff, H & 0xff, 1);
  lpf4_h(dst + 8 * stride, stride, E >> 8, I >> 8, H >> 8, 1);
}

static void mix_v(uint8_t *dst, ptrdiff_t stride, int E, int I, int H) {
  lpf4_v(dst, stride, E & 0xff, I & 0xff, H & 0xff, 1);
  lpf4_v(dst + 8, stride, E >> 8, I >> 8, H >> 8, 1);
}

/* ------------------------------------------------------------------------- the self-check */

/* One function that may stand in a slot; which one of several depends on the processor. */
typedef struct occupant {
  size_t slot; /* byte offset in the table */
  any_fn *fn;
} occupant;

#define SLOT(member) offsetof(vp9_dsp, member)
#if defined(__aarch64__)
void ff_vp9_idct_idct_8x8_add_neon(void);
void ff_vp9_loop_filter_h_4_8_neon(void);
void ff_vp9_loop_filter_v_4_8_neon(void);
void ff_vp9_loop_filter_h_44_16_neon(void);
void ff_vp9_loop_filter_v_44_16_neon(void);
static const occupant occupants[] = {
    {SLOT(itxfm_add[1][0]), ff_vp9_idct_idct_8x8_add_neon},
    {SLOT(loop_filter_8[0][0]), ff_vp9_loop_filter_h_4_8_neon},
    {SLOT(loop_filter_8[0][1]), ff_vp9_loop_filter_v_4_8_neon},
    {SLOT(mix2[0][0][0]), ff_vp9_loop_filter_h_44_16_neon},
    {SLOT(mix2[0][0][1]), ff_vp9_loop_filter_v_44_16_neon},
};
#elif defined(__x86_64__)
void ff_vp9_idct_idct_8x8_add_sse2(void);
void ff_vp9_idct_idct_8x8_add_ssse3(void);
void ff_vp9_idct_idct_8x8_add_avx(void);
void ff_vp9_loop_filter_h_4_8_mmxext(void);
void ff_vp9_loop_filter_v_4_8_mmxext(void);
void ff_vp9_loop_filter_h_44_16_sse2(void);
void ff_vp9_loop_filter_h_44_16_ssse3(void);
void ff_vp9_loop_filter_h_44_16_avx(void);
void ff_vp9_loop_filter_v_44_16_sse2(void);
void ff_vp9_loop_filter_v_44_16_ssse3(void);
void ff_vp9_loop_filter_v_44_16_avx(void);
static const occupant occupants[] = {
    {SLOT(itxfm_add[1][0]), ff_vp9_idct_idct_8x8_add_sse2},
    {SLOT(itxfm_add[1][0]), ff_vp9_idct_idct_8x8_add_ssse3},
    {SLOT(itxfm_add[1][0]), ff_vp9_idct_idct_8x8_add_avx},
    {SLOT(loop_filter_8[0][0]), ff_vp9_loop_filter_h_4_8_mmxext},
    {SLOT(loop_filter_8[0][1]), ff_vp9_loop_filter_v_4_8_mmxext},
    {SLOT(mix2[0][0][0]), ff_vp9_loop_filter_h_44_16_sse2},
    {SLOT(mix2[0][0][0]), ff_vp9_loop_filter_h_44_16_ssse3},
    {SLOT(mix2[0][0][0]), ff_vp9_loop_filter_h_44_16_avx},
    {SLOT(mix2[0][0][1]), ff_vp9_loop_filter_v_44_16_sse2},
    {SLOT(mix2[0][0][1]), ff_vp9_loop_filter_v_44_16_ssse3},
    {SLOT(mix2[0][0][1]), ff_vp9_loop_filter_v_44_16_avx},
};
#else
#error "the decoder's table is known for aarch64 and x86-64 only"
#endif

static bool holds_expected(const void *table, size_t slot) {
  any_fn *found;
  memcpy(&found, (const char *)table + slot, sizeof(found));
  for (size_t i = 0; i < sizeof(occupants) / sizeof(occupants[0]); i++) {
    if (occupants[i].slot == slot && occupants[i].fn == found) {
      return true;
    }
  }
  return false;
}

/* Fills a table of its own and looks whether it is as declared; refuses to go on when not. */
static void check_layout(void) {
  static union {
    vp9_dsp dsp;
    unsigned char bytes[VP9_DSP_SIZE + GUARD];
  } trial;
  static const size_t slots[] = {SLOT(itxfm_add[1][0]), SLOT(loop_filter_8[0][0]),
                                 SLOT(loop_filter_8[0][1]), SLOT(mix2[0][0][0]),
                                 SLOT(mix2[0][0][1])};
  memset(&trial, 0xa5, sizeof(trial));
  __real_ff_vp9dsp_init(&trial.dsp, 8, 0);
  for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
    if (holds_expected(&trial, slots[i])) {
      stream_slots_good++;
    } else {
      stream_slots_bad++;
      fprintf(stderr, "VP9DSPContext: the entry at offset %zu is not the expected function\n",
              slots[i]);
    }
  }
  for (size_t i = VP9_DSP_SIZE; i < sizeof(trial.bytes); i++) {
    if (trial.bytes[i] != 0xa5) {
      stream_slots_bad++;
      fprintf(stderr, "VP9DSPContext: larger than %d bytes\n", VP9_DSP_SIZE);
      break;
    }
  }
  if (stream_slots_bad != 0) {
    fprintf(stderr, "this libavcodec is not the one the table was declared for\n");
    exit(4);
  }
}

void __wrap_ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact) {
  __real_ff_vp9dsp_init(dsp, bpp, bitexact);
  if (bpp != 8) {
    return;
  }
  if (stream_slots_good == 0) {
    check_layout();
  }
  if (!stream_replace) {
    return;
  }
  dsp->itxfm_add[1][0] = idct8;
  dsp->loop_filter_8[0][0] = filter_h;
  dsp->loop_filter_8[0][1] = filter_v;
  dsp->mix2[0][0][0] = mix_h;
  dsp->mix2[0][0][1] = mix_v;
}
