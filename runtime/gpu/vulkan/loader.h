/* SPDX-License-Identifier: BSD-2-Clause */
/* Where Vulkan comes from: its functions and an instance. */
#ifndef DAEDALUS_VULKAN_LOADER_H
#define DAEDALUS_VULKAN_LOADER_H

#include "base/context.h"
#include "gpu/vulkan/vk.h"

typedef struct daedalus_vk {
  const daedalus_ctx *ctx; /* logger, allocator, configuration */
  daedalus_vk_functions fn;
  VkInstance instance;
  uint32_t api_version; /* that the instance was made for, at most 1.3 */
} daedalus_vk;

/**
 * Loads libvulkan.so.1, or takes what the context was configured with, and
 * makes an instance.  The library stays loaded for the life of the process:
 * drivers leave threads and memory of their own behind.
 * @param[out] why  on failure a sentence, for the log; `why_size` bytes
 * @return 0 or -ENODEV
 */
int daedalus_rt_vk_load(daedalus_vk *vk, const daedalus_ctx *ctx, char *why, size_t why_size);

/** Fills in the functions of a device.  @return 0 or -ENODEV, `why` set */
int daedalus_rt_vk_load_device(daedalus_vk *vk, VkDevice device, char *why, size_t why_size);

/** Destroys the instance. */
void daedalus_rt_vk_unload(daedalus_vk *vk);

#endif /* DAEDALUS_VULKAN_LOADER_H */
