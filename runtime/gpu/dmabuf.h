/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dma-bufs as the kernel knows them: which of them are one and the same, and
 * telling their exporter that the CPU uses them.
 */
#ifndef DAEDALUS_GPU_DMABUF_H
#define DAEDALUS_GPU_DMABUF_H

#include <sys/types.h>

#include "base/context.h"

/**
 * A dma-buf that memory of a context lies in.  Several daedalus_memory may lie
 * in one: imported twice, or exported and imported again.
 */
typedef struct daedalus_gpu_dmabuf {
  dev_t device;
  ino_t inode;
  uintptr_t base; /* where its first byte lies when uses are compared */
  size_t n_users;
  void *map; /* at `base`, of a user that is gone; unmapped with the last one */
  size_t map_size;
  struct daedalus_gpu_dmabuf *next;
} daedalus_gpu_dmabuf;

/**
 * The dma-buf of a descriptor, found in the list or added to it, with one user more.
 * @param base       where the caller has it, taken if it is new
 * @param[out] made  NULL where the kernel does not tell one dma-buf from another (before Linux 5.3)
 * @return 0 or -ENOMEM
 */
int daedalus_rt_gpu_dmabuf_take(const daedalus_allocator *allocator, daedalus_gpu_dmabuf **list,
                                int fd, uintptr_t base, daedalus_gpu_dmabuf **made);

/**
 * With one user less; the last one frees it.
 * @param map  the user's mapping, 0 bytes where it has none of its own: unmapped when nobody
 *             compares by its address any more
 */
void daedalus_rt_gpu_dmabuf_drop(const daedalus_allocator *allocator, daedalus_gpu_dmabuf **list,
                                 daedalus_gpu_dmabuf *dmabuf, void *map, size_t map_size);

/** Tells the exporter that the CPU begins or ends to use it; beginning waits for the GPU. */
void daedalus_rt_gpu_dmabuf_sync(int fd, bool begin);

#endif /* DAEDALUS_GPU_DMABUF_H */
