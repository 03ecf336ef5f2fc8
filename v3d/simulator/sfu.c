/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The special functions.  The bits that the hardware gives are not known; here they are the true
 * values rounded to fp32 (recip exactly so, the others but for the rarest cases, as they are
 * computed in double with an error of a few units in its last place).  Nothing of the host's
 * libm is used, which differs between hosts: only + - * / and the square root, which IEEE fixes.
 */
#include "simulator/alu_semantics.h"
#include "simulator/float32.h"

/* Added to a double below 2^51 it leaves the nearest integer in the lowest bits. */
#define ROUNDER 0x1.8p52

static inline uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Results to fewer bits, ties to even, where the profile asks for it. */
static void limit_precision(uint32_t *out, const daedalus_v3d_lane_state *state) {
  const unsigned dropped = 24 - state->profile->sfu_significand_bits;
  if (dropped == 0)
    return;
  DAEDALUS_V3D_EACH_LANE {
    const uint32_t odd = out[i] >> dropped & 1;
    const uint32_t rounded = (out[i] + (1u << (dropped - 1)) - 1 + odd) >> dropped << dropped;
    const bool finite = (out[i] & DAEDALUS_V3D_INFINITY) != DAEDALUS_V3D_INFINITY;
    out[i] = finite ? rounded : out[i];
  }
}

#define SFU(name, function)                                                 \
  DAEDALUS_V3D_EXECUTE(name) {                                              \
    (void)b;                                                                \
    DAEDALUS_V3D_EACH_LANE out[i] =                                         \
        daedalus_v3d_bits_of_result(function(daedalus_v3d_float_of(a[i]))); \
    limit_precision(out, state);                                            \
  }

static inline float reciprocal(float x) {
  return 1 / x;
}

static inline float reciprocal_root(float x) {
  return (float)(1 / __builtin_sqrt(x));
}

/* 2^x = 2^n e^(f ln 2), |f| <= 1/2: Taylor's series to the 13th power, remainder below 2^-57. */
static inline float power_of_two(float x) {
  const double limited = x < -160 ? -160 : x > 130 ? 130 : x;
  const double shifted = limited + ROUNDER;
  const double t = (limited - (shifted - ROUNDER)) * 0x1.62e42fefa39efp-1;
  double e = 1.0 / 6227020800;
  e = e * t + 1.0 / 479001600;
  e = e * t + 1.0 / 39916800;
  e = e * t + 1.0 / 3628800;
  e = e * t + 1.0 / 362880;
  e = e * t + 1.0 / 40320;
  e = e * t + 1.0 / 5040;
  e = e * t + 1.0 / 720;
  e = e * t + 1.0 / 120;
  e = e * t + 1.0 / 24;
  e = e * t + 1.0 / 6;
  e = e * t + 1.0 / 2;
  e = e * t + 1.0;
  e = e * t + 1.0;
  const double scale = double_of_bits((bits_of_double(shifted) + 1023) << 52);
  /* From 2^128 on it is infinity; the conversion of such a number would be left to the host. */
  const float power = (float)(x < 128 ? e * scale : 1);
  const float large = x >= 128 ? daedalus_v3d_float_of(DAEDALUS_V3D_INFINITY) : x;
  return x < 128 ? power : large; /* a NaN stays */
}

/*
 * log2 x = k + log2 m, m in [sqrt 1/2, sqrt 2); log2 m = 2 / ln 2 * artanh s, s = (m - 1) /
 * (m + 1), |s| < 0.172: the series to s^23, remainder below 2^-61 of it.
 */
static inline float logarithm(float x) {
  const bool positive = (x > 0) & (x < daedalus_v3d_float_of(DAEDALUS_V3D_INFINITY));
  const uint64_t bits = bits_of_double(positive ? x : 1);
  /* The exponent above sqrt 1/2, moved up to stay positive. */
  const uint64_t exponent = (bits - 0x3fe6a09e667f3bcdu + (1024ull << 52)) >> 52;
  const double m = double_of_bits(bits - ((exponent - 1024) << 52));
  /* An integer below 2^52 as a double: below the bits of 2^52 it counts units of 1. */
  const double k = double_of_bits(exponent | 0x4330000000000000u) - (0x1p52 + 1024);
  const double s = (m - 1) / (m + 1), z = s * s;
  double p = 1.0 / 23;
  p = p * z + 1.0 / 21;
  p = p * z + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z + 1.0;
  const float finite = (float)(k + p * s * 0x1.71547652b82fep+1);
  const float infinity = daedalus_v3d_float_of(DAEDALUS_V3D_INFINITY);
  const float nan = daedalus_v3d_float_of(DAEDALUS_V3D_NAN);
  const float special = x == 0 ? -infinity : x > 0 ? infinity : nan;
  return positive ? finite : special;
}

/*
 * sin(pi x).  The hardware is said to be right for |x| <= 1/2; here every x gets its true sine:
 * the nearest integer n is taken off exactly and its parity is the sign.  Taylor's series to the
 * 23rd power of pi r, remainder below 2^-66.
 */
static inline float sine(float x) {
  const bool fraction = daedalus_v3d_magnitude(x) < 0x1p24f; /* else an even number */
  const double reduced = fraction ? x : 0;
  const double shifted = reduced + ROUNDER;
  const double t = (reduced - (shifted - ROUNDER)) * 0x1.921fb54442d18p+1, z = t * t;
  double p = -1.0 / 25852016738884976640000.0;
  p = p * z + 1.0 / 51090942171709440000.0;
  p = p * z - 1.0 / 121645100408832000;
  p = p * z + 1.0 / 355687428096000;
  p = p * z - 1.0 / 1307674368000;
  p = p * z + 1.0 / 6227020800;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  const double positive = t + t * z * p;
  const double value = double_of_bits(bits_of_double(positive) ^ bits_of_double(shifted) << 63);
  const float zero_signed = value == 0 ? daedalus_v3d_copy_sign(0, x) : (float)value;
  const bool finite = daedalus_v3d_magnitude(x) < daedalus_v3d_float_of(DAEDALUS_V3D_INFINITY);
  return finite ? zero_signed : daedalus_v3d_float_of(DAEDALUS_V3D_NAN);
}

SFU(recip, reciprocal)
SFU(rsqrt, reciprocal_root)
SFU(exp, power_of_two)
SFU(log, logarithm)
SFU(sin, sine)
