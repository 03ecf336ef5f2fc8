/* SPDX-License-Identifier: BSD-2-Clause */
/* The batch, as the files of this folder see it.  reset() empties its arrays and keeps their room.
 */
#ifndef DAEDALUS_BATCH_BATCH_H
#define DAEDALUS_BATCH_BATCH_H

#include "base/context.h"
#include "base/groups.h"
#include "gpu/route.h"

/** While an append is binned: one per class of its kernel. */
typedef struct daedalus_bin {
  size_t n_items;
  size_t next; /* where in the items the next item of the class goes */
} daedalus_bin;

struct daedalus_batch {
  daedalus_ctx *ctx;
  daedalus_batch *previous, *next; /* in ctx->batches */
  bool submitted;
  bool done; /* nothing of it is in flight, and `error` is the outcome */
  int error; /* what submit and wait give */
  size_t n_appends;
  daedalus_groups work;
  daedalus_gpu_batch gpu; /* its part of it */

  /* Scratch of one append, kept so that the next need not allocate; size stays 0. */
  daedalus_vec bins;     /* daedalus_bin */
  daedalus_vec picks;    /* daedalus_pick, one per class */
  daedalus_vec places;   /* uintptr_t, one per buffer */
  daedalus_vec class_of; /* uint16_t, one per item */
  daedalus_vec spans;    /* daedalus_span, see overlap.c */
};

#endif /* DAEDALUS_BATCH_BATCH_H */
