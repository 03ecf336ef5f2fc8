/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.c - a plain copy, and how our conversions of layouts are called, of which it is the measure.
 *
 * A piece of work is a column of tiles by one call, as a program with a whole frame does; the copy
 * is of as many bytes as that writes.  What calls leave is compared afterwards with a conversion
 * byte by byte, made once; the picture of main.c stays as it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/sand128.h>

#include "../oracle/sand.h"
#include "count.h"

enum { MOST_TILES = 8, LINE = 128, PITCH = 512, LINES = 3 * MOST_TILES };

typedef void copy_fn(uint8_t *to, const uint8_t *from, size_t bytes);
typedef void nv12_fn(uint8_t *dst, ptrdiff_t dst_stride, ptrdiff_t dst_step, uint8_t *dst_uv,
                     ptrdiff_t dst_uv_stride, ptrdiff_t dst_uv_step, const uint8_t *src,
                     ptrdiff_t src_stride, ptrdiff_t src_step, const uint8_t *src_uv,
                     ptrdiff_t src_uv_stride, ptrdiff_t src_uv_step, size_t n_tiles,
                     const daedalus_sand128_nv12_meta *meta, size_t meta_step);
typedef void p010_fn(uint16_t *dst, ptrdiff_t dst_stride, ptrdiff_t dst_step, uint16_t *dst_uv,
                     ptrdiff_t dst_uv_stride, ptrdiff_t dst_uv_step, const uint32_t *src,
                     ptrdiff_t src_stride, ptrdiff_t src_step, const uint32_t *src_uv,
                     ptrdiff_t src_uv_stride, ptrdiff_t src_uv_step, size_t n_tiles,
                     const daedalus_sand128_p010_meta *meta, size_t meta_step);

/* 64 bytes a turn by pairs of registers of 128 bits; `bytes` is a multiple of 64. */
copy_fn plain_copy;
__asm__(
    ".text\n.global plain_copy\n.balign 16\nplain_copy:\n"
    "1: ldp q0, q1, [x1]\n ldp q2, q3, [x1, #32]\n add x1, x1, #64\n subs x2, x2, #64\n"
    "stp q0, q1, [x0]\n stp q2, q3, [x0, #32]\n add x0, x0, #64\n b.ne 1b\n ret\n");

/* A column, which is a frame of its own: all of its luma lines, then those of chroma. */
static _Alignas(64) uint32_t column[LINES * LINE / 4];
static _Alignas(64) uint16_t made[LINES * PITCH / 2];

/* What a conversion is to leave; what the copy is to copy, with nothing behind it. */
static _Alignas(64) uint16_t wanted[LINES * PITCH / 2], source[LINES * PITCH / 2];

/* The case's parameters. */
static size_t width(void) {
  return (size_t)parameters[0];
}

static size_t tiles(void) {
  return (size_t)parameters[1];
}

static size_t written(void) {
  return (size_t)parameters[2];
}

static void make_column(void) {
  if (tiles() > MOST_TILES || written() > sizeof(made)) {
    fprintf(stderr, "count: %zu tiles are too many\n", tiles());
    exit(2);
  }
  for (size_t k = 0; k < sizeof(column) / sizeof(column[0]); k++) {
    column[k] = (uint32_t)(k * UINT32_C(2654435761));
  }
}

static sand_frame frame(void) {
  const size_t height = 2 * tiles();
  return (sand_frame){(const uint8_t *)column, LINES, height, width(), height};
}

static void prepare_copy(void) {
  make_column();
  for (size_t k = 0; k < written() / 2; k++) {
    source[k] = (uint16_t)(k * 37);
  }
}

static void prepare_nv12(void) {
  make_column();
  const sand_frame f = frame();
  uint8_t *right = (uint8_t *)wanted;
  sand_nc12_to_nv12(&f, right, PITCH, right + f.height * PITCH, PITCH);
}

static void prepare_p010(void) {
  make_column();
  const sand_frame f = frame();
  uint8_t *right = (uint8_t *)wanted;
  sand_nc30_to_p010(&f, right, PITCH, right + f.height * PITCH, PITCH);
}

static void call_copy(any_fn *fn, work *w) {
  (void)w;
  ((copy_fn *)fn)((uint8_t *)made, (const uint8_t *)source, written());
}

static void call_nv12(any_fn *fn, work *w) {
  (void)w;
  const sand_frame f = frame();
  const daedalus_sand128_nv12_meta meta = {.width = (uint8_t)width()};
  uint8_t *to = (uint8_t *)made;
  ((nv12_fn *)fn)(to, PITCH, 2 * PITCH, to + f.height * PITCH, PITCH, PITCH, f.data, LINE, 2 * LINE,
                  f.data + f.chroma * LINE, LINE, LINE, tiles(), &meta, 0);
}

static void call_p010(any_fn *fn, work *w) {
  (void)w;
  const sand_frame f = frame();
  const daedalus_sand128_p010_meta meta = {.width = (uint8_t)width()};
  ((p010_fn *)fn)(made, PITCH, 2 * PITCH, made + f.height * PITCH / 2, PITCH, PITCH, column, LINE,
                  2 * LINE, column + f.chroma * LINE / 4, LINE, LINE, tiles(), &meta, 0);
}

/* All of it, so that nothing that was left before passes for what the next calls leave. */
static void expect(const uint16_t *right) {
  if (memcmp(made, right, sizeof(made)) != 0) {
    fprintf(stderr, "count: the call left other bytes than a conversion byte by byte\n");
    exit(1);
  }
  memset(made, 0, sizeof(made));
}

static void verify_copy(void) {
  expect(source);
}

static void verify_conversion(void) {
  expect(wanted);
}

const shape shapes[] = {
    {"copy", 1, prepare_copy, call_copy, verify_copy},
    {"sand128_nv12 column", 1, prepare_nv12, call_nv12, verify_conversion},
    {"sand128_p010 column", 1, prepare_p010, call_p010, verify_conversion},
    {NULL, 0, NULL, NULL, NULL},
};

any_fn *function_of_table(const char *name) {
  (void)name;
  return NULL;
}
