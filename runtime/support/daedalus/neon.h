/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/neon.h - what generated NEON code needs beside <arm_neon.h>.  For
 * generated code; programs need <daedalus.h> alone.
 */
#ifndef DAEDALUS_NEON_H
#define DAEDALUS_NEON_H

#include <arm_neon.h>
#include <stdint.h>

/** Memory of any type and alignment, written a lane at a time. */
typedef uint16_t daedalus_any_u16 __attribute__((may_alias, aligned(1)));
typedef uint32_t daedalus_any_u32 __attribute__((may_alias, aligned(1)));
typedef uint64_t daedalus_any_u64 __attribute__((may_alias, aligned(1)));

/*
 * Four lanes as the lower half of a quad register, whose upper half may hold
 * anything.  The two are one register, which GCC has to be told; Clang sees by
 * itself that the upper half is not used.
 */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
static inline uint16x8_t daedalus_quad_u16(uint16x4_t lower) {
  uint16x8_t quad;
  __asm__("" : "=w"(quad) : "0"(lower));
  return quad;
}

static inline int16x8_t daedalus_quad_s16(int16x4_t lower) {
  int16x8_t quad;
  __asm__("" : "=w"(quad) : "0"(lower));
  return quad;
}
#else
static inline uint16x8_t daedalus_quad_u16(uint16x4_t lower) {
  return vcombine_u16(lower, lower);
}

static inline int16x8_t daedalus_quad_s16(int16x4_t lower) {
  return vcombine_s16(lower, lower);
}
#endif

/*
 * A register that stays one.  Clang takes what it knows of a vector's parts,
 * constants and halves, for a reason to compute these apart, each in registers
 * and by instructions of its own.
 */
#if defined(__aarch64__) && defined(__clang__)
#define DAEDALUS_WHOLE(name, type)       \
  static inline type name(type vector) { \
    __asm__("" : "+w"(vector));          \
    return vector;                       \
  }
#else
#define DAEDALUS_WHOLE(name, type)       \
  static inline type name(type vector) { \
    return vector;                       \
  }
#endif
DAEDALUS_WHOLE(daedalus_whole_u16, uint16x8_t)
DAEDALUS_WHOLE(daedalus_whole_s16, int16x8_t)
DAEDALUS_WHOLE(daedalus_whole_u32, uint32x4_t)
DAEDALUS_WHOLE(daedalus_whole_s32, int32x4_t)
#undef DAEDALUS_WHOLE

/*
 * Constants that stay in memory side by side.  Compilers take each vector of a
 * constant array for a constant of its own, with an address of its own.
 */
static inline const uint8_t *daedalus_beside(const uint8_t *constants) {
#if defined(__aarch64__) && defined(__GNUC__)
  __asm__("" : "+r"(constants));
#endif
  return constants;
}

/*
 * Eight bytes and eight others, their sign bits flipped, and lookups in them:
 * the first has places 0 to 7, the second those from DAEDALUS_UPPER on.
 *
 * For Clang they are two registers, which a lookup may read as one table; GCC
 * would copy them to make neighbours of them.  For it they are one, but it would
 * load the others into its upper half at once: that is two operations, and needs
 * an address without offset.
 */
#if defined(__aarch64__) && defined(__clang__)
typedef int8x16x2_t daedalus_window;
#define DAEDALUS_UPPER 16
static inline daedalus_window daedalus_signed_window(const uint8_t *lower, const uint8_t *upper,
                                                     uint8x16_t flip) {
  const uint8x8_t zero = vdup_n_u8(0);
  const uint8x16_t a = veorq_u8(vcombine_u8(vld1_u8(lower), zero), flip);
  const uint8x16_t b = veorq_u8(vcombine_u8(vld1_u8(upper), zero), flip);
  const daedalus_window window = {{vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)}};
  return window;
}

static inline int8x16_t daedalus_lookup(daedalus_window window, uint8x16_t places) {
  return vqtbl2q_s8(window, places);
}
#else
typedef int8x16_t daedalus_window;
#define DAEDALUS_UPPER 8
static inline daedalus_window daedalus_signed_window(const uint8_t *lower, const uint8_t *upper,
                                                     uint8x16_t flip) {
  uint8x8_t others = vld1_u8(upper);
#if defined(__aarch64__) && defined(__GNUC__)
  __asm__("" : "+w"(others));
#endif
  return vreinterpretq_s8_u8(veorq_u8(vcombine_u8(vld1_u8(lower), others), flip));
}

static inline int8x16_t daedalus_lookup(daedalus_window window, uint8x16_t places) {
  return vqtbl1q_s8(window, places);
}
#endif

/*
 * What is read of an array from here on is read from here on.  Compilers see
 * that nothing changes it, and would read for all rows at once: far more than
 * registers hold.
 */
#if defined(__aarch64__) && defined(__GNUC__)
#define DAEDALUS_READ_LATER(array) __asm__("" : "+m"(array))
#else
#define DAEDALUS_READ_LATER(array) ((void)0)
#endif

#endif /* DAEDALUS_NEON_H */
