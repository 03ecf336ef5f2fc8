/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to operands on their way in and to results on their way out. */
#include "simulator/alu_semantics.h"
#include "simulator/float16.h"

/* An expression in x; denormals says whether f16 has them, nan_wins what clamping does. */
#define UNPACK(name, expression)                                                               \
  void DAEDALUS_V3D_KERNEL(unpack_##name)(uint32_t *restrict out, const uint32_t *restrict in, \
                                          const daedalus_v3d_profile *profile) {               \
    const bool denormals = profile->f16_denormals, nan_wins = profile->fmin_nan;               \
    (void)denormals, (void)nan_wins;                                                           \
    DAEDALUS_V3D_EACH_LANE {                                                                   \
      const uint32_t x = in[i];                                                                \
      out[i] = (expression);                                                                   \
    }                                                                                          \
  }

#define ONE 0x3f800000u

/* As fmax with low, then fmin with high: with these a NaN becomes low, unless NaNs win. */
static inline uint32_t clamp(uint32_t x, uint32_t low, uint32_t high, bool nan_wins) {
  return daedalus_v3d_minimum(daedalus_v3d_minimum(x, low, true, nan_wins), high, false, nan_wins);
}

static inline uint32_t twice(uint32_t half) {
  return half | half << 16;
}

UNPACK(abs, x & ~DAEDALUS_V3D_SIGN)
UNPACK(l, daedalus_v3d_low_half(x, denormals))
UNPACK(h, daedalus_v3d_high_half(x, denormals))
UNPACK(sat, clamp(x, 0, ONE, nan_wins))
UNPACK(nsat, clamp(x, ONE | DAEDALUS_V3D_SIGN, ONE, nan_wins))
UNPACK(max0, daedalus_v3d_minimum(x, 0, true, nan_wins))
UNPACK(ff, twice(daedalus_v3d_float_to_half(x, denormals)))
UNPACK(ll, twice(x & 0xffff))
UNPACK(hh, twice(x >> 16))
UNPACK(swp, x >> 16 | x << 16)
UNPACK(ul, x & 0xffff)
UNPACK(uh, x >> 16)
UNPACK(il, (uint32_t)(int16_t)x)
UNPACK(ih, (uint32_t)((int32_t)x >> 16))

void DAEDALUS_V3D_KERNEL(pack_l)(uint32_t *restrict out, const uint32_t *restrict old,
                                 const uint32_t *restrict result,
                                 const daedalus_v3d_profile *profile) {
  const bool denormals = profile->f16_denormals;
  DAEDALUS_V3D_EACH_LANE out[i] =
      (old[i] & 0xffff0000) | daedalus_v3d_float_to_half(result[i], denormals);
}

void DAEDALUS_V3D_KERNEL(pack_h)(uint32_t *restrict out, const uint32_t *restrict old,
                                 const uint32_t *restrict result,
                                 const daedalus_v3d_profile *profile) {
  const bool denormals = profile->f16_denormals;
  DAEDALUS_V3D_EACH_LANE out[i] =
      (old[i] & 0xffff) | daedalus_v3d_float_to_half(result[i], denormals) << 16;
}
