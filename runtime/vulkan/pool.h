/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that the CPU sees, kept for use again: powers of two from 256 bytes to
 * 8 MiB.  Larger ones are made as they are asked for, rounded up to 64 KiB, and
 * kept up to 128 MiB in all; one is taken again when it is at most twice as large
 * as what is wanted.
 */
#ifndef DAEDALUS_VULKAN_POOL_H
#define DAEDALUS_VULKAN_POOL_H

#include "vulkan/memory.h"

enum {
  DAEDALUS_VK_POOL_SHIFT_MIN = 8,
  DAEDALUS_VK_POOL_SHIFT_MAX = 23,
  DAEDALUS_VK_POOL_CLASSES = DAEDALUS_VK_POOL_SHIFT_MAX - DAEDALUS_VK_POOL_SHIFT_MIN + 1
};

typedef struct daedalus_vk_pool {
  daedalus_vk_memory *memory;
  daedalus_vk_block *kept[DAEDALUS_VK_POOL_CLASSES];
  daedalus_vk_block *kept_large; /* the latest first */
  uint64_t kept_large_bytes;
  daedalus_pool_info info;
} daedalus_vk_pool;

void daedalus_rt_vk_pool_init(daedalus_vk_pool *pool, daedalus_vk_memory *memory);

/** @return 0, with what the block held before in it, or an error of daedalus_rt_vk_failed() */
int daedalus_rt_vk_pool_take(daedalus_vk_pool *pool, uint64_t size, daedalus_vk_block **block);
void daedalus_rt_vk_pool_give(daedalus_vk_pool *pool, daedalus_vk_block *block);

/** Frees all that is kept. */
void daedalus_rt_vk_pool_trim(daedalus_vk_pool *pool);

#endif /* DAEDALUS_VULKAN_POOL_H */
