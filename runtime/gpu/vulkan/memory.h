/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the device.  A block is one buffer that covers one allocation of
 * its own; what the CPU can see of it stays mapped, and is always coherent.
 *
 * The CPU's copies (DAEDALUS_GPU_SHARED) take the first of these that there is:
 *   1. of the device, visible, coherent, cached
 *   2. visible, coherent, cached
 *   3. of the device, visible, coherent
 *   4. visible, coherent
 * Cached comes before near: reading memory that is not cached is what costs
 * most.  Where the memory is one and the same (every GPU that is no card), a
 * daedalus_memory takes it in that order too.  On a card it takes the first,
 * and failing that
 *   5. of the device (DAEDALUS_GPU_LOCAL), with a block of the above to copy
 *      through, since over the bus the CPU reads at a hundredth of the speed.
 */
#ifndef DAEDALUS_VULKAN_MEMORY_H
#define DAEDALUS_VULKAN_MEMORY_H

#include "gpu/vulkan/device.h"

typedef struct daedalus_vk_block {
  daedalus_gpu_block base;
  VkBuffer buffer;
  VkDeviceMemory memory;
} daedalus_vk_block;

static inline const daedalus_vk_block *daedalus_vk_block_of(const daedalus_gpu_block *block) {
  return (const daedalus_vk_block *)block;
}

/** What there is of memory, looked at once. */
typedef struct daedalus_vk_memory {
  daedalus_vk_device *device;
  VkPhysicalDeviceMemoryProperties properties;
  uint64_t last_id;
  bool staged;             /* a daedalus_memory is DAEDALUS_GPU_LOCAL with a copy */
  const char *description; /* for daedalus_device_info */
} daedalus_vk_memory;

void daedalus_rt_vk_memory_init(daedalus_vk_memory *memory, daedalus_vk_device *device);

/* As backend.h says. */
int daedalus_rt_vk_block_create(daedalus_vk_memory *memory, daedalus_gpu_place place, uint64_t size,
                                bool exported, daedalus_gpu_block **block);
int daedalus_rt_vk_block_import(daedalus_vk_memory *memory, int fd, uint64_t size,
                                daedalus_gpu_block **block);
int daedalus_rt_vk_block_export(daedalus_vk_memory *memory, const daedalus_gpu_block *block,
                                int *fd);
void daedalus_rt_vk_block_destroy(daedalus_vk_memory *memory, daedalus_gpu_block *block);

#endif /* DAEDALUS_VULKAN_MEMORY_H */
