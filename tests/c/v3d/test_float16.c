/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * f16: every value to fp32 and back, every rounding boundary between two neighbours, and
 * arithmetic on hard and random pairs, against exact arithmetic in double.
 */
#include <math.h>
#include <stdio.h>

#include "alu_rows.h"
#include "check.h"
#include "simulator/alu_semantics.h"

static const daedalus_v3d_kernels *compilations[2];
static unsigned n_compilations;
static daedalus_v3d_profile profile;

/* The value of an f16, by its definition. */
static double value_of(uint32_t half) {
  const int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 0x3ff);
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? (double)NAN : sign * (double)INFINITY;
  return exponent ? sign * ldexp(1024 + fraction, exponent - 25) : sign * ldexp(fraction, -24);
}

/* The f16 nearest to an exact value: by search, ties to the even one. */
static uint32_t nearest(double value) {
  if (isnan(value))
    return 0x7e00;
  const uint32_t sign = signbit(value) ? 0x8000 : 0;
  const double magnitude = fabs(value);
  uint32_t low = 0, high = 0x7c00; /* the largest half at or below magnitude */
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (value_of(middle) <= magnitude)
      low = middle;
    else
      high = middle;
  }
  if (isinf(magnitude))
    return sign | 0x7c00;
  /* Infinity stands where the next number would. */
  const double above = high == 0x7c00 ? 65536 : value_of(high);
  const double to_low = magnitude - value_of(low), to_high = above - magnitude;
  return sign | (to_low < to_high || (to_low == to_high && low % 2 == 0) ? low : high);
}

static uint32_t float_bits(double value) {
  const float rounded = (float)value;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return isnan(value) ? 0x7fc00000 : bits;
}

/* 16 of them at a time, by unpack and pack of either half. */
static void test_every_half(void) {
  for (unsigned c = 0; c < n_compilations; c++)
    for (uint32_t first = 0; first < 0x10000; first += DAEDALUS_V3D_LANES) {
      uint32_t in[DAEDALUS_V3D_LANES], high[DAEDALUS_V3D_LANES], wide[DAEDALUS_V3D_LANES],
          same[DAEDALUS_V3D_LANES], back[DAEDALUS_V3D_LANES];
      for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
        in[i] = first + i + 0x12340000;
        high[i] = (first + i) << 16 | 0x1234;
      }
      compilations[c]->unpack[DAEDALUS_V3D_UNPACK_L](wide, in, &profile);
      compilations[c]->unpack[DAEDALUS_V3D_UNPACK_H](same, high, &profile);
      compilations[c]->pack[DAEDALUS_V3D_PACK_L](back, in, wide, &profile);
      for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
        const uint32_t half = first + i;
        const int nan = (half & 0x7fff) > 0x7c00;
        CHECK(wide[i] == float_bits(value_of(half)) && same[i] == wide[i]);
        CHECK(back[i] == (0x12340000 | (nan ? 0x7e00 : half)));
      }
    }
}

/* Between every two neighbours: the middle and the fp32 next to it on either side. */
static void test_every_boundary(void) {
  for (unsigned c = 0; c < n_compilations; c++)
    for (uint32_t half = 0; half < 0x7c00; half++) {
      const double above = half == 0x7bff ? 65536 : value_of(half + 1);
      const uint32_t middle = float_bits((value_of(half) + above) / 2);
      uint32_t in[DAEDALUS_V3D_LANES] = {0}, out[DAEDALUS_V3D_LANES];
      for (unsigned i = 0; i < 6; i++)
        in[i] = (middle - 1 + i % 3) | (i < 3 ? 0 : 0x80000000);
      compilations[c]->unpack[DAEDALUS_V3D_UNPACK_FF](out, in, &profile);
      for (unsigned i = 0; i < 6; i++) {
        float value;
        memcpy(&value, &in[i], sizeof value);
        CHECK(out[i] == nearest(value) * 0x10001u);
      }
    }
}

static uint32_t expected(unsigned op, uint32_t x, uint32_t y) {
  const double p = value_of(x), q = value_of(y);
  switch (op) {
    case DAEDALUS_V3D_OP_VFADD:
      return nearest(p + q); /* exact in double, as are the next two */
    case DAEDALUS_V3D_OP_VFSUB:
    case DAEDALUS_V3D_OP_VFCMP:
      return nearest(p - q);
    case DAEDALUS_V3D_OP_VFMUL:
      return nearest(p * q);
    default: { /* vfmin, vfmax */
      const int greater = op == DAEDALUS_V3D_OP_VFMAX;
      if (isnan(p) || isnan(q))
        return nearest(isnan(p) ? q : p);
      if (p == q)
        return !!signbit(p) == !greater ? x : y;
      return (p > q) == greater ? x : y;
    }
  }
}

static void test_arithmetic(void) {
  static const uint8_t ops[] = {DAEDALUS_V3D_OP_VFADD, DAEDALUS_V3D_OP_VFSUB,
                                DAEDALUS_V3D_OP_VFMUL, DAEDALUS_V3D_OP_VFMIN,
                                DAEDALUS_V3D_OP_VFMAX, DAEDALUS_V3D_OP_VFCMP};
  daedalus_v3d_lane_state state = alu_state(&profile);
  uint64_t seed = 16;
  for (unsigned c = 0; c < n_compilations; c++)
    for (unsigned n = 0; n < 20000; n++) {
      uint32_t a[DAEDALUS_V3D_LANES], b[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
      for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
        a[i] = alu_random_hard(&seed);
        /* Every other time of about the same exponent, where sums cancel and tie. */
        b[i] = n % 2 ? alu_random_hard(&seed) : a[i] ^ (alu_random(&seed) & 0x8fff8fff);
      }
      const unsigned op = ops[n % (sizeof ops / sizeof ops[0])];
      compilations[c]->semantics[op].execute(out, a, b, &state);
      for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
        CHECK(out[i] == (expected(op, a[i] & 0xffff, b[i] & 0xffff) |
                         expected(op, a[i] >> 16, b[i] >> 16) << 16));
    }
}

int main(void) {
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  n_compilations = alu_compilations(compilations);
  profile = daedalus_v3d_profile_default();
  RUN(test_every_half);
  RUN(test_every_boundary);
  RUN(test_arithmetic);
  daedalus_v3d_float_end(modes);
  return CHECK_RESULT();
}
