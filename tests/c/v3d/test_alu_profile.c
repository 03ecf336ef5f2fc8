/* SPDX-License-Identifier: BSD-2-Clause */
/* Each switch of the profile that arithmetic looks at shows its effect, and only where it should.
 */
#include <stddef.h>
#include <stdio.h>

#include "alu_rows.h"
#include "check.h"
#include "simulator/alu_semantics.h"

/** row holds once the setting at offset has value. */
typedef struct switch_row {
  size_t offset;
  uint32_t value;
  alu_row row;
} switch_row;

#define WITH(setting, value) offsetof(daedalus_v3d_profile, setting), value
#define INF 0x7f800000u
#define NANC 0x7fc00000u

static const switch_row rows[] = {
    {WITH(carry_of_max, 0), ROW(MAX, 1, 0, 1, "")},
    {WITH(carry_of_max, 0), ROW(UMIN, 3, 1, 1, "")},
    {WITH(carry_of_max, 0), ROW(UMAX, 3, 1, 3, "")},
    {WITH(carry_of_max, 0), ROW(MIN, 3, 1, 1, "c")},
    {WITH(carry_of_max, 1), ROW(MAX, 1, 0, 1, "c")},
    {WITH(carry_elsewhere, 1), ROW(OR, 0, 0, 0, "zc")},
    {WITH(carry_elsewhere, 1), ROW(FADD, 0x3f800000, 0, 0x3f800000, "c")},
    {WITH(carry_elsewhere, 1), ROW(ADD, 0, 0, 0, "z")},
    {WITH(carry_elsewhere, 1), ROW(FCMP, 0x40000000, 0x3f800000, 0x3f800000, "")},
    {WITH(faddnf_flushes, 1), ROW(FADDNF, 1, 1, 0, "z")},
    {WITH(faddnf_flushes, 1), ROW(FADDNF, 0x80000001, 0x80000001, 0x80000000, "zn")},
    {WITH(faddnf_flushes, 1), ROW(FADDNF, 0x00400000, 0x00400000, 0x00800000, "")},
    {WITH(faddnf_flushes, 1), ROW(FADD, 1, 1, 2, "")},
    {WITH(negative_zero_is_zero, 0), ROW(FADD, 0x80000000, 0x80000000, 0x80000000, "n")},
    {WITH(negative_zero_is_zero, 0), ROW(FADD, 0, 0, 0, "z")},
    {WITH(negative_zero_is_zero, 0), ROW(VFNEG, 0, 9, 0x80008000, "n")},
    {WITH(negative_zero_is_zero, 0), ROW(FCMP, 0x80000000, 0, 0x80000000, "zc")},
    {WITH(negative_zero_is_negative, 1), ROW(FMOV, 0x80000000, 9, 0x80000000, "zn")},
    {WITH(negative_zero_is_negative, 0), ROW(FMOV, 0x80000000, 9, 0x80000000, "z")},
    {WITH(negative_zero_is_negative, 0), ROW(FMOV, 0x80000001, 9, 0x80000001, "n")},
    {WITH(negative_zero_is_negative, 0), ROW(FADD, 0xbf800000, 0, 0xbf800000, "n")},
    {WITH(negative_zero_is_negative, 0), ROW(MOV, 0x80000000, 9, 0x80000000, "n")},
    {WITH(negative_zero_is_negative, 1), ROW(VFMOV, 0x80008000, 9, 0x80008000, "zn")},
    {WITH(negative_zero_is_negative, 0), ROW(VFMOV, 0x80008000, 9, 0x80008000, "z")},
    {WITH(negative_zero_is_negative, 0), ROW(VFMOV, 0xbc00bc00, 9, 0xbc00bc00, "n")},
    {WITH(negative_zero_is_negative, 0), ROW(VFMOV, 0xbc008000, 9, 0xbc008000, "")},
    {WITH(fmin_nan, 1), ROW(FMIN, 0x3f800000, 0xff800001, NANC, "")},
    {WITH(fmin_nan, 1), ROW(FMAX, 0xff800001, 0x3f800000, NANC, "")},
    {WITH(fmin_nan, 1), ROW(FMAX, INF, 0x3f800000, INF, "")},
    {WITH(fmin_nan, 1), ROW(VFMIN, 0x7e003c00, 0x3c007c01, 0x7e007e00, "")},
    {WITH(fmin_nan, 1), ROW(VFMAX, 0x7e003c00, 0x3c004000, 0x7e004000, "")},
    {WITH(float_to_int_saturates, 0), ROW(FTOIN, 0x4f000000, 9, 0, "z")},
    {WITH(float_to_int_saturates, 0), ROW(FTOIZ, 0xff800000, 9, 0, "z")},
    {WITH(float_to_int_saturates, 0), ROW(FTOUZ, 0x4f800000, 9, 0, "z")},
    {WITH(float_to_int_saturates, 0), ROW(FTOUZ, 0x4f7fffff, 9, 0xffffff00, "n")},
    {WITH(float_to_int_saturates, 0), ROW(FTOIZ, 0xcf000000, 9, 0x80000000, "n")},
    {WITH(f16_denormals, 0), ROW(VFADD, 0x00013c00, 0x00018001, 0x00003c00, "")},
    {WITH(f16_denormals, 0), ROW(VFSUB, 0x04018401, 0x04008400, 0x00008000, "z")},
    {WITH(f16_denormals, 0), ROW(VFMUL, 0x04008400, 0x38003800, 0x00008000, "z")},
    {WITH(f16_denormals, 0), ROW(VFMIN, 0x83ff0400, 0x3c003c00, 0x80000400, "")},
    {WITH(f16_denormals, 0), ROW(VFPACK, 0x387fdfff, 0x387fe000, 0x04000000, "")},
    {WITH(f16_denormals, 0), ROW(VFCMP, 0x00010001, 0x00020002, 0, "zc")},
    {WITH(f16_denormals, 0), ROW(VFABS, 0x80018001, 9, 0x00010001, "")},
    {WITH(flags_of_halves, 1), ROW(VFCMP, 0x40003c00, 0x3c003c00, 0x3c000000, "zc")},
    {WITH(flags_of_halves, 2), ROW(VFCMP, 0x40003c00, 0x3c003c00, 0x3c000000, "")},
    {WITH(flags_of_halves, 2), ROW(VFMOV, 0x80003c00, 9, 0x80003c00, "zn")},
    {WITH(flags_of_halves, 1), ROW(VFMOV, 0x80003c00, 9, 0x80003c00, "")},
    {WITH(sfu_significand_bits, 12), ROW(RECIP, 0x40400000, 9, 0x3eaab000, "")},
    {WITH(sfu_significand_bits, 12), ROW(SIN, 0x3e800000, 9, 0x3f350000, "")},
    {WITH(sfu_significand_bits, 12), ROW(RECIP, 0, 9, INF, "")},
    {WITH(sfu_significand_bits, 8), ROW(RSQRT, 0xbf800000, 9, NANC, "")},
    {WITH(clz_of_zero, 31), ROW(CLZ, 0, 9, 31, "")},
    {WITH(clz_of_zero, 0), ROW(CLZ, 0, 9, 0, "z")},
    {WITH(clz_of_zero, 0), ROW(CLZ, 1, 9, 31, "")},
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static const daedalus_v3d_kernels *compilations[2];
static unsigned n_compilations;

static void test_rows(void) {
  for (unsigned c = 0; c < n_compilations; c++)
    for (size_t r = 0; r < N_ROWS; r++) {
      daedalus_v3d_profile profile = daedalus_v3d_profile_default();
      memcpy((char *)&profile + rows[r].offset, &rows[r].value, sizeof rows[r].value);
      daedalus_v3d_lane_state state = alu_state(&profile);
      for (unsigned lane = 0; lane < DAEDALUS_V3D_LANES; lane += 5)
        CHECK(alu_row_holds(&rows[r].row, __FILE__, &compilations[c]->semantics[rows[r].row.op],
                            lane, &state));
    }
}

static uint32_t unpacked(unsigned unpack, uint32_t x, const daedalus_v3d_profile *profile) {
  uint32_t in[DAEDALUS_V3D_LANES] = {x}, out[DAEDALUS_V3D_LANES];
  daedalus_v3d_unpack_of(unpack)(out, in, profile);
  return out[0];
}

static void test_modifiers(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.f16_denormals = 0;
  profile.fmin_nan = 1;
  CHECK(unpacked(DAEDALUS_V3D_UNPACK_L, 0x83ff, &profile) == 0x80000000);
  CHECK(unpacked(DAEDALUS_V3D_UNPACK_H, 0x04000000, &profile) == 0x38800000);
  CHECK(unpacked(DAEDALUS_V3D_UNPACK_FF, 0x33800000, &profile) == 0);
  CHECK(unpacked(DAEDALUS_V3D_UNPACK_SAT, 0xff800001, &profile) == NANC);
  CHECK(unpacked(DAEDALUS_V3D_UNPACK_NSAT, NANC, &profile) == NANC);
  CHECK(unpacked(DAEDALUS_V3D_UNPACK_MAX0, NANC, &profile) == NANC);
  const uint32_t old[DAEDALUS_V3D_LANES] = {0}, result[DAEDALUS_V3D_LANES] = {0xb3800000};
  uint32_t out[DAEDALUS_V3D_LANES];
  daedalus_v3d_pack_of(DAEDALUS_V3D_PACK_H)(out, old, result, &profile);
  CHECK(out[0] == 0x80000000);
}

/* Bytes 1, 2, 3, -1 with -1, 1, 1, -2. */
static uint32_t dot(const daedalus_v3d_kernels *kernels, unsigned setnnmode,
                    daedalus_v3d_lane_state *state) {
  const uint32_t a[DAEDALUS_V3D_LANES] = {[15] = 0xff030201},
                 b[DAEDALUS_V3D_LANES] = {[15] = 0xfe0101ff};
  uint32_t out[DAEDALUS_V3D_LANES];
  kernels->semantics[setnnmode].execute(out, a, b, state);
  kernels->semantics[DAEDALUS_V3D_OP_V8DOT].execute(out, a, b, state);
  CHECK(out[0] == 0);
  return out[15];
}

static void test_nnmode(void) {
  for (unsigned c = 0; c < n_compilations; c++) {
    daedalus_v3d_profile profile = daedalus_v3d_profile_default();
    daedalus_v3d_lane_state state = alu_state(&profile);
    const uint32_t uu = 255 + 2 + 3 + 255 * 254, ss = (uint32_t)(-1 + 2 + 3 + 2);
    const uint32_t a_signed = (uint32_t)(255 + 2 + 3 - 254);
    const uint32_t b_signed = (uint32_t)(-1 + 2 + 3 - 255 * 2);
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_UU, &state) == uu);
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_SU, &state) == a_signed);
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_US, &state) == b_signed);
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_SS, &state) == ss);
    profile.nnmode_first_letter_is_a = 0;
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_UU, &state) == uu);
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_SU, &state) == b_signed);
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_US, &state) == a_signed);
    CHECK(dot(compilations[c], DAEDALUS_V3D_OP_SETNNMODE_SS, &state) == ss);
  }
}

/* What operations leave in the state. */
static void test_state(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  const uint32_t a[DAEDALUS_V3D_LANES] = {3, 0, 3, 0, 2, 4}, b[DAEDALUS_V3D_LANES] = {0};
  uint32_t out[DAEDALUS_V3D_LANES];
  for (unsigned c = 0; c < n_compilations; c++) {
    const daedalus_v3d_semantics *semantics = compilations[c]->semantics;
    /* flpop: A from bits 1:0 in participating lanes, as it was in the others. */
    daedalus_v3d_lane_state state = alu_state(&profile);
    state.flag_a = 0xff02;
    state.participating = 0x80ff;
    semantics[DAEDALUS_V3D_OP_FLPOP].execute(out, a, b, &state);
    CHECK(state.popped_a == 0x7f15 && state.flag_a == 0xff02);
    profile.flpop_restores = 0;
    semantics[DAEDALUS_V3D_OP_FLPOP].execute(out, a, b, &state);
    CHECK(state.popped_a == 0xff02);
    profile.flpop_restores = 1;

    /* setmsf: participating lanes take a; the active ones are those with any. */
    state = alu_state(&profile);
    state.participating = 0x001f;
    semantics[DAEDALUS_V3D_OP_SETMSF].execute(out, a, b, &state);
    CHECK(state.active == 0xfff5 && state.msf[0] == 3 && state.msf[1] == 0 && state.msf[5] == 1);

    /* multop then umul24 is the low half of the product; then rtop is 0. */
    uint64_t seed = 5;
    for (unsigned n = 0; n < 2000; n++) {
      uint32_t x[DAEDALUS_V3D_LANES], y[DAEDALUS_V3D_LANES];
      for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
        x[i] = alu_random_hard(&seed), y[i] = alu_random_hard(&seed);
      semantics[DAEDALUS_V3D_OP_MULTOP].execute(out, x, y, &state);
      semantics[DAEDALUS_V3D_OP_UMUL24].execute(out, x, y, &state);
      for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
        CHECK(out[i] == (uint32_t)((uint64_t)x[i] * y[i]) && state.rtop[i] == 0);
    }
  }
}

int main(void) {
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  n_compilations = alu_compilations(compilations);
  RUN(test_rows);
  RUN(test_modifiers);
  RUN(test_nnmode);
  RUN(test_state);
  daedalus_v3d_float_end(modes);
  return CHECK_RESULT();
}
