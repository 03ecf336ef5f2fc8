/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations on two f16 a lane: correctly rounded (float16.h says why). */
#include "simulator/alu_semantics.h"
#include "simulator/float16.h"

/* One operation on the fp32 bits of either half; nan_wins is for min and max. */

static inline uint32_t half_add(uint32_t x, uint32_t y, bool nan_wins) {
  (void)nan_wins;
  return daedalus_v3d_bits_of(daedalus_v3d_float_of(x) + daedalus_v3d_float_of(y));
}

static inline uint32_t half_sub(uint32_t x, uint32_t y, bool nan_wins) {
  (void)nan_wins;
  return daedalus_v3d_bits_of(daedalus_v3d_float_of(x) - daedalus_v3d_float_of(y));
}

static inline uint32_t half_mul(uint32_t x, uint32_t y, bool nan_wins) {
  (void)nan_wins;
  return daedalus_v3d_bits_of(daedalus_v3d_float_of(x) * daedalus_v3d_float_of(y));
}

static inline uint32_t half_min(uint32_t x, uint32_t y, bool nan_wins) {
  return daedalus_v3d_minimum(x, y, false, nan_wins);
}

static inline uint32_t half_max(uint32_t x, uint32_t y, bool nan_wins) {
  return daedalus_v3d_minimum(x, y, true, nan_wins);
}

/* In loops of their own, each small enough to become vectors. */
#define HALVES_2(name, function)                                                         \
  DAEDALUS_V3D_EXECUTE(name) {                                                           \
    const bool denormals = state->profile->f16_denormals;                                \
    const bool nan_wins = state->profile->fmin_nan;                                      \
    uint32_t x[2][DAEDALUS_V3D_LANES], y[2][DAEDALUS_V3D_LANES];                         \
    daedalus_v3d_floats_of_halves(x, a, denormals);                                      \
    daedalus_v3d_floats_of_halves(y, b, denormals);                                      \
    DAEDALUS_V3D_EACH_LANE x[0][i] = function(x[0][i], y[0][i], nan_wins);               \
    DAEDALUS_V3D_EACH_LANE x[1][i] = function(x[1][i], y[1][i], nan_wins);               \
    DAEDALUS_V3D_EACH_LANE out[i] = daedalus_v3d_halves_of(x[0][i], x[1][i], denormals); \
  }
HALVES_2(vfadd, half_add)
HALVES_2(vfsub, half_sub)
HALVES_2(vfmul, half_mul)
HALVES_2(vfmin, half_min)
HALVES_2(vfmax, half_max)

/* Bits only: NaNs and denormals stay as they are. */
DAEDALUS_V3D_EXECUTE_1(vfabs, x & 0x7fff7fff)
DAEDALUS_V3D_EXECUTE_1(vfneg, x ^ 0x80008000)
DAEDALUS_V3D_EXECUTE_1(vfnab, x | 0x80008000)

/* From two fp32. */
DAEDALUS_V3D_EXECUTE(vfpack) {
  const bool denormals = state->profile->f16_denormals;
  DAEDALUS_V3D_EACH_LANE out[i] = daedalus_v3d_halves_of(a[i], b[i], denormals);
}
