/* SPDX-License-Identifier: BSD-2-Clause */
/* Integer operations: all modulo 2^32. Right shifts of signed values are arithmetic (gcc, clang).
 */
#include "simulator/alu_semantics.h"

static inline int32_t sint(uint32_t x) {
  return (int32_t)x;
}

/* The low 24 bits, sign-extended. */
static inline uint32_t sext24(uint32_t x) {
  return (uint32_t)(sint(x << 8) >> 8);
}

DAEDALUS_V3D_EXECUTE_0(nothing, 0)
DAEDALUS_V3D_EXECUTE_2(add, x + y)
DAEDALUS_V3D_EXECUTE_2(sub, x - y)
DAEDALUS_V3D_EXECUTE_2(min, sint(x) < sint(y) ? x : y)
DAEDALUS_V3D_EXECUTE_2(max, sint(x) > sint(y) ? x : y)
DAEDALUS_V3D_EXECUTE_2(umin, x < y ? x : y)
DAEDALUS_V3D_EXECUTE_2(umax, x > y ? x : y)
DAEDALUS_V3D_EXECUTE_2(shl, x << (y & 31))
DAEDALUS_V3D_EXECUTE_2(shr, x >> (y & 31))
DAEDALUS_V3D_EXECUTE_2(asr, (uint32_t)(sint(x) >> (y & 31)))
DAEDALUS_V3D_EXECUTE_2(ror, x >> (y & 31) | x << (-y & 31))
DAEDALUS_V3D_EXECUTE_2(and, x &y)
DAEDALUS_V3D_EXECUTE_2(or, x | y)
DAEDALUS_V3D_EXECUTE_2(xor, x ^ y)
DAEDALUS_V3D_EXECUTE_1(not, ~x)
DAEDALUS_V3D_EXECUTE_1(neg, -x)
DAEDALUS_V3D_EXECUTE_1(mov, x)
DAEDALUS_V3D_EXECUTE_1(clz, x ? (uint32_t)__builtin_clz(x) : state->profile->clz_of_zero)
DAEDALUS_V3D_EXECUTE_2(vadd, ((x + y) & 0xffff) | ((x & 0xffff0000) + (y & 0xffff0000)))
DAEDALUS_V3D_EXECUTE_2(vsub, ((x - y) & 0xffff) | ((x & 0xffff0000) - (y & 0xffff0000)))
DAEDALUS_V3D_EXECUTE_2(smul24, sext24(x) * sext24(y))

/*
 * multop and umul24, one after the other, make the low half of a 32 x 32 product: multop leaves
 * the products of one operand's top byte with the other's rest, which umul24 adds 24 bits up.
 * Only their low 8 bits matter.  A condition does not hold either back from rtop.
 */
DAEDALUS_V3D_EXECUTE(multop) {
  DAEDALUS_V3D_EACH_LANE {
    const uint32_t x = a[i], y = b[i];
    out[i] = state->rtop[i] = (x >> 24) * (y & 0xffffff) + (x & 0xffffff) * (y >> 24);
  }
}

DAEDALUS_V3D_EXECUTE(umul24) {
  DAEDALUS_V3D_EACH_LANE {
    const uint32_t x = a[i] & 0xffffff, y = b[i] & 0xffffff;
    out[i] = x * y + (state->rtop[i] << 24);
    state->rtop[i] = 0;
  }
}

/* Byte k of x, extended to 32 bits. */
static inline uint32_t byte_of(uint32_t x, unsigned k, bool is_signed) {
  const uint32_t top = x << (24 - 8 * k);
  return is_signed ? (uint32_t)(sint(top) >> 24) : top >> 24;
}

static inline void dot(uint32_t *restrict out, const uint32_t *restrict a,
                       const uint32_t *restrict b, bool a_signed, bool b_signed) {
  DAEDALUS_V3D_EACH_LANE {
    uint32_t sum = 0;
    for (unsigned k = 0; k < 4; k++)
      sum += byte_of(a[i], k, a_signed) * byte_of(b[i], k, b_signed);
    out[i] = sum;
  }
}

/* One loop a mode: signedness is then a constant of each. */
DAEDALUS_V3D_EXECUTE(v8dot) {
  const bool first_is_a = state->profile->nnmode_first_letter_is_a;
  const bool first_signed = state->nnmode & 1, second_signed = state->nnmode & 2;
  const bool a_signed = first_is_a ? first_signed : second_signed;
  const bool b_signed = first_is_a ? second_signed : first_signed;
  if (a_signed && b_signed)
    dot(out, a, b, true, true);
  else if (a_signed)
    dot(out, a, b, true, false);
  else if (b_signed)
    dot(out, a, b, false, true);
  else
    dot(out, a, b, false, false);
}

#define SETNNMODE(name, mode)          \
  DAEDALUS_V3D_EXECUTE(name) {         \
    (void)a, (void)b;                  \
    DAEDALUS_V3D_EACH_LANE out[i] = 0; \
    state->nnmode = (mode);            \
  }
SETNNMODE(setnnmode_uu, 0)
SETNNMODE(setnnmode_su, 1)
SETNNMODE(setnnmode_us, 2)
SETNNMODE(setnnmode_ss, 3)
