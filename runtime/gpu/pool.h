/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that the CPU sees, kept for use again: powers of two from 256 bytes to
 * 8 MiB.  Larger ones are made as they are asked for, rounded up to 64 KiB, and
 * kept up to 128 MiB in all; one is taken again when it is at most twice as large
 * as what is wanted.
 */
#ifndef DAEDALUS_GPU_POOL_H
#define DAEDALUS_GPU_POOL_H

#include "gpu/backend.h"

enum {
  DAEDALUS_GPU_POOL_SHIFT_MIN = 8,
  DAEDALUS_GPU_POOL_SHIFT_MAX = 23,
  DAEDALUS_GPU_POOL_CLASSES = DAEDALUS_GPU_POOL_SHIFT_MAX - DAEDALUS_GPU_POOL_SHIFT_MIN + 1
};

struct daedalus_gpu_pool {
  daedalus_gpu_backend *backend;
  daedalus_gpu_block *kept[DAEDALUS_GPU_POOL_CLASSES];
  daedalus_gpu_block *kept_large; /* the latest first */
  uint64_t kept_large_bytes;
  daedalus_pool_info info;
};

void daedalus_rt_gpu_pool_init(daedalus_gpu_pool *pool, daedalus_gpu_backend *backend);

/** @return 0, with what the block held before in it, or an error of the backend's */
int daedalus_rt_gpu_pool_take(daedalus_gpu_pool *pool, uint64_t size, daedalus_gpu_block **block);
void daedalus_rt_gpu_pool_give(daedalus_gpu_pool *pool, daedalus_gpu_block *block);

/** Frees all that is kept. */
void daedalus_rt_gpu_pool_trim(daedalus_gpu_pool *pool);

#endif /* DAEDALUS_GPU_POOL_H */
