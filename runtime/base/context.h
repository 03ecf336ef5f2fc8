/* SPDX-License-Identifier: BSD-2-Clause */
/* The context, as the runtime's own files see it. */
#ifndef DAEDALUS_BASE_CONTEXT_H
#define DAEDALUS_BASE_CONTEXT_H

#include <daedalus/core.h>
#include <daedalus/table.h>

#include "base/alloc.h"
#include "base/recipe.h"

typedef struct daedalus_gpu daedalus_gpu; /* gpu/gpu.h */

struct daedalus_ctx {
  daedalus_allocator allocator;
  uint32_t flags; /* DAEDALUS_CONFIG_* */
  daedalus_log_fn log;
  void *log_user;
  daedalus_batch *batches; /* all that are begun and not destroyed */
  const daedalus_kernel_table *table;
  char *device; /* of the configuration, like the next four; NULL where it has none */
  char *cache_dir;
  char *route;
  daedalus_get_instance_proc_addr_fn get_instance_proc_addr;
  uint32_t timeout_ms;
  daedalus_recipe recipe;
  daedalus_gpu *gpu;        /* the route's; NULL until it is needed */
  daedalus_batch *dispatch; /* what daedalus_dispatch() reuses; NULL until its first call */
};

/**
 * daedalus_ctx_create_with() for a given table and allocator, both borrowed as
 * long as the context lives (the allocator's struct is copied).
 */
daedalus_ctx *daedalus_rt_ctx_create(const daedalus_config *config,
                                     const daedalus_kernel_table *table,
                                     const daedalus_allocator *allocator);

/** As daedalus_find_kernel(), of any table. */
const daedalus_kernel_desc *daedalus_rt_find_kernel(const daedalus_kernel_table *table,
                                                    const char *id);

#if defined(__GNUC__) || defined(__clang__)
#define DAEDALUS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define DAEDALUS_PRINTF(text, first)
#endif

/** Formats one message and hands it to the context's logger. */
void daedalus_rt_log(const daedalus_ctx *ctx, daedalus_log_level level, const char *format, ...)
    DAEDALUS_PRINTF(3, 4);

/** The default logger: ERROR and WARNING to stderr. */
void daedalus_rt_log_stderr(void *user, daedalus_log_level level, const char *message);

#endif /* DAEDALUS_BASE_CONTEXT_H */
