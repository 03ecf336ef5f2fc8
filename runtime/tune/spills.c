/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/spills.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/base.h"
#include "gpu/vulkan/vk.h"

enum { SEEN_BYTES = 256 };

static PFN_vkGetInstanceProcAddr next_loader;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkCreateDevice next_create_device;
static PFN_vkCreateComputePipelines next_create_pipelines;
static PFN_vkEnumerateDeviceExtensionProperties extensions_of;
static PFN_vkGetPhysicalDeviceFeatures2 features_of;
static PFN_vkGetPipelineExecutablePropertiesKHR executables_of; /* NULL: not to be had */
static PFN_vkGetPipelineExecutableStatisticsKHR statistics_of;
static char seen[SEEN_BYTES];

void spills_forget(void) {
  seen[0] = '\0';
}

bool spills_seen(char *what, size_t size) {
  snprintf(what, size, "%s", seen);
  return seen[0] != '\0';
}

/* ------------------------------------------------------------------------------- statistics */

/* Whether a statistic's name is about spills, however the driver writes it. */
static bool about_spills(const char *name) {
  static const char word[] = "spill";
  for (; *name != '\0'; name++) {
    size_t i = 0;
    while (word[i] != '\0' && tolower((unsigned char)name[i]) == word[i]) {
      i++;
    }
    if (word[i] == '\0') {
      return true;
    }
  }
  return false;
}

static double value_of(const VkPipelineExecutableStatisticKHR *s) {
  switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return (double)s->value.u64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return (double)s->value.i64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
      return s->value.f64;
    default:
      return s->value.b32 != VK_FALSE;
  }
}

static void look_at(VkDevice device, VkPipeline pipeline, uint32_t executable) {
  const VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                            .pipeline = pipeline,
                                            .executableIndex = executable};
  uint32_t n = 0;
  if (statistics_of(device, &info, &n, NULL) != VK_SUCCESS || n == 0) {
    return;
  }
  VkPipelineExecutableStatisticKHR *list = allocate_zeroed(n * sizeof(*list));
  for (uint32_t i = 0; i < n; i++) {
    list[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  }
  if (statistics_of(device, &info, &n, list) != VK_SUCCESS) {
    n = 0;
  }
  for (uint32_t i = 0; i < n; i++) {
    const size_t used = strlen(seen);
    if (about_spills(list[i].name) && value_of(&list[i]) > 0) {
      snprintf(seen + used, sizeof(seen) - used, "%s%.60s %.0f", used != 0 ? ", " : "",
               list[i].name, value_of(&list[i]));
    }
  }
  free(list);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache,
                                                       uint32_t n,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkPipeline *pipelines) {
  if (executables_of == NULL) {
    return next_create_pipelines(device, cache, n, infos, allocator, pipelines);
  }
  VkComputePipelineCreateInfo *copies = allocate(n * sizeof(*copies));
  for (uint32_t i = 0; i < n; i++) {
    copies[i] = infos[i];
    copies[i].flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  }
  const VkResult result = next_create_pipelines(device, cache, n, copies, allocator, pipelines);
  free(copies);
  for (uint32_t i = 0; i < n && result == VK_SUCCESS; i++) {
    const VkPipelineInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                                    .pipeline = pipelines[i]};
    uint32_t n_executables = 0;
    if (executables_of(device, &info, &n_executables, NULL) != VK_SUCCESS) {
      continue;
    }
    for (uint32_t e = 0; e < n_executables; e++) {
      look_at(device, pipelines[i], e);
    }
  }
  return result;
}

/* ----------------------------------------------------------------------------- the device */

static bool tells(VkPhysicalDevice physical) {
  static const char name[] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  uint32_t n = 0;
  bool has = false;
  if (extensions_of == NULL || features_of == NULL ||
      extensions_of(physical, NULL, &n, NULL) != VK_SUCCESS) {
    return false;
  }
  VkExtensionProperties *list = allocate_zeroed((n + 1) * sizeof(*list));
  if (extensions_of(physical, NULL, &n, list) == VK_SUCCESS) {
    for (uint32_t i = 0; i < n; i++) {
      has = has || strcmp(list[i].extensionName, name) == 0;
    }
  }
  free(list);
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &feature};
  if (has) {
    features_of(physical, &features);
  }
  return feature.pipelineExecutableInfo;
}

/* The device with the extension besides. */
static VkResult create_telling(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkDevice *device) {
  const uint32_t n = info->enabledExtensionCount;
  const char **names = allocate((n + 1) * sizeof(*names));
  for (uint32_t i = 0; i < n; i++) {
    names[i] = info->ppEnabledExtensionNames[i];
  }
  names[n] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
      .pNext = (void *)(uintptr_t)info->pNext,
      .pipelineExecutableInfo = VK_TRUE};
  VkDeviceCreateInfo more = *info;
  more.pNext = &feature;
  more.enabledExtensionCount = n + 1;
  more.ppEnabledExtensionNames = names;
  const VkResult result = next_create_device(physical, &more, allocator, device);
  free(names);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *device) {
  executables_of = NULL;
  if (next_device == NULL || !tells(physical) ||
      create_telling(physical, info, allocator, device) != VK_SUCCESS) {
    return next_create_device(physical, info, allocator, device);
  }
  executables_of = (PFN_vkGetPipelineExecutablePropertiesKHR)next_device(
      *device, "vkGetPipelineExecutablePropertiesKHR");
  statistics_of = (PFN_vkGetPipelineExecutableStatisticsKHR)next_device(
      *device, "vkGetPipelineExecutableStatisticsKHR");
  if (statistics_of == NULL) {
    executables_of = NULL;
  }
  return VK_SUCCESS;
}

/* ----------------------------------------------------------------------------- the loader */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char *name) {
  const PFN_vkVoidFunction found = next_device(device, name);
  if (found != NULL && strcmp(name, "vkCreateComputePipelines") == 0) {
    next_create_pipelines = (PFN_vkCreateComputePipelines)found;
    return (PFN_vkVoidFunction)create_pipelines;
  }
  return found;
}

static daedalus_vulkan_fn function(void *instance, const char *name) {
  const PFN_vkVoidFunction found = next_loader((VkInstance)instance, name);
  if (found == NULL) {
    return NULL;
  }
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
    next_device = (PFN_vkGetDeviceProcAddr)found;
    return (daedalus_vulkan_fn)device_function;
  }
  if (strcmp(name, "vkCreateDevice") == 0) {
    next_create_device = (PFN_vkCreateDevice)found;
    return (daedalus_vulkan_fn)create_device;
  }
  if (strcmp(name, "vkEnumerateDeviceExtensionProperties") == 0) {
    extensions_of = (PFN_vkEnumerateDeviceExtensionProperties)found;
  } else if (strcmp(name, "vkGetPhysicalDeviceFeatures2") == 0) {
    features_of = (PFN_vkGetPhysicalDeviceFeatures2)found;
  }
  return (daedalus_vulkan_fn)found;
}

daedalus_get_instance_proc_addr_fn spills_loader(daedalus_get_instance_proc_addr_fn next) {
  next_loader = (PFN_vkGetInstanceProcAddr)(void (*)(void))next;
  if (next == NULL) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
      *(void **)&next_loader = dlsym(library, "vkGetInstanceProcAddr");
    }
  }
  return next_loader != NULL ? function : next;
}
