/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mc_heights.c - blocks of any height through our VP9 motion compensation entries.
 *
 *   mc_heights c|asm
 *
 * Each call is compared with FFmpeg's function, by all of the memory around what is written; "c"
 * with its C functions for every height from 1 to 64, "asm" with its assembly for those that its
 * decoder has. Strides are positive and negative. Where mx is 0 the decoder calls other functions.
 * Exit status: 0; 1 a difference.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/cpu.h>

#include <daedalus/ffmpeg.h>

typedef void mc_fn(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                   int h, int mx, int my);

void ff_vp9dsp_init(void *table, int bpp, int bitexact);

/* Pointers of FFmpeg's table, and the first of mc: codecs/decoders/ffmpeg/vp9dsp.toml. */
enum { POINTERS = 296, MC = 96, GUARD = 64 };
enum { WIDTH_8 = 3, BANKS = 4, HIGHEST = 64, STRIDE = 48, ROWS = 96, AT = 16 };

static mc_fn *const ours[2][BANKS] = {
    {daedalus_ffmpeg_vp9_mc_8h_smooth, daedalus_ffmpeg_vp9_mc_8h_regular,
     daedalus_ffmpeg_vp9_mc_8h_sharp, daedalus_ffmpeg_vp9_mc_8h_bilinear},
    {daedalus_ffmpeg_vp9_mc_8h_avg_smooth, daedalus_ffmpeg_vp9_mc_8h_avg_regular,
     daedalus_ffmpeg_vp9_mc_8h_avg_sharp, daedalus_ffmpeg_vp9_mc_8h_avg_bilinear},
};

typedef uint8_t plane[ROWS][STRIDE];

static void draw(plane p) {
  static uint32_t state = 1;
  for (int y = 0; y < ROWS; y++) {
    for (int x = 0; x < STRIDE; x++) {
      state = state * 1664525u + 1013904223u;
      p[y][x] = (uint8_t)(state >> 24);
    }
  }
}

int main(int argc, char **argv) {
  static _Alignas(64) plane src, before, theirs, mine;
  static mc_fn *table[POINTERS + GUARD];
  const int every = argc == 2 && strcmp(argv[1], "c") == 0;
  if (argc != 2 || (!every && strcmp(argv[1], "asm") != 0)) {
    fprintf(stderr, "usage: mc_heights c|asm\n");
    return 2;
  }
  av_force_cpu_flags(every ? 0 : -1);
  ff_vp9dsp_init(table, 8, 0);
  for (int n = POINTERS; n < POINTERS + GUARD; n++) {
    if (table[n] != NULL) {
      fprintf(stderr, "FFmpeg's table has more than %d pointers\n", POINTERS);
      return 1;
    }
  }
  draw(src);
  draw(before);
  int calls = 0;
  for (int height = 1; height <= HIGHEST; height++) {
    if (!every && (height < 4 || (height & (height - 1)) != 0)) {
      continue;
    }
    for (int which = 0; which < 2 * BANKS * 15 * 2; which++) {
      const int bank = which % BANKS, avg = which / BANKS % 2, mx = which / 8 % 15 + 1;
      const int down = which / 120 == 0;
      const ptrdiff_t stride = down ? STRIDE : -STRIDE;
      const int first = down ? AT : AT + HIGHEST - 1;
      mc_fn *function = table[MC + ((WIDTH_8 * BANKS + bank) * 2 + avg) * 4 + 2];
      memcpy(theirs, before, sizeof(plane));
      memcpy(mine, before, sizeof(plane));
      function(&theirs[first][AT], stride, &src[first][AT], stride, height, mx, 0);
      ours[avg][bank](&mine[first][AT], stride, &src[first][AT], stride, height, mx, 0);
      if (memcmp(theirs, mine, sizeof(plane)) != 0) {
        fprintf(stderr, "bank %d, %s, mx %d, height %d, stride %d: another result\n", bank,
                avg ? "avg" : "put", mx, height, (int)stride);
        return 1;
      }
      calls++;
    }
  }
  printf("%d calls\n", calls);
  return 0;
}
