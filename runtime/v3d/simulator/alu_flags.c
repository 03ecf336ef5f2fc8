/* SPDX-License-Identifier: BSD-2-Clause */
/* Z, N and C of 16 lanes, as sets of lanes. */
#include "simulator/alu_semantics.h"

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
