/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sand_frames.c - whole column-tiled frames through the library, an item a tile, as a caller would,
 * against the plain conversion of tools/oracle/sand.c. Widths and heights are even; columns are
 * padded below luma and below chroma, destinations on the right.
 * Exit status: 0; 1 a difference, also outside of what is visible.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus.h>

#include "sand.h"

enum { LINE = 128, MARGIN = 64, NC12_SAMPLES = 128, NC30_SAMPLES = 96 };

typedef struct planes {
  uint8_t *memory, *luma, *chroma;
  size_t size, luma_stride, chroma_stride;
} planes;

static uint32_t state = 1;

static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)state * below) >> 32);
}

static void *allocate(size_t size) {
  void *memory = malloc(size);
  if (!memory) {
    fprintf(stderr, "no memory\n");
    exit(2);
  }
  return memory;
}

/* Destinations whose whole memory is 0xa5. */
static planes make_planes(size_t height, size_t luma_stride, size_t chroma_stride) {
  planes p = {NULL, NULL, NULL, 0, luma_stride, chroma_stride};
  p.size = 3 * MARGIN + height * luma_stride + height / 2 * chroma_stride;
  p.memory = allocate(p.size);
  memset(p.memory, 0xa5, p.size);
  p.luma = p.memory + MARGIN;
  p.chroma = p.luma + height * luma_stride + MARGIN;
  p.chroma += (uintptr_t)p.chroma % 2; /* of 16-bit samples */
  return p;
}

static int convert_nc12(daedalus_ctx *ctx, const sand_frame *f, const planes *p) {
  const size_t columns = (f->width + NC12_SAMPLES - 1) / NC12_SAMPLES;
  const size_t tiles = columns * (f->height / 2);
  daedalus_sand128_nv12_meta *meta = allocate(tiles * sizeof(*meta));
  memset(meta, 0, tiles * sizeof(*meta));
  for (size_t n = 0; n < tiles; n++) {
    const size_t c = n % columns, pair = n / columns, left = f->width - c * NC12_SAMPLES;
    meta[n].dst_off = (uint32_t)(2 * pair * p->luma_stride + c * NC12_SAMPLES);
    meta[n].dst_uv_off = (uint32_t)(pair * p->chroma_stride + c * NC12_SAMPLES);
    meta[n].src_off = (uint32_t)((c * f->lines + 2 * pair) * LINE);
    meta[n].src_uv_off = (uint32_t)((c * f->lines + f->chroma + pair) * LINE);
    meta[n].width = (uint8_t)(left < NC12_SAMPLES ? left : NC12_SAMPLES);
  }
  const int rc = daedalus_recipe_dispatch_sand128_nv12(ctx, p->luma, p->luma_stride, p->chroma,
                                                       p->chroma_stride, f->data, LINE, f->data,
                                                       LINE, tiles, meta);
  free(meta);
  return rc;
}

static int convert_nc30(daedalus_ctx *ctx, const sand_frame *f, const planes *p) {
  const size_t columns = (f->width + NC30_SAMPLES - 1) / NC30_SAMPLES;
  const size_t tiles = columns * (f->height / 2);
  const uint32_t *words = (const uint32_t *)(const void *)f->data;
  daedalus_sand128_p010_meta *meta = allocate(tiles * sizeof(*meta));
  memset(meta, 0, tiles * sizeof(*meta));
  for (size_t n = 0; n < tiles; n++) {
    const size_t c = n % columns, pair = n / columns, left = f->width - c * NC30_SAMPLES;
    meta[n].dst_off = (uint32_t)(2 * pair * p->luma_stride + 2 * c * NC30_SAMPLES);
    meta[n].dst_uv_off = (uint32_t)(pair * p->chroma_stride + 2 * c * NC30_SAMPLES);
    meta[n].src_off = (uint32_t)((c * f->lines + 2 * pair) * LINE);
    meta[n].src_uv_off = (uint32_t)((c * f->lines + f->chroma + pair) * LINE);
    meta[n].width = (uint8_t)(left < NC30_SAMPLES ? left : NC30_SAMPLES);
  }
  const int rc = daedalus_recipe_dispatch_sand128_p010(
      ctx, (uint16_t *)(void *)p->luma, p->luma_stride, (uint16_t *)(void *)p->chroma,
      p->chroma_stride, words, LINE, words, LINE, tiles, meta);
  free(meta);
  return rc;
}

static void check(daedalus_ctx *ctx, int deep, size_t width, size_t height) {
  const size_t samples = deep ? NC30_SAMPLES : NC12_SAMPLES, bytes = deep ? 2 : 1;
  const size_t columns = (width + samples - 1) / samples;
  const size_t chroma = height + draw(8), lines = chroma + height / 2 + draw(8);
  uint8_t *data = allocate(columns * lines * LINE);
  for (size_t n = 0; n < columns * lines * LINE; n++) {
    data[n] = (uint8_t)draw(256);
  }
  const sand_frame f = {data, lines, chroma, width, height};
  const size_t luma_stride = bytes * (width + draw(9)), chroma_stride = bytes * (width + draw(9));
  const planes plain = make_planes(height, luma_stride, chroma_stride);
  const planes ours = make_planes(height, luma_stride, chroma_stride);
  if (deep) {
    sand_nc30_to_p010(&f, plain.luma, luma_stride, plain.chroma, chroma_stride);
  } else {
    sand_nc12_to_nv12(&f, plain.luma, luma_stride, plain.chroma, chroma_stride);
  }
  const int rc = deep ? convert_nc30(ctx, &f, &ours) : convert_nc12(ctx, &f, &ours);
  if (rc != 0 || memcmp(plain.memory, ours.memory, plain.size) != 0) {
    fprintf(stderr, "%d bits, %zu x %zu, %zu lines a column, chroma from line %zu: %s\n",
            deep ? 10 : 8, width, height, lines, chroma,
            rc != 0 ? daedalus_strerror(rc) : "another result");
    exit(1);
  }
  free(plain.memory);
  free(ours.memory);
  free(data);
}

int main(void) {
  daedalus_ctx *ctx = daedalus_ctx_create();
  if (!ctx) {
    perror("daedalus_ctx_create");
    return 2;
  }
  int frames = 0;
  for (int deep = 0; deep < 2; deep++) {
    for (size_t width = 2; width <= 300; width += 2) {
      check(ctx, deep, width, 2 + 2 * draw(12));
      frames++;
    }
    check(ctx, deep, 1280, 720);
    frames++;
  }
  daedalus_ctx_destroy(ctx);
  printf("%d calls\n", frames);
  return 0;
}
