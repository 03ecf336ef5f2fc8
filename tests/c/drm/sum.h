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
/* SUM_UNCERTAIN goes first by rank, and computes one choice in four wrong. */
enum { SUM_C, SUM_UNCERTAIN, SUM_GOOD, SUM_N };

const daedalus_kernel_table *sum_table(void);

#endif /* DAEDALUS_TESTS_DRM_SUM_H */
