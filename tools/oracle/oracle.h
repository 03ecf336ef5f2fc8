/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oracle.h - what the oracle programs have in common. A program is main.c and
 * the files that call one decoder's functions.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stddef.h>
#include <stdint.h>

enum {
  ORACLE_MAX_PARAMETERS = 8,
  ORACLE_MAX_PLANES = 4,
  ORACLE_MAX_STRIDE = 576,
  ORACLE_MAX_TARGETS = 4
};

/*
 * An item: what the functions get.
 *   plane   at the item's origin, in the order of the kernel's
 *   stride  of every plane, in bytes; below ORACLE_MAX_STRIDE
 *   block   its packed coefficients, NULL without
 *   params  the kernel's parameters, in its order, without those that are fixed
 */
typedef struct oracle_item {
  uint8_t *plane[ORACLE_MAX_PLANES];
  ptrdiff_t stride;
  int16_t *block;
  const int32_t *params;
} oracle_item;

typedef void oracle_target(void);

typedef void oracle_calls(oracle_target *const *targets, const oracle_item *item, size_t n);

/*
 * A function of the decoder, or several where it has others for parameters that
 * this program's `fn` tells apart, and ours of that signature. `fn` does `n`
 * items with the functions it is given: theirs, or ours everywhere. The list
 * ends with a NULL name.
 *
 * A decoder that has a plane in parts may work in the memory of the one that is
 * read: `in_place` does so with `most` items, after `prepare`; then `rows` of
 * `bytes` of the plane `source` hold what else dst would. NULL of others.
 */
typedef struct oracle_entry {
  const char *name;
  oracle_calls *fn;
  oracle_target *theirs[ORACLE_MAX_TARGETS];
  oracle_target *ours; /* NULL: there is none */
  void (*prepare)(const oracle_item *item, size_t n);
  oracle_calls *in_place;
  size_t most;
  int source, rows, bytes;
} oracle_entry;

/* What the functions may use: no processor extension, or what the processor has. */
typedef enum oracle_mode { ORACLE_C, ORACLE_ASM } oracle_mode;

/*
 * Defined once a program: fills the decoder's function tables for the mode and
 * lists what it has; what it returned before is then no longer valid. NULL when
 * it has nothing: `wrong` is then what is not as described.
 */
const oracle_entry *oracle_entries(oracle_mode mode, const char **wrong);

#endif /* ORACLE_H */
