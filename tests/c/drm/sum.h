/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel in QPU code for tests of the route through DRM: dst += src + a table's entry, two rows
 * of four words an item.  The program was made by generator/targets/qpu; sum.s is its text.
 */
#ifndef DAEDALUS_TESTS_DRM_SUM_H
#define DAEDALUS_TESTS_DRM_SUM_H

#include <daedalus/table.h>

typedef struct sum_meta {
  uint32_t dst_off, src_off;
  uint32_t choice; /* 0 to 3 */
} sum_meta;

enum { SUM_DST, SUM_SRC };
/*
 * By rank SUM_WRONG goes first, which computes one choice in four wrong; then SUM_UNCERTAIN, which
 * is right where C of an xor is 0, as no public source says; then SUM_GOOD; then SUM_FOUR, of four
 * threads a QPU.
 */
enum { SUM_C, SUM_WRONG, SUM_UNCERTAIN, SUM_GOOD, SUM_FOUR, SUM_N };

extern const uint64_t sum_carry_words[];
extern const size_t sum_carry_n_words;

/** The program for four threads a QPU, all else as of that one. */
daedalus_qpu_code sum_four(const daedalus_qpu_code *sum);

const daedalus_kernel_table *sum_table(void);

#endif /* DAEDALUS_TESTS_DRM_SUM_H */
