/* SPDX-License-Identifier: BSD-2-Clause */
/* Conversions between float, integer and normalised formats, and the packing of narrow values. */
#include "simulator/alu_semantics.h"
#include "simulator/float16.h"

/* The int32 of an integral value; out of range the nearest one or, without saturation, 0. */
static inline uint32_t to_int(float whole, bool saturates) {
  const bool above = whole >= 0x1p31f, below = whole < -0x1p31f;
  const bool inside = (whole < 0x1p31f) & !below; /* not a NaN */
  const uint32_t clamped = above ? 0x7fffffffu : below ? 0x80000000u : 0;
  return inside ? (uint32_t)(int32_t)(inside ? whole : 0) : saturates ? clamped : 0;
}

DAEDALUS_V3D_EXECUTE(ftoin) {
  (void)b;
  const bool saturates = state->profile->float_to_int_saturates;
  DAEDALUS_V3D_EACH_LANE out[i] =
      to_int(daedalus_v3d_round_even(daedalus_v3d_float_of(a[i])), saturates);
}

DAEDALUS_V3D_EXECUTE(ftoiz) {
  (void)b;
  const bool saturates = state->profile->float_to_int_saturates;
  DAEDALUS_V3D_EACH_LANE out[i] =
      to_int(daedalus_v3d_truncate(daedalus_v3d_float_of(a[i])), saturates);
}

/* Truncates; what is negative becomes 0 in any case. */
DAEDALUS_V3D_EXECUTE(ftouz) {
  (void)b;
  const uint32_t most = state->profile->float_to_int_saturates ? ~0u : 0;
  DAEDALUS_V3D_EACH_LANE {
    const float p = daedalus_v3d_float_of(a[i]);
    /* In two ranges of int32: hosts' vectors convert signed numbers. */
    const bool upper = (p >= 0x1p31f) & (p < 0x1p32f), lower = (p > 0) & (p < 0x1p31f);
    const uint32_t inside = (uint32_t)(int32_t)(upper ? p - 0x1p31f : lower ? p : 0);
    out[i] = p >= 0x1p32f ? most : inside + (upper ? 0x80000000u : 0);
  }
}

DAEDALUS_V3D_EXECUTE_1(itof, daedalus_v3d_bits_of((float)(int32_t)x))
/* Both halves are exact, so that their sum rounds once. */
DAEDALUS_V3D_EXECUTE_1(utof, daedalus_v3d_bits_of((float)(int32_t)(x >> 16) * 0x1p16f +
                                                  (float)(int32_t)(x & 0xffff)))

DAEDALUS_V3D_EXECUTE_2(vpack, (x & 0xffff) | y << 16)
/* The low bits of four 16-bit values, without saturation. */
DAEDALUS_V3D_EXECUTE_2(v8pack, (x & 0xff) | (x >> 16 & 0xff) << 8 | (y & 0xff) << 16 |
                                   (y >> 16 & 0xff) << 24)
DAEDALUS_V3D_EXECUTE_2(v10pack, (x & 0x3ff) | (x >> 16 & 0x3ff) << 10 | (y & 0x3ff) << 20 |
                                    (y >> 16 & 3) << 30)

/*
 * An f16 without its sign and the low bits of its significand, to nearest even: negative values
 * become 0, what is too large infinity.
 */
static inline uint32_t narrow_half(uint32_t half, unsigned dropped) {
  const uint32_t odd = half >> dropped & 1;
  const uint32_t rounded = (half + (1u << (dropped - 1)) - 1 + odd) >> dropped;
  const uint32_t positive = half & DAEDALUS_V3D_HALF_SIGN ? 0 : rounded;
  return (half & 0x7fff) > DAEDALUS_V3D_HALF_INFINITY ? DAEDALUS_V3D_HALF_NAN >> dropped : positive;
}

/* r11g11b10: 5 bits of exponent, 6, 6 and 5 of significand. */
DAEDALUS_V3D_EXECUTE_2(v11fpack, narrow_half(x & 0xffff, 4) | narrow_half(x >> 16, 4) << 11 |
                                     narrow_half(y & 0xffff, 5) << 22)

/* Clamped to [low, 1]; a NaN becomes 0. */
static inline float clamp(uint32_t bits, float low) {
  const float p = daedalus_v3d_is_nan(bits) ? 0 : daedalus_v3d_float_of(bits);
  const float above = p < low ? low : p;
  return above > 1 ? 1 : above;
}

/* Scaled, to nearest even.  The product is exact: 24 bits times 16. */
static inline uint32_t normalise(uint32_t bits, float low, uint32_t most) {
  /* 1.5 * 2^52 has units of 1. */
  return (uint32_t)(int32_t)(((double)clamp(bits, low) * most + 0x1.8p52) - 0x1.8p52);
}

/* The same of the fp32 of an f16, and most of 10 bits at most: exact in fp32. */
static inline uint32_t normalise_half(uint32_t bits, float low, float most) {
  return (uint32_t)(int32_t)((clamp(bits, low) * most + 0x1.8p23f) - 0x1.8p23f);
}

/* Either half of 2 x f16, into the low bits of either half of the result. */
static inline void normalise_halves(uint32_t *restrict out, const uint32_t *restrict in,
                                    bool denormals, float low, float low_most, float high_most,
                                    uint32_t mask) {
  uint32_t x[2][DAEDALUS_V3D_LANES];
  daedalus_v3d_floats_of_halves(x, in, denormals);
  DAEDALUS_V3D_EACH_LANE out[i] = normalise_half(x[0][i], low, low_most) & mask;
  DAEDALUS_V3D_EACH_LANE out[i] |= (normalise_half(x[1][i], low, high_most) & mask) << 16;
}

#define NORMALISE_HALVES(name, low, low_most, high_most, mask)                               \
  DAEDALUS_V3D_EXECUTE(name) {                                                               \
    (void)b;                                                                                 \
    normalise_halves(out, a, state->profile->f16_denormals, low, low_most, high_most, mask); \
  }

DAEDALUS_V3D_EXECUTE_1(ftounorm16, normalise(x, 0, 65535))
DAEDALUS_V3D_EXECUTE_1(ftosnorm16, normalise(x, -1, 32767) & 0xffff)
NORMALISE_HALVES(vftounorm8, 0, 255, 255, 0xff)
NORMALISE_HALVES(vftosnorm8, -1, 127, 127, 0xff)
/* For v10pack: three values of 10 bits and one of 2. */
NORMALISE_HALVES(vftounorm10lo, 0, 1023, 1023, 0x3ff)
NORMALISE_HALVES(vftounorm10hi, 0, 1023, 3, 0x3ff)

static inline uint32_t from_unorm16(uint32_t x) {
  return daedalus_v3d_bits_of((float)(int32_t)x / 65535.0f);
}

static inline uint32_t from_snorm16(uint32_t x) {
  const float p = (float)(int16_t)x / 32767.0f;
  return daedalus_v3d_bits_of(p < -1 ? -1 : p);
}

DAEDALUS_V3D_EXECUTE_1(funpackunormlo, from_unorm16(x & 0xffff))
DAEDALUS_V3D_EXECUTE_1(funpackunormhi, from_unorm16(x >> 16))
DAEDALUS_V3D_EXECUTE_1(funpacksnormlo, from_snorm16(x & 0xffff))
DAEDALUS_V3D_EXECUTE_1(funpacksnormhi, from_snorm16(x >> 16))
