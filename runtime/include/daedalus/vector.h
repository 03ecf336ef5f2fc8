/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/vector.h - what generated vector code computes with where there is no NEON: operations
 * of NEON's names and meanings, in the vector extension of GCC and Clang, which these compile for
 * any processor.  For generated code; programs need <daedalus.h> alone.
 *
 * Every register has 16 bytes.  Where NEON has one of 8, its lower half is meant, and the upper one
 * may hold anything: a type of 8 bytes is another name of that of 16.
 *
 * Operations are written as the compilers know them again, GCC in loops over all elements of a
 * register (minimum, average, the upper half of a product), Clang in expressions of vectors.
 * Addition, subtraction and products wrap: they are done on unsigned elements.
 */
#ifndef DAEDALUS_VECTOR_H
#define DAEDALUS_VECTOR_H

#include <stdint.h>
#include <string.h>

/** Memory of any type and alignment, written a lane at a time. */
typedef uint16_t daedalus_any_u16 __attribute__((may_alias, aligned(1)));
typedef uint32_t daedalus_any_u32 __attribute__((may_alias, aligned(1)));
typedef uint64_t daedalus_any_u64 __attribute__((may_alias, aligned(1)));

typedef uint8_t uint8x16_t __attribute__((vector_size(16)));
typedef int8_t int8x16_t __attribute__((vector_size(16)));
typedef uint16_t uint16x8_t __attribute__((vector_size(16)));
typedef int16_t int16x8_t __attribute__((vector_size(16)));
typedef uint32_t uint32x4_t __attribute__((vector_size(16)));
typedef int32_t int32x4_t __attribute__((vector_size(16)));
typedef uint64_t uint64x2_t __attribute__((vector_size(16)));
typedef int64_t int64x2_t __attribute__((vector_size(16)));
typedef uint8x16_t uint8x8_t;
typedef int8x16_t int8x8_t;
typedef uint16x8_t uint16x4_t;
typedef int16x8_t int16x4_t;
typedef uint32x4_t uint32x2_t;
typedef int32x4_t int32x2_t;
typedef uint64x2_t uint64x1_t;
typedef int64x2_t int64x1_t;

#define VECTOR_FN static inline __attribute__((always_inline, unused))

/* X(q, suffix, element, register, elements, of unsigned elements: suffix and register) */
#define VECTOR_TYPES_8(X, q)                        \
  X(q, u8, uint8_t, uint8x16_t, 16, u8, uint8x16_t) \
  X(q, s8, int8_t, int8x16_t, 16, u8, uint8x16_t)
#define VECTOR_TYPES_16(X, q)                         \
  X(q, u16, uint16_t, uint16x8_t, 8, u16, uint16x8_t) \
  X(q, s16, int16_t, int16x8_t, 8, u16, uint16x8_t)
#define VECTOR_TYPES_32(X, q)                         \
  X(q, u32, uint32_t, uint32x4_t, 4, u32, uint32x4_t) \
  X(q, s32, int32_t, int32x4_t, 4, u32, uint32x4_t)
#define VECTOR_TYPES_64(X, q)                         \
  X(q, u64, uint64_t, uint64x2_t, 2, u64, uint64x2_t) \
  X(q, s64, int64_t, int64x2_t, 2, u64, uint64x2_t)
#define VECTOR_TYPES(X, q) VECTOR_TYPES_8(X, q) VECTOR_TYPES_16(X, q) VECTOR_TYPES_32(X, q)
#define VECTOR_ALL(X) VECTOR_TYPES(X, ) VECTOR_TYPES(X, q)
/* ------------------------------------------------------------------ registers in another order */

/* Elements of two registers, the second's numbered on from the first's. */
#ifdef __clang__
#define VECTOR_SHUFFLE(numbers, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define VECTOR_SHUFFLE(numbers, a, b, ...) __builtin_shuffle(a, b, (numbers){__VA_ARGS__})
#endif
#define VECTOR_ORDER(name, T, ...)               \
  VECTOR_FN T vector_##name(T a, T b) {          \
    return VECTOR_SHUFFLE(T, a, b, __VA_ARGS__); \
  }
VECTOR_ORDER(zip1_u8, uint8x16_t, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
VECTOR_ORDER(zip2_u8, uint8x16_t, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
VECTOR_ORDER(uzp1_u8, uint8x16_t, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
VECTOR_ORDER(uzp2_u8, uint8x16_t, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
VECTOR_ORDER(trn1_u8, uint8x16_t, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)
VECTOR_ORDER(trn2_u8, uint8x16_t, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31)
VECTOR_ORDER(zip1_u16, uint16x8_t, 0, 8, 1, 9, 2, 10, 3, 11)
VECTOR_ORDER(zip2_u16, uint16x8_t, 4, 12, 5, 13, 6, 14, 7, 15)
VECTOR_ORDER(uzp1_u16, uint16x8_t, 0, 2, 4, 6, 8, 10, 12, 14)
VECTOR_ORDER(uzp2_u16, uint16x8_t, 1, 3, 5, 7, 9, 11, 13, 15)
VECTOR_ORDER(trn1_u16, uint16x8_t, 0, 8, 2, 10, 4, 12, 6, 14)
VECTOR_ORDER(trn2_u16, uint16x8_t, 1, 9, 3, 11, 5, 13, 7, 15)
VECTOR_ORDER(zip1_u32, uint32x4_t, 0, 4, 1, 5)
VECTOR_ORDER(zip2_u32, uint32x4_t, 2, 6, 3, 7)
VECTOR_ORDER(uzp1_u32, uint32x4_t, 0, 2, 4, 6)
VECTOR_ORDER(uzp2_u32, uint32x4_t, 1, 3, 5, 7)
VECTOR_ORDER(trn1_u32, uint32x4_t, 0, 4, 2, 6)
VECTOR_ORDER(trn2_u32, uint32x4_t, 1, 5, 3, 7)
VECTOR_ORDER(zip1_u64, uint64x2_t, 0, 2)
VECTOR_ORDER(zip2_u64, uint64x2_t, 1, 3)

#define VECTOR_CASTS(q, S, E, T, N, US, U)              \
  VECTOR_FN uint8x16_t vreinterpret##q##_u8_##S(T a) {  \
    return (uint8x16_t)a;                               \
  }                                                     \
  VECTOR_FN int8x16_t vreinterpret##q##_s8_##S(T a) {   \
    return (int8x16_t)a;                                \
  }                                                     \
  VECTOR_FN uint16x8_t vreinterpret##q##_u16_##S(T a) { \
    return (uint16x8_t)a;                               \
  }                                                     \
  VECTOR_FN int16x8_t vreinterpret##q##_s16_##S(T a) {  \
    return (int16x8_t)a;                                \
  }                                                     \
  VECTOR_FN uint32x4_t vreinterpret##q##_u32_##S(T a) { \
    return (uint32x4_t)a;                               \
  }                                                     \
  VECTOR_FN int32x4_t vreinterpret##q##_s32_##S(T a) {  \
    return (int32x4_t)a;                                \
  }                                                     \
  VECTOR_FN uint64x2_t vreinterpret##q##_u64_##S(T a) { \
    return (uint64x2_t)a;                               \
  }                                                     \
  VECTOR_FN E vget##q##_lane_##S(T a, int lane) {       \
    return a[lane];                                     \
  }
VECTOR_ALL(VECTOR_CASTS)
VECTOR_TYPES_64(VECTOR_CASTS, )
VECTOR_TYPES_64(VECTOR_CASTS, q)

#define VECTOR_HALVES(q, S, E, T, N, US, U)                  \
  VECTOR_FN T vget_low_##S(T a) {                            \
    return a;                                                \
  }                                                          \
  VECTOR_FN T vget_high_##S(T a) {                           \
    return (T)vector_zip2_u64((uint64x2_t)a, (uint64x2_t)a); \
  }                                                          \
  VECTOR_FN T vcombine_##S(T a, T b) {                       \
    return (T)vector_zip1_u64((uint64x2_t)a, (uint64x2_t)b); \
  }                                                          \
  VECTOR_FN T vzip1q_##S(T a, T b) {                         \
    return (T)vector_zip1_##US((U)a, (U)b);                  \
  }                                                          \
  VECTOR_FN T vzip2q_##S(T a, T b) {                         \
    return (T)vector_zip2_##US((U)a, (U)b);                  \
  }                                                          \
  VECTOR_FN T vzip1_##S(T a, T b) {                          \
    return vzip1q_##S(a, b);                                 \
  }                                                          \
  VECTOR_FN T vzip2_##S(T a, T b) {                          \
    return vget_high_##S(vzip1q_##S(a, b));                  \
  }
VECTOR_TYPES(VECTOR_HALVES, )
VECTOR_TYPES_64(VECTOR_HALVES, )

/* ------------------------------------------------------------------ memory and scalars */

#define VECTOR_FILL_2(x) {x, x}
#define VECTOR_FILL_4(x) {x, x, x, x}
#define VECTOR_FILL_8(x) {x, x, x, x, x, x, x, x}
#define VECTOR_FILL_16(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}

#define VECTOR_MEMORY(q, S, E, T, N, US, U)                  \
  VECTOR_FN T vld1q_##S(const E *from) {                     \
    T a;                                                     \
    memcpy(&a, from, 16);                                    \
    return a;                                                \
  }                                                          \
  VECTOR_FN T vld1_##S(const E *from) {                      \
    return (T)(uint64x2_t){*(const daedalus_any_u64 *)from}; \
  }                                                          \
  VECTOR_FN void vst1q_##S(E *to, T a) {                     \
    memcpy(to, &a, 16);                                      \
  }                                                          \
  VECTOR_FN void vst1_##S(E *to, T a) {                      \
    *(daedalus_any_u64 *)to = ((uint64x2_t)a)[0];            \
  }                                                          \
  VECTOR_FN T vdupq_n_##S(E x) {                             \
    return (T)VECTOR_FILL_##N(x);                            \
  }                                                          \
  VECTOR_FN T vdup_n_##S(E x) {                              \
    return (T)VECTOR_FILL_##N(x);                            \
  }
VECTOR_TYPES(VECTOR_MEMORY, )
VECTOR_TYPES_64(VECTOR_MEMORY, )

VECTOR_FN uint32x2_t vcreate_u32(uint64_t x) {
  return (uint32x4_t)(uint64x2_t){x};
}

VECTOR_FN uint32x2_t vset_lane_u32(uint32_t x, uint32x2_t a, int lane) {
  a[lane] = x;
  return a;
}

VECTOR_FN uint32x4_t vsetq_lane_u32(uint32_t x, uint32x4_t a, int lane) {
  a[lane] = x;
  return a;
}

#define VECTOR_PAIRS(q, S, E, T, N, US, U) \
  VECTOR_FN T vtrn1##q##_##S(T a, T b) {   \
    return vector_trn1_##S(a, b);          \
  }                                        \
  VECTOR_FN T vtrn2##q##_##S(T a, T b) {   \
    return vector_trn2_##S(a, b);          \
  }
VECTOR_PAIRS(, u8, uint8_t, uint8x16_t, 16, u8, uint8x16_t)
VECTOR_PAIRS(q, u8, uint8_t, uint8x16_t, 16, u8, uint8x16_t)
VECTOR_PAIRS(, u16, uint16_t, uint16x8_t, 8, u16, uint16x8_t)
VECTOR_PAIRS(q, u16, uint16_t, uint16x8_t, 8, u16, uint16x8_t)
VECTOR_PAIRS(, u32, uint32_t, uint32x4_t, 4, u32, uint32x4_t)
VECTOR_PAIRS(q, u32, uint32_t, uint32x4_t, 4, u32, uint32x4_t)
#define vector_trn1_u64 vector_zip1_u64
#define vector_trn2_u64 vector_zip2_u64
VECTOR_PAIRS(q, u64, uint64_t, uint64x2_t, 2, u64, uint64x2_t)
VECTOR_FN uint32x4_t vuzp1q_u32(uint32x4_t a, uint32x4_t b) {
  return vector_uzp1_u32(a, b);
}
VECTOR_FN uint32x4_t vuzp2q_u32(uint32x4_t a, uint32x4_t b) {
  return vector_uzp2_u32(a, b);
}
typedef struct uint16x8x3_t {
  uint16x8_t val[3];
} uint16x8x3_t;
/* Twice: where elements of the first two go, then between them those of the third. */
VECTOR_FN void vst3q_u16(uint16_t *to, uint16x8x3_t of) {
  const uint16x8_t a = of.val[0], b = of.val[1], c = of.val[2];
  const uint16x8_t first = VECTOR_SHUFFLE(uint16x8_t, a, b, 0, 8, 0, 1, 9, 0, 2, 10);
  const uint16x8_t second = VECTOR_SHUFFLE(uint16x8_t, a, b, 0, 3, 11, 0, 4, 12, 0, 5);
  const uint16x8_t third = VECTOR_SHUFFLE(uint16x8_t, a, b, 13, 0, 6, 14, 0, 7, 15, 0);
  vst1q_u16(to, VECTOR_SHUFFLE(uint16x8_t, first, c, 0, 1, 8, 3, 4, 9, 6, 7));
  vst1q_u16(to + 8, VECTOR_SHUFFLE(uint16x8_t, second, c, 10, 1, 2, 11, 4, 5, 12, 7));
  vst1q_u16(to + 16, VECTOR_SHUFFLE(uint16x8_t, third, c, 0, 13, 2, 3, 14, 5, 6, 15));
}

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

/* Upper halves of doubled products, of which that of the least value by itself is limited. */
#define VECTOR_DOUBLED(q)                                                                          \
  VECTOR_FN int16x8_t vqdmulh##q##_n_s16(int16x8_t a, int16_t b) {                                 \
    return vector_doubled(b == INT16_MIN ? vector_max_s16(a, vector_fill_s16(-INT16_MAX)) : a, b); \
  }                                                                                                \
  VECTOR_FN int16x8_t vqrdmulh##q##_n_s16(int16x8_t a, int16_t b) {                                \
    return vector_doubled_mean(                                                                    \
        b == INT16_MIN ? vector_max_s16(a, vector_fill_s16(-INT16_MAX)) : a, b);                   \
  }                                                                                                \
  VECTOR_FN int16x8_t vqdmulh##q##_laneq_s16(int16x8_t a, int16x8_t b, int lane) {                 \
    return vqdmulh##q##_n_s16(a, b[lane]);                                                         \
  }                                                                                                \
  VECTOR_FN int16x8_t vqrdmulh##q##_laneq_s16(int16x8_t a, int16x8_t b, int lane) {                \
    return vqrdmulh##q##_n_s16(a, b[lane]);                                                        \
  }
#ifdef __clang__
VECTOR_FN int16x8_t vector_doubled_mean(int16x8_t a, int16_t b) {
  typedef int32_t wide __attribute__((vector_size(32)));
  const wide product = __builtin_convertvector(a, wide) * b;
  const int16x8_t upper = __builtin_convertvector(product >> 16, int16x8_t);
  const uint16x8_t lower = (uint16x8_t)a * (uint16x8_t)vector_fill_s16(b);
  return (int16x8_t)(((uint16x8_t)upper << 1) + ((lower >> 14) + 1 >> 1));
}
VECTOR_FN int16x8_t vector_doubled(int16x8_t a, int16_t b) {
  typedef int32_t wide __attribute__((vector_size(32)));
  const wide product = __builtin_convertvector(a, wide) * b;
  const int16x8_t upper = __builtin_convertvector(product >> 16, int16x8_t);
  const uint16x8_t lower = (uint16x8_t)a * (uint16x8_t)vector_fill_s16(b);
  return (int16x8_t)((uint16x8_t)upper << 1 | lower >> 15);
}
#else
VECTOR_FN int16x8_t vector_doubled_mean(int16x8_t a, int16_t b) {
  VECTOR_EACH(int16x8_t, 8, (int16_t)((((a[i] * b) >> 14) + 1) >> 1));
}
VECTOR_FN int16x8_t vector_doubled(int16x8_t a, int16_t b) {
  VECTOR_EACH(int16x8_t, 8, (int16_t)((a[i] * b) >> 15));
}
#endif
VECTOR_DOUBLED()
VECTOR_DOUBLED(q)

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

/* ------------------------------------------------------------------ wider results */

#define VECTOR_LONG_U(S, T, H, TH)         \
  VECTOR_FN T vmovl_##H(TH a) {            \
    return (T)vector_zip1_##H(a, (TH){0}); \
  }                                        \
  VECTOR_FN T vmovl_high_##H(TH a) {       \
    return (T)vector_zip2_##H(a, (TH){0}); \
  }
#define VECTOR_LONG_S(S, T, H, TH, UH, TUH, BITS)       \
  VECTOR_FN T vmovl_##H(TH a) {                         \
    return (T)vector_zip1_##UH((TUH)a, (TUH)a) >> BITS; \
  }                                                     \
  VECTOR_FN T vmovl_high_##H(TH a) {                    \
    return (T)vector_zip2_##UH((TUH)a, (TUH)a) >> BITS; \
  }
VECTOR_LONG_U(u16, uint16x8_t, u8, uint8x16_t)
VECTOR_LONG_S(s16, int16x8_t, s8, int8x16_t, u8, uint8x16_t, 8)
VECTOR_LONG_U(u32, uint32x4_t, u16, uint16x8_t)
VECTOR_LONG_S(s32, int32x4_t, s16, int16x8_t, u16, uint16x8_t, 16)

/*
 * Products.  GCC has no instruction in mind for those of 32 bits but slow ones; it gets lower and
 * upper halves to weave.  Clang finds out by itself what the factors are.
 */
#ifdef __clang__
#define VECTOR_PRODUCTS_16(S, T, H, TH, E, UH, TUH)              \
  VECTOR_FN T vmull_##H(TH a, TH b) {                            \
    return vector_mul_##S(vmovl_##H(a), vmovl_##H(b));           \
  }                                                              \
  VECTOR_FN T vmull_high_##H(TH a, TH b) {                       \
    return vector_mul_##S(vmovl_high_##H(a), vmovl_high_##H(b)); \
  }
#else
#define VECTOR_PRODUCTS_16(S, T, H, TH, E, UH, TUH)                      \
  VECTOR_FN TUH vector_upper_##H(TH a, TH b) {                           \
    VECTOR_EACH(TUH, 8, (uint16_t)((E)a[i] * (E)b[i] >> 16));            \
  }                                                                      \
  VECTOR_FN T vmull_##H(TH a, TH b) {                                    \
    return (T)vector_zip1_##UH((TUH)a * (TUH)b, vector_upper_##H(a, b)); \
  }                                                                      \
  VECTOR_FN T vmull_high_##H(TH a, TH b) {                               \
    return (T)vector_zip2_##UH((TUH)a * (TUH)b, vector_upper_##H(a, b)); \
  }
#endif
#define VECTOR_PRODUCTS_8(S, T, H, TH)                           \
  VECTOR_FN T vmull_##H(TH a, TH b) {                            \
    return vector_mul_##S(vmovl_##H(a), vmovl_##H(b));           \
  }                                                              \
  VECTOR_FN T vmull_high_##H(TH a, TH b) {                       \
    return vector_mul_##S(vmovl_high_##H(a), vmovl_high_##H(b)); \
  }
VECTOR_PRODUCTS_8(u16, uint16x8_t, u8, uint8x16_t)
VECTOR_PRODUCTS_8(s16, int16x8_t, s8, int8x16_t)
VECTOR_PRODUCTS_16(u32, uint32x4_t, u16, uint16x8_t, uint32_t, u16, uint16x8_t)
VECTOR_PRODUCTS_16(s32, int32x4_t, s16, int16x8_t, int32_t, u16, uint16x8_t)

#define VECTOR_WIDER(part, S, T, H, TH, E)                             \
  VECTOR_FN T vaddl##part##_##H(TH a, TH b) {                          \
    return vector_add_##S(vmovl##part##_##H(a), vmovl##part##_##H(b)); \
  }                                                                    \
  VECTOR_FN T vsubl##part##_##H(TH a, TH b) {                          \
    return vector_sub_##S(vmovl##part##_##H(a), vmovl##part##_##H(b)); \
  }                                                                    \
  VECTOR_FN T vabdl##part##_##H(TH a, TH b) {                          \
    return vabdq_##S(vmovl##part##_##H(a), vmovl##part##_##H(b));      \
  }                                                                    \
  VECTOR_FN T vaddw##part##_##H(T a, TH b) {                           \
    return vector_add_##S(a, vmovl##part##_##H(b));                    \
  }                                                                    \
  VECTOR_FN T vsubw##part##_##H(T a, TH b) {                           \
    return vector_sub_##S(a, vmovl##part##_##H(b));                    \
  }                                                                    \
  VECTOR_FN T vshll##part##_n_##H(TH a, int n) {                       \
    return vector_shl_##S(vmovl##part##_##H(a), n);                    \
  }                                                                    \
  VECTOR_FN T vmlal##part##_##H(T sum, TH a, TH b) {                   \
    return vector_add_##S(sum, vmull##part##_##H(a, b));               \
  }                                                                    \
  VECTOR_FN T vmlsl##part##_##H(T sum, TH a, TH b) {                   \
    return vector_sub_##S(sum, vmull##part##_##H(a, b));               \
  }                                                                    \
  VECTOR_FN T vmull##part##_n_##H(TH a, E b) {                         \
    return vmull##part##_##H(a, vector_fill_##H(b));                   \
  }                                                                    \
  VECTOR_FN T vmlal##part##_n_##H(T sum, TH a, E b) {                  \
    return vmlal##part##_##H(sum, a, vector_fill_##H(b));              \
  }                                                                    \
  VECTOR_FN T vmlsl##part##_n_##H(T sum, TH a, E b) {                  \
    return vmlsl##part##_##H(sum, a, vector_fill_##H(b));              \
  }                                                                    \
  VECTOR_FN T vmull##part##_laneq_##H(TH a, TH b, int lane) {          \
    return vmull##part##_n_##H(a, b[lane]);                            \
  }                                                                    \
  VECTOR_FN T vmlal##part##_laneq_##H(T sum, TH a, TH b, int lane) {   \
    return vmlal##part##_n_##H(sum, a, b[lane]);                       \
  }                                                                    \
  VECTOR_FN T vmlsl##part##_laneq_##H(T sum, TH a, TH b, int lane) {   \
    return vmlsl##part##_n_##H(sum, a, b[lane]);                       \
  }
VECTOR_WIDER(, u16, uint16x8_t, u8, uint8x16_t, uint8_t)
VECTOR_WIDER(_high, u16, uint16x8_t, u8, uint8x16_t, uint8_t)
VECTOR_WIDER(, s16, int16x8_t, s8, int8x16_t, int8_t)
VECTOR_WIDER(_high, s16, int16x8_t, s8, int8x16_t, int8_t)
VECTOR_WIDER(, u32, uint32x4_t, u16, uint16x8_t, uint16_t)
VECTOR_WIDER(_high, u32, uint32x4_t, u16, uint16x8_t, uint16_t)
VECTOR_WIDER(, s32, int32x4_t, s16, int16x8_t, int16_t)
VECTOR_WIDER(_high, s32, int32x4_t, s16, int16x8_t, int16_t)

/* ------------------------------------------------------------------ narrower results */

/* Of two registers, one after the other: NEON's instruction for the lower and the upper half. */
#ifdef __clang__
typedef uint8_t vector_half_u8 __attribute__((vector_size(8)));
typedef uint16_t vector_half_u16 __attribute__((vector_size(8)));
#define VECTOR_JOIN_u8(a, b) \
  __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define VECTOR_JOIN_u16(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define VECTOR_TRUNCATED(T, TH, UH, TUH, a, b)                        \
  (TH) VECTOR_JOIN_##UH(__builtin_convertvector(a, vector_half_##UH), \
                        __builtin_convertvector(b, vector_half_##UH))
#else
#define VECTOR_TRUNCATED(T, TH, UH, TUH, a, b) (TH) vector_uzp1_##UH((TUH)(a), (TUH)(b))
#endif

#define VECTOR_NARROW(S, T, H, TH, UH, TUH, BITS)                             \
  VECTOR_FN TH vmovnq_##S(T a, T b) {                                         \
    return VECTOR_TRUNCATED(T, TH, UH, TUH, a, b);                            \
  }                                                                           \
  VECTOR_FN TH vshrnq_n_##S(T a, T b, int n) {                                \
    a = vector_shl_##S(a, BITS - n);                                          \
    b = vector_shl_##S(b, BITS - n);                                          \
    return (TH)vector_uzp2_##UH((TUH)a, (TUH)b);                              \
  }                                                                           \
  VECTOR_FN TH vrshrnq_n_##S(T a, T b, int n) {                               \
    const T half = vector_shl_##S(vector_fill_##S(1), n - 1);                 \
    return vshrnq_n_##S(vector_add_##S(a, half), vector_add_##S(b, half), n); \
  }                                                                           \
  VECTOR_FN TH vmovn_##S(T a) {                                               \
    return vmovnq_##S(a, a);                                                  \
  }                                                                           \
  VECTOR_FN TH vshrn_n_##S(T a, int n) {                                      \
    return vshrnq_n_##S(a, a, n);                                             \
  }                                                                           \
  VECTOR_FN TH vrshrn_n_##S(T a, int n) {                                     \
    return vrshrnq_n_##S(a, a, n);                                            \
  }
VECTOR_NARROW(u16, uint16x8_t, u8, uint8x16_t, u8, uint8x16_t, 8)
VECTOR_NARROW(s16, int16x8_t, s8, int8x16_t, u8, uint8x16_t, 8)
VECTOR_NARROW(u32, uint32x4_t, u16, uint16x8_t, u16, uint16x8_t, 16)
VECTOR_NARROW(s32, int32x4_t, s16, int16x8_t, u16, uint16x8_t, 16)

/* (a + 2^(n-1)) >> n without overflow. */
#define VECTOR_ROUNDED(S, a, n) vector_mean_##S(vector_shr_##S(a, (n) - 1), vector_fill_##S(0))
/* Limited; `u` is nothing, or "u" where signed becomes unsigned. */
#define VECTOR_LIMITED(u, S, T, TH, UH, TUH, MIN, MAX)                         \
  VECTOR_FN TH vqmov##u##nq_##S(T a, T b) {                                    \
    a = vector_clamp_##S(a, MIN, MAX);                                         \
    b = vector_clamp_##S(b, MIN, MAX);                                         \
    return VECTOR_TRUNCATED(T, TH, UH, TUH, a, b);                             \
  }                                                                            \
  VECTOR_FN TH vqshr##u##nq_n_##S(T a, T b, int n) {                           \
    return vqmov##u##nq_##S(vector_shr_##S(a, n), vector_shr_##S(b, n));       \
  }                                                                            \
  VECTOR_FN TH vqrshr##u##nq_n_##S(T a, T b, int n) {                          \
    return vqmov##u##nq_##S(VECTOR_ROUNDED(S, a, n), VECTOR_ROUNDED(S, b, n)); \
  }                                                                            \
  VECTOR_FN TH vqmov##u##n_##S(T a) {                                          \
    return vqmov##u##nq_##S(a, a);                                             \
  }                                                                            \
  VECTOR_FN TH vqshr##u##n_n_##S(T a, int n) {                                 \
    return vqshr##u##nq_n_##S(a, a, n);                                        \
  }                                                                            \
  VECTOR_FN TH vqrshr##u##n_n_##S(T a, int n) {                                \
    return vqrshr##u##nq_n_##S(a, a, n);                                       \
  }
VECTOR_LIMITED(, u16, uint16x8_t, uint8x16_t, u8, uint8x16_t, 0, UINT8_MAX)
VECTOR_LIMITED(, s16, int16x8_t, int8x16_t, u8, uint8x16_t, INT8_MIN, INT8_MAX)
VECTOR_LIMITED(u, s16, int16x8_t, uint8x16_t, u8, uint8x16_t, 0, UINT8_MAX)
VECTOR_LIMITED(, u32, uint32x4_t, uint16x8_t, u16, uint16x8_t, 0, UINT16_MAX)
VECTOR_LIMITED(, s32, int32x4_t, int16x8_t, u16, uint16x8_t, INT16_MIN, INT16_MAX)
VECTOR_LIMITED(u, s32, int32x4_t, uint16x8_t, u16, uint16x8_t, 0, UINT16_MAX)

/* ------------------------------------------------------------------ what NEON needs to be told */

#define DAEDALUS_READ_LATER(array) ((void)0)
#define VECTOR_KNOWN(S, T)                 \
  VECTOR_FN T daedalus_quad_##S(T lower) { \
    return lower;                          \
  }                                        \
  VECTOR_FN T daedalus_whole_##S(T a) {    \
    return a;                              \
  }
VECTOR_KNOWN(u16, uint16x8_t)
VECTOR_KNOWN(s16, int16x8_t)
VECTOR_KNOWN(u32, uint32x4_t)
VECTOR_KNOWN(s32, int32x4_t)

#endif /* DAEDALUS_VECTOR_H */
