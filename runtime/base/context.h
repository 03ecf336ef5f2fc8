/* SPDX-License-Identifier: BSD-2-Clause */
/* The context, as the runtime's own files see it. */
#ifndef DAEDALUS_BASE_CONTEXT_H
#define DAEDALUS_BASE_CONTEXT_H

#include <daedalus/core.h>
#include <daedalus/table.h>

#include "base/alloc.h"
#include "base/recipe.h"

/* Of the folders above, which make them and know what is in them. */
typedef struct daedalus_gpu daedalus_gpu;             /* gpu/gpu.h */
typedef struct daedalus_gpu_route daedalus_gpu_route; /* gpu/backend.h */
typedef struct daedalus_choices daedalus_choices;     /* batch/choices.h */

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
  const daedalus_gpu_route *const *routes; /* to the GPU, in the order of preference */
  daedalus_gpu *gpu;                       /* by one of them; NULL until it is needed */
  daedalus_choices **choices;              /* what is to run, as it was found at the first use */
  daedalus_batch *dispatch; /* what daedalus_dispatch() reuses; NULL until its first call */
};

/** @return the kernel's number in the table, or n_kernels: it is none of the table's */
size_t daedalus_rt_kernel_number(const daedalus_kernel_table *table,
                                 const daedalus_kernel_desc *kernel);

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
