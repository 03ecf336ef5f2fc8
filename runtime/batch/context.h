/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a context, which puts all parts of the runtime together. */
#ifndef DAEDALUS_BATCH_CONTEXT_H
#define DAEDALUS_BATCH_CONTEXT_H

#include "base/context.h"

/**
 * daedalus_ctx_create_with() for a given table and allocator, both borrowed as
 * long as the context lives (the allocator's struct is copied).
 */
daedalus_ctx *daedalus_rt_ctx_create(const daedalus_config *config,
                                     const daedalus_kernel_table *table,
                                     const daedalus_allocator *allocator);

#endif /* DAEDALUS_BATCH_CONTEXT_H */
