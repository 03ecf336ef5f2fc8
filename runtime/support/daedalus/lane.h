/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/lane.h - scalar operations that generated C uses, with the meaning
 * dsl/ir.py gives them.  For generated code; programs need <daedalus.h> alone.
 */
#ifndef DAEDALUS_LANE_H
#define DAEDALUS_LANE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A function that has the code of what it calls in itself: for loops over items.  Not through
 * SIMDe, where each intrinsic is a function and compilers take minutes.
 */
#if defined(__GNUC__)
#define DAEDALUS_RARELY(condition) __builtin_expect(condition, 0)
#else
#define DAEDALUS_RARELY(condition) (condition)
#endif
#if defined(__GNUC__) && (defined(__aarch64__) || !DAEDALUS_HAVE_NEON)
#define DAEDALUS_FLATTEN __attribute__((flatten))
#else
#define DAEDALUS_FLATTEN
#endif

static inline int32_t daedalus_min(int32_t a, int32_t b) {
  return a < b ? a : b;
}

static inline int32_t daedalus_max(int32_t a, int32_t b) {
  return a > b ? a : b;
}

static inline int32_t daedalus_clip(int32_t x, int32_t lo, int32_t hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

static inline int32_t daedalus_absdiff(int32_t a, int32_t b) {
  return (int32_t)(a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a);
}

static inline int32_t daedalus_abs(int32_t a) {
  return daedalus_absdiff(a, 0);
}

/** (a + 2^(n-1)) >> n without overflow, 1 <= n <= 31. */
static inline int32_t daedalus_round_shift(int32_t a, int n) {
  return (int32_t)(((int64_t)a + ((int64_t)1 << (n - 1))) >> n);
}

static inline int64_t daedalus_min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t daedalus_max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static inline int64_t daedalus_clip64(int64_t x, int64_t lo, int64_t hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

static inline int64_t daedalus_absdiff64(int64_t a, int64_t b) {
  return (int64_t)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a);
}

static inline int64_t daedalus_abs64(int64_t a) {
  return daedalus_absdiff64(a, 0);
}

/** (a + 2^(n-1)) >> n, 1 <= n <= 31, where the sum fits; defined for every a. */
static inline int64_t daedalus_round_shift64(int64_t a, int n) {
  return (int64_t)((uint64_t)a + ((uint64_t)1 << (n - 1))) >> n;
}

/** The value of `bits` bits (two's complement when signed) congruent to x; 1 <= bits <= 32. */
static inline int64_t daedalus_wrap(int64_t x, int bits, int is_signed) {
  const uint64_t mask = ((uint64_t)1 << bits) - 1;
  const uint64_t low = (uint64_t)x & mask;
  return is_signed && (low >> (bits - 1)) ? (int64_t)low - (int64_t)mask - 1 : (int64_t)low;
}

/** A shift amount kept where C defines the shift. */
static inline int daedalus_shift_amount(int32_t n) {
  return (int)daedalus_clip(n, 0, 31);
}

#endif /* DAEDALUS_LANE_H */
