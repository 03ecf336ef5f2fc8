/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pipeline cache's file: one for each device, driver and generated code,
 * in daedalus_config.cache_dir, $XDG_CACHE_HOME/daedalus or ~/.cache/daedalus.
 * A file is a header with a fingerprint, the length and a checksum of what
 * follows; one that is cut short, changed or someone else's is left unread.
 * It is replaced as a whole, by renaming, so that readers never meet half a
 * file.  Nothing depends on it: where it cannot be kept, pipelines are made
 * anew.
 */
#ifndef DAEDALUS_VULKAN_CACHE_H
#define DAEDALUS_VULKAN_CACHE_H

#include "gpu/vulkan/device.h"

enum { DAEDALUS_VK_CACHE_PATH = 1024 };

typedef struct daedalus_vk_cache {
  daedalus_vk_device *device;
  VkPipelineCache handle;
  uint64_t fingerprint;
  char path[DAEDALUS_VK_CACHE_PATH]; /* empty: none is kept */
  bool grown;                        /* there is something to write */
} daedalus_vk_cache;

/** Reads the file if there is a good one.  @return 0 or an error of daedalus_rt_vk_failed() */
int daedalus_rt_vk_cache_open(daedalus_vk_cache *cache, daedalus_vk_device *device);

/** Writes the file when something was added. */
void daedalus_rt_vk_cache_save(daedalus_vk_cache *cache);
void daedalus_rt_vk_cache_close(daedalus_vk_cache *cache);

#endif /* DAEDALUS_VULKAN_CACHE_H */
