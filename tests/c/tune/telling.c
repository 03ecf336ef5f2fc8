/* SPDX-License-Identifier: BSD-2-Clause */
#include "telling.h"

#include <string.h>

#include "fixture.h"

static VkShaderModule word_module;
static VkPipeline word_pipeline;
static unsigned captured; /* pipelines whose statistics were asked for when they were made */

static VkInstance instance;

static PFN_vkVoidFunction stub_function(const char *name) {
  return stub_get_proc_addr(instance, name);
}

static VKAPI_ATTR VkResult VKAPI_CALL tell_extensions(VkPhysicalDevice physical, const char *layer,
                                                      uint32_t *n, VkExtensionProperties *list) {
  const uint32_t room = *n;
  const VkResult result = ((PFN_vkEnumerateDeviceExtensionProperties)stub_function(
      "vkEnumerateDeviceExtensionProperties"))(physical, layer, n, list);
  if (list != NULL && *n < room) {
    strcpy(list[*n].extensionName, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  }
  ++*n;
  return result;
}

static VKAPI_ATTR void VKAPI_CALL tell_features(VkPhysicalDevice physical,
                                                VkPhysicalDeviceFeatures2 *features) {
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *first = features->pNext;
  if (first != NULL &&
      first->sType ==
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR) {
    first->pipelineExecutableInfo = VK_TRUE;
    return;
  }
  ((PFN_vkGetPhysicalDeviceFeatures2)stub_function("vkGetPhysicalDeviceFeatures2"))(physical,
                                                                                    features);
}

/* The stub does not know the extension: it is to be the last, and the feature the first. */
static VKAPI_ATTR VkResult VKAPI_CALL telling_device(VkPhysicalDevice physical,
                                                     const VkDeviceCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkDevice *device) {
  VkDeviceCreateInfo own = *info;
  const uint32_t n = info->enabledExtensionCount;
  if (n != 0 && strcmp(info->ppEnabledExtensionNames[n - 1],
                       VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME) == 0) {
    const VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *feature = info->pNext;
    if (!feature->pipelineExecutableInfo) {
      return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    own.pNext = feature->pNext;
    own.enabledExtensionCount = n - 1;
  }
  return ((PFN_vkCreateDevice)stub_function("vkCreateDevice"))(physical, &own, allocator, device);
}

static VKAPI_ATTR VkResult VKAPI_CALL telling_module(VkDevice device,
                                                     const VkShaderModuleCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkShaderModule *module) {
  const VkResult result = ((PFN_vkCreateShaderModule)stub_function("vkCreateShaderModule"))(
      device, info, allocator, module);
  if (memcmp(info->pCode, VARIANT(ADD, ADD_GPU_WORD)->gpu->spirv, info->codeSize) == 0) {
    word_module = *module;
  }
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL telling_pipelines(VkDevice device, VkPipelineCache cache,
                                                        uint32_t n,
                                                        const VkComputePipelineCreateInfo *infos,
                                                        const VkAllocationCallbacks *allocator,
                                                        VkPipeline *pipelines) {
  VkComputePipelineCreateInfo own = infos[0];
  captured += (own.flags & VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR) != 0;
  own.flags &= ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  const VkResult result = ((PFN_vkCreateComputePipelines)stub_function("vkCreateComputePipelines"))(
      device, cache, n, &own, allocator, pipelines);
  if (own.stage.module == word_module) {
    word_pipeline = pipelines[0];
  }
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL tell_executables(VkDevice device,
                                                       const VkPipelineInfoKHR *info, uint32_t *n,
                                                       VkPipelineExecutablePropertiesKHR *list) {
  (void)device;
  (void)info;
  (void)list;
  *n = 1;
  return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL tell_statistics(VkDevice device,
                                                      const VkPipelineExecutableInfoKHR *info,
                                                      uint32_t *n,
                                                      VkPipelineExecutableStatisticKHR *list) {
  static const char *const names[] = {"Instruction Count", "Spill Size", "TMU Spills"};
  (void)device;
  *n = 3;
  for (uint32_t i = 0; list != NULL && i < 3; i++) {
    strcpy(list[i].name, names[i]);
    list[i].format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
    list[i].value.u64 = i == 0 ? 100 : info->pipeline == word_pipeline && captured != 0 ? i : 0;
  }
  return VK_SUCCESS;
}

#define INSTEAD(function, own)       \
  if (strcmp(name, function) == 0) { \
    return (PFN_vkVoidFunction)own;  \
  }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL telling_function(VkDevice device,
                                                                 const char *name) {
  INSTEAD("vkCreateShaderModule", telling_module)
  INSTEAD("vkCreateComputePipelines", telling_pipelines)
  INSTEAD("vkGetPipelineExecutablePropertiesKHR", tell_executables)
  INSTEAD("vkGetPipelineExecutableStatisticsKHR", tell_statistics)
  return ((PFN_vkGetDeviceProcAddr)stub_function("vkGetDeviceProcAddr"))(device, name);
}

static PFN_vkVoidFunction telling(const char *name) {
  INSTEAD("vkEnumerateDeviceExtensionProperties", tell_extensions)
  INSTEAD("vkGetPhysicalDeviceFeatures2", tell_features)
  INSTEAD("vkCreateDevice", telling_device)
  INSTEAD("vkGetDeviceProcAddr", telling_function)
  return stub_function(name);
}

daedalus_vulkan_fn telling_loader(void *own, const char *name) {
  instance = (VkInstance)own;
  return (daedalus_vulkan_fn)telling(name);
}
