/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The GPU as a place to run variants: all that the rest of the runtime knows
 * of it.  Where no route of this build leads to one, there is none to append for.
 */
#ifndef DAEDALUS_GPU_ROUTE_H
#define DAEDALUS_GPU_ROUTE_H

#include <stdbool.h>

#include "base/context.h"
#include "base/groups.h"

typedef struct daedalus_gpu_job daedalus_gpu_job; /* gpu/job.h */

/** A batch as the GPU sees it.  It begins as zero but for `work` and `flags`. */
typedef struct daedalus_gpu_batch {
  const daedalus_groups *work; /* of which it marks groups as undefined */
  uint32_t flags;              /* DAEDALUS_BATCH_* */
  bool rescued;                /* the CPU did something in the GPU's stead */
  int error;                   /* of the part that was done last */
  size_t n_parts;              /* that are done or in flight */
  daedalus_gpu_job *job;       /* NULL until it is needed */
} daedalus_gpu_batch;

/** Whether there is a GPU to append for; opens it.  @return 0 or -ENODEV, logged the first time */
int daedalus_rt_gpu_open(daedalus_ctx *ctx);

/** Frees all of it; every batch is destroyed before. */
void daedalus_rt_gpu_close(daedalus_ctx *ctx);

/** Whether it failed for good.  False where it was never opened. */
bool daedalus_rt_gpu_lost(const daedalus_ctx *ctx);

/** Whether a variant is for the route of the GPU that is open. */
bool daedalus_rt_gpu_has(const daedalus_ctx *ctx, const daedalus_variant *variant);

/** Of a GPU variant, for each buffer: what address, stride and offsets have to be multiples of. */
const uint8_t *daedalus_rt_gpu_align(const daedalus_variant *variant);

/**
 * Makes a variant ready on the GPU that is open: that it has what the variant needs, compiles it,
 * and has it compute its self-test right.  Done once for each variant and workgroup.
 * @return 0; -ENODEV: it cannot run here; -EAGAIN: that could not be found out, for want of memory
 *         or as the GPU failed, and may be the next time
 */
int daedalus_rt_gpu_prepare(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                            const daedalus_variant *variant, uint32_t workgroup);

/** The same for a variant that was asked for.  @return 0, or -ENODEV, logged with the reason */
int daedalus_rt_gpu_accept(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                           const daedalus_variant *variant, uint32_t workgroup);

/**
 * Hands groups `first` to `end` of a batch, GPU variants all, to the GPU.
 * Where that fails the CPU does them.  A batch has one such part in flight.
 * @return 0 or -EIO (memory that was used in place is undefined)
 */
int daedalus_rt_gpu_submit(daedalus_ctx *ctx, daedalus_gpu_batch *batch, size_t first, size_t end);

/**
 * Waits for that part and brings its results to where they belong.
 * @param timeout_ns  as daedalus_batch_wait()
 * @return 0 (also when nothing is in flight), -ETIME, or -EIO
 */
int daedalus_rt_gpu_wait(daedalus_gpu_batch *batch, int64_t timeout_ns);

/**
 * Before the CPU does a group: waits for what it may not overtake, and fetches
 * what lies in memory of the device.
 * @return 0, or -EIO when that is lost
 */
int daedalus_rt_gpu_before_cpu(daedalus_ctx *ctx, const daedalus_groups *work,
                               const daedalus_group *group);

/** After it: the other way around. */
void daedalus_rt_gpu_after_cpu(daedalus_ctx *ctx, const daedalus_groups *work,
                               const daedalus_group *group);

/** @return as daedalus_batch_gpu_time(), of a batch that is done */
int daedalus_rt_gpu_time(const daedalus_gpu_batch *batch, uint64_t *ns);

/** @return as daedalus_batch_export_fence() */
int daedalus_rt_gpu_export_fence(daedalus_gpu_batch *batch, int *fd);

/** Frees what the route keeps with a batch, of which nothing is in flight. */
void daedalus_rt_gpu_forget(daedalus_gpu_batch *batch);

/** The context that memory belongs to. */
daedalus_ctx *daedalus_rt_gpu_memory_ctx(const daedalus_memory *memory);

/** Whether any of the groups touches the memory. */
bool daedalus_rt_gpu_touches(const daedalus_groups *work, const daedalus_memory *memory);

/** Waits for what is in flight that uses the memory, then frees it. */
void daedalus_rt_gpu_memory_destroy(daedalus_memory *memory);

#endif /* DAEDALUS_GPU_ROUTE_H */
