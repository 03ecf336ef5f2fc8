/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the device.  A block is one buffer that covers one allocation of
 * its own; what the CPU can see of it stays mapped, and is always coherent.
 *
 * The CPU's copies (DAEDALUS_VK_SHARED) take the first of these that there is:
 *   1. of the device, visible, coherent, cached
 *   2. visible, coherent, cached
 *   3. of the device, visible, coherent
 *   4. visible, coherent
 * Cached comes before near: reading memory that is not cached is what costs
 * most.  Where the memory is one and the same (every GPU that is no card), a
 * daedalus_memory takes it in that order too.  On a card it takes the first,
 * and failing that
 *   5. of the device (DAEDALUS_VK_LOCAL), with a block of the above to copy
 *      through, since over the bus the CPU reads at a hundredth of the speed.
 */
#ifndef DAEDALUS_VULKAN_MEMORY_H
#define DAEDALUS_VULKAN_MEMORY_H

#include "vulkan/device.h"

typedef enum daedalus_vk_place {
  DAEDALUS_VK_SHARED, /* the CPU sees it */
  DAEDALUS_VK_LOCAL,  /* the device's own, which the CPU may not see */
} daedalus_vk_place;

typedef struct daedalus_vk_block {
  VkBuffer buffer;
  VkDeviceMemory memory;
  unsigned char *map; /* NULL where the CPU does not see it */
  uint64_t size;
  uint64_t id;                    /* never used twice, as handles are */
  struct daedalus_vk_block *next; /* whoever holds it makes lists of it */
  int size_class;                 /* of the pool */
} daedalus_vk_block;

/** What there is of memory, looked at once. */
typedef struct daedalus_vk_memory {
  daedalus_vk_device *device;
  VkPhysicalDeviceMemoryProperties properties;
  uint64_t last_id;
  bool staged;             /* a daedalus_memory is DAEDALUS_VK_LOCAL with a copy */
  const char *description; /* for daedalus_device_info */
} daedalus_vk_memory;

void daedalus_rt_vk_memory_init(daedalus_vk_memory *memory, daedalus_vk_device *device);

/**
 * @param exported  whether a dma-buf of it may be asked for
 * @return 0, or an error of daedalus_rt_vk_failed(); -ENOTSUP when no type of memory fits
 */
int daedalus_rt_vk_block_create(daedalus_vk_memory *memory, daedalus_vk_place place, uint64_t size,
                                bool exported, daedalus_vk_block *block);

/** A dma-buf; `fd` is taken over, whatever comes of it.  @return as above */
int daedalus_rt_vk_block_import(daedalus_vk_memory *memory, int fd, uint64_t size,
                                daedalus_vk_block *block);

void daedalus_rt_vk_block_destroy(daedalus_vk_memory *memory, daedalus_vk_block *block);

#endif /* DAEDALUS_VULKAN_MEMORY_H */
