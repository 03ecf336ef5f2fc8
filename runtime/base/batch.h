/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The batch, as the runtime's own files see it.
 *
 * All appends of a batch share four growing arrays; what belongs together is
 * found by position, because growing moves the memory.  reset() sets the sizes
 * to zero and keeps the capacity.
 */
#ifndef DAEDALUS_BASE_BATCH_H
#define DAEDALUS_BASE_BATCH_H

#include <stdbool.h>

#include "base/context.h"

typedef struct daedalus_gpu_job daedalus_gpu_job; /* gpu/job.h */

/** The items of one class in one append: the unit that is executed, and one daedalus_choice. */
typedef struct daedalus_group {
  const daedalus_kernel_desc *kernel;
  const daedalus_variant *variant;
  size_t buffers_at; /* in batch->buffers */
  size_t meta_at;    /* in batch->meta, of the append's item 0 */
  size_t items_at;   /* in batch->items */
  size_t n_items;
  const char *reason; /* static */
  uint32_t workgroup; /* of a GPU variant, as it was asked for; 0: its own */
  size_t append;      /* number of the append in its batch */
  bool undefined;     /* what its items write; see daedalus_batch_undefined() */
} daedalus_group;

/** While an append is binned: one per class of its kernel. */
typedef struct daedalus_bin {
  size_t n_items;
  size_t next; /* where in batch->items the next item of the class goes */
} daedalus_bin;

struct daedalus_batch {
  daedalus_ctx *ctx;
  daedalus_batch *previous, *next; /* in ctx->batches */
  bool submitted;
  bool done;      /* nothing of it is in flight, and `error` is the outcome */
  bool rescued;   /* the CPU did something in the GPU's stead */
  int error;      /* what submit and wait give */
  int gpu_error;  /* of the part that the route did last */
  uint32_t flags; /* DAEDALUS_BATCH_* */
  size_t n_appends;
  size_t job_of_batch;   /* how many parts the route has done or is doing */
  daedalus_gpu_job *job; /* the route's; NULL until it is needed */

  daedalus_vec groups;  /* daedalus_group, in the order of execution */
  daedalus_vec buffers; /* daedalus_buffer */
  daedalus_vec meta;    /* bytes; every meta_size is a multiple of 4, so all stay aligned */
  daedalus_vec items;   /* uint32_t, indices within their append */

  /* Scratch of one append, kept so that the next need not allocate; size stays 0. */
  daedalus_vec bins;     /* daedalus_bin */
  daedalus_vec picks;    /* daedalus_pick, one per class */
  daedalus_vec class_of; /* uint16_t, one per item */
  daedalus_vec spans;    /* daedalus_span, see overlap.c */
};

#endif /* DAEDALUS_BASE_BATCH_H */
