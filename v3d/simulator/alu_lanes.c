/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations across lanes, and those that read or write what a thread has besides registers. */
#include "simulator/alu_semantics.h"
#include "simulator/float32.h"

DAEDALUS_V3D_EXECUTE_0(eidx, i)
DAEDALUS_V3D_EXECUTE_0(tidx, state->tidx)
DAEDALUS_V3D_EXECUTE_0(lr, state->link)
DAEDALUS_V3D_EXECUTE_0(barrierid, state->barrier_config[i])
DAEDALUS_V3D_EXECUTE_0(msf, state->msf[i])

/* Lanes turn as a ring of 16, by the low bits of lane 0's b. */
DAEDALUS_V3D_EXECUTE(rot) {
  (void)state;
  const unsigned n = b[0] % DAEDALUS_V3D_LANES;
  DAEDALUS_V3D_EACH_LANE out[i] = a[(i + n) % DAEDALUS_V3D_LANES];
}

/* Each quad turns as a ring of 4, by the low bits of its first lane's b. */
DAEDALUS_V3D_EXECUTE(rotq) {
  (void)state;
  DAEDALUS_V3D_EACH_LANE {
    const unsigned quad = i / 4 * 4;
    out[i] = a[quad + (i + b[quad]) % 4];
  }
}

DAEDALUS_V3D_EXECUTE(shuffle) {
  (void)state;
  DAEDALUS_V3D_EACH_LANE out[i] = a[b[i] % DAEDALUS_V3D_LANES];
}

/* The lanes among which ballot and its like look: dispatched ones whose condition holds. */
static daedalus_v3d_lanes voters(const daedalus_v3d_lane_state *state) {
  return state->participating & state->active;
}

static void broadcast(uint32_t *restrict out, uint32_t value) {
  DAEDALUS_V3D_EACH_LANE out[i] = value;
}

DAEDALUS_V3D_EXECUTE(ballot) {
  (void)b;
  daedalus_v3d_lanes nonzero;
  DAEDALUS_V3D_COLLECT(nonzero, a[i] != 0);
  broadcast(out, nonzero & voters(state));
}

/* Without voters no lane takes the result; it is lane 0's then. */
DAEDALUS_V3D_EXECUTE(bcastf) {
  (void)b;
  broadcast(out, a[daedalus_v3d_first_lane(voters(state)) % DAEDALUS_V3D_LANES]);
}

DAEDALUS_V3D_EXECUTE(alleq) {
  (void)b;
  const daedalus_v3d_lanes among = voters(state);
  const uint32_t first = a[daedalus_v3d_first_lane(among) % DAEDALUS_V3D_LANES];
  daedalus_v3d_lanes equal;
  DAEDALUS_V3D_COLLECT(equal, a[i] == first);
  broadcast(out, (among & ~equal) == 0);
}

/* As floats: -0 equals +0, a NaN nothing, itself included. */
DAEDALUS_V3D_EXECUTE(allfeq) {
  (void)b;
  const daedalus_v3d_lanes among = voters(state);
  const float first = daedalus_v3d_float_of(a[daedalus_v3d_first_lane(among) % DAEDALUS_V3D_LANES]);
  daedalus_v3d_lanes equal;
  DAEDALUS_V3D_COLLECT(equal, daedalus_v3d_float_of(a[i]) == first);
  broadcast(out, (among & ~equal) == 0);
}

/* Flags as data: both halves of a lane, as for 2 x f16. */
static inline uint32_t halves_if(daedalus_v3d_lanes lanes, unsigned i) {
  return daedalus_v3d_has_lane(lanes, i) * 0x00010001u;
}

DAEDALUS_V3D_EXECUTE_0(vfla, halves_if(state->flag_a, i))
DAEDALUS_V3D_EXECUTE_0(vflb, halves_if(state->flag_b, i))
DAEDALUS_V3D_EXECUTE_0(vflna, halves_if((daedalus_v3d_lanes)~state->flag_a, i))
DAEDALUS_V3D_EXECUTE_0(vflnb, halves_if((daedalus_v3d_lanes)~state->flag_b, i))

/* A stack of flags in a register, two bits each. */
DAEDALUS_V3D_EXECUTE_1(flapush, x << 2 | daedalus_v3d_has_lane(state->flag_a, i) * 3)
DAEDALUS_V3D_EXECUTE_1(flbpush, x << 2 | daedalus_v3d_has_lane(state->flag_b, i) * 3)

DAEDALUS_V3D_EXECUTE(flpop) {
  (void)b;
  daedalus_v3d_lanes popped;
  DAEDALUS_V3D_COLLECT(popped, (a[i] & 3) != 0);
  DAEDALUS_V3D_EACH_LANE out[i] = a[i] >> 2;
  const daedalus_v3d_lanes kept =
      state->profile->flpop_restores ? (daedalus_v3d_lanes)~state->participating : 0xffff;
  state->popped_a = (state->flag_a & kept) | (popped & (daedalus_v3d_lanes)~kept);
}

static void first_of(uint32_t *restrict out, daedalus_v3d_lanes lanes) {
  const unsigned first = daedalus_v3d_first_lane(lanes);
  DAEDALUS_V3D_EACH_LANE out[i] = i == first;
}

DAEDALUS_V3D_EXECUTE(flafirst) {
  (void)a, (void)b;
  first_of(out, state->flag_a);
}

DAEDALUS_V3D_EXECUTE(flnafirst) {
  (void)a, (void)b;
  first_of(out, (daedalus_v3d_lanes)~state->flag_a);
}

DAEDALUS_V3D_EXECUTE(setmsf) {
  (void)b;
  DAEDALUS_V3D_EACH_LANE {
    out[i] = a[i];
    if (daedalus_v3d_has_lane(state->participating, i))
      state->msf[i] = a[i];
  }
  DAEDALUS_V3D_COLLECT(state->active, state->msf[i] != 0);
}
