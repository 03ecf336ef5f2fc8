/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/pool.h"

#include <errno.h>

static const uint64_t large_unit = UINT64_C(1) << 16;
static const uint64_t kept_large_most = UINT64_C(128) << 20;

void daedalus_rt_gpu_pool_init(daedalus_gpu_pool *pool, daedalus_gpu_backend *backend) {
  *pool = (daedalus_gpu_pool){.backend = backend};
}

/** The class of a size, or -1 for a large one. */
static int class_of(uint64_t size) {
  int shift = DAEDALUS_GPU_POOL_SHIFT_MIN;
  while (shift <= DAEDALUS_GPU_POOL_SHIFT_MAX && (UINT64_C(1) << shift) < size) {
    shift++;
  }
  return shift <= DAEDALUS_GPU_POOL_SHIFT_MAX ? shift - DAEDALUS_GPU_POOL_SHIFT_MIN : -1;
}

static void destroy(daedalus_gpu_pool *pool, daedalus_gpu_block *block) {
  pool->info.reserved -= block->size;
  pool->backend->route->block_destroy(pool->backend, block);
}

static daedalus_gpu_block *kept(daedalus_gpu_pool *pool, int size_class, uint64_t size) {
  if (size_class >= 0) {
    daedalus_gpu_block *block = pool->kept[size_class];
    if (block != NULL) {
      pool->kept[size_class] = block->next;
    }
    return block;
  }
  daedalus_gpu_block **best = NULL;
  for (daedalus_gpu_block **at = &pool->kept_large; *at != NULL; at = &(*at)->next) {
    if ((*at)->size >= size && (*at)->size / 2 <= size &&
        (best == NULL || (*at)->size < (*best)->size)) {
      best = at;
    }
  }
  if (best == NULL) {
    return NULL;
  }
  daedalus_gpu_block *block = *best;
  *best = block->next;
  pool->kept_large_bytes -= block->size;
  return block;
}

static int create(daedalus_gpu_pool *pool, int size_class, uint64_t size,
                  daedalus_gpu_block **created) {
  daedalus_gpu_backend *backend = pool->backend;
  const uint64_t rounded = size_class >= 0
                               ? UINT64_C(1) << (size_class + DAEDALUS_GPU_POOL_SHIFT_MIN)
                               : (size + large_unit - 1) / large_unit * large_unit;
  daedalus_gpu_block *block;
  int error = backend->route->block_create(backend, DAEDALUS_GPU_SHARED, rounded, false, &block);
  if (error == -ENOMEM && pool->info.reserved > pool->info.in_use) {
    daedalus_rt_gpu_pool_trim(pool); /* what is kept may be what is wanting */
    error = backend->route->block_create(backend, DAEDALUS_GPU_SHARED, rounded, false, &block);
  }
  if (error != 0) {
    return error;
  }
  block->size_class = size_class;
  pool->info.reserved += block->size;
  *created = block;
  return 0;
}

int daedalus_rt_gpu_pool_take(daedalus_gpu_pool *pool, uint64_t size, daedalus_gpu_block **block) {
  const int size_class =
      class_of(size > pool->backend->block_unit ? size : pool->backend->block_unit);
  pool->info.requests++;
  *block = kept(pool, size_class, size);
  if (*block != NULL) {
    pool->info.hits++;
  } else {
    const int error = create(pool, size_class, size, block);
    if (error != 0) {
      return error;
    }
  }
  (*block)->next = NULL;
  pool->info.in_use += (*block)->size;
  if (pool->info.in_use > pool->info.in_use_peak) {
    pool->info.in_use_peak = pool->info.in_use;
  }
  return 0;
}

void daedalus_rt_gpu_pool_give(daedalus_gpu_pool *pool, daedalus_gpu_block *block) {
  pool->info.in_use -= block->size;
  if (block->size_class >= 0) {
    block->next = pool->kept[block->size_class];
    pool->kept[block->size_class] = block;
    return;
  }
  if (block->size > kept_large_most) {
    destroy(pool, block);
    return;
  }
  block->next = pool->kept_large;
  pool->kept_large = block;
  pool->kept_large_bytes += block->size;
  while (pool->kept_large_bytes > kept_large_most) { /* the one that lies longest goes */
    daedalus_gpu_block **last = &pool->kept_large;
    while ((*last)->next != NULL) {
      last = &(*last)->next;
    }
    daedalus_gpu_block *old = *last;
    *last = NULL;
    pool->kept_large_bytes -= old->size;
    destroy(pool, old);
  }
}

static void destroy_list(daedalus_gpu_pool *pool, daedalus_gpu_block **list) {
  while (*list != NULL) {
    daedalus_gpu_block *block = *list;
    *list = block->next;
    destroy(pool, block);
  }
}

void daedalus_rt_gpu_pool_trim(daedalus_gpu_pool *pool) {
  for (int i = 0; i < DAEDALUS_GPU_POOL_CLASSES; i++) {
    destroy_list(pool, &pool->kept[i]);
  }
  destroy_list(pool, &pool->kept_large);
  pool->kept_large_bytes = 0;
}
