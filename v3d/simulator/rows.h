/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of 16 lanes as the engine moves and merges them, a vector of the compilation at a time, so
 * that nothing here depends on what the compiler makes of a loop.  It matters that rows are written
 * in vectors as wide as those in which the kernels read them: a processor forwards what has just
 * been stored to a load of the same or a smaller part only.
 */
#ifndef DAEDALUS_V3D_ROWS_H
#define DAEDALUS_V3D_ROWS_H

#include <stdbool.h>
#include <string.h>

#include "simulator/alu.h"

#ifdef __AVX2__
enum { V3D_VECTOR_LANES = 8 };
#else
enum { V3D_VECTOR_LANES = 4 };
#endif
enum { V3D_ROW_VECTORS = DAEDALUS_V3D_LANES / V3D_VECTOR_LANES };

typedef uint32_t v3d_vector __attribute__((vector_size(4 * V3D_VECTOR_LANES)));

/** Vector i of a row. */
static inline v3d_vector daedalus_v3d_vector_of(const uint32_t *row, unsigned i) {
  v3d_vector lanes;
  memcpy(&lanes, row + (size_t)V3D_VECTOR_LANES * i, sizeof lanes);
  return lanes;
}

static inline void daedalus_v3d_vector_to(uint32_t *row, unsigned i, v3d_vector lanes) {
  memcpy(row + (size_t)V3D_VECTOR_LANES * i, &lanes, sizeof lanes);
}

/** The same word in all lanes. */
static inline v3d_vector daedalus_v3d_vector_of_word(uint32_t word) {
  return (v3d_vector){0} + word;
}

/** Vector i of a row that has all bits of the lanes of the set, and none of the others. */
static inline v3d_vector daedalus_v3d_vector_mask(daedalus_v3d_lanes lanes, unsigned i) {
  static const uint32_t weights[DAEDALUS_V3D_LANES] = {
      1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
      1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};
  const v3d_vector weight = daedalus_v3d_vector_of(weights, i);
  return (v3d_vector)((daedalus_v3d_vector_of_word(lanes) & weight) == weight);
}

/** Whether any lane has a bit. */
static inline bool daedalus_v3d_vector_any(v3d_vector lanes) {
  uint64_t words[sizeof lanes / sizeof(uint64_t)], any = 0;
  memcpy(words, &lanes, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    any |= words[i];
  return any != 0;
}

static inline void daedalus_v3d_row_copy(uint32_t *restrict to, const uint32_t *restrict from) {
  for (unsigned i = 0; i < V3D_ROW_VECTORS; i++)
    daedalus_v3d_vector_to(to, i, daedalus_v3d_vector_of(from, i));
}

static inline void daedalus_v3d_row_fill(uint32_t *to, uint32_t value) {
  for (unsigned i = 0; i < V3D_ROW_VECTORS; i++)
    daedalus_v3d_vector_to(to, i, daedalus_v3d_vector_of_word(value));
}

/** to = from in the lanes of the set. */
static inline void daedalus_v3d_row_merge(uint32_t *restrict to, const uint32_t *restrict from,
                                          daedalus_v3d_lanes lanes) {
  for (unsigned i = 0; i < V3D_ROW_VECTORS; i++) {
    const v3d_vector take = daedalus_v3d_vector_mask(lanes, i);
    daedalus_v3d_vector_to(
        to, i, (daedalus_v3d_vector_of(from, i) & take) | (daedalus_v3d_vector_of(to, i) & ~take));
  }
}

#endif
