/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random and hard operands against a second formulation of every operation that works lane by
 * lane: integers in 64 bits, floats in double (a sum, difference or product of two fp32 rounded
 * to double and then to fp32 is the rounded one: 53 >= 2 * 24 + 2), conversions by <math.h>.
 */
#include <math.h>
#include <stdio.h>

#include "alu_rows.h"
#include "check.h"
#include "simulator/alu_semantics.h"

#define VECTORS 4000

static double as_double(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t as_bits(double value) {
  const float rounded = (float)value;
  uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return isnan(value) ? 0x7fc00000 : bits;
}

static int64_t sext24(uint32_t x) {
  return (int64_t)(x & 0x7fffff) - (int64_t)(x & 0x800000);
}

static uint32_t shifted(unsigned op, uint32_t x, unsigned n) {
  for (; n; n--)
    switch (op) {
      case DAEDALUS_V3D_OP_SHL:
        x = x * 2;
        break;
      case DAEDALUS_V3D_OP_SHR:
        x = x / 2;
        break;
      case DAEDALUS_V3D_OP_ASR:
        x = x / 2 + (x & 0x80000000);
        break;
      default:
        x = x / 2 + (x % 2) * 0x80000000;
        break;
    }
  return x;
}

static uint32_t leading_zeros(uint32_t x) {
  uint32_t n = 0;
  for (uint64_t weight = 0x80000000; weight > x; weight /= 2)
    n++;
  return n > 32 ? 32 : n;
}

static uint32_t limited(double value, double least, double most) {
  if (isnan(value))
    return 0;
  value = value < least ? least : value > most ? most : value;
  return (uint32_t)(int64_t)value;
}

static uint32_t extreme(double x, double y, int greater) {
  if (isnan(x) || isnan(y))
    return as_bits(isnan(x) ? y : x);
  if (x == y)
    return as_bits(!!signbit(x) == !greater ? x : y);
  return as_bits((x > y) == greater ? x : y);
}

/* Bytes of v8dot, unsigned. */
static uint32_t dot(uint32_t x, uint32_t y) {
  uint64_t sum = 0;
  for (unsigned k = 0; k < 32; k += 8)
    sum += (uint64_t)(x >> k & 0xff) * (y >> k & 0xff);
  return (uint32_t)sum;
}

static int integer_result(unsigned op, uint32_t x, uint32_t y, uint32_t *result) {
  const int64_t sx = x - ((int64_t)(x >> 31) << 32), sy = y - ((int64_t)(y >> 31) << 32);
  switch (op) {
    case DAEDALUS_V3D_OP_ADD:
      *result = (uint32_t)(sx + sy);
      return 1;
    case DAEDALUS_V3D_OP_SUB:
      *result = (uint32_t)(sx - sy);
      return 1;
    case DAEDALUS_V3D_OP_MIN:
      *result = (uint32_t)(sx < sy ? sx : sy);
      return 1;
    case DAEDALUS_V3D_OP_MAX:
      *result = (uint32_t)(sx < sy ? sy : sx);
      return 1;
    case DAEDALUS_V3D_OP_UMIN:
      *result = x <= y ? x : y;
      return 1;
    case DAEDALUS_V3D_OP_UMAX:
      *result = x <= y ? y : x;
      return 1;
    case DAEDALUS_V3D_OP_SHL:
    case DAEDALUS_V3D_OP_SHR:
    case DAEDALUS_V3D_OP_ASR:
    case DAEDALUS_V3D_OP_ROR:
      *result = shifted(op, x, y % 32);
      return 1;
    case DAEDALUS_V3D_OP_AND: /* De Morgan */
      *result = ~(~x | ~y);
      return 1;
    case DAEDALUS_V3D_OP_OR:
      *result = ~(~x & ~y);
      return 1;
    case DAEDALUS_V3D_OP_XOR:
      *result = (x | y) - (x & y);
      return 1;
    case DAEDALUS_V3D_OP_NOT:
      *result = 0xffffffff - x;
      return 1;
    case DAEDALUS_V3D_OP_NEG:
      *result = (uint32_t)-sx;
      return 1;
    case DAEDALUS_V3D_OP_CLZ:
      *result = leading_zeros(x);
      return 1;
    case DAEDALUS_V3D_OP_VADD:
      *result = (x % 65536 + y % 65536) % 65536 + (x / 65536 + y / 65536) % 65536 * 65536;
      return 1;
    case DAEDALUS_V3D_OP_VSUB:
      *result =
          (65536 + x % 65536 - y % 65536) % 65536 + (65536 + x / 65536 - y / 65536) % 65536 * 65536;
      return 1;
    case DAEDALUS_V3D_OP_SMUL24:
      *result = (uint32_t)(sext24(x) * sext24(y));
      return 1;
    case DAEDALUS_V3D_OP_V8DOT:
      *result = dot(x, y);
      return 1;
    default:
      return 0;
  }
}

static int float_result(unsigned op, double x, double y, uint32_t *result) {
  switch (op) {
    case DAEDALUS_V3D_OP_FADD:
    case DAEDALUS_V3D_OP_FADDNF:
      *result = as_bits(x + y);
      return 1;
    case DAEDALUS_V3D_OP_FSUB:
    case DAEDALUS_V3D_OP_FCMP:
      *result = as_bits(x - y);
      return 1;
    case DAEDALUS_V3D_OP_FMUL:
      *result = as_bits(x * y);
      return 1;
    case DAEDALUS_V3D_OP_FMIN:
    case DAEDALUS_V3D_OP_FMAX:
      *result = extreme(x, y, op == DAEDALUS_V3D_OP_FMAX);
      return 1;
    case DAEDALUS_V3D_OP_FROUND:
      *result = as_bits(rint(x));
      return 1;
    case DAEDALUS_V3D_OP_FTRUNC:
      *result = as_bits(trunc(x));
      return 1;
    case DAEDALUS_V3D_OP_FFLOOR:
      *result = as_bits(floor(x));
      return 1;
    case DAEDALUS_V3D_OP_FCEIL:
      *result = as_bits(ceil(x));
      return 1;
    case DAEDALUS_V3D_OP_FTOIN:
      *result = limited(rint(x), INT32_MIN, INT32_MAX);
      return 1;
    case DAEDALUS_V3D_OP_FTOIZ:
      *result = limited(x, INT32_MIN, INT32_MAX);
      return 1;
    case DAEDALUS_V3D_OP_FTOUZ:
      *result = limited(x, 0, UINT32_MAX);
      return 1;
    case DAEDALUS_V3D_OP_FTOUNORM16:
      *result = limited(rint(x * 65535), 0, 65535);
      return 1;
    case DAEDALUS_V3D_OP_FTOSNORM16:
      *result = limited(rint(x * 32767), -32767, 32767) & 0xffff;
      return 1;
    case DAEDALUS_V3D_OP_RECIP:
      *result = as_bits(1 / x);
      return 1;
    default:
      return 0;
  }
}

static int convert_result(unsigned op, uint32_t x, uint32_t *result) {
  const int64_t sx = x - ((int64_t)(x >> 31) << 32);
  const int low = (int)(x % 65536), high = (int)(x / 65536);
  switch (op) {
    case DAEDALUS_V3D_OP_ITOF:
      *result = as_bits((double)sx);
      return 1;
    case DAEDALUS_V3D_OP_UTOF:
      *result = as_bits((double)x);
      return 1;
    case DAEDALUS_V3D_OP_FUNPACKUNORMLO:
      *result = as_bits(low / 65535.0);
      return 1;
    case DAEDALUS_V3D_OP_FUNPACKUNORMHI:
      *result = as_bits(high / 65535.0);
      return 1;
    case DAEDALUS_V3D_OP_FUNPACKSNORMLO:
      *result = as_bits(fmax((low - (low > 32767 ? 65536 : 0)) / 32767.0, -1));
      return 1;
    case DAEDALUS_V3D_OP_FUNPACKSNORMHI:
      *result = as_bits(fmax((high - (high > 32767 ? 65536 : 0)) / 32767.0, -1));
      return 1;
    default:
      return 0;
  }
}

static int second_result(unsigned op, uint32_t x, uint32_t y, uint32_t *result) {
  return integer_result(op, x, y, result) || convert_result(op, x, result) ||
         float_result(op, as_double(x), as_double(y), result);
}

/* Z, N, C as bits 0, 1, 2. */
static unsigned second_flags(unsigned op, uint32_t x, uint32_t y, uint32_t result) {
  const double p = as_double(x), q = as_double(y);
  const int is_float = (daedalus_v3d_operation_of(op)->traits & DAEDALUS_V3D_TRAIT_FLOAT) != 0;
  const unsigned zero = is_float ? as_double(result) == 0 : result == 0;
  const unsigned negative = result >= 0x80000000;
  const unsigned above = x - ((int64_t)(x >> 31) << 32) > y - ((int64_t)(y >> 31) << 32);
  switch (op) {
    case DAEDALUS_V3D_OP_FCMP:
      return (unsigned)(p == q) | (unsigned)(p < q) << 1 | (unsigned)(p <= q) << 2;
    case DAEDALUS_V3D_OP_ADD:
      return zero | negative << 1 | (unsigned)((uint64_t)x + y > UINT32_MAX) << 2;
    case DAEDALUS_V3D_OP_SUB:
      return zero | negative << 1 | (unsigned)(x < y) << 2;
    case DAEDALUS_V3D_OP_MIN:
    case DAEDALUS_V3D_OP_MAX:
      return zero | negative << 1 | above << 2;
    case DAEDALUS_V3D_OP_UMIN:
    case DAEDALUS_V3D_OP_UMAX:
      return zero | negative << 1 | (unsigned)(x > y) << 2;
    default:
      return zero | negative << 1;
  }
}

static void check_vector(const daedalus_v3d_semantics *semantics, unsigned op, uint64_t *seed) {
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  daedalus_v3d_lane_state state = alu_state(&profile);
  uint32_t a[DAEDALUS_V3D_LANES], b[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
    a[i] = alu_random_hard(seed);
    b[i] = alu_random_hard(seed);
  }
  semantics->execute(out, a, b, &state);
  const unsigned zero = semantics->zero(out, a, b, &state);
  const unsigned negative = semantics->negative(out, a, b, &state);
  const unsigned carry = semantics->carry(out, a, b, &state);
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
    uint32_t expected;
    if (!second_result(op, a[i], b[i], &expected))
      return;
    const unsigned flags = (zero >> i & 1) | (negative >> i & 1) << 1 | (carry >> i & 1) << 2;
    if (out[i] == expected && flags == second_flags(op, a[i], b[i], expected))
      continue;
    fprintf(stderr, "%s 0x%08x, 0x%08x is 0x%08x %u, expected 0x%08x %u\n",
            daedalus_v3d_operation_of(op)->text, a[i], b[i], out[i], flags, expected,
            second_flags(op, a[i], b[i], expected));
    CHECK(0);
  }
}

static void test_random(void) {
  const daedalus_v3d_kernels *compilations[2];
  const unsigned n = alu_compilations(compilations);
  unsigned compared = 0;
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++) {
    uint32_t unused;
    if (!second_result(op, 0, 0, &unused))
      continue;
    compared++;
    for (unsigned c = 0; c < n; c++) {
      uint64_t seed = 0x5eed + op;
      for (unsigned v = 0; v < VECTORS; v++)
        check_vector(&compilations[c]->semantics[op], op, &seed);
    }
  }
  /* Of integers 20, of fp32 17, of conversions 6. */
  CHECK_INT(compared, 43);
}

int main(void) {
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  RUN(test_random);
  daedalus_v3d_float_end(modes);
  return CHECK_RESULT();
}
