/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sand_bench ROUNDS BYTES - times conversions of column-tiled frames, beside memcpy.
 *
 * For each size of frames and each kernel, every round runs all ways in turn: memcpy of as many
 * bytes as a conversion writes, then the functions for many items of variants, a column a call and
 * two rows a call.
 * What a way takes is the time of so many runs of it that they write about BYTES, at least one.
 * Before them the destination is filled with another byte, and after them it is compared with a
 * conversion byte by byte, margins included.
 *
 * stdout: a line for each: kernel, width, height, way, order, bytes written a run, then medians
 * over the rounds: of GB written a second of processor time, of the distance from that, and of the
 * rate by memcpy's in the same round; separated by tabs.  A way whose result is wrong ends the
 * program, with status 1 and its name.
 *
 * functions.h has for each variant NV12(name) or P010(name).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/sand128.h>

#include "../oracle/sand.h"
#include "speed.h"
#include "tune/base.h"
#include "tune/samples.h"
#include "variants.h"

enum { LINE = 128, NC12_SAMPLES = 128, NC30_SAMPLES = 96, MARGIN = 64, MOST_WAYS = 32 };

typedef struct planes {
  uint8_t *memory, *luma, *chroma;
  size_t size, stride;
} planes;

typedef struct size {
  size_t width, height;
} size;

static const size sizes[] = {{384, 32}, {1920, 1080}, {3840, 2160}};

/* ------------------------------------------------------------------ ways */

/* So many tiles from a place on, by one call. */
typedef struct run_of_tiles {
  uint8_t *luma, *chroma;
  const uint8_t *src, *src_uv;
  ptrdiff_t dst_stride, dst_step, dst_uv_step, src_step, src_uv_step;
  size_t n;
  uint8_t width;
} run_of_tiles;

typedef void tiles_fn(const run_of_tiles *r);

#define P010(name)
#define NV12(name)                                                                              \
  static void tiles_##name(const run_of_tiles *r) {                                             \
    const daedalus_sand128_nv12_meta meta = {.width = r->width};                                \
    name(r->luma, r->dst_stride, r->dst_step, r->chroma, r->dst_stride, r->dst_uv_step, r->src, \
         LINE, r->src_step, r->src_uv, LINE, r->src_uv_step, r->n, &meta, 0);                   \
  }
#include "functions.h"
#undef NV12
#undef P010

#define NV12(name)
#define P010(name)                                                                                 \
  static void tiles_##name(const run_of_tiles *r) {                                                \
    const daedalus_sand128_p010_meta meta = {.width = r->width};                                   \
    name((uint16_t *)(void *)r->luma, r->dst_stride, r->dst_step, (uint16_t *)(void *)r->chroma,   \
         r->dst_stride, r->dst_uv_step, (const uint32_t *)(const void *)r->src, LINE, r->src_step, \
         (const uint32_t *)(const void *)r->src_uv, LINE, r->src_uv_step, r->n, &meta, 0);         \
  }
#include "functions.h"
#undef NV12
#undef P010

typedef struct way {
  const char *name;
  tiles_fn *run;
} way;

static const way nv12_ways[] = {
#define NV12(name) {#name, tiles_##name},
#define P010(name)
#include "functions.h"
#undef NV12
#undef P010
    {NULL, NULL}};

static const way p010_ways[] = {
#define NV12(name)
#define P010(name) {#name, tiles_##name},
#include "functions.h"
#undef NV12
#undef P010
    {NULL, NULL}};

typedef struct kernel {
  const char *id;
  const way *ways;
  size_t samples, bytes; /* of a line of a column; of a sample that is written */
  void (*plain)(const sand_frame *f, uint8_t *luma, size_t luma_stride, uint8_t *chroma,
                size_t chroma_stride);
} kernel;

static const kernel kernels[] = {
    {"sand128_nv12", nv12_ways, NC12_SAMPLES, 1, sand_nc12_to_nv12},
    {"sand128_p010", p010_ways, NC30_SAMPLES, 2, sand_nc30_to_p010},
};

/* ------------------------------------------------------------------ memory */

static void *aligned(size_t bytes) {
  void *memory = aligned_alloc(MARGIN, (bytes + MARGIN - 1) / MARGIN * MARGIN);
  if (memory == NULL) {
    die("no memory", "");
  }
  return memory;
}

/* A frame of noise, with lines below its luma and its chroma that are not shown. */
static sand_frame make_frame(const kernel *k, size s) {
  const size_t columns = (s.width + k->samples - 1) / k->samples;
  sand_frame f = {NULL, s.height * 3 / 2 + 24, s.height + 8, s.width, s.height};
  const size_t words = columns * f.lines * LINE / 4;
  uint32_t *data = aligned(words * 4);
  uint32_t state = 1;
  for (size_t n = 0; n < words; n++) {
    state = state * UINT32_C(1664525) + UINT32_C(1013904223);
    data[n] = state ^ state >> 15;
  }
  f.data = (const uint8_t *)data;
  return f;
}

/* Rows are apart by a multiple of 64 bytes, and more than what is written. */
static planes make_planes(const kernel *k, size s) {
  planes p;
  p.stride = (s.width * k->bytes / MARGIN + 1) * MARGIN;
  p.size = p.stride * (s.height + s.height / 2) + 2 * MARGIN;
  p.memory = aligned(p.size);
  p.luma = p.memory + MARGIN;
  p.chroma = p.luma + p.stride * s.height;
  return p;
}

/* ------------------------------------------------------------------ timing */

/* A call a column: tiles below each other. */
static void by_columns(const kernel *k, tiles_fn *run, const sand_frame *f, const planes *p) {
  const ptrdiff_t stride = (ptrdiff_t)p->stride;
  for (size_t x = 0; x < f->width; x += k->samples) {
    const size_t left = f->width - x;
    const uint8_t *from = f->data + x / k->samples * f->lines * LINE;
    run(&(run_of_tiles){.luma = p->luma + x * k->bytes,
                        .chroma = p->chroma + x * k->bytes,
                        .src = from,
                        .src_uv = from + f->chroma * LINE,
                        .dst_stride = stride,
                        .dst_step = 2 * stride,
                        .dst_uv_step = stride,
                        .src_step = 2 * LINE,
                        .src_uv_step = LINE,
                        .n = f->height / 2,
                        .width = (uint8_t)(left < k->samples ? left : k->samples)});
  }
}

/* A call for the whole tiles of two rows, side by side, and one for what is left on the right. */
static void by_rows(const kernel *k, tiles_fn *run, const sand_frame *f, const planes *p) {
  const size_t whole = f->width / k->samples, left = f->width % k->samples;
  const size_t column = f->lines * LINE, step = k->samples * k->bytes;
  for (size_t y = 0; y < f->height; y += 2) {
    run_of_tiles r = {.luma = p->luma + y * p->stride,
                      .chroma = p->chroma + y / 2 * p->stride,
                      .src = f->data + y * LINE,
                      .src_uv = f->data + (f->chroma + y / 2) * LINE,
                      .dst_stride = (ptrdiff_t)p->stride,
                      .dst_step = (ptrdiff_t)step,
                      .dst_uv_step = (ptrdiff_t)step,
                      .src_step = (ptrdiff_t)column,
                      .src_uv_step = (ptrdiff_t)column,
                      .n = whole,
                      .width = (uint8_t)k->samples};
    run(&r);
    if (left != 0) {
      r.luma += whole * step;
      r.chroma += whole * step;
      r.src += whole * column;
      r.src_uv += whole * column;
      r.n = 1;
      r.width = (uint8_t)left;
      run(&r);
    }
  }
}

static const struct order {
  const char *name;
  void (*run)(const kernel *k, tiles_fn *run, const sand_frame *f, const planes *p);
} orders[] = {{"by columns", by_columns}, {"by rows", by_rows}};

static void expect(const planes *found, const planes *right, const char *name) {
  if (memcmp(found->memory, right->memory, found->size) != 0) {
    fprintf(stderr, "sand_bench: %s: not what a conversion byte by byte gives\n", name);
    exit(1);
  }
}

/* A way in an order; the first is memcpy, which has neither. */
typedef struct candidate {
  const way *way;
  const struct order *order;
} candidate;

typedef struct bench {
  const kernel *kernel;
  size size;
  sand_frame frame;
  planes found, right;
  size_t written, runs;
  uint8_t *from, *to; /* of memcpy */
  candidate list[MOST_WAYS];
  size_t n;
  uint8_t fill; /* another one every time */
} bench;

static double time_copy(const bench *b) {
  void *(*volatile copy)(void *, const void *, size_t) = memcpy;
  memset(b->to, b->fill, b->written);
  const double start = thread_ns();
  for (size_t n = 0; n < b->runs; n++) {
    copy(b->to, b->from, b->written);
  }
  const double taken = thread_ns() - start;
  if (memcmp(b->to, b->from, b->written) != 0) {
    fprintf(stderr, "sand_bench: memcpy copied something else\n");
    exit(1);
  }
  return taken;
}

static double time_way(const bench *b, const candidate *c) {
  memset(b->found.memory, b->fill, b->found.size);
  memset(b->right.memory, b->fill, b->right.size);
  b->kernel->plain(&b->frame, b->right.luma, b->right.stride, b->right.chroma, b->right.stride);
  /* Again, so that each way finds in the caches what memcpy does: its destination, filled last. */
  memset(b->found.memory, b->fill, b->found.size);
  const double start = thread_ns();
  for (size_t n = 0; n < b->runs; n++) {
    c->order->run(b->kernel, c->way->run, &b->frame, &b->found);
  }
  const double taken = thread_ns() - start;
  expect(&b->found, &b->right, c->way->name);
  return taken;
}

static double time_one(void *user, size_t which, bool counts) {
  bench *b = user;
  (void)counts;
  b->fill = (uint8_t)(b->fill + 29);
  return which == 0 ? time_copy(b) : time_way(b, &b->list[which]);
}

static void print(const bench *b, size_t which, const samples *taken, const samples *copies) {
  const candidate *c = &b->list[which];
  const speed s = speed_of((double)(b->written * b->runs), taken, copies);
  printf("%s\t%zu\t%zu\t%s\t%s\t%zu\t%.6f\t%.6f\t%.6f\n", b->kernel->id, b->size.width,
         b->size.height, c->way ? c->way->name : "memcpy", c->order ? c->order->name : "",
         b->written, s.gb_per_s, s.spread, s.of_copy);
}

static void run_bench(const kernel *k, size s, size_t rounds, size_t bytes) {
  static samples taken[MOST_WAYS];
  bench b = {.kernel = k, .size = s, .frame = make_frame(k, s), .n = 1};
  b.found = make_planes(k, s);
  b.right = make_planes(k, s);
  b.written = s.width * k->bytes * s.height * 3 / 2;
  b.runs = bytes / b.written + 1;
  b.from = aligned(b.written);
  b.to = aligned(b.written);
  memset(b.from, 0x5a, b.written);
  for (const way *w = k->ways; w->name != NULL; w++) {
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
      if (b.n == MOST_WAYS) {
        die("too many variants", k->id);
      }
      b.list[b.n++] = (candidate){w, &orders[o]};
    }
  }
  samples_in_turns(b.n, 0, rounds, time_one, &b, taken);
  for (size_t n = 0; n < b.n; n++) {
    print(&b, n, &taken[n], &taken[0]);
  }
  for (size_t n = 0; n < b.n; n++) {
    samples_free(&taken[n]);
  }
  free((void *)(uintptr_t)b.frame.data);
  free(b.found.memory);
  free(b.right.memory);
  free(b.from);
  free(b.to);
}

int main(int argc, char **argv) {
  const long rounds = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
  const long bytes = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
  program_name = "sand_bench";
  if (rounds <= 0 || bytes < 0) {
    fprintf(stderr, "usage: sand_bench ROUNDS BYTES\n");
    return 2;
  }
  for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
    for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
      run_bench(&kernels[k], sizes[n], (size_t)rounds, (size_t)bytes);
    }
  }
  return fflush(stdout) == 0 ? 0 : 2;
}
