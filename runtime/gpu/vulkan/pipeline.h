/* SPDX-License-Identifier: BSD-2-Clause */
/* Pipelines: made once for each variant and workgroup size, and kept. */
#ifndef DAEDALUS_VULKAN_PIPELINE_H
#define DAEDALUS_VULKAN_PIPELINE_H

#include "gpu/vulkan/cache.h"
#include "gpu/vulkan/memory.h"

enum {
  DAEDALUS_VK_BINDINGS_MOST = DAEDALUS_GPU_BUFFERS_MOST + 2, /* records, constants */
  DAEDALUS_VK_PUSH_MOST = 2 + 2 * DAEDALUS_GPU_BUFFERS_MOST
};

typedef struct daedalus_vk_pipeline {
  daedalus_gpu_program base;
  size_t n_buffers;
  uint32_t workgroup; /* invocations */
  VkPipeline handle;  /* VK_NULL_HANDLE until it is made */
  VkPipelineLayout layout;
  daedalus_gpu_block *constants; /* NULL where the variant has none */
} daedalus_vk_pipeline;

typedef struct daedalus_vk_pipelines {
  daedalus_vk_device *device;
  daedalus_vk_cache cache;
  daedalus_gpu_pool *pool;
  VkDescriptorSetLayout set_layouts[DAEDALUS_VK_BINDINGS_MOST + 1]; /* by bindings */
  VkPipelineLayout layouts[DAEDALUS_GPU_BUFFERS_MOST + 1][2];       /* by buffers, constants */
} daedalus_vk_pipelines;

int daedalus_rt_vk_pipelines_init(daedalus_vk_pipelines *pipelines, daedalus_vk_device *device,
                                  daedalus_gpu_pool *pool);
void daedalus_rt_vk_pipelines_close(daedalus_vk_pipelines *pipelines);

/* As backend.h says. */
int daedalus_rt_vk_pipeline_create(daedalus_vk_pipelines *pipelines,
                                   const daedalus_kernel_desc *kernel,
                                   const daedalus_variant *variant, uint32_t workgroup,
                                   daedalus_gpu_program **program);
int daedalus_rt_vk_pipeline_make(daedalus_vk_pipelines *pipelines, daedalus_gpu_program *program);
void daedalus_rt_vk_pipeline_destroy(daedalus_vk_pipelines *pipelines,
                                     daedalus_gpu_program *program);

/** The layout of sets of so many bindings, made when first asked for.  @return 0 or an error */
int daedalus_rt_vk_set_layout(daedalus_vk_pipelines *pipelines, size_t n_bindings,
                              VkDescriptorSetLayout *layout);

#endif /* DAEDALUS_VULKAN_PIPELINE_H */
