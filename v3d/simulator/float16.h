/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * f16 (IEEE binary16) to and from fp32, exactly rounded, without branches so that loops over lanes
 * become vectors.
 *
 * Arithmetic on f16 is done in fp32 and rounded to f16 after.  That rounds twice and still gives
 * the correctly rounded sum, difference or product: fp32 has 24 >= 2 * 11 + 2 bits (S. Figueroa,
 * "When is double rounding innocuous?", SIGNUM Newsletter 30(3), 1995); where the f16 result is
 * denormal the fp32 one is exact (sums are multiples of 2^-24, products have 22 bits).
 */
#ifndef DAEDALUS_V3D_FLOAT16_H
#define DAEDALUS_V3D_FLOAT16_H

#include "simulator/float32.h"

#define DAEDALUS_V3D_HALF_SIGN 0x8000u
#define DAEDALUS_V3D_HALF_INFINITY 0x7c00u
#define DAEDALUS_V3D_HALF_NAN 0x7e00u
/** The smallest normal f16. */
#define DAEDALUS_V3D_HALF_NORMAL 0x0400u

/** fp32 bits of the f16 in bits 15:0 of half; a NaN becomes the canonical one. */
static inline uint32_t daedalus_v3d_half_to_float(uint32_t half, bool denormals) {
  const uint32_t magnitude = half & 0x7fff;
  const uint32_t shifted = magnitude << 13;
  /* A denormal counts units of 2^-24. */
  const uint32_t small = denormals ? daedalus_v3d_bits_of((float)(int32_t)magnitude * 0x1p-24f) : 0;
  /* Exponents move from bias 15 to bias 127, that of infinity to 255. */
  uint32_t bits = magnitude < DAEDALUS_V3D_HALF_NORMAL ? small : shifted + (112u << 23);
  bits = magnitude >= DAEDALUS_V3D_HALF_INFINITY ? DAEDALUS_V3D_INFINITY : bits;
  bits |= (half & DAEDALUS_V3D_HALF_SIGN) << 16;
  return magnitude > DAEDALUS_V3D_HALF_INFINITY ? DAEDALUS_V3D_NAN : bits;
}

/** The f16 nearest to fp32 bits, ties to even; a NaN becomes the canonical one. */
static inline uint32_t daedalus_v3d_float_to_half(uint32_t bits, bool denormals) {
  const uint32_t magnitude = bits & ~DAEDALUS_V3D_SIGN;
  /* Below the normal numbers: next to 0.5 one unit of fp32 is 2^-24, so that adding it rounds. */
  const uint32_t half_one = 0x3f000000;
  uint32_t small =
      daedalus_v3d_bits_of(daedalus_v3d_float_of(magnitude) + daedalus_v3d_float_of(half_one)) -
      half_one;
  small = !denormals && small < DAEDALUS_V3D_HALF_NORMAL ? 0 : small;
  const uint32_t odd = magnitude >> 13 & 1;
  uint32_t half = (magnitude - (112u << 23) + 0xfff + odd) >> 13;
  half = magnitude < 0x38800000 ? small : half;                       /* 2^-14 */
  half = magnitude >= 0x47800000 ? DAEDALUS_V3D_HALF_INFINITY : half; /* 65536 */
  half |= bits >> 16 & DAEDALUS_V3D_HALF_SIGN;
  return magnitude > DAEDALUS_V3D_INFINITY ? DAEDALUS_V3D_HALF_NAN : half;
}

/** The two values of a lane of 2 x f16. */
static inline uint32_t daedalus_v3d_low_half(uint32_t x, bool denormals) {
  return daedalus_v3d_half_to_float(x & 0xffff, denormals);
}

static inline uint32_t daedalus_v3d_high_half(uint32_t x, bool denormals) {
  return daedalus_v3d_half_to_float(x >> 16, denormals);
}

/** The fp32 of the low halves of 16 lanes into out[0], of the high ones into out[1]. */
static inline void daedalus_v3d_floats_of_halves(uint32_t out[2][16], const uint32_t *restrict in,
                                                 bool denormals) {
  for (unsigned i = 0; i < 16; i++)
    out[0][i] = daedalus_v3d_low_half(in[i], denormals);
  for (unsigned i = 0; i < 16; i++)
    out[1][i] = daedalus_v3d_high_half(in[i], denormals);
}

/** A lane of 2 x f16 from two fp32 values. */
static inline uint32_t daedalus_v3d_halves_of(uint32_t low, uint32_t high, bool denormals) {
  return daedalus_v3d_float_to_half(low, denormals) | daedalus_v3d_float_to_half(high, denormals)
                                                          << 16;
}

#endif
