/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each ALU operation computes, 16 lanes at a time: simulator/alu*.c, used by the engine and
 * by nothing else.
 */
#ifndef DAEDALUS_V3D_ALU_H
#define DAEDALUS_V3D_ALU_H

#include <daedalus/v3d/instruction.h>
#include <daedalus/v3d/profile.h>

/** Sets of lanes: bit i is lane i. */
typedef uint16_t daedalus_v3d_lanes;

/** State of one thread that operations read or write besides their operands. */
typedef struct daedalus_v3d_lane_state {
  uint32_t rtop[DAEDALUS_V3D_LANES]; /**< what multop leaves to umul24. */
  daedalus_v3d_lanes flag_a, flag_b; /**< as before the instruction. */
  daedalus_v3d_lanes popped_a;       /**< flpop leaves here what A is after it. */
  daedalus_v3d_lanes active;         /**< lanes with multisample flags. */
  /** Lanes whose condition holds, of the operation being run: takes part in ballot and the like. */
  daedalus_v3d_lanes participating;
  uint32_t msf[DAEDALUS_V3D_LANES];
  uint32_t link;
  uint32_t tidx;
  uint32_t barrier_config[DAEDALUS_V3D_LANES]; /**< what barrierid reads. */
  uint8_t nnmode;                              /**< 0 uu, 1 su, 2 us, 3 ss. */
  const daedalus_v3d_profile *profile;
} daedalus_v3d_lane_state;

/** out[i] from a[i], b[i]; out overlaps neither. b is unused by one-source operations. */
typedef void daedalus_v3d_execute_fn(uint32_t *restrict out, const uint32_t *restrict a,
                                     const uint32_t *restrict b, daedalus_v3d_lane_state *state);

/** The lanes in which a flag is set, from operands and result (before pack). */
typedef daedalus_v3d_lanes daedalus_v3d_flag_fn(const uint32_t *result, const uint32_t *a,
                                                const uint32_t *b,
                                                const daedalus_v3d_lane_state *state);

typedef struct daedalus_v3d_semantics {
  daedalus_v3d_execute_fn *execute; /**< NULL: compute jobs may not use it. */
  daedalus_v3d_flag_fn *zero, *negative, *carry;
} daedalus_v3d_semantics;

/** Semantics of a daedalus_v3d_op; add and sub are the same on either ALU. */
const daedalus_v3d_semantics *daedalus_v3d_semantics_of(unsigned op);

/** out = in after a daedalus_v3d_operand_unpack other than NONE. */
typedef void daedalus_v3d_unpack_fn(uint32_t *restrict out, const uint32_t *restrict in,
                                    const daedalus_v3d_profile *profile);
daedalus_v3d_unpack_fn *daedalus_v3d_unpack_of(unsigned unpack);

/** out = the destination's old value with result packed into one half (a pack other than NONE). */
typedef void daedalus_v3d_pack_fn(uint32_t *restrict out, const uint32_t *restrict old,
                                  const uint32_t *restrict result,
                                  const daedalus_v3d_profile *profile);
daedalus_v3d_pack_fn *daedalus_v3d_pack_of(unsigned pack);

/** The host's floating-point modes. */
typedef struct daedalus_v3d_float_modes {
  uint64_t bits;
} daedalus_v3d_float_modes;

/**
 * Puts the calling thread into the modes that execute, unpack and pack functions take for granted
 * (to nearest even, denormals kept, no traps) and returns those it was in, for _end() to restore.
 */
daedalus_v3d_float_modes daedalus_v3d_float_begin(void);
void daedalus_v3d_float_end(daedalus_v3d_float_modes before);

#endif
