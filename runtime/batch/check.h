/* SPDX-License-Identifier: BSD-2-Clause */
/* What an append is checked for before anything is taken over. */
#ifndef DAEDALUS_BATCH_CHECK_H
#define DAEDALUS_BATCH_CHECK_H

#include "batch/batch.h"

/** What daedalus_append() was given. */
typedef struct daedalus_work {
  const daedalus_kernel_desc *kernel;
  const daedalus_buffer *buffers;
  const void *meta;
  size_t n_items;
} daedalus_work;

/** Buffers: not NULL and aligned for their elements.  @return 0 or -EINVAL, logged */
int daedalus_rt_check_buffers(const daedalus_ctx *ctx, const daedalus_work *work);

/** Items: parameters in range, offsets aligned.  @return 0 or -EINVAL, logged */
int daedalus_rt_check_items(const daedalus_ctx *ctx, const daedalus_work *work);

/**
 * That no item touches what another one writes, nor by one buffer what it writes by another
 * (DAEDALUS_CONFIG_CHECK_OVERLAP).
 * Buffers and items have been checked before.
 * @return 0, -EINVAL, logged, or -ENOMEM
 */
int daedalus_rt_check_overlap(daedalus_batch *batch, const daedalus_work *work);

#endif /* DAEDALUS_BATCH_CHECK_H */
