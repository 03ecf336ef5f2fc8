/* SPDX-License-Identifier: BSD-2-Clause */
/* Matrices, row by row and without gaps, and what C = A B has to be. */
#ifndef SGEMM_MATRICES_H
#define SGEMM_MATRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A is rows x depth, B depth x columns, C rows x columns. */
typedef struct shape {
  uint32_t rows, columns, depth;
} shape;

/** Multiples of 2^-23 in [-1, 1), by a seed: no product of two is subnormal. */
void fill(float *matrix, size_t n, uint64_t seed);

/** What a comparison found. */
typedef struct comparison {
  size_t wrong;   /**< elements whose bits differ from the sum in the order of k. */
  size_t first;   /**< the first of them. */
  float expected; /**< what that one should be. */
  double worst;   /**< the largest |c - exact|, as a part of what rounding allows. */
  double worst_absolute;
} comparison;

/**
 * Compares c with two products made on the host:
 * - bits with ((0 + a0 b0) + a1 b1) + ..., each product and each sum rounded to single precision;
 * - values with the product in double precision. Of `depth` products and sums, each rounded once,
 *   |c - exact| is at most g / (1 - g) times the sum of |a b|, g = depth 2^-24 (N. Higham, Accuracy
 *   and Stability of Numerical Algorithms, 3.1).
 * False: no memory.
 */
bool compare(const shape *shape, const float *a, const float *b, const float *c, comparison *found);

#endif
