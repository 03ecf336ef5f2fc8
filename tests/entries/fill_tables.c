/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill_tables.c - tables filled for sets of processor features.
 *
 * Every set's functions leave what the entries do that choose by themselves. Nothing but ours is
 * stored.
 * Exit status: 0; 1 a difference.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <daedalus/dav1d.h>
#include <daedalus/ffmpeg.h>

typedef void any_fn(void);
typedef void mc_fn(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                   int h, int mx, int my);
typedef void itxfm_fn(uint8_t *dst, ptrdiff_t stride, int16_t *block, int eob);

/* Of VP9DSPContext and Dav1dCdefDSPContext, as codecs/decoders describes them. */
enum { POINTERS = 296, ITXFM = 64, MC = 96, CDEF_POINTERS = 4, STRIDE = 64, SIZE = 64 * STRIDE };

static void nothing(void) {}

static void draw(uint8_t *pixels, int16_t *block) {
  uint32_t state = 7;
  for (int i = 0; i < SIZE; i++) {
    state = state * 1664525u + 1013904223u;
    pixels[i] = (uint8_t)(state >> 24);
  }
  for (int i = 0; i < 64; i++) {
    state = state * 1664525u + 1013904223u;
    block[i] = (int16_t)((int)(state >> 24) - 128);
  }
}

static int compare(any_fn **table) {
  static _Alignas(64) uint8_t src[SIZE], own[SIZE], other[SIZE];
  _Alignas(64) int16_t coeffs[64], again[64];
  enum { AT = 16 * STRIDE + 16 };
  int calls = 0;
  for (int eob = 1; eob <= 64; eob += 63) {
    draw(src, coeffs);
    if (eob == 1) {
      memset(coeffs + 1, 0, sizeof(coeffs) - sizeof(coeffs[0]));
    }
    memcpy(again, coeffs, sizeof(coeffs));
    memcpy(own, src, SIZE);
    memcpy(other, src, SIZE);
    daedalus_ffmpeg_vp9_idct8(own + AT, STRIDE, coeffs, eob);
    ((itxfm_fn *)table[ITXFM])(other + AT, STRIDE, again, eob);
    if (memcmp(own, other, SIZE) != 0 || memcmp(coeffs, again, sizeof(coeffs)) != 0) {
      return -1;
    }
    calls++;
  }
  draw(src, coeffs);
  for (int rows = 1; rows <= 20; rows++) {
    memcpy(own, src, SIZE);
    memcpy(other, src, SIZE);
    daedalus_ffmpeg_vp9_mc_8h_avg_sharp(own + AT, STRIDE, src + AT, STRIDE, rows, 5, 0);
    ((mc_fn *)table[MC + ((3 * 4 + 2) * 2 + 1) * 4 + 2])(other + AT, STRIDE, src + AT, STRIDE, rows,
                                                         5, 0);
    if (memcmp(own, other, SIZE) != 0) {
      return -1;
    }
    calls++;
  }
  return calls;
}

int main(void) {
  static const unsigned sets[] = {0, DAEDALUS_FEATURE_NEON,
                                  DAEDALUS_FEATURE_NEON | DAEDALUS_FEATURE_DOTPROD};
  int calls = 0;
  for (int s = 0; s < 3; s++) {
    any_fn *table[POINTERS], *cdef[CDEF_POINTERS], *refused[1] = {NULL};
    int stored = 0;
    for (int i = 0; i < POINTERS; i++) {
      table[i] = nothing;
    }
    cdef[0] = cdef[1] = cdef[2] = cdef[3] = nothing;
    const int n = daedalus_ffmpeg_fill_vp9dsp(table, sizeof(table), sets[s]);
    if (daedalus_ffmpeg_fill_vp9dsp(refused, sizeof(refused), sets[s]) != -EINVAL ||
        daedalus_ffmpeg_fill_vp9dsp(refused, sizeof(table), 1u << 7) != -EINVAL) {
      fprintf(stderr, "another table, or other features, are not refused\n");
      return 1;
    }
    for (int i = 0; i < POINTERS; i++) {
      stored += table[i] != nothing;
    }
    const int same = daedalus_dav1d_fill_cdef(cdef, sizeof(cdef), sets[s]) == 1 &&
                     cdef[1] != nothing && cdef[0] == nothing && cdef[2] == nothing;
    const int more = stored == n && same ? compare(table) : -1;
    if (more < 0) {
      fprintf(stderr, "set %d: another result\n", s);
      return 1;
    }
    calls += more;
  }
  printf("%d calls\n", calls);
  return 0;
}
