/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/vector_base.h - of daedalus/vector.h: registers, the order of their elements, memory.
 */
#ifndef DAEDALUS_VECTOR_BASE_H
#define DAEDALUS_VECTOR_BASE_H

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

#endif /* DAEDALUS_VECTOR_BASE_H */
