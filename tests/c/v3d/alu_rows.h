/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-checked values of operations, lane by lane: alu_rows_*.c holds them, test_alu.c runs them.
 */
#ifndef DAEDALUS_TESTS_V3D_ALU_ROWS_H
#define DAEDALUS_TESTS_V3D_ALU_ROWS_H

#include "simulator/alu.h"

/** One lane: result from a and b, and which of "znc" are set, by the default profile. */
typedef struct alu_row {
  int line; /**< of its file, for messages. */
  uint8_t op;
  uint32_t a, b, result;
  const char *flags;
} alu_row;

/** A file of rows. */
typedef struct alu_rows {
  const char *file;
  const alu_row *rows;
  size_t n;
} alu_rows;

extern const alu_rows alu_rows_integer, alu_rows_float, alu_rows_halves, alu_rows_convert;

#define ROW(op, a, b, result, flags) {__LINE__, DAEDALUS_V3D_OP_##op, a, b, result, flags}
#define ROWS(name, rows) const alu_rows name = {__FILE__, rows, sizeof rows / sizeof rows[0]}

/**
 * Runs row in a lane whose neighbours hold other values, with a state that the caller has set up,
 * and says on stderr what is wrong.  Returns whether all is right.
 */
int alu_row_holds(const alu_row *row, const char *file, const daedalus_v3d_semantics *semantics,
                  unsigned lane, daedalus_v3d_lane_state *state);

/** A state as at the start of a thread: all lanes active and participating. */
daedalus_v3d_lane_state alu_state(const daedalus_v3d_profile *profile);

/** A pseudo-random word; *seed must not be 0. */
uint32_t alu_random(uint64_t *seed);

/** A random word among which the hard cases of integers and floats are frequent. */
uint32_t alu_random_hard(uint64_t *seed);

/** The compilations of the kernels that this host can run. Returns how many (at most 2). */
struct daedalus_v3d_kernels;
unsigned alu_compilations(const struct daedalus_v3d_kernels *compilations[2]);

#endif
