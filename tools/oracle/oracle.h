/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oracle.h - what the oracle program and its codecs have in common.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stddef.h>
#include <stdint.h>

enum { ORACLE_MAX_PARAMETERS = 8 };

/*
 * Does one item with the decoder's function.
 *   plane   at the item's origin; stride in bytes
 *   block   the item's packed coefficients, NULL without
 *   params  the kernel's parameters in the order of kernels.toml
 */
typedef void oracle_fn(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params);

typedef void oracle_target(void);

typedef struct oracle_entry {
  const char *name;
  oracle_fn *fn;
  oracle_target *target; /* the decoder's function that `fn` calls */
} oracle_entry;

/*
 * Defined by each codec's file: fills its function tables, for the CPU flags
 * that are in force (c_only: none), and lists what it has; the list ends with
 * a NULL name. NULL when the tables are not as they were declared.
 */
const oracle_entry *oracle_vp9_entries(int c_only);
const oracle_entry *oracle_h264_entries(int c_only);

#endif /* ORACLE_H */
