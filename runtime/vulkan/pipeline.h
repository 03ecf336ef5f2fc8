/* SPDX-License-Identifier: BSD-2-Clause */
/* Pipelines: made once for each variant and workgroup size, and kept. */
#ifndef DAEDALUS_VULKAN_PIPELINE_H
#define DAEDALUS_VULKAN_PIPELINE_H

#include "vulkan/cache.h"
#include "vulkan/pool.h"

enum {
  DAEDALUS_VK_BUFFERS_MOST = 15, /* of a kernel: so many push constants are promised everywhere */
  DAEDALUS_VK_BINDINGS_MOST = DAEDALUS_VK_BUFFERS_MOST + 2, /* records, constants */
  DAEDALUS_VK_PUSH_MOST = 2 + 2 * DAEDALUS_VK_BUFFERS_MOST
};

typedef enum daedalus_vk_trust {
  DAEDALUS_VK_UNTESTED,
  DAEDALUS_VK_TRUSTED,
  DAEDALUS_VK_REFUSED /* `why` tells the reason */
} daedalus_vk_trust;

typedef struct daedalus_vk_pipeline {
  const daedalus_kernel_desc *kernel;
  const daedalus_variant *variant;
  uint32_t asked;     /* workgroup as it was asked for, 0 for the variant's own */
  uint32_t workgroup; /* invocations */
  daedalus_vk_trust trust;
  char why[192];
  VkPipeline handle; /* VK_NULL_HANDLE until it is made */
  VkPipelineLayout layout;
  daedalus_vk_block *constants; /* NULL where the variant has none */
  struct daedalus_vk_pipeline *next;
} daedalus_vk_pipeline;

typedef struct daedalus_vk_pipelines {
  daedalus_vk_device *device;
  daedalus_vk_cache cache;
  daedalus_vk_pool *pool;
  VkDescriptorSetLayout set_layouts[DAEDALUS_VK_BINDINGS_MOST + 1]; /* by bindings */
  VkPipelineLayout layouts[DAEDALUS_VK_BUFFERS_MOST + 1][2];        /* by buffers, constants */
  daedalus_vk_pipeline *list;
} daedalus_vk_pipelines;

int daedalus_rt_vk_pipelines_init(daedalus_vk_pipelines *pipelines, daedalus_vk_device *device,
                                  daedalus_vk_pool *pool);
void daedalus_rt_vk_pipelines_close(daedalus_vk_pipelines *pipelines);

/**
 * The entry of a variant: there already, or new and either untested or, where
 * the device lacks what the variant needs, refused with the limit's name.
 * @return NULL when there is no memory for it
 */
daedalus_vk_pipeline *daedalus_rt_vk_pipeline_find(daedalus_vk_pipelines *pipelines,
                                                   const daedalus_kernel_desc *kernel,
                                                   const daedalus_variant *variant,
                                                   uint32_t workgroup);

/** Makes the pipeline unless it is there.  @return 0 or an error of daedalus_rt_vk_failed() */
int daedalus_rt_vk_pipeline_make(daedalus_vk_pipelines *pipelines, daedalus_vk_pipeline *pipeline);

/** The layout of sets of so many bindings, made when first asked for.  @return 0 or an error */
int daedalus_rt_vk_set_layout(daedalus_vk_pipelines *pipelines, size_t n_bindings,
                              VkDescriptorSetLayout *layout);

#endif /* DAEDALUS_VULKAN_PIPELINE_H */
