/* SPDX-License-Identifier: BSD-2-Clause */
/* DAEDALUS_CONFIG_CHECK_OVERLAP: cases by hand, and random ones against every pair of bytes. */
#include <daedalus.h>
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "recorder.h"

static logged log_of_test;

static daedalus_ctx *create(void) {
  log_of_test = (logged){0};
  const daedalus_config config = {.size = sizeof(config),
                                  .flags = DAEDALUS_CONFIG_CHECK_OVERLAP,
                                  .log = logged_fn,
                                  .log_user = &log_of_test};
  return daedalus_ctx_create_with(&config);
}

static int copy(daedalus_ctx *ctx, uint8_t *dst, const uint8_t *src, size_t n,
                const daedalus_fake_copy_meta *meta) {
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  const int error =
      daedalus_append_fake_copy(batch, DAEDALUS_SUBSTRATE_CPU, dst, 32, src, 32, n, meta);
  CHECK_INT(daedalus_batch_choice_count(batch), error == 0 && n != 0);
  daedalus_batch_destroy(batch);
  return error;
}

static void test_by_hand(void) {
  uint8_t dst[32 * 32], src[32 * 32];
  daedalus_ctx *ctx = create();
  const daedalus_fake_copy_meta apart[] = {
      {.dst_off = 0, .src_off = 0, .rows = 8},   /* sources may overlap */
      {.dst_off = 8, .src_off = 1, .rows = 8},   /* beside */
      {.dst_off = 256, .src_off = 0, .rows = 8}, /* below */
  };
  CHECK_INT(copy(ctx, dst, src, 3, apart), 0);
  CHECK_INT(copy(ctx, dst, src, 0, NULL), 0);
  const daedalus_fake_copy_meta corner[] = {{.dst_off = 32 * 15 + 7, .rows = 8},
                                            {.dst_off = 300, .rows = 1},
                                            {.dst_off = 256, .rows = 8}};
  CHECK_INT(copy(ctx, dst, src, 3, corner), -EINVAL);
  CHECK_STR(log_of_test.message,
            "fake_copy: items 0 and 2 of one append overlap: the first writes dst where the second "
            "writes dst");
  CHECK_INT(log_of_test.n, 1);
  daedalus_ctx_destroy(ctx);
}

static void test_rows(void) {
  uint8_t dst[32 * 32], src[32 * 32];
  daedalus_ctx *ctx = create();
  daedalus_fake_copy_meta meta[] = {{.dst_off = 0, .rows = 3}, {.dst_off = 96, .rows = 8}};
  CHECK_INT(copy(ctx, dst, src, 2, meta), 0);
  meta[0].rows = 4;
  CHECK_INT(copy(ctx, dst, src, 2, meta), -EINVAL);
  daedalus_ctx_destroy(ctx);
}

/* The planes are two arguments, but one memory. */
static void test_same_memory(void) {
  uint8_t plane[32 * 32];
  daedalus_ctx *ctx = create();
  const daedalus_fake_copy_meta meta[] = {{.dst_off = 0, .src_off = 256, .rows = 2},
                                          {.dst_off = 16, .src_off = 5, .rows = 2}};
  CHECK_INT(copy(ctx, plane, plane, 2, meta), -EINVAL);
  CHECK_STR(log_of_test.message,
            "fake_copy: items 0 and 1 of one append overlap: the first writes dst where the second "
            "reads src");
  /* An item's destination in its own source: at the corner, and the very same place. */
  const daedalus_fake_copy_meta inside[] = {{.dst_off = 0, .src_off = 512, .rows = 8},
                                            {.dst_off = 300, .src_off = 263, .rows = 2}};
  CHECK_INT(copy(ctx, plane, plane, 2, inside), -EINVAL);
  CHECK_STR(log_of_test.message,
            "fake_copy: item 1 overlaps itself: it writes dst where it reads src");
  CHECK_INT(copy(ctx, plane, plane, 1, inside), 0);
  const daedalus_fake_copy_meta same = {.rows = 1};
  CHECK_INT(copy(ctx, plane, plane, 1, &same), -EINVAL);
  CHECK_INT(log_of_test.n, 3);
  CHECK_INT(copy(ctx, plane, plane + 512, 2, meta), 0);
  daedalus_ctx_destroy(ctx);
}

static void test_off_by_default(void) {
  uint8_t dst[32 * 32], src[32 * 32] = {0};
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  const daedalus_fake_copy_meta meta[] = {{.dst_off = 0, .rows = 2}, {.dst_off = 4, .rows = 2}};
  CHECK_INT(copy(ctx, dst, src, 2, meta), 0);
  daedalus_ctx_destroy(ctx);
}

/* ---- random kernels and items against the naive check, byte by byte */

enum { MEMORY = 4096, MAX_ITEMS = 12, N_BUFFERS = 3, MARGIN = 1024 };

static uint32_t random_state;

static int32_t random_in(int32_t lo, int32_t hi) {
  random_state = random_state * 1664525u + 1013904223u;
  return lo + (int32_t)((random_state >> 8) % (uint32_t)(hi - lo + 1));
}

typedef struct random_meta {
  uint32_t off[N_BUFFERS];
  int32_t rows;
} random_meta;

typedef struct random_case {
  daedalus_buffer_desc descs[N_BUFFERS];
  daedalus_param_desc param;
  daedalus_kernel_desc kernel;
  daedalus_buffer buffers[N_BUFFERS];
  random_meta meta[MAX_ITEMS];
  size_t n_items;
} random_case;

static daedalus_rect random_rect(bool is_plane) {
  daedalus_rect rect = {0, 1, 0, 0};
  if (is_plane) {
    rect.row_begin = random_in(-2, 1);
    rect.row_end = rect.row_begin + random_in(0, 3);
  }
  rect.col_begin = is_plane ? random_in(-2, 2) : 0;
  rect.col_end = rect.col_begin + random_in(0, 5);
  return rect;
}

static void make_case(random_case *c, uint8_t *memory) {
  static const daedalus_class_desc full = {.name = "full"};
  static daedalus_variant variant = {.name = "full"};
  static const daedalus_type types[] = {DAEDALUS_TYPE_U8, DAEDALUS_TYPE_I16, DAEDALUS_TYPE_U32};
  variant.cpu = recorder_variants[RECORDER_FULL].cpu;
  c->param = (daedalus_param_desc){.name = "rows",
                                   .type = DAEDALUS_TYPE_I32,
                                   .meta_offset = offsetof(random_meta, rows),
                                   .lo = 0,
                                   .hi = 3};
  c->n_items = (size_t)random_in(1, MAX_ITEMS);
  for (int b = 0; b < N_BUFFERS; b++) {
    const bool is_plane = random_in(0, 2) != 0;
    const int32_t type = random_in(0, 2), size = 1 << type;
    c->descs[b] = (daedalus_buffer_desc){
        .name = "b",
        .type = types[type],
        .is_plane = is_plane,
        .meta_offset = (uint16_t)(4 * b),
        .item_stride = (uint32_t)random_in(2, 6),
        .reads = random_rect(is_plane),
        .writes = random_in(0, 1) ? random_rect(is_plane) : (daedalus_rect){0},
        .rows_param = is_plane && random_in(0, 1),
    };
    c->buffers[b].data = memory + MARGIN + 4 * random_in(0, 3) * 64;
    c->buffers[b].stride = is_plane ? size * random_in(-24, 24) : 0;
    for (size_t i = 0; i < c->n_items; i++) {
      c->meta[i].off[b] = is_plane ? (uint32_t)(size * random_in(0, 800 / size)) : 0;
      c->meta[i].rows = random_in(0, 3);
    }
  }
  c->kernel = (daedalus_kernel_desc){.id = "random",
                                     .meta_size = sizeof(random_meta),
                                     .buffers = c->descs,
                                     .n_buffers = N_BUFFERS,
                                     .params = &c->param,
                                     .n_params = 1,
                                     .classes = &full,
                                     .n_classes = 1,
                                     .variants = &variant,
                                     .n_variants = 1};
}

/* Sets `bit` for every byte of one rectangle of one item. */
static void mark(const random_case *c, int b, size_t item, const daedalus_rect *rect, uint8_t bit,
                 const uint8_t *memory, uint8_t *touched) {
  const daedalus_buffer_desc *desc = &c->descs[b];
  const long size = desc->type == DAEDALUS_TYPE_U8 ? 1 : desc->type == DAEDALUS_TYPE_I16 ? 2 : 4;
  const long base = (const uint8_t *)c->buffers[b].data - memory;
  const long origin =
      base + (desc->is_plane ? (long)c->meta[item].off[b] : (long)item * desc->item_stride * size);
  const long row_end = rect->row_end - (desc->rows_param ? 3 - c->meta[item].rows : 0);
  for (long row = rect->row_begin; row < row_end; row++) {
    for (long at = rect->col_begin * size; at < rect->col_end * size; at++) {
      touched[origin + row * c->buffers[b].stride + at] |= bit;
    }
  }
}

static bool naive_overlap(const random_case *c, const uint8_t *memory) {
  enum { READ = 1, WRITE = 2 };
  static uint8_t touched[MAX_ITEMS * N_BUFFERS][MEMORY];
  const size_t n = c->n_items * N_BUFFERS;
  memset(touched, 0, sizeof(touched));
  for (size_t i = 0; i < n; i++) {
    const int b = (int)(i % N_BUFFERS);
    mark(c, b, i / N_BUFFERS, &c->descs[b].reads, READ, memory, touched[i]);
    mark(c, b, i / N_BUFFERS, &c->descs[b].writes, WRITE, memory, touched[i]);
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) {
      for (size_t at = 0; at < MEMORY; at++) {
        if (touched[i][at] != 0 && touched[k][at] != 0 &&
            ((touched[i][at] | touched[k][at]) & WRITE) != 0) {
          return true;
        }
      }
    }
  }
  return false;
}

static void test_random(void) {
  enum { N_CASES = 4000 };
  static _Alignas(16) uint8_t memory[MEMORY];
  daedalus_ctx *ctx = create();
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  int n_overlapping = 0;
  for (uint32_t seed = 0; seed < N_CASES; seed++) {
    static random_case c;
    random_state = seed * 2654435761u;
    make_case(&c, memory);
    const bool expected = naive_overlap(&c, memory);
    const int error =
        daedalus_append(batch, &c.kernel, DAEDALUS_SUBSTRATE_CPU, c.buffers, c.n_items, c.meta);
    if (error != (expected ? -EINVAL : 0)) {
      fprintf(stderr, "seed %lu: ", (unsigned long)seed);
      CHECK_INT(error, expected ? -EINVAL : 0);
    }
    n_overlapping += expected;
  }
  CHECK_INT(log_of_test.n, n_overlapping);
  /* Neither answer may be so rare that nothing was tested. */
  CHECK(n_overlapping > N_CASES / 10 && n_overlapping < N_CASES - N_CASES / 10);
  daedalus_ctx_destroy(ctx);
}

/* Would take hours if it compared pairs. */
static void test_large(void) {
  enum { N = 200000 };
  daedalus_fake_add_meta *meta = calloc(N, sizeof(*meta));
  uint8_t *plane = malloc(16 * N);
  int16_t *src = malloc(32 * N);
  daedalus_ctx *ctx = create();
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  for (uint32_t i = 0; i < N; i++) {
    meta[i].dst_off =
        (uint32_t)((uint64_t)i * 77777 % N) * 4; /* 77777 and N have no common factor */
  }
  CHECK_INT(daedalus_append_fake_add(batch, DAEDALUS_SUBSTRATE_CPU, plane, 4 * N, src, N, meta), 0);
  meta[N - 1].dst_off ^= 1;
  CHECK_INT(daedalus_append_fake_add(batch, DAEDALUS_SUBSTRATE_CPU, plane, 4 * N, src, N, meta),
            -EINVAL);
  CHECK_INT(log_of_test.n, 1);
  daedalus_ctx_destroy(ctx);
  free(src);
  free(plane);
  free(meta);
}

int main(void) {
  RUN(test_by_hand);
  RUN(test_rows);
  RUN(test_same_memory);
  RUN(test_off_by_default);
  RUN(test_random);
  RUN(test_large);
  return CHECK_RESULT();
}
