/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-checked values of every operation, by every compilation of the kernels. */
#include <stdio.h>
#include <string.h>

#include "alu_rows.h"
#include "alu_rows_lanes.h"
#include "check.h"
#include "simulator/alu_semantics.h"

static const alu_rows *const files[] = {&alu_rows_integer, &alu_rows_float, &alu_rows_halves,
                                        &alu_rows_convert};
#define N_FILES (sizeof files / sizeof files[0])

static void test_rows(void) {
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  const daedalus_v3d_kernels *compilations[2];
  const unsigned n = alu_compilations(compilations);
  for (unsigned c = 0; c < n; c++)
    for (unsigned f = 0; f < N_FILES; f++)
      for (size_t r = 0; r < files[f]->n; r++)
        for (unsigned lane = 0; lane < DAEDALUS_V3D_LANES; lane++) {
          const alu_row *row = &files[f]->rows[r];
          daedalus_v3d_lane_state state = alu_state(&profile);
          CHECK(alu_row_holds(row, files[f]->file, &compilations[c]->semantics[row->op], lane,
                              &state));
        }
}

static int lanes_row_holds(const alu_lanes_row *row, const daedalus_v3d_semantics *semantics) {
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  daedalus_v3d_lane_state state = alu_state(&profile);
  state.active = row->active;
  state.participating = row->participating;
  state.flag_a = row->flag_a;
  state.flag_b = row->flag_b;
  state.tidx = 0x2e;
  state.link = 0x1040;
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
    state.msf[i] = i + 1;
    state.barrier_config[i] = 2 * i;
  }
  uint32_t out[DAEDALUS_V3D_LANES];
  semantics->execute(out, row->a, row->b, &state);
  int holds = 1;
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
    if (out[i] != row->result[i]) {
      fprintf(stderr, "%s:%d: %s: lane %u is 0x%08x, expected 0x%08x\n", alu_lanes_file, row->line,
              daedalus_v3d_operation_of(row->op)->text, i, out[i], row->result[i]);
      holds = 0;
    }
  /* The flags, of what the table says is right. */
  const daedalus_v3d_lanes zero = semantics->zero(out, row->a, row->b, &state);
  const daedalus_v3d_lanes negative = semantics->negative(out, row->a, row->b, &state);
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
    holds &=
        (zero >> i & 1) == (row->result[i] == 0) && (negative >> i & 1) == row->result[i] >> 31;
  return holds && semantics->carry(out, row->a, row->b, &state) == 0;
}

static void test_lanes_rows(void) {
  const daedalus_v3d_kernels *compilations[2];
  const unsigned n = alu_compilations(compilations);
  for (unsigned c = 0; c < n; c++)
    for (size_t r = 0; r < alu_n_lanes_rows; r++)
      CHECK(lanes_row_holds(&alu_lanes_rows[r], &compilations[c]->semantics[alu_lanes_rows[r].op]));
}

/* An operation has semantics, all of them, unless compute jobs may not use it. */
static void test_every_operation_has_semantics(void) {
  const daedalus_v3d_kernels *compilations[2];
  const unsigned n = alu_compilations(compilations);
  for (unsigned c = 0; c < n; c++)
    for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++) {
      const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
      const daedalus_v3d_semantics *semantics = &compilations[c]->semantics[op];
      const int refused =
          (operation->traits & (DAEDALUS_V3D_TRAIT_GRAPHICS | DAEDALUS_V3D_TRAIT_VPM)) != 0;
      if ((semantics->execute != NULL) == refused) {
        fprintf(stderr, "%s has %ssemantics\n", operation->text, refused ? "" : "no ");
        CHECK(0);
      }
      CHECK(!semantics->execute == !semantics->zero &&
            !semantics->execute == !semantics->negative &&
            !semantics->execute == !semantics->carry);
    }
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++)
    CHECK(!daedalus_v3d_semantics_of(op)->execute == !compilations[0]->semantics[op].execute);
  CHECK(daedalus_v3d_semantics_of(DAEDALUS_V3D_N_OPS)->execute == NULL);
}

static void test_every_operation_has_a_row(void) {
  unsigned rows[DAEDALUS_V3D_N_OPS] = {0};
  for (unsigned f = 0; f < N_FILES; f++)
    for (size_t r = 0; r < files[f]->n; r++)
      rows[files[f]->rows[r].op]++;
  for (size_t r = 0; r < alu_n_lanes_rows; r++)
    rows[alu_lanes_rows[r].op]++;
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++)
    if (daedalus_v3d_semantics_of(op)->execute && !rows[op]) {
      fprintf(stderr, "%s has no row\n", daedalus_v3d_operation_of(op)->text);
      CHECK(0);
    }
}

int main(void) {
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  RUN(test_rows);
  RUN(test_lanes_rows);
  RUN(test_every_operation_has_semantics);
  RUN(test_every_operation_has_a_row);
  daedalus_v3d_float_end(modes);
  return CHECK_RESULT();
}
