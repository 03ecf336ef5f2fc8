/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The special functions against <math.h> in double: never more than one unit in the last place
 * away, and nearly always the correctly rounded value.  A step through all fp32 patterns; as the
 * only argument another step than the usual one (1: all of them, some minutes).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alu_rows.h"
#include "check.h"
#include "simulator/alu_semantics.h"

static double reciprocal(double x) {
  return 1 / x;
}

static double reciprocal_root(double x) {
  return 1 / sqrt(x);
}

/* The remainder is exact, so that only the last step rounds. */
static double sine(double x) {
  const double pi = 3.14159265358979323846, r = remainder(x, 2);
  const double magnitude = fabs(r) > 0.5 ? 1 - fabs(r) : fabs(r);
  return copysign(sin(pi * magnitude), magnitude == 0 ? x : r);
}

static const struct {
  uint8_t op;
  double (*function)(double);
} functions[] = {{DAEDALUS_V3D_OP_RECIP, reciprocal},
                 {DAEDALUS_V3D_OP_RSQRT, reciprocal_root},
                 {DAEDALUS_V3D_OP_RSQRT2, reciprocal_root},
                 {DAEDALUS_V3D_OP_EXP, exp2},
                 {DAEDALUS_V3D_OP_LOG, log2},
                 {DAEDALUS_V3D_OP_SIN, sine}};

/* Patterns in the order of the numbers. */
static int64_t order(uint32_t bits) {
  return bits >> 31 ? -(int64_t)(bits & 0x7fffffff) : (int64_t)bits;
}

/* Units in the last place between out and the value of the function at in. */
static int64_t distance(unsigned f, uint32_t in, uint32_t out) {
  float x;
  memcpy(&x, &in, sizeof x);
  const double value = functions[f].function(x);
  if (isnan(value))
    return out == 0x7fc00000 ? 0 : INT64_MAX;
  const float rounded = (float)value;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  if (value == 0 && out != bits)
    return INT64_MAX; /* the sign of zero counts */
  return llabs(order(out) - order(bits));
}

static void check(const daedalus_v3d_semantics *semantics, unsigned f, uint64_t step) {
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  daedalus_v3d_lane_state state = alu_state(&profile);
  uint64_t different = 0, compared = 0;
  for (uint64_t first = 0; first <= UINT32_MAX; first += step * DAEDALUS_V3D_LANES) {
    uint32_t in[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
    for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
      in[i] = (uint32_t)(first + step * i);
    semantics[functions[f].op].execute(out, in, in, &state);
    for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
      const int64_t units = distance(f, in[i], out[i]);
      compared++;
      different += units != 0;
      if (units > 1) {
        fprintf(stderr, "%s of 0x%08x is 0x%08x\n",
                daedalus_v3d_operation_of(functions[f].op)->text, in[i], out[i]);
        CHECK(0);
      }
    }
  }
  printf("%-6s %llu of %llu differ from the rounded double\n",
         daedalus_v3d_operation_of(functions[f].op)->text, (unsigned long long)different,
         (unsigned long long)compared);
  /* Where the true value lies within about 2^-28 units of the middle of two neighbours. */
  CHECK(different <= (functions[f].op == DAEDALUS_V3D_OP_RECIP ? 0 : compared / 1000000));
}

int main(int argc, char **argv) {
  /* A prime: all low bits come about. */
  const uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 0) : 2053;
  if (step == 0 || argc > 2) {
    fprintf(stderr, "usage: %s [STEP]\n", argv[0]);
    return 2;
  }
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  const daedalus_v3d_kernels *compilations[2];
  const unsigned n = alu_compilations(compilations);
  for (unsigned c = 0; c < n; c++)
    for (unsigned f = 0; f < sizeof functions / sizeof functions[0]; f++)
      check(compilations[c]->semantics, f, step);
  daedalus_v3d_float_end(modes);
  return CHECK_RESULT();
}
