/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded work: what a submission may take of the GPU's time, by estimates.
 *
 * The kernel resets a V3D of which no batch ends for 500 ms.  A thread of QPU code is one batch, so
 * that a whole job has to stay below that; and the route through DRM takes a submission of 400 ms
 * for one that was reset.  100 ms leave a factor of four for what estimates do not know: a clock
 * below the stock one, memory that others use, items that lie far apart.
 */
#ifndef DAEDALUS_GPU_BOUND_H
#define DAEDALUS_GPU_BOUND_H

#include "gpu/backend.h"

/** 100.5 ms at the stock 960 MHz: such that what shaders get divides it. */
#define DAEDALUS_GPU_CLOCKS_A_SUBMISSION (UINT64_C(23) << 22)

/**
 * An item of a shader, about which nothing is stated: its workgroups are batches of their own, so
 * that each of them is progress, and what is bounded is how long others wait for the GPU.  131,072
 * items are a submission, as a frame of 4x4 blocks (130,560) has to be one; a card has 4,194,304.
 */
#define DAEDALUS_GPU_CLOCKS_A_SHADER_ITEM (DAEDALUS_GPU_CLOCKS_A_SUBMISSION >> 17)
#define DAEDALUS_GPU_CLOCKS_A_CARDS_ITEM (DAEDALUS_GPU_CLOCKS_A_SUBMISSION >> 22)

/** A job of QPU code, besides what it computes: the kernel's part, 25 to 40 us (v3d-timing.md). */
#define DAEDALUS_GPU_CLOCKS_A_JOB UINT64_C(40000)

/** Clocks that a dispatch of so many items takes, about. */
uint64_t daedalus_rt_gpu_dispatch_clocks(const daedalus_gpu_program *program, size_t n_items);

/** Whether the smallest dispatch, of DAEDALUS_GPU_ITEMS_UNIT items, is a submission. */
bool daedalus_rt_gpu_dispatch_fits(const daedalus_gpu_program *program);

/** Items of one dispatch at most: a multiple of DAEDALUS_GPU_ITEMS_UNIT. */
size_t daedalus_rt_gpu_dispatch_most(const daedalus_gpu_program *program);

#endif /* DAEDALUS_GPU_BOUND_H */
