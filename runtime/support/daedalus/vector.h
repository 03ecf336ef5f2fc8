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

#include <daedalus/vector_base.h>
#include <daedalus/vector_same.h>

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

/* Upper halves of doubled products, of which that of the least value by itself is limited. */
#ifdef __clang__
#define VECTOR_DOUBLED(narrowed, a, b, rounded) \
  return narrowed(vmull_n_s16(a, b), vmull_high_n_s16(a, b), 15)
#else
#define VECTOR_DOUBLED(narrowed, a, b, rounded) VECTOR_EACH(int16x8_t, 8, (int16_t)(rounded))
#endif
VECTOR_FN int16x8_t vqdmulhq_n_s16(int16x8_t a, int16_t b) {
  a = b == INT16_MIN ? vector_max_s16(a, vector_fill_s16(-INT16_MAX)) : a;
  VECTOR_DOUBLED(vshrnq_n_s32, a, b, (a[i] * b) >> 15);
}

VECTOR_FN int16x8_t vqrdmulhq_n_s16(int16x8_t a, int16_t b) {
  a = b == INT16_MIN ? vector_max_s16(a, vector_fill_s16(-INT16_MAX)) : a;
  VECTOR_DOUBLED(vrshrnq_n_s32, a, b, (((a[i] * b) >> 14) + 1) >> 1);
}

#define VECTOR_DOUBLED_LANE(name)                                          \
  VECTOR_FN int16x8_t name##q_laneq_s16(int16x8_t a, int16x8_t b, int n) { \
    return name##q_n_s16(a, b[n]);                                         \
  }                                                                        \
  VECTOR_FN int16x8_t name##_laneq_s16(int16x8_t a, int16x8_t b, int n) {  \
    return name##q_n_s16(a, b[n]);                                         \
  }                                                                        \
  VECTOR_FN int16x8_t name##_n_s16(int16x8_t a, int16_t b) {               \
    return name##q_n_s16(a, b);                                            \
  }
VECTOR_DOUBLED_LANE(vqdmulh)
VECTOR_DOUBLED_LANE(vqrdmulh)

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
