/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/vector_same.h - of daedalus/vector.h: operations of elements of one width.
 */
#ifndef DAEDALUS_VECTOR_SAME_H
#define DAEDALUS_VECTOR_SAME_H

#include <daedalus/vector_base.h>

/* ------------------------------------------------------------------ elements of one width */

/* Elements of `a` where those of `mask` have all bits set, elsewhere those of `b`. */
#define VECTOR_CHOOSE(T, mask, a, b) ((T)(((mask) & (a)) | (~(mask) & (b))))

/* What an expression in `i` says, for every element of a register; GCC vectorises the loop. */
#define VECTOR_EACH(T, N, expression) \
  T r;                                \
  for (int i = 0; i < (N); i++) {     \
    r[i] = (expression);              \
  }                                   \
  return r
#ifdef __clang__
#define VECTOR_LESSER(T, N, a, b) return VECTOR_CHOOSE(T, (T)((a) < (b)), a, b)
#define VECTOR_GREATER(T, N, a, b) return VECTOR_CHOOSE(T, (T)((a) > (b)), a, b)
#else
#define VECTOR_LESSER(T, N, a, b) VECTOR_EACH(T, N, (a)[i] < (b)[i] ? (a)[i] : (b)[i])
#define VECTOR_GREATER(T, N, a, b) VECTOR_EACH(T, N, (a)[i] > (b)[i] ? (a)[i] : (b)[i])
#endif

#define VECTOR_BASE(q, S, E, T, N, US, U)               \
  VECTOR_FN T vector_fill_##S(E x) {                    \
    return (T)VECTOR_FILL_##N(x);                       \
  }                                                     \
  VECTOR_FN T vector_min_##S(T a, T b) {                \
    VECTOR_LESSER(T, N, a, b);                          \
  }                                                     \
  VECTOR_FN T vector_max_##S(T a, T b) {                \
    VECTOR_GREATER(T, N, a, b);                         \
  }                                                     \
  VECTOR_FN T vector_clamp_##S(T a, E lo, E hi) {       \
    a = vector_max_##S(a, vector_fill_##S(lo));         \
    return vector_min_##S(a, vector_fill_##S(hi));      \
  }                                                     \
  VECTOR_FN T vector_add_##S(T a, T b) {                \
    return (T)((U)a + (U)b);                            \
  }                                                     \
  VECTOR_FN T vector_sub_##S(T a, T b) {                \
    return (T)((U)a - (U)b);                            \
  }                                                     \
  VECTOR_FN T vector_mul_##S(T a, T b) {                \
    return (T)((U)a * (U)b);                            \
  }                                                     \
  /* 0 <= n < width */                                  \
  VECTOR_FN T vector_shl_##S(T a, int n) {              \
    return (T)((U)a << (U)VECTOR_FILL_##N((uint8_t)n)); \
  }
VECTOR_TYPES(VECTOR_BASE, )

/* To the right by 0 <= n, beyond the width, too: then what is left is the sign. */
#define VECTOR_RIGHT_U(S, T)                 \
  VECTOR_FN T vector_shr_##S(T a, int n) {   \
    const int width = (int)sizeof(a[0]) * 8; \
    if (n >= width) {                        \
      return vector_fill_##S(0);             \
    }                                        \
    return a >> vector_fill_##S((uint8_t)n); \
  }
#define VECTOR_RIGHT_S(S, T)                                    \
  VECTOR_FN T vector_shr_##S(T a, int n) {                      \
    const int last = (int)sizeof(a[0]) * 8 - 1;                 \
    return a >> vector_fill_##S((int8_t)(n < last ? n : last)); \
  }
VECTOR_RIGHT_U(u16, uint16x8_t)
VECTOR_RIGHT_U(u32, uint32x4_t)
VECTOR_RIGHT_S(s8, int8x16_t)
VECTOR_RIGHT_S(s16, int16x8_t)
VECTOR_RIGHT_S(s32, int32x4_t)

/* Few processors shift bytes: what comes from the neighbour is masked out. */
VECTOR_FN uint8x16_t vector_shr_u8(uint8x16_t a, int n) {
  return (uint8x16_t)vector_shr_u16((uint16x8_t)a, n) & vector_fill_u8((uint8_t)(0xff >> n));
}

/* (a + b + 1) >> 1 */
#ifdef __clang__
typedef uint16_t vector_wide_u16 __attribute__((vector_size(32)));
typedef uint32_t vector_wide_u32 __attribute__((vector_size(32)));
#define VECTOR_MEAN(T, W, N, a, b) \
  return __builtin_convertvector(  \
      (__builtin_convertvector(a, W) + __builtin_convertvector(b, W) + 1) >> 1, T)
#else
#define VECTOR_MEAN(T, W, N, a, b) VECTOR_EACH(T, N, (a[i] + b[i] + 1) >> 1)
#endif
VECTOR_FN uint8x16_t vector_mean_u8(uint8x16_t a, uint8x16_t b) {
  VECTOR_MEAN(uint8x16_t, vector_wide_u16, 16, a, b);
}

VECTOR_FN uint16x8_t vector_mean_u16(uint16x8_t a, uint16x8_t b) {
  VECTOR_MEAN(uint16x8_t, vector_wide_u32, 8, a, b);
}
#define VECTOR_ODD_MEAN(S, T)                               \
  VECTOR_FN T vector_mean_##S(T a, T b) {                   \
    return vector_sub_##S(a | b, vector_shr_##S(a ^ b, 1)); \
  }
VECTOR_ODD_MEAN(s8, int8x16_t)
VECTOR_ODD_MEAN(s16, int16x8_t)
VECTOR_ODD_MEAN(u32, uint32x4_t)
VECTOR_ODD_MEAN(s32, int32x4_t)

/* ------------------------------------------------------------------ limited sums */

#define VECTOR_LIMITED_U(S, T)            \
  VECTOR_FN T vector_qadd_##S(T a, T b) { \
    return a + vector_min_##S(b, ~a);     \
  }                                       \
  VECTOR_FN T vector_qsub_##S(T a, T b) { \
    return vector_max_##S(a, b) - b;      \
  }
VECTOR_LIMITED_U(u8, uint8x16_t)
VECTOR_LIMITED_U(u16, uint16x8_t)
VECTOR_LIMITED_U(u32, uint32x4_t)

#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_add_sat)
#define VECTOR_HAS_LIMITED_SUMS
#endif
#endif
#ifdef VECTOR_HAS_LIMITED_SUMS
#define VECTOR_LIMITED_S(S, T, MIN, MAX)        \
  VECTOR_FN T vector_qadd_##S(T a, T b) {       \
    return __builtin_elementwise_add_sat(a, b); \
  }                                             \
  VECTOR_FN T vector_qsub_##S(T a, T b) {       \
    return __builtin_elementwise_sub_sat(a, b); \
  }
#else
/* b is limited to what a leaves room for. */
#define VECTOR_LIMITED_S(S, T, MIN, MAX)                                            \
  VECTOR_FN T vector_qadd_##S(T a, T b) {                                           \
    const T zero = {0};                                                             \
    const T least = vector_sub_##S(vector_fill_##S(MIN), vector_min_##S(a, zero));  \
    const T most = vector_sub_##S(vector_fill_##S(MAX), vector_max_##S(a, zero));   \
    return vector_add_##S(a, vector_min_##S(vector_max_##S(b, least), most));       \
  }                                                                                 \
  VECTOR_FN T vector_qsub_##S(T a, T b) {                                           \
    const T below = vector_fill_##S(-1);                                            \
    const T least = vector_sub_##S(vector_max_##S(a, below), vector_fill_##S(MAX)); \
    const T most = vector_sub_##S(vector_min_##S(a, below), vector_fill_##S(MIN));  \
    return vector_sub_##S(a, vector_min_##S(vector_max_##S(b, least), most));       \
  }
#endif
VECTOR_LIMITED_S(s8, int8x16_t, INT8_MIN, INT8_MAX)
VECTOR_LIMITED_S(s16, int16x8_t, INT16_MIN, INT16_MAX)
VECTOR_LIMITED_S(s32, int32x4_t, INT32_MIN, INT32_MAX)

/* Unsigned and signed, limited to the unsigned range: what is added, then what is taken away. */
#ifdef VECTOR_HAS_LIMITED_SUMS
#define VECTOR_MIXED(q, S, SS, T, TS, MAX, MIN)           \
  VECTOR_FN T vsqadd##q##_##S(T a, TS b) {                \
    const TS sign = vector_fill_##SS(MIN);                \
    return (T)(vector_qadd_##SS((TS)a ^ sign, b) ^ sign); \
  }                                                       \
  VECTOR_LEFT(q, S, T, MAX)
#else
#define VECTOR_MIXED(q, S, SS, T, TS, MAX, MIN)                \
  VECTOR_FN T vsqadd##q##_##S(T a, TS b) {                     \
    const T more = (T)vector_max_##SS(b, vector_fill_##SS(0)); \
    const T less = more - (T)b;                                \
    return vector_qsub_##S(vector_qadd_##S(a, more), less);    \
  }                                                            \
  VECTOR_LEFT(q, S, T, MAX)
#endif
#define VECTOR_LEFT(q, S, T, MAX)                                                 \
  VECTOR_FN T vqshl##q##_n_##S(T a, int n) {                                      \
    const T fits = vector_shr_##S(vector_fill_##S(MAX), n);                       \
    return n == 1 ? vector_qadd_##S(a, a) : vector_shl_##S(a, n) | (T)(a > fits); \
  }
VECTOR_MIXED(, u8, s8, uint8x16_t, int8x16_t, UINT8_MAX, INT8_MIN)
VECTOR_MIXED(q, u8, s8, uint8x16_t, int8x16_t, UINT8_MAX, INT8_MIN)
VECTOR_MIXED(, u16, s16, uint16x8_t, int16x8_t, UINT16_MAX, INT16_MIN)
VECTOR_MIXED(q, u16, s16, uint16x8_t, int16x8_t, UINT16_MAX, INT16_MIN)
VECTOR_MIXED(, u32, s32, uint32x4_t, int32x4_t, UINT32_MAX, INT32_MIN)
VECTOR_MIXED(q, u32, s32, uint32x4_t, int32x4_t, UINT32_MAX, INT32_MIN)

/* ------------------------------------------------------------------ operations of one width */

#define VECTOR_SAME(q, S, E, T, N, US, U)                                 \
  VECTOR_FN T vadd##q##_##S(T a, T b) {                                   \
    return vector_add_##S(a, b);                                          \
  }                                                                       \
  VECTOR_FN T vsub##q##_##S(T a, T b) {                                   \
    return vector_sub_##S(a, b);                                          \
  }                                                                       \
  VECTOR_FN T vmul##q##_##S(T a, T b) {                                   \
    return vector_mul_##S(a, b);                                          \
  }                                                                       \
  VECTOR_FN T vmla##q##_##S(T sum, T a, T b) {                            \
    return vector_add_##S(sum, vector_mul_##S(a, b));                     \
  }                                                                       \
  VECTOR_FN T vmls##q##_##S(T sum, T a, T b) {                            \
    return vector_sub_##S(sum, vector_mul_##S(a, b));                     \
  }                                                                       \
  VECTOR_FN T vmul##q##_n_##S(T a, E b) {                                 \
    return vector_mul_##S(a, vector_fill_##S(b));                         \
  }                                                                       \
  VECTOR_FN T vmla##q##_n_##S(T sum, T a, E b) {                          \
    return vector_add_##S(sum, vector_mul_##S(a, vector_fill_##S(b)));    \
  }                                                                       \
  VECTOR_FN T vmls##q##_n_##S(T sum, T a, E b) {                          \
    return vector_sub_##S(sum, vector_mul_##S(a, vector_fill_##S(b)));    \
  }                                                                       \
  VECTOR_FN T vmul##q##_laneq_##S(T a, T b, int lane) {                   \
    return vmul##q##_n_##S(a, b[lane]);                                   \
  }                                                                       \
  VECTOR_FN T vmla##q##_laneq_##S(T sum, T a, T b, int lane) {            \
    return vmla##q##_n_##S(sum, a, b[lane]);                              \
  }                                                                       \
  VECTOR_FN T vmls##q##_laneq_##S(T sum, T a, T b, int lane) {            \
    return vmls##q##_n_##S(sum, a, b[lane]);                              \
  }                                                                       \
  VECTOR_FN T vand##q##_##S(T a, T b) {                                   \
    return a & b;                                                         \
  }                                                                       \
  VECTOR_FN T vorr##q##_##S(T a, T b) {                                   \
    return a | b;                                                         \
  }                                                                       \
  VECTOR_FN T veor##q##_##S(T a, T b) {                                   \
    return a ^ b;                                                         \
  }                                                                       \
  VECTOR_FN T vbic##q##_##S(T a, T b) {                                   \
    return a & ~b;                                                        \
  }                                                                       \
  VECTOR_FN T vorn##q##_##S(T a, T b) {                                   \
    return a | ~b;                                                        \
  }                                                                       \
  VECTOR_FN T vmvn##q##_##S(T a) {                                        \
    return ~a;                                                            \
  }                                                                       \
  VECTOR_FN T vbsl##q##_##S(U mask, T a, T b) {                           \
    return VECTOR_CHOOSE(T, mask, (U)a, (U)b);                            \
  }                                                                       \
  VECTOR_FN T vmin##q##_##S(T a, T b) {                                   \
    return vector_min_##S(a, b);                                          \
  }                                                                       \
  VECTOR_FN T vmax##q##_##S(T a, T b) {                                   \
    return vector_max_##S(a, b);                                          \
  }                                                                       \
  VECTOR_FN T vabd##q##_##S(T a, T b) {                                   \
    return vector_sub_##S(vector_max_##S(a, b), vector_min_##S(a, b));    \
  }                                                                       \
  VECTOR_FN U vcge##q##_##S(T a, T b) {                                   \
    return (U)(a >= b);                                                   \
  }                                                                       \
  VECTOR_FN U vcgt##q##_##S(T a, T b) {                                   \
    return (U)(a > b);                                                    \
  }                                                                       \
  VECTOR_FN T vhadd##q##_##S(T a, T b) {                                  \
    return vector_add_##S(a & b, vector_shr_##S(a ^ b, 1));               \
  }                                                                       \
  VECTOR_FN T vrhadd##q##_##S(T a, T b) {                                 \
    return vector_mean_##S(a, b);                                         \
  }                                                                       \
  VECTOR_FN T vshl##q##_n_##S(T a, int n) {                               \
    return vector_shl_##S(a, n);                                          \
  }                                                                       \
  VECTOR_FN T vshr##q##_n_##S(T a, int n) {                               \
    return vector_shr_##S(a, n);                                          \
  }                                                                       \
  VECTOR_FN T vrshr##q##_n_##S(T a, int n) {                              \
    return vector_mean_##S(vector_shr_##S(a, n - 1), vector_fill_##S(0)); \
  }                                                                       \
  VECTOR_FN T vqadd##q##_##S(T a, T b) {                                  \
    return vector_qadd_##S(a, b);                                         \
  }                                                                       \
  VECTOR_FN T vqsub##q##_##S(T a, T b) {                                  \
    return vector_qsub_##S(a, b);                                         \
  }

VECTOR_ALL(VECTOR_SAME)

/* To the right by an amount that is one for all, limited to what C defines. */
#define VECTOR_SHIFTED(q, S, E, T, N, US, U) \
  VECTOR_FN T vshrv##q##_n_##S(T a, int n) { \
    return vector_shr_##S(a, n & 31);        \
  }
VECTOR_ALL(VECTOR_SHIFTED)

/* By elements of `n`: to the left, or by a negative one to the right, out of the register too. */
#define VECTOR_SIGNED(q, S, SS, T, TS, N)                                        \
  VECTOR_FN T vshl##q##_##S(T a, TS n) {                                         \
    T r;                                                                         \
    for (int i = 0; i < N; i++) {                                                \
      const int by = (int8_t)n[i];                                               \
      const int right = by > 0 ? 0 : by <= -128 / N ? 128 / N : -by;             \
      const int left = by < 0 ? 0 : by >= 128 / N ? 128 / N : by;                \
      r[i] = (__typeof__(r[0] + 0))((uint64_t)((int64_t)a[i] >> right) << left); \
    }                                                                            \
    return r;                                                                    \
  }
VECTOR_SIGNED(, u8, s8, uint8x16_t, int8x16_t, 16)
VECTOR_SIGNED(q, u8, s8, uint8x16_t, int8x16_t, 16)
VECTOR_SIGNED(, s8, s8, int8x16_t, int8x16_t, 16)
VECTOR_SIGNED(q, s8, s8, int8x16_t, int8x16_t, 16)
VECTOR_SIGNED(, u16, s16, uint16x8_t, int16x8_t, 8)
VECTOR_SIGNED(q, u16, s16, uint16x8_t, int16x8_t, 8)
VECTOR_SIGNED(, s16, s16, int16x8_t, int16x8_t, 8)
VECTOR_SIGNED(q, s16, s16, int16x8_t, int16x8_t, 8)
VECTOR_SIGNED(, u32, s32, uint32x4_t, int32x4_t, 4)
VECTOR_SIGNED(q, u32, s32, uint32x4_t, int32x4_t, 4)
VECTOR_SIGNED(, s32, s32, int32x4_t, int32x4_t, 4)
VECTOR_SIGNED(q, s32, s32, int32x4_t, int32x4_t, 4)

#define VECTOR_NEGATED(q, S, T)                   \
  VECTOR_FN T vneg##q##_##S(T a) {                \
    return vector_sub_##S(vector_fill_##S(0), a); \
  }                                               \
  VECTOR_FN T vabs##q##_##S(T a) {                \
    return vector_max_##S(a, vneg##q##_##S(a));   \
  }
VECTOR_NEGATED(, s8, int8x16_t)
VECTOR_NEGATED(q, s8, int8x16_t)
VECTOR_NEGATED(, s16, int16x8_t)
VECTOR_NEGATED(q, s16, int16x8_t)
VECTOR_NEGATED(, s32, int32x4_t)
VECTOR_NEGATED(q, s32, int32x4_t)

#endif /* DAEDALUS_VECTOR_SAME_H */
