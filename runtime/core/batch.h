/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The batch, as the runtime's own files see it.
 *
 * All appends of a batch share four growing arrays; what belongs together is
 * found by position, because growing moves the memory.  reset() sets the sizes
 * to zero and keeps the capacity.
 */
#ifndef DAEDALUS_CORE_BATCH_H
#define DAEDALUS_CORE_BATCH_H

#include <stdbool.h>

#include "core/context.h"

/** The items of one class in one append: the unit that is executed, and one daedalus_choice. */
typedef struct daedalus_group {
  const daedalus_kernel_desc *kernel;
  const daedalus_variant *variant;
  size_t buffers_at; /* in batch->buffers */
  size_t meta_at;    /* in batch->meta, of the append's item 0 */
  size_t items_at;   /* in batch->items */
  size_t n_items;
} daedalus_group;

/** While an append is binned: one per class of its kernel. */
typedef struct daedalus_bin {
  const daedalus_variant *variant; /* NULL: nothing here can run this class */
  size_t n_items;
  size_t next; /* where in batch->items the next item of the class goes */
} daedalus_bin;

struct daedalus_batch {
  daedalus_ctx *ctx;
  daedalus_batch *previous, *next; /* in ctx->batches */
  bool submitted;

  daedalus_vec groups;  /* daedalus_group, in the order of execution */
  daedalus_vec buffers; /* daedalus_buffer */
  daedalus_vec meta;    /* bytes; every meta_size is a multiple of 4, so all stay aligned */
  daedalus_vec items;   /* uint32_t, indices within their append */

  /* Scratch of one append, kept so that the next need not allocate; size stays 0. */
  daedalus_vec bins;     /* daedalus_bin */
  daedalus_vec class_of; /* uint16_t, one per item */
  daedalus_vec spans;    /* daedalus_span, see overlap.c */
};

#endif /* DAEDALUS_CORE_BATCH_H */
