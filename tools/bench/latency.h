/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include "bench.h"
#include "tune/work.h"

/*
 * A small dispatch of caller memory, as JSON members: "cold" with nothing pooled, "warm" after
 * others like it, each with Vulkan's calls and creations and the runtime's allocations a dispatch.
 */
void latency_pool(daedalus_ctx *ctx, const sample_items *samples, int rounds);

/* Caller's time of append and submit of a one-item batch in memory of the device. */
void latency_submit(daedalus_ctx *ctx, const sample_items *samples, int rounds);

/*
 * A frame of several kernels, `n_items` of each in memory of the device: one submit for all, one a
 * kernel, and one an item (of these `single`, scaled to all).
 */
void latency_frame(daedalus_ctx *ctx, const sample_file *file, const char *only, size_t n_items,
                   size_t single, int rounds);

#endif
