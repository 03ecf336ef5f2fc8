/* SPDX-License-Identifier: BSD-2-Clause */
/* To be compiled without contraction: a fused multiply-add would round once, V3D has none. */
#include "matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fill(float *matrix, size_t n, uint64_t seed) {
  uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (size_t i = 0; i < n; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    matrix[i] = (float)((int32_t)(state >> 40) - (1 << 23)) / (float)(1 << 23);
  }
}

/* A row of C in three ways: rounded, in double precision, and the sum of magnitudes. */
typedef struct row {
  float *rounded;
  double *exact, *magnitude;
} row;

static void multiply_row(const shape *shape, const float *a, const float *b, const row *row) {
  const size_t n = shape->columns;
  for (size_t j = 0; j < n; j++)
    row->rounded[j] = 0, row->exact[j] = row->magnitude[j] = 0;
  for (size_t k = 0; k < shape->depth; k++)
    for (size_t j = 0; j < n; j++) {
      const double product = (double)a[k] * (double)b[k * n + j];
      row->rounded[j] += a[k] * b[k * n + j];
      row->exact[j] += product;
      row->magnitude[j] += fabs(product);
    }
}

static void compare_row(const shape *shape, size_t i, const row *row, const float *c,
                        comparison *found) {
  const double g = shape->depth * 0x1p-24, allowed = g / (1 - g);
  for (size_t j = 0; j < shape->columns; j++) {
    if (memcmp(&c[j], &row->rounded[j], sizeof *c) != 0 && found->wrong++ == 0) {
      found->first = i * shape->columns + j;
      found->expected = row->rounded[j];
    }
    const double off = fabs((double)c[j] - row->exact[j]);
    /* What was never written is NaN, and larger than any bound. */
    const double part = isnan(off)              ? INFINITY
                        : row->magnitude[j] > 0 ? off / (allowed * row->magnitude[j])
                                                : (off > 0 ? INFINITY : 0);
    found->worst = fmax(found->worst, part);
    found->worst_absolute = fmax(found->worst_absolute, isnan(off) ? INFINITY : off);
  }
}

bool compare(const shape *shape, const float *a, const float *b, const float *c,
             comparison *found) {
  const size_t n = shape->columns;
  row row = {malloc(n * sizeof(float)), malloc(n * sizeof(double)), malloc(n * sizeof(double))};
  const bool memory = row.rounded != NULL && row.exact != NULL && row.magnitude != NULL;
  *found = (comparison){0};
  for (size_t i = 0; memory && i < shape->rows; i++) {
    multiply_row(shape, a + i * shape->depth, b, &row);
    compare_row(shape, i, &row, c + i * n, found);
  }
  free(row.rounded);
  free(row.exact);
  free(row.magnitude);
  return memory;
}
