/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub driver's shaders, pipelines, caches and descriptors. */
#include <stdlib.h>
#include <string.h>

#include "stub_internal.h"

#define DESTROY(name, handle_type, stub_type_)                                                   \
  void stub_Destroy##name(VkDevice device, handle_type handle, const VkAllocationCallbacks *a) { \
    (void)device;                                                                                \
    (void)a;                                                                                     \
    (void)stub_enter(STUB_Destroy##name);                                                        \
    if (handle != VK_NULL_HANDLE) {                                                              \
      stub_delete(stub_get(POINTER(handle), stub_type_), stub_type_);                            \
    }                                                                                            \
  }

static uint32_t *copy_code(const uint32_t *code, size_t n_words) {
  uint32_t *copy = malloc(n_words * sizeof(*copy) + 1);
  if (copy == NULL) {
    abort();
  }
  memcpy(copy, code, n_words * sizeof(*copy));
  return copy;
}

VkResult stub_CreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                                 const VkAllocationCallbacks *a, VkShaderModule *out) {
  (void)a;
  ENTER(CreateShaderModule);
  stub_shader *shader = stub_new(STUB_SHADER, sizeof(*shader), stub_get(device, STUB_DEVICE));
  shader->n_words = info->codeSize / 4;
  shader->code = copy_code(info->pCode, shader->n_words);
  *out = HANDLE(VkShaderModule, shader);
  return VK_SUCCESS;
}

void stub_DestroyShaderModule(VkDevice device, VkShaderModule handle,
                              const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_DestroyShaderModule);
  if (handle != VK_NULL_HANDLE) {
    stub_shader *shader = stub_get(POINTER(handle), STUB_SHADER);
    free(shader->code);
    stub_delete(shader, STUB_SHADER);
  }
}

VkResult stub_CreateDescriptorSetLayout(VkDevice device,
                                        const VkDescriptorSetLayoutCreateInfo *info,
                                        const VkAllocationCallbacks *a,
                                        VkDescriptorSetLayout *out) {
  (void)a;
  ENTER(CreateDescriptorSetLayout);
  stub_layout *layout = stub_new(STUB_SET_LAYOUT, sizeof(*layout), stub_get(device, STUB_DEVICE));
  layout->n_bindings = info->bindingCount;
  for (uint32_t i = 0; i < info->bindingCount; i++) {
    if (info->pBindings[i].binding >= STUB_MAX_BINDINGS ||
        info->pBindings[i].descriptorCount != 1) {
      stub_misuse("binding %u: only single ones below %d are known here",
                  info->pBindings[i].binding, STUB_MAX_BINDINGS);
    }
  }
  *out = HANDLE(VkDescriptorSetLayout, layout);
  return VK_SUCCESS;
}
DESTROY(DescriptorSetLayout, VkDescriptorSetLayout, STUB_SET_LAYOUT)

VkResult stub_CreatePipelineLayout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                   const VkAllocationCallbacks *a, VkPipelineLayout *out) {
  (void)a;
  ENTER(CreatePipelineLayout);
  stub_layout *layout =
      stub_new(STUB_PIPELINE_LAYOUT, sizeof(*layout), stub_get(device, STUB_DEVICE));
  for (uint32_t i = 0; i < info->pushConstantRangeCount; i++) {
    const VkPushConstantRange *range = &info->pPushConstantRanges[i];
    layout->push_bytes = range->offset + range->size;
  }
  if (layout->push_bytes > 128) {
    stub_misuse("%u bytes of push constants, 128 are allowed", layout->push_bytes);
  }
  *out = HANDLE(VkPipelineLayout, layout);
  return VK_SUCCESS;
}
DESTROY(PipelineLayout, VkPipelineLayout, STUB_PIPELINE_LAYOUT)

/* --------------------------------------------------------------------- pipeline caches */

/* What the driver writes of itself; a Vulkan cache header, then a word a pipeline. */
typedef struct cache_data {
  VkPipelineCacheHeaderVersionOne header;
  uint32_t n_pipelines;
} cache_data;

VkResult stub_CreatePipelineCache(VkDevice device, const VkPipelineCacheCreateInfo *info,
                                  const VkAllocationCallbacks *a, VkPipelineCache *out) {
  (void)a;
  ENTER(CreatePipelineCache);
  stub_layout *cache = stub_new(STUB_PIPELINE_CACHE, sizeof(*cache), stub_get(device, STUB_DEVICE));
  cache_data data;
  if (info->initialDataSize == sizeof(data)) {
    memcpy(&data, info->pInitialData, sizeof(data));
    cache->n_bindings = data.n_pipelines;
    if (data.header.headerSize != sizeof(data.header) || data.n_pipelines > 1000) {
      stub_misuse("a pipeline cache was given data that its driver did not write");
    }
  } else if (info->initialDataSize != 0) {
    stub_misuse("a pipeline cache was given %zu bytes that its driver did not write",
                info->initialDataSize);
  }
  *out = HANDLE(VkPipelineCache, cache);
  return VK_SUCCESS;
}
DESTROY(PipelineCache, VkPipelineCache, STUB_PIPELINE_CACHE)

VkResult stub_GetPipelineCacheData(VkDevice device, VkPipelineCache handle, size_t *size,
                                   void *out) {
  (void)device;
  ENTER(GetPipelineCacheData);
  const stub_layout *cache = stub_get(POINTER(handle), STUB_PIPELINE_CACHE);
  cache_data data = {.header = {.headerSize = sizeof(data.header),
                                .headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
                                .vendorID = stub_opened()->vendor,
                                .deviceID = stub_opened()->device},
                     .n_pipelines = cache->n_bindings};
  memset(data.header.pipelineCacheUUID, 0x5a, sizeof(data.header.pipelineCacheUUID));
  if (out == NULL) {
    *size = sizeof(data);
    return VK_SUCCESS;
  }
  if (*size < sizeof(data)) {
    *size = 0;
    return VK_INCOMPLETE;
  }
  *size = sizeof(data);
  memcpy(out, &data, sizeof(data));
  return VK_SUCCESS;
}

/* --------------------------------------------------------------------------- pipelines */

static uint32_t workgroup_of(const VkSpecializationInfo *info) {
  uint32_t value = 0;
  for (uint32_t i = 0; info != NULL && i < info->mapEntryCount; i++) {
    if (info->pMapEntries[i].constantID == 0) {
      memcpy(&value, (const char *)info->pData + info->pMapEntries[i].offset, sizeof(value));
    }
  }
  return value;
}

VkResult stub_CreateComputePipelines(VkDevice device, VkPipelineCache cache_handle, uint32_t n,
                                     const VkComputePipelineCreateInfo *infos,
                                     const VkAllocationCallbacks *a, VkPipeline *out) {
  (void)a;
  for (uint32_t i = 0; i < n; i++) {
    out[i] = VK_NULL_HANDLE;
  }
  ENTER(CreateComputePipelines);
  for (uint32_t i = 0; i < n; i++) {
    const stub_shader *shader = stub_get(POINTER(infos[i].stage.module), STUB_SHADER);
    (void)stub_get(POINTER(infos[i].layout), STUB_PIPELINE_LAYOUT);
    stub_pipeline *pipeline =
        stub_new(STUB_PIPELINE, sizeof(*pipeline), stub_get(device, STUB_DEVICE));
    pipeline->code = copy_code(shader->code, shader->n_words);
    pipeline->n_words = shader->n_words;
    pipeline->workgroup = workgroup_of(infos[i].stage.pSpecializationInfo);
    const uint32_t most = stub_opened()->max_workgroup != 0 ? stub_opened()->max_workgroup : 256;
    if (pipeline->workgroup > most) {
      stub_misuse("a workgroup of %u, %u are allowed", pipeline->workgroup, most);
    }
    if (cache_handle != VK_NULL_HANDLE) {
      ((stub_layout *)stub_get(POINTER(cache_handle), STUB_PIPELINE_CACHE))->n_bindings++;
    }
    out[i] = HANDLE(VkPipeline, pipeline);
  }
  return VK_SUCCESS;
}

void stub_DestroyPipeline(VkDevice device, VkPipeline handle, const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_DestroyPipeline);
  if (handle != VK_NULL_HANDLE) {
    stub_pipeline *pipeline = stub_get(POINTER(handle), STUB_PIPELINE);
    free(pipeline->code);
    pipeline->code = NULL;
    stub_delete(pipeline, STUB_PIPELINE);
  }
}

/* ------------------------------------------------------------------------- descriptors */

VkResult stub_CreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                                   const VkAllocationCallbacks *a, VkDescriptorPool *out) {
  (void)a;
  ENTER(CreateDescriptorPool);
  stub_pool *pool = stub_new(STUB_DESCRIPTOR_POOL, sizeof(*pool), stub_get(device, STUB_DEVICE));
  pool->sets_left = info->maxSets;
  pool->frees = (info->flags & VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT) != 0;
  *out = HANDLE(VkDescriptorPool, pool);
  return VK_SUCCESS;
}

/* Its sets go with it. */
static void empty_pool(stub_pool *pool) {
  for (stub_object *set; (set = stub_child_of(&pool->object, STUB_DESCRIPTOR_SET)) != NULL;) {
    stub_delete(set, STUB_DESCRIPTOR_SET);
    pool->sets_left++;
  }
}

void stub_DestroyDescriptorPool(VkDevice device, VkDescriptorPool handle,
                                const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_DestroyDescriptorPool);
  if (handle != VK_NULL_HANDLE) {
    stub_pool *pool = stub_get(POINTER(handle), STUB_DESCRIPTOR_POOL);
    empty_pool(pool);
    stub_delete(pool, STUB_DESCRIPTOR_POOL);
  }
}

VkResult stub_AllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                     VkDescriptorSet *out) {
  (void)device;
  for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
    out[i] = VK_NULL_HANDLE;
  }
  ENTER(AllocateDescriptorSets);
  stub_pool *pool = stub_get(POINTER(info->descriptorPool), STUB_DESCRIPTOR_POOL);
  if (pool->sets_left < info->descriptorSetCount) {
    return VK_ERROR_OUT_OF_POOL_MEMORY;
  }
  for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
    const stub_layout *layout = stub_get(POINTER(info->pSetLayouts[i]), STUB_SET_LAYOUT);
    stub_set *set = stub_new(STUB_DESCRIPTOR_SET, sizeof(*set), &pool->object);
    set->n_bindings = layout->n_bindings;
    pool->sets_left--;
    out[i] = HANDLE(VkDescriptorSet, set);
  }
  return VK_SUCCESS;
}

void stub_UpdateDescriptorSets(VkDevice device, uint32_t n, const VkWriteDescriptorSet *writes,
                               uint32_t n_copies, const VkCopyDescriptorSet *copies) {
  (void)device;
  (void)copies;
  (void)stub_enter(STUB_UpdateDescriptorSets);
  if (n_copies != 0) {
    stub_misuse("copying descriptors is not known here");
  }
  const uint32_t align = stub_opened()->offset_align != 0 ? stub_opened()->offset_align : 32;
  const uint32_t most =
      stub_opened()->max_range != 0 ? stub_opened()->max_range : UINT32_C(1) << 30;
  for (uint32_t i = 0; i < n; i++) {
    stub_set *set = stub_get(POINTER(writes[i].dstSet), STUB_DESCRIPTOR_SET);
    if (set->object.in_flight != 0) {
      stub_misuse("a descriptor set is written while work in flight uses it");
    }
    for (uint32_t k = 0; k < writes[i].descriptorCount; k++) {
      const VkDescriptorBufferInfo *info = &writes[i].pBufferInfo[k];
      const uint32_t binding = writes[i].dstBinding + k;
      stub_buffer *buffer = stub_get(POINTER(info->buffer), STUB_BUFFER);
      const bool whole = info->range == VK_WHOLE_SIZE;
      if (binding >= set->n_bindings) {
        stub_misuse("binding %u is written, the set has %u", binding, set->n_bindings);
        continue;
      }
      if (info->offset >= buffer->size || (!whole && info->range > buffer->size - info->offset)) {
        stub_misuse("binding %u reaches beyond its buffer", binding);
        continue;
      }
      const uint64_t size = whole ? buffer->size - info->offset : info->range;
      if (info->offset % align != 0 || size > most || size == 0) {
        stub_misuse("binding %u: %llu bytes at %llu: limits are %u and multiples of %u", binding,
                    (unsigned long long)size, (unsigned long long)info->offset, most, align);
      }
      set->bindings[binding].buffer = buffer;
      set->bindings[binding].offset = info->offset;
      set->bindings[binding].size = size;
    }
  }
}
