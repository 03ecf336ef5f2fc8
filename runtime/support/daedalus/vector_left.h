/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/vector_left.h - beside daedalus/vector.h: shifts to the left by one amount for all
 * elements. What has none does not include it.
 */
#ifndef DAEDALUS_VECTOR_LEFT_H
#define DAEDALUS_VECTOR_LEFT_H

#include <daedalus/vector.h>

/* By an amount that is limited to what C defines; by the width and more, all bits are out. */
#define VECTOR_BY_ONE(q, S, E, T, N, US, U)                         \
  VECTOR_FN T vshlv##q##_n_##S(T a, int n) {                        \
    const int width = (int)sizeof(a[0]) * 8;                        \
    const int by = n & 31;                                          \
    return by < width ? vector_shl_##S(a, by) : vector_fill_##S(0); \
  }
VECTOR_ALL(VECTOR_BY_ONE)

#endif /* DAEDALUS_VECTOR_LEFT_H */
