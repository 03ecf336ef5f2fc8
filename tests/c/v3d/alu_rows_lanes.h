/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-checked values of operations across lanes, run by test_alu.c. */
#ifndef DAEDALUS_TESTS_V3D_ALU_ROWS_LANES_H
#define DAEDALUS_TESTS_V3D_ALU_ROWS_LANES_H

#include "alu_rows.h"

/** All lanes, and what else the operation reads. */
typedef struct alu_lanes_row {
  int line;
  uint8_t op;
  daedalus_v3d_lanes active, participating, flag_a, flag_b;
  uint32_t a[DAEDALUS_V3D_LANES], b[DAEDALUS_V3D_LANES], result[DAEDALUS_V3D_LANES];
} alu_lanes_row;

extern const alu_lanes_row alu_lanes_rows[];
extern const size_t alu_n_lanes_rows;
extern const char *const alu_lanes_file;

#endif
