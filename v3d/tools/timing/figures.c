/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures that were published of a Raspberry Pi 5, and the work that stands for each.  The
 * programs that were measured are not here: these have their stated structure (docs/v3d-timing.md).
 * Work that is uniform in time is cut short: rates are compared.
 */
#include <string.h>

#include "timing.h"

enum { GEMM_THREADS = 24, VECTOR_STEP = 256, SCALAR_STEP = 64 };

static void set_uniforms(work *w, const uint32_t *values, unsigned n) {
  memcpy(w->uniforms, values, n * sizeof *values);
}

static void set_threads(work *w, const char *program, unsigned threads) {
  w->program = program;
  w->groups = threads;
  w->group_size = 16;
  w->groups_per_supergroup = 16;
}

/* parameters: threads, bytes a lookup, steps of a thread. Bytes that are copied. */
static double make_copy(work *w, const uint32_t *p) {
  const uint32_t threads = p[0], step = threads * p[1], bytes = step * (p[2] + 2);
  const uint32_t uniforms[] = {WORK_ADDRESS, WORK_ADDRESS + bytes, step, p[2]};
  set_threads(w, p[1] == VECTOR_STEP ? "copy_vec4" : "copy_scalar", threads);
  set_uniforms(w, uniforms, 4);
  w->bytes = 2 * (size_t)bytes;
  return (double)step * p[2];
}

/*
 * parameters: threads, steps. Bytes of the buffer that is copied.  A step is as wide as the power
 * of two below the threads: 12 of them copy 1.5 times the buffer, four threads what others copy
 * again.
 */
static double make_scopy(work *w, const uint32_t *p) {
  uint32_t step = VECTOR_STEP;
  while (2 * step <= p[0] * VECTOR_STEP)
    step *= 2;
  const uint32_t bytes = step * (p[1] + 3) + p[0] * VECTOR_STEP;
  const uint32_t uniforms[] = {WORK_ADDRESS, WORK_ADDRESS + bytes, step, p[1]};
  set_threads(w, "scopy", p[0]);
  set_uniforms(w, uniforms, 4);
  w->bytes = 2 * (size_t)bytes;
  return (double)step * p[1];
}

/* parameters: threads, steps. Bytes read and written. */
static double make_minimum(work *w, const uint32_t *p) {
  const uint32_t step = p[0] * VECTOR_STEP, bytes = step * (p[1] + 2);
  const uint32_t uniforms[] = {WORK_ADDRESS, WORK_ADDRESS + bytes, WORK_ADDRESS + 2 * bytes, step,
                               p[1]};
  set_threads(w, "minimum_vec4", p[0]);
  set_uniforms(w, uniforms, 5);
  w->bytes = 3 * (size_t)bytes;
  return 3.0 * step * p[1];
}

/* parameters: threads, k, columns. Bytes of weights. */
static double make_gemv(work *w, const uint32_t *p) {
  const uint32_t columns = p[2] / 16, words = p[1] / 4, column = words * SCALAR_STEP;
  const uint32_t weights = columns * column, vector = WORK_ADDRESS + weights;
  const uint32_t uniforms[] = {WORK_ADDRESS, vector,  vector + p[1], p[0] * column,
                               words,        columns, column,        p[0]};
  set_threads(w, "gemv_s8", p[0]);
  set_uniforms(w, uniforms, 8);
  w->bytes = (size_t)weights + p[1] + columns * (size_t)SCALAR_STEP;
  return weights;
}

/*
 * a is m x k, b is k x n, k in words; the first `columns` of c are computed, so that rows lie as
 * far apart as they did, and the caches see what they saw.  Steps of 16 x 16 x 4 words.
 */
static double make_gemm(work *w, const char *program, uint32_t m, uint32_t k, uint32_t n,
                        uint32_t columns) {
  uint32_t shift = 0;
  while (16u << shift < m)
    shift++;
  /* What is loaded ahead goes beyond the last row of b. */
  const uint32_t tiles = m / 16 * (columns / 16), b = WORK_ADDRESS + m * k * 4,
                 c = b + (k + 4) * n * 4;
  /* Tiles go down the rows first. */
  const uint32_t uniforms[] = {WORK_ADDRESS, b, c,          4 * k, 4 * n, k / 4, tiles,
                               GEMM_THREADS, 0, m / 16 - 1, shift};
  set_threads(w, program, GEMM_THREADS);
  set_uniforms(w, uniforms, 11);
  w->bytes = c - WORK_ADDRESS + (size_t)m * n * 4;
  return (double)tiles * (k / 4);
}

/* parameters: m, k, n, columns that are computed. Floating point operations. */
static double make_gemm_f32(work *w, const uint32_t *p) {
  return 2048 * make_gemm(w, "gemm_f32", p[0], p[1], p[2], p[3]);
}

/* parameters: m, k, n, columns that are computed. Integer operations. */
static double make_gemm_s8(work *w, const uint32_t *p) {
  return 8192 * make_gemm(w, "gemm_s8", p[0], p[1] / 4, p[2], p[3]);
}

/* One workgroup that does nothing. */
static double make_nothing(work *w, const uint32_t *p) {
  (void)p;
  set_threads(w, "nothing", 1);
  w->launched = true;
  return 1e3; /* us */
}

enum { BLOCKS = 8192, BLOCKS_A_ROW = 128, PLACES = 0x00300000, TRANSFORM_BYTES = 0x00600000 };

/* Blocks in the order of a picture. */
static void fill_places(void *memory) {
  uint32_t *places = (uint32_t *)((char *)memory + PLACES);
  for (uint32_t i = 0; i < BLOCKS; i++)
    places[i] = i / BLOCKS_A_ROW * 64 * BLOCKS_A_ROW + i % BLOCKS_A_ROW * 8;
}

/* parameters: 0 64, 1 256, 2 the chain; blocks of a workgroup; its size. Blocks. */
static double make_transform(work *w, const uint32_t *p) {
  static const char *const programs[] = {"transform8_64", "transform8_256", "transform8_chain"};
  w->program = programs[p[0]];
  w->groups = BLOCKS / p[1];
  w->group_size = p[2];
  w->groups_per_supergroup = 1;
  w->bytes = TRANSFORM_BYTES;
  w->fill = fill_places;
  return BLOCKS;
}

const figure figures[] = {
    {"copy, vec4, 16 MiB", "GB/s", 5.59, CALIBRATED, 0, make_copy, {12, VECTOR_STEP, 2730}},
    {"GEMV s8 2048x32000", "GB/s", 3.6, CALIBRATED, 0, make_gemv, {12, 2048, 12800}},
    {"GEMM f32 1024^3", "GFLOP/s", 21.38, CALIBRATED, 0, make_gemm_f32, {1024, 1024, 1024, 256}},
    {"one workgroup, no operation", "us", 55.6, CALIBRATED, 1000, make_nothing, {0}},
    {"transform8, workgroups of 64", "ns", 258, CALIBRATED, 1000, make_transform, {0, 8, 64}},
    {"transform8, workgroups of 256", "ns", 129, LEFT_OUT, 1000, make_transform, {1, 32, 256}},
    {"transform8, one block a subgroup", "ns", 533, LEFT_OUT, 1000, make_transform, {2, 4, 64}},
    {"minimum of two, vec4", "GB/s", 11.5, LEFT_OUT, 0, make_minimum, {12, 2730}},
    {"copy, a word a lane", "GB/s", 3.29, LEFT_OUT, 0, make_copy, {12, SCALAR_STEP, 8192}},
    {"GEMV s8 3072x128000", "GB/s", 3.2, LEFT_OUT, 0, make_gemv, {12, 3072, 12800}},
    {"GEMM f32 16x512x32000", "GFLOP/s", 21.7, LEFT_OUT, 0, make_gemm_f32, {16, 512, 32000, 8000}},
    {"GEMM s8 256x2048x32000", "GOP/s", 85, LEFT_OUT, 0, make_gemm_s8, {256, 2048, 32000, 640}},
    {"GEMM s8 16x4096x128000", "GOP/s", 83, CALIBRATED, 0, make_gemm_s8, {16, 4096, 128000, 3200}},
    {"scopy, 1 thread", "GB/s", 1.69, LEFT_OUT, 0, make_scopy, {1, 16384}},
    {"scopy, 12 threads", "GB/s", 4.142, LEFT_OUT, 0, make_scopy, {12, 8192}},
};

const unsigned n_figures = sizeof figures / sizeof figures[0];
