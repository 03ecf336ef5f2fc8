/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that was appended, in the order of execution: what the CPU and the GPU run.
 *
 * All appends of a batch share four growing arrays; what belongs together is
 * found by position, because growing moves the memory.
 */
#ifndef DAEDALUS_BASE_GROUPS_H
#define DAEDALUS_BASE_GROUPS_H

#include <daedalus/table.h>

#include <stdbool.h>

#include "base/alloc.h"

/** The items of one class in one append: the unit that is executed, and one daedalus_choice. */
typedef struct daedalus_group {
  const daedalus_kernel_desc *kernel;
  const daedalus_variant *variant;
  size_t buffers_at; /* in the groups' buffers */
  size_t meta_at;    /* in their meta, of the append's item 0 */
  size_t items_at;   /* in their items */
  size_t n_items;
  const char *reason; /* static */
  uint32_t workgroup; /* of a GPU variant, as it was asked for; 0: its own */
  size_t append;      /* number of the append in its batch */
  bool undefined;     /* what its items write; see daedalus_batch_undefined() */
} daedalus_group;

typedef struct daedalus_groups {
  daedalus_vec list;    /* daedalus_group, in the order of execution */
  daedalus_vec buffers; /* daedalus_buffer */
  daedalus_vec meta;    /* bytes; every meta_size is a multiple of 4, so all stay aligned */
  daedalus_vec items;   /* uint32_t, indices within their append */
} daedalus_groups;

#endif /* DAEDALUS_BASE_GROUPS_H */
