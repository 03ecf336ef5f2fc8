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

#endif
