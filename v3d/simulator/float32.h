/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fp32 on the host's float.  What is assumed of the host: float and double are IEEE binary32 and
 * binary64, evaluated as such (not x87), rounded to nearest even, with denormals
 * (daedalus_v3d_float_begin() sees to the last two).  Hosts differ in the sign and payload of the
 * NaN that an operation makes, so results pass through daedalus_v3d_bits_of_result().
 */
#ifndef DAEDALUS_V3D_FLOAT32_H
#define DAEDALUS_V3D_FLOAT32_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(sizeof(float) == 4 && FLT_MANT_DIG == 24 && FLT_MAX_EXP == 128, "not binary32");
_Static_assert(sizeof(double) == 8 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "not binary64");
_Static_assert(FLT_EVAL_METHOD == 0, "float expressions are evaluated in another type");

#define DAEDALUS_V3D_SIGN 0x80000000u
#define DAEDALUS_V3D_INFINITY 0x7f800000u
/** The NaN of every result that is one. */
#define DAEDALUS_V3D_NAN 0x7fc00000u

static inline float daedalus_v3d_float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t daedalus_v3d_bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline bool daedalus_v3d_is_nan(uint32_t bits) {
  return (bits & ~DAEDALUS_V3D_SIGN) > DAEDALUS_V3D_INFINITY;
}

/** The bits of a result, the same on every host. */
static inline uint32_t daedalus_v3d_bits_of_result(float value) {
  const uint32_t bits = daedalus_v3d_bits_of(value);
  return daedalus_v3d_is_nan(bits) ? DAEDALUS_V3D_NAN : bits;
}

/** x with the sign of sign. */
static inline float daedalus_v3d_copy_sign(float x, float sign) {
  return daedalus_v3d_float_of((daedalus_v3d_bits_of(x) & ~DAEDALUS_V3D_SIGN) |
                               (daedalus_v3d_bits_of(sign) & DAEDALUS_V3D_SIGN));
}

static inline float daedalus_v3d_magnitude(float x) {
  return daedalus_v3d_float_of(daedalus_v3d_bits_of(x) & ~DAEDALUS_V3D_SIGN);
}

/*
 * To integral values, the sign of zero kept; infinities and NaNs stay.  From 2^23 on every fp32
 * is integral.
 */
static inline float daedalus_v3d_round_even(float x) {
  const float magnitude = daedalus_v3d_magnitude(x);
  const float rounded = (magnitude + 0x1p23f) - 0x1p23f;
  return magnitude < 0x1p23f ? daedalus_v3d_copy_sign(rounded, x) : x;
}

static inline float daedalus_v3d_truncate(float x) {
  const float magnitude = daedalus_v3d_magnitude(x);
  const float rounded = (magnitude + 0x1p23f) - 0x1p23f;
  const float whole = rounded - (rounded > magnitude ? 1.0f : 0.0f);
  return magnitude < 0x1p23f ? daedalus_v3d_copy_sign(whole, x) : x;
}

static inline float daedalus_v3d_floor(float x) {
  const float whole = daedalus_v3d_truncate(x);
  return whole - (whole > x ? 1.0f : 0.0f);
}

static inline float daedalus_v3d_ceiling(float x) {
  const float whole = daedalus_v3d_truncate(x);
  return daedalus_v3d_copy_sign(whole + (whole < x ? 1.0f : 0.0f), x);
}

/**
 * The lesser (or greater) of x and y, -0 below +0.  One NaN: the other operand, or with nan_wins
 * the canonical NaN; two: that NaN.
 */
static inline uint32_t daedalus_v3d_minimum(uint32_t x, uint32_t y, bool greater, bool nan_wins) {
  /* As integers of one's complement the patterns of floats are in order. */
  const int32_t key_x = (int32_t)(x ^ ((x >> 31) * 0x7fffffff));
  const int32_t key_y = (int32_t)(y ^ ((y >> 31) * 0x7fffffff));
  const bool x_nan = daedalus_v3d_is_nan(x), y_nan = daedalus_v3d_is_nan(y);
  uint32_t result = (greater ? key_x > key_y : key_x < key_y) ? x : y;
  result = x_nan ? y : result;
  result = y_nan ? x : result;
  result = (nan_wins & (x_nan | y_nan)) | (x_nan & y_nan) ? DAEDALUS_V3D_NAN : result;
  return result;
}

#endif
