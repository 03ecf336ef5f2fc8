/* SPDX-License-Identifier: BSD-2-Clause */
/* Z, N and C of 16 lanes, as sets of lanes. */
#include "simulator/alu_semantics.h"
#include "simulator/float16.h"

#define UNUSED (void)result, (void)a, (void)b, (void)state

DAEDALUS_V3D_FLAG(zero_integer) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, result[i] == 0);
  return lanes;
}

DAEDALUS_V3D_FLAG(negative_integer) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, (int32_t)result[i] < 0);
  return lanes;
}

/* No source says what C is: by the profile, so that a program that depends on it can be found. */
DAEDALUS_V3D_FLAG(carry_none) {
  UNUSED;
  return state->profile->carry_elsewhere ? 0xffff : 0;
}

DAEDALUS_V3D_FLAG(carry_add) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, result[i] < a[i]);
  return lanes;
}

DAEDALUS_V3D_FLAG(carry_sub) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, a[i] < b[i]);
  return lanes;
}

DAEDALUS_V3D_FLAG(carry_min) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, (int32_t)a[i] > (int32_t)b[i]);
  return lanes;
}

DAEDALUS_V3D_FLAG(carry_max) {
  return state->profile->carry_of_max ? DAEDALUS_V3D_KERNEL(carry_min)(result, a, b, state) : 0;
}

/* Of umin too. */
DAEDALUS_V3D_FLAG(carry_umax) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, a[i] > b[i]);
  return state->profile->carry_of_max ? lanes : 0;
}

DAEDALUS_V3D_FLAG(zero_float) {
  UNUSED;
  const uint32_t counts = state->profile->negative_zero_is_zero ? ~DAEDALUS_V3D_SIGN : ~0u;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, (result[i] & counts) == 0);
  return lanes;
}

/* N of a float is its sign, but for that of -0.0, which is by the profile. */
DAEDALUS_V3D_FLAG(negative_float) {
  if (state->profile->negative_zero_is_negative)
    return DAEDALUS_V3D_KERNEL(negative_integer)(result, a, b, state);
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, result[i] > DAEDALUS_V3D_SIGN);
  return lanes;
}

/* Of the operands, not of their difference: none holds where one is a NaN. */
DAEDALUS_V3D_FLAG(zero_fcmp) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, daedalus_v3d_float_of(a[i]) == daedalus_v3d_float_of(b[i]));
  return lanes;
}

DAEDALUS_V3D_FLAG(negative_fcmp) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, daedalus_v3d_float_of(a[i]) < daedalus_v3d_float_of(b[i]));
  return lanes;
}

DAEDALUS_V3D_FLAG(carry_fcmp) {
  UNUSED;
  daedalus_v3d_lanes lanes;
  DAEDALUS_V3D_COLLECT(lanes, daedalus_v3d_float_of(a[i]) <= daedalus_v3d_float_of(b[i]));
  return lanes;
}

/* A lane of 2 x f16 has one flag for two values: by the profile. */
static daedalus_v3d_lanes of_halves(const daedalus_v3d_lane_state *state, daedalus_v3d_lanes low,
                                    daedalus_v3d_lanes high) {
  switch (state->profile->flags_of_halves) {
    case 1:
      return low;
    case 2:
      return high;
    default:
      return low & high;
  }
}

DAEDALUS_V3D_FLAG(zero_halves) {
  UNUSED;
  const uint32_t counts = state->profile->negative_zero_is_zero ? 0x7fff : 0xffff;
  daedalus_v3d_lanes low, high;
  DAEDALUS_V3D_COLLECT(low, (result[i] & counts) == 0);
  DAEDALUS_V3D_COLLECT(high, (result[i] >> 16 & counts) == 0);
  return of_halves(state, low, high);
}

DAEDALUS_V3D_FLAG(negative_halves) {
  UNUSED;
  daedalus_v3d_lanes low, high;
  if (state->profile->negative_zero_is_negative) {
    DAEDALUS_V3D_COLLECT(low, (result[i] & DAEDALUS_V3D_HALF_SIGN) != 0);
    DAEDALUS_V3D_COLLECT(high, (result[i] & DAEDALUS_V3D_SIGN) != 0);
  } else {
    DAEDALUS_V3D_COLLECT(low, (result[i] & 0xffff) > DAEDALUS_V3D_HALF_SIGN);
    DAEDALUS_V3D_COLLECT(high, result[i] >> 16 > DAEDALUS_V3D_HALF_SIGN);
  }
  return of_halves(state, low, high);
}

#define FLAG_OF_VFCMP(flag, operator)                                                              \
  DAEDALUS_V3D_FLAG(flag##_vfcmp) {                                                                \
    UNUSED;                                                                                        \
    const bool denormals = state->profile->f16_denormals;                                          \
    daedalus_v3d_lanes low, high;                                                                  \
    DAEDALUS_V3D_COLLECT(low,                                                                      \
                         daedalus_v3d_float_of(daedalus_v3d_low_half(a[i], denormals))             \
                         operator daedalus_v3d_float_of(daedalus_v3d_low_half(b[i], denormals)));  \
    DAEDALUS_V3D_COLLECT(high,                                                                     \
                         daedalus_v3d_float_of(daedalus_v3d_high_half(a[i], denormals))            \
                         operator daedalus_v3d_float_of(daedalus_v3d_high_half(b[i], denormals))); \
    return of_halves(state, low, high);                                                            \
  }
FLAG_OF_VFCMP(zero, ==)
FLAG_OF_VFCMP(negative, <)
FLAG_OF_VFCMP(carry, <=)
