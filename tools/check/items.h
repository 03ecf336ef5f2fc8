/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs functions for many items, daedalus_items_... and daedalus_clearing_items_..., on items that
 * are laid out regularly.
 *
 * A call does items that follow each other: as many of the run's as do, but in two calls, so that a
 * function for several items a vector has some left over.
 */
#ifndef CHECK_ITEMS_H
#define CHECK_ITEMS_H

#include <stdbool.h>

#include "job.h"

typedef struct items_way {
  bool on;
  bool one;            /* only items of equal parameters a call, and one struct of meta for them */
  bool tall;           /* the same, by the function for items one below the other */
  const char *cleared; /* names of blocks, separated by blanks; NULL: the function clears none */
  bool in_part;        /* items may lie about what their blocks hold: what is not cleared stays */
} items_way;

/* Whether the library has the function, of a variant or, by a kernel's id, the public one. */
bool items_known(const char *name, items_way way);

/* Whether the block of that name is one that is to be cleared. */
bool items_clears(items_way way, const char *name);

/*
 * Runs it on images[].bytes.
 * @return DONE; NOT_CLEARED where a block that is to be cleared is not zero, nor, where that is
 *         allowed, as it was, or another item's has changed
 */
uint64_t items_run(const daedalus_kernel_desc *kernel, const char *name, items_way way,
                   const image *images, const uint8_t *meta, size_t n_items, const uint32_t *items,
                   size_t n);

#endif
