/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vulkan/pipeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpu/bound.h"
#include "gpu/packed.h"
#include "gpu/pool.h"

int daedalus_rt_vk_pipelines_init(daedalus_vk_pipelines *pipelines, daedalus_vk_device *device,
                                  daedalus_gpu_pool *pool) {
  *pipelines = (daedalus_vk_pipelines){.device = device, .pool = pool};
  return daedalus_rt_vk_cache_open(&pipelines->cache, device);
}

void daedalus_rt_vk_pipelines_close(daedalus_vk_pipelines *pipelines) {
  daedalus_vk_device *device = pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  const bool can = daedalus_vk_destroyable(device);
  daedalus_rt_vk_cache_save(&pipelines->cache);
  for (size_t i = 0; can && i <= DAEDALUS_GPU_BUFFERS_MOST; i++) {
    for (size_t k = 0; k < 2; k++) {
      if (pipelines->layouts[i][k] != VK_NULL_HANDLE) {
        fn->DestroyPipelineLayout(device->handle, pipelines->layouts[i][k], NULL);
      }
    }
  }
  for (size_t i = 0; can && i <= DAEDALUS_VK_BINDINGS_MOST; i++) {
    if (pipelines->set_layouts[i] != VK_NULL_HANDLE) {
      fn->DestroyDescriptorSetLayout(device->handle, pipelines->set_layouts[i], NULL);
    }
  }
  daedalus_rt_vk_cache_close(&pipelines->cache);
}

/** Invocations of a workgroup that the device and the variant allow, at most `wanted`; 0: none. */
static uint32_t fitting(const daedalus_vk_physical *physical, const daedalus_gpu_code *code,
                        uint32_t wanted) {
  uint32_t size = wanted - wanted % code->invocations;
  while (
      size >= code->workgroup_min && size != 0 &&
      (size > physical->info.max_workgroup ||
       (uint64_t)size / code->invocations * code->shared_bytes > physical->info.max_shared_bytes)) {
    size = size / 2 - size / 2 % code->invocations;
  }
  return size >= code->workgroup_min ? size : 0;
}

#define REFUSE(pipeline, ...)                                                  \
  do {                                                                         \
    snprintf((pipeline)->base.why, sizeof((pipeline)->base.why), __VA_ARGS__); \
    (pipeline)->base.trust = DAEDALUS_GPU_REFUSED;                             \
    return;                                                                    \
  } while (0)

/** Refuses the variant by the name of what the device lacks. */
static void check_limits(const daedalus_vk_physical *physical, daedalus_vk_pipeline *pipeline,
                         const daedalus_gpu_code *code, uint32_t asked) {
  const size_t n_buffers = pipeline->n_buffers;
  const VkPhysicalDeviceLimits *limits = &physical->limits;
  const uint32_t missing = code->features & ~physical->info.features;
  if ((missing & DAEDALUS_GPU_STORAGE8) != 0) {
    REFUSE(pipeline, "the device has no storageBuffer8BitAccess");
  }
  if ((missing & DAEDALUS_GPU_STORAGE16) != 0) {
    REFUSE(pipeline, "the device has no storageBuffer16BitAccess");
  }
  if (missing != 0) {
    REFUSE(pipeline, "it needs features that this library does not know (0x%" PRIx32 ")", missing);
  }
  if (n_buffers > DAEDALUS_GPU_BUFFERS_MOST ||
      (2 + 2 * n_buffers) * sizeof(uint32_t) > limits->maxPushConstantsSize) {
    REFUSE(pipeline, "maxPushConstantsSize is %" PRIu32 ", it needs %zu",
           limits->maxPushConstantsSize, (2 + 2 * n_buffers) * sizeof(uint32_t));
  }
  const size_t n_bindings = n_buffers + 1 + (code->n_constants != 0);
  if (n_bindings > limits->maxPerStageDescriptorStorageBuffers) {
    REFUSE(pipeline, "maxPerStageDescriptorStorageBuffers is %" PRIu32 ", it needs %zu",
           limits->maxPerStageDescriptorStorageBuffers, n_bindings);
  }
  if (asked != 0 && (asked % code->invocations != 0 || asked < code->workgroup_min)) {
    REFUSE(pipeline, "its workgroups are multiples of %d invocations from %d on, not %" PRIu32,
           code->invocations, code->workgroup_min, asked);
  }
  const uint32_t wanted = asked != 0 ? asked : code->workgroup;
  pipeline->workgroup = fitting(physical, code, wanted);
  if (pipeline->workgroup != 0 && (asked == 0 || pipeline->workgroup == asked)) {
    return;
  }
  const uint32_t least = asked != 0 ? asked : code->workgroup_min;
  if (least > physical->info.max_workgroup) {
    REFUSE(pipeline,
           "maxComputeWorkGroupInvocations and maxComputeWorkGroupSize[0] allow %" PRIu32
           ", it needs %" PRIu32,
           physical->info.max_workgroup, least);
  }
  REFUSE(pipeline, "maxComputeSharedMemorySize is %" PRIu32 ", it needs %" PRIu32,
         physical->info.max_shared_bytes, least / code->invocations * code->shared_bytes);
}

int daedalus_rt_vk_pipeline_create(daedalus_vk_pipelines *pipelines,
                                   const daedalus_kernel_desc *kernel,
                                   const daedalus_variant *variant, uint32_t workgroup,
                                   daedalus_gpu_program **program) {
  const daedalus_allocator *allocator = &pipelines->device->vk->ctx->allocator;
  const daedalus_vk_physical *physical = pipelines->device->physical;
  const daedalus_gpu_code *code = variant->gpu;
  daedalus_vk_pipeline *pipeline = allocator->resize(allocator->user, NULL, sizeof(*pipeline));
  *program = NULL;
  if (pipeline == NULL) {
    return -ENOMEM;
  }
  *pipeline = (daedalus_vk_pipeline){.n_buffers = kernel->n_buffers};
  check_limits(physical, pipeline, code, workgroup);
  const uint32_t limit = physical->limits.maxComputeWorkGroupCount[0];
  pipeline->base.items_step = (size_t)pipeline->workgroup / code->invocations * code->items;
  pipeline->base.items_most = (limit < UINT16_MAX ? limit : UINT16_MAX) * pipeline->base.items_step;
  pipeline->base.item_clocks = physical->info.kind == DAEDALUS_DEVICE_OTHER
                                   ? DAEDALUS_GPU_CLOCKS_A_CARDS_ITEM
                                   : DAEDALUS_GPU_CLOCKS_A_SHADER_ITEM;
  *program = &pipeline->base;
  return 0;
}

void daedalus_rt_vk_pipeline_destroy(daedalus_vk_pipelines *pipelines,
                                     daedalus_gpu_program *program) {
  daedalus_vk_pipeline *pipeline = (daedalus_vk_pipeline *)program;
  daedalus_vk_device *device = pipelines->device;
  if (daedalus_vk_destroyable(device) && pipeline->handle != VK_NULL_HANDLE) {
    device->vk->fn.DestroyPipeline(device->handle, pipeline->handle, NULL);
  }
  if (pipeline->constants != NULL) {
    daedalus_rt_gpu_pool_give(pipelines->pool, pipeline->constants);
  }
  const daedalus_allocator *allocator = &device->vk->ctx->allocator;
  allocator->release(allocator->user, pipeline);
}

int daedalus_rt_vk_set_layout(daedalus_vk_pipelines *pipelines, size_t n_bindings,
                              VkDescriptorSetLayout *found) {
  VkDescriptorSetLayout *layout = &pipelines->set_layouts[n_bindings];
  daedalus_vk_device *device = pipelines->device;
  if (*layout == VK_NULL_HANDLE) {
    VkDescriptorSetLayoutBinding bindings[DAEDALUS_VK_BINDINGS_MOST];
    for (uint32_t i = 0; i < n_bindings; i++) {
      bindings[i] = (VkDescriptorSetLayoutBinding){
          .binding = i,
          .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
          .descriptorCount = 1,
          .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
      };
    }
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = (uint32_t)n_bindings,
        .pBindings = bindings,
    };
    const VkResult result =
        device->vk->fn.CreateDescriptorSetLayout(device->handle, &info, NULL, layout);
    if (result != VK_SUCCESS) {
      *layout = VK_NULL_HANDLE;
      return daedalus_rt_vk_failed(device, "vkCreateDescriptorSetLayout", result);
    }
  }
  *found = *layout;
  return 0;
}

static int make_layout(daedalus_vk_pipelines *pipelines, daedalus_vk_pipeline *pipeline) {
  const size_t n_buffers = pipeline->n_buffers;
  const bool constants = pipeline->base.variant->gpu->n_constants != 0;
  VkPipelineLayout *layout = &pipelines->layouts[n_buffers][constants];
  daedalus_vk_device *device = pipelines->device;
  if (*layout == VK_NULL_HANDLE) {
    VkDescriptorSetLayout set;
    const int error = daedalus_rt_vk_set_layout(pipelines, n_buffers + 1 + constants, &set);
    if (error != 0) {
      return error;
    }
    const VkPushConstantRange push = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = (uint32_t)((2 + 2 * n_buffers) * sizeof(uint32_t)),
    };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    const VkResult result =
        device->vk->fn.CreatePipelineLayout(device->handle, &info, NULL, layout);
    if (result != VK_SUCCESS) {
      *layout = VK_NULL_HANDLE;
      return daedalus_rt_vk_failed(device, "vkCreatePipelineLayout", result);
    }
  }
  pipeline->layout = *layout;
  return 0;
}

/** The block with the variant's constants. */
static int make_constants(daedalus_vk_pipelines *pipelines, daedalus_vk_pipeline *pipeline) {
  const daedalus_gpu_code *code = pipeline->base.variant->gpu;
  const size_t size = code->n_constants * sizeof(uint32_t);
  if (size == 0 || pipeline->constants != NULL) {
    return 0;
  }
  const int error = daedalus_rt_gpu_pool_take(pipelines->pool, size, &pipeline->constants);
  if (error != 0) {
    pipeline->constants = NULL;
    return error;
  }
  memcpy(pipeline->constants->map, code->constants, size);
  return 0;
}

/** The variant's module, for the caller to destroy. */
static int make_module(daedalus_vk_device *device, const daedalus_gpu_code *code,
                       VkShaderModule *module) {
  const daedalus_allocator *allocator = &device->vk->ctx->allocator;
  const size_t size = code->n_words * sizeof(uint32_t);
  uint32_t *words = allocator->resize(allocator->user, NULL, size);
  if (words == NULL) {
    return -ENOMEM;
  }
  int error = daedalus_rt_spirv(allocator, code, words);
  if (error == 0) {
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = size,
        .pCode = words,
    };
    const VkResult result = device->vk->fn.CreateShaderModule(device->handle, &info, NULL, module);
    error =
        result == VK_SUCCESS ? 0 : daedalus_rt_vk_failed(device, "vkCreateShaderModule", result);
  }
  allocator->release(allocator->user, words);
  return error;
}

int daedalus_rt_vk_pipeline_make(daedalus_vk_pipelines *pipelines, daedalus_gpu_program *program) {
  daedalus_vk_pipeline *pipeline = (daedalus_vk_pipeline *)program;
  if (pipeline->handle != VK_NULL_HANDLE) {
    return 0;
  }
  daedalus_vk_device *device = pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  int error = make_constants(pipelines, pipeline);
  if (error == 0) {
    error = make_layout(pipelines, pipeline);
  }
  VkShaderModule module = VK_NULL_HANDLE;
  if (error == 0) {
    error = make_module(device, pipeline->base.variant->gpu, &module);
  }
  if (error != 0) {
    return error;
  }
  const VkSpecializationMapEntry entry = {.constantID = 0, .size = sizeof(uint32_t)};
  const VkSpecializationInfo specialization = {
      .mapEntryCount = 1,
      .pMapEntries = &entry,
      .dataSize = sizeof(pipeline->workgroup),
      .pData = &pipeline->workgroup,
  };
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &specialization},
      .layout = pipeline->layout,
  };
  const VkResult result = fn->CreateComputePipelines(device->handle, pipelines->cache.handle, 1,
                                                     &info, NULL, &pipeline->handle);
  fn->DestroyShaderModule(device->handle, module, NULL);
  if (result != VK_SUCCESS) {
    pipeline->handle = VK_NULL_HANDLE;
    return daedalus_rt_vk_failed(device, "vkCreateComputePipelines", result);
  }
  pipelines->cache.grown = true;
  return 0;
}
