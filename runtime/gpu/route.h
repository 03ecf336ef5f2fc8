/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The GPU as a place to run variants: all that the rest of the runtime knows
 * of it.  Where no route of this build leads to one, there is none to append for.
 */
#ifndef DAEDALUS_GPU_ROUTE_H
#define DAEDALUS_GPU_ROUTE_H

#include "base/batch.h"
#include "batch/check.h"

/** Whether there is a GPU to append for; opens it.  @return 0 or -ENODEV, logged the first time */
int daedalus_rt_gpu_open(daedalus_ctx *ctx);

/** Frees all of it; every batch is destroyed before. */
void daedalus_rt_gpu_close(daedalus_ctx *ctx);

/**
 * For each class the GPU variant that the recipe names, else that of lowest rank, that the device
 * has the limits for, that does with the work's alignment, and that computed its self-test
 * right (which is run now if it never was; where there is no memory to run it,
 * the CPU's is taken).  After the device was lost: the CPU's.
 * @param picks  one for each class of the kernel
 */
void daedalus_rt_gpu_choose(daedalus_ctx *ctx, const daedalus_work *work, daedalus_pick *picks);

/**
 * For AUTO: puts the recipe's choices for the QPU in the place of the CPU's, where they can be
 * followed; where not, the CPU's stay and the reason says why.  Opens the GPU.
 * @param picks  the CPU's, one for each class of the kernel
 */
void daedalus_rt_gpu_follow(daedalus_ctx *ctx, const daedalus_work *work, daedalus_pick *picks);

/** The same for a variant that was asked for.  @return 0, or -ENODEV, logged with the reason */
int daedalus_rt_gpu_accept(daedalus_ctx *ctx, const daedalus_work *work,
                           const daedalus_variant *variant, uint32_t workgroup,
                           daedalus_pick *pick);

/**
 * Hands groups `first` to `end` of a batch, GPU variants all, to the GPU.
 * Where that fails the CPU does them.  A batch has one such part in flight.
 * @return 0 or -EIO (memory that was used in place is undefined)
 */
int daedalus_rt_gpu_submit(daedalus_batch *batch, size_t first, size_t end);

/**
 * Waits for that part and brings its results to where they belong.
 * @param timeout_ns  as daedalus_batch_wait()
 * @return 0 (also when nothing is in flight), -ETIME, or -EIO
 */
int daedalus_rt_gpu_wait(daedalus_batch *batch, int64_t timeout_ns);

/**
 * Before the CPU does a group: waits for what it may not overtake, and fetches
 * what lies in memory of the device.
 * @return 0, or -EIO when that is lost
 */
int daedalus_rt_gpu_before_cpu(daedalus_batch *batch, const daedalus_group *group);

/** After it: the other way around. */
void daedalus_rt_gpu_after_cpu(daedalus_batch *batch, const daedalus_group *group);

/** @return as daedalus_batch_gpu_time(), of a batch that is done */
int daedalus_rt_gpu_time(const daedalus_batch *batch, uint64_t *ns);

/** @return as daedalus_batch_export_fence() */
int daedalus_rt_gpu_export_fence(daedalus_batch *batch, int *fd);

/** Frees what the route keeps with a batch, of which nothing is in flight. */
void daedalus_rt_gpu_forget(daedalus_batch *batch);

#endif /* DAEDALUS_GPU_ROUTE_H */
