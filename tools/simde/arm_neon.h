/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for the compiler's <arm_neon.h> on other hosts, so that tests can
 * run the NEON variants there: SIMDe implements the intrinsics portably.  The
 * build puts this folder on the include path when DAEDALUS_SIMDE is set.
 */
#ifndef DAEDALUS_TOOLS_SIMDE_ARM_NEON_H
#define DAEDALUS_TOOLS_SIMDE_ARM_NEON_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>

/* SIMDe 0.8.2 saturates 1 << (bits - 1), which fits. */
#undef vqshl_n_u8
#define vqshl_n_u8(a, n) vorr_u8(vshl_n_u8((a), (n)), vcgt_u8((a), vdup_n_u8(UINT8_MAX >> (n))))
#undef vqshl_n_u16
#define vqshl_n_u16(a, n) \
  vorr_u16(vshl_n_u16((a), (n)), vcgt_u16((a), vdup_n_u16(UINT16_MAX >> (n))))
#undef vqshl_n_u32
#define vqshl_n_u32(a, n) \
  vorr_u32(vshl_n_u32((a), (n)), vcgt_u32((a), vdup_n_u32(UINT32_MAX >> (n))))
#undef vqshlq_n_u8
#define vqshlq_n_u8(a, n) \
  vorrq_u8(vshlq_n_u8((a), (n)), vcgtq_u8((a), vdupq_n_u8(UINT8_MAX >> (n))))
#undef vqshlq_n_u16
#define vqshlq_n_u16(a, n) \
  vorrq_u16(vshlq_n_u16((a), (n)), vcgtq_u16((a), vdupq_n_u16(UINT16_MAX >> (n))))
#undef vqshlq_n_u32
#define vqshlq_n_u32(a, n) \
  vorrq_u32(vshlq_n_u32((a), (n)), vcgtq_u32((a), vdupq_n_u32(UINT32_MAX >> (n))))

/* SIMDe 0.8.2 does not saturate -32768 * -32768 in eight lanes on x86, but does by a scalar. */
#undef vqrdmulhq_laneq_s16
#define vqrdmulhq_laneq_s16(a, v, lane) vqrdmulhq_n_s16((a), vgetq_lane_s16((v), (lane)))

/* SIMDe 0.8.2 saturates -2^31 * n where n is 2^31 - 1, though that fits. */
#undef vqdmulh_laneq_s32
#define vqdmulh_laneq_s32(a, v, lane) vqshrn_n_s64(vmull_laneq_s32((a), (v), (lane)), 31)
#undef vqdmulhq_laneq_s32
#define vqdmulhq_laneq_s32(a, v, lane)                          \
  vcombine_s32(vqdmulh_laneq_s32(vget_low_s32(a), (v), (lane)), \
               vqdmulh_laneq_s32(vget_high_s32(a), (v), (lane)))

#endif /* DAEDALUS_TOOLS_SIMDE_ARM_NEON_H */
