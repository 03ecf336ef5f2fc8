/* SPDX-License-Identifier: BSD-2-Clause */
/* What devices there are, and which of them is taken. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/wanted.h"
#include "gpu/vulkan/device.h"

static daedalus_device_kind kind_of(const daedalus_vk_physical *physical) {
  if (physical->driver_id == VK_DRIVER_ID_MESA_V3DV ||
      (physical->driver_id == 0 && strncmp(physical->name, "V3D ", 4) == 0)) {
    return DAEDALUS_DEVICE_V3D;
  }
  if (physical->type == VK_PHYSICAL_DEVICE_TYPE_CPU ||
      physical->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE ||
      physical->driver_id == VK_DRIVER_ID_GOOGLE_SWIFTSHADER) {
    return DAEDALUS_DEVICE_CPU;
  }
  return DAEDALUS_DEVICE_OTHER;
}

static bool listed(const VkExtensionProperties *list, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++) {
    if (strcmp(list[i].extensionName, name) == 0) {
      return true;
    }
  }
  return false;
}

typedef struct extensions {
  bool driver_properties, storage8, memory_fd, dma_buf, foreign, fence_fd;
} extensions;

static int read_extensions(daedalus_vk *vk, VkPhysicalDevice handle, extensions *found) {
  *found = (extensions){0};
  uint32_t n = 0;
  if (vk->fn.EnumerateDeviceExtensionProperties(handle, NULL, &n, NULL) != VK_SUCCESS || n == 0) {
    return 0;
  }
  const daedalus_allocator *allocator = &vk->ctx->allocator;
  VkExtensionProperties *list = allocator->resize(allocator->user, NULL, n * sizeof(*list));
  if (list == NULL) {
    return -ENOMEM;
  }
  if (vk->fn.EnumerateDeviceExtensionProperties(handle, NULL, &n, list) >= 0) {
    *found = (extensions){
        .driver_properties = listed(list, n, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME),
        .storage8 = listed(list, n, VK_KHR_8BIT_STORAGE_EXTENSION_NAME),
        .memory_fd = listed(list, n, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME),
        .dma_buf = listed(list, n, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME),
        .foreign = listed(list, n, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME),
        .fence_fd = listed(list, n, VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME),
    };
  }
  allocator->release(allocator->user, list);
  return 0;
}

static void read_properties(daedalus_vk *vk, daedalus_vk_physical *out, const extensions *found) {
  VkPhysicalDeviceDriverProperties driver = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
      .pNext = found->driver_properties ? &driver : NULL};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &subgroup};
  vk->fn.GetPhysicalDeviceProperties2(out->handle, &all);
  const VkPhysicalDeviceProperties *p = &all.properties;
  snprintf(out->name, sizeof(out->name), "%s", p->deviceName);
  snprintf(out->driver, sizeof(out->driver), "%s", driver.driverName);
  snprintf(out->driver_version, sizeof(out->driver_version), "%s", driver.driverInfo);
  out->driver_id = driver.driverID;
  out->type = p->deviceType;
  out->driver_version_number = p->driverVersion;
  memcpy(out->cache_uuid, p->pipelineCacheUUID, sizeof(out->cache_uuid));
  out->limits = p->limits;
  out->info = (daedalus_device_info){
      .size = sizeof(out->info),
      .name = out->name,
      .driver = out->driver,
      .driver_version = out->driver_version,
      .route = daedalus_gpu_vulkan.name,
      .vendor_id = p->vendorID,
      .device_id = p->deviceID,
      .api_version = p->apiVersion,
      .subgroup_size = subgroup.subgroupSize,
      .max_workgroup =
          p->limits.maxComputeWorkGroupInvocations < p->limits.maxComputeWorkGroupSize[0]
              ? p->limits.maxComputeWorkGroupInvocations
              : p->limits.maxComputeWorkGroupSize[0],
      .max_shared_bytes = p->limits.maxComputeSharedMemorySize,
  };
  out->info.kind = kind_of(out);
}

static void read_features(daedalus_vk *vk, daedalus_vk_physical *out) {
  VkPhysicalDevice8BitStorageFeatures storage8 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDevice16BitStorageFeatures storage16 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
      .pNext = out->has_8bit_extension || out->info.api_version >= VK_API_VERSION_1_2 ? &storage8
                                                                                      : NULL};
  VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                   .pNext = &storage16};
  vk->fn.GetPhysicalDeviceFeatures2(out->handle, &all);
  out->info.features = (storage8.storageBuffer8BitAccess ? DAEDALUS_GPU_STORAGE8 : 0) |
                       (storage16.storageBuffer16BitAccess ? DAEDALUS_GPU_STORAGE16 : 0);
}

static int read_queues(daedalus_vk *vk, daedalus_vk_physical *out) {
  out->queue_family = UINT32_MAX;
  uint32_t n = 0;
  vk->fn.GetPhysicalDeviceQueueFamilyProperties(out->handle, &n, NULL);
  if (n == 0) {
    return 0;
  }
  const daedalus_allocator *allocator = &vk->ctx->allocator;
  VkQueueFamilyProperties *list = allocator->resize(allocator->user, NULL, n * sizeof(*list));
  if (list == NULL) {
    return -ENOMEM;
  }
  vk->fn.GetPhysicalDeviceQueueFamilyProperties(out->handle, &n, list);
  for (uint32_t i = 0; i < n && out->queue_family == UINT32_MAX; i++) {
    if ((list[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
      out->queue_family = i;
      out->timestamp_bits = list[i].timestampValidBits;
    }
  }
  out->info.timestamps = out->timestamp_bits != 0;
  allocator->release(allocator->user, list);
  return 0;
}

static void read_fences(daedalus_vk *vk, daedalus_vk_physical *out, const extensions *found) {
  if (!found->fence_fd) {
    return;
  }
  const VkPhysicalDeviceExternalFenceInfo asked = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO,
      .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};
  VkExternalFenceProperties fences = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};
  vk->fn.GetPhysicalDeviceExternalFenceProperties(out->handle, &asked, &fences);
  out->fence_fd = (fences.externalFenceFeatures & VK_EXTERNAL_FENCE_FEATURE_EXPORTABLE_BIT) != 0;
}

static void read_dmabuf(daedalus_vk *vk, daedalus_vk_physical *out) {
  if (!out->dmabuf) {
    return;
  }
  const VkPhysicalDeviceExternalBufferInfo asked = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
      .usage = daedalus_vk_usage,
      .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
  VkExternalBufferProperties buffers = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  vk->fn.GetPhysicalDeviceExternalBufferProperties(out->handle, &asked, &buffers);
  const VkExternalMemoryFeatureFlags can = buffers.externalMemoryProperties.externalMemoryFeatures;
  out->dmabuf_import = (can & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
  out->dmabuf_export = (can & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
  out->info.imports_dmabuf = out->dmabuf_import;
}

static int look_at(daedalus_vk *vk, daedalus_vk_physical *out) {
  extensions found;
  int error = read_extensions(vk, out->handle, &found);
  if (error != 0) {
    return error;
  }
  read_properties(vk, out, &found);
  out->has_8bit_extension = found.storage8;
  out->dmabuf = found.memory_fd && found.dma_buf;
  /* Without the extension, what Vulkan itself has: others that use the same driver. */
  out->others = found.foreign ? VK_QUEUE_FAMILY_FOREIGN_EXT : VK_QUEUE_FAMILY_EXTERNAL;
  read_dmabuf(vk, out);
  read_features(vk, out);
  read_fences(vk, out, &found);
  out->info.exports_fence = out->fence_fd;
  return read_queues(vk, out);
}

int daedalus_rt_vk_enumerate(daedalus_vk *vk, daedalus_vk_devices *devices, char *why,
                             size_t why_size) {
  const daedalus_allocator *allocator = &vk->ctx->allocator;
  *devices = (daedalus_vk_devices){0};
  uint32_t n = 0;
  VkResult result = vk->fn.EnumeratePhysicalDevices(vk->instance, &n, NULL);
  if (result < 0 || n == 0) {
    snprintf(why, why_size, "Vulkan knows no device%s%s", result < 0 ? ": " : "",
             result < 0 ? daedalus_rt_vk_result(result) : "");
    return -ENODEV;
  }
  VkPhysicalDevice *handles =
      allocator->resize(allocator->user, NULL, n * sizeof(VkPhysicalDevice));
  devices->list = allocator->resize(allocator->user, NULL, n * sizeof(*devices->list));
  int error = handles == NULL || devices->list == NULL ? -ENOMEM : 0;
  if (error == 0 && vk->fn.EnumeratePhysicalDevices(vk->instance, &n, handles) < 0) {
    snprintf(why, why_size, "vkEnumeratePhysicalDevices failed");
    error = -ENODEV;
  }
  for (uint32_t i = 0; error == 0 && i < n; i++) {
    devices->list[i] = (daedalus_vk_physical){.handle = handles[i]};
    error = look_at(vk, &devices->list[i]);
    devices->n = i + 1;
  }
  allocator->release(allocator->user, handles);
  if (error != 0) {
    allocator->release(allocator->user, devices->list);
    *devices = (daedalus_vk_devices){0};
  }
  return error;
}

static bool answers_to(const daedalus_vk_devices *devices, size_t index, const char *asked) {
  const daedalus_vk_physical *physical = &devices->list[index];
  if (asked[0] == '#') {
    char *end;
    const unsigned long number = strtoul(asked + 1, &end, 10);
    return end != asked + 1 && *end == '\0' && number == index;
  }
  return daedalus_rt_name_holds(physical->name, asked) ||
         daedalus_rt_name_holds(physical->driver, asked) ||
         (physical->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE &&
          daedalus_rt_name_holds("lavapipe", asked));
}

int daedalus_rt_vk_choose(const daedalus_vk_devices *devices, const char *asked, char *why,
                          size_t why_size) {
  int best = -1;
  bool any_cpu = false;
  for (size_t i = 0; i < devices->n; i++) {
    const daedalus_vk_physical *physical = &devices->list[i];
    if (physical->queue_family == UINT32_MAX || physical->info.api_version < VK_API_VERSION_1_1) {
      continue;
    }
    const bool is_cpu = physical->info.kind == DAEDALUS_DEVICE_CPU;
    any_cpu = any_cpu || is_cpu;
    if (asked != NULL ? !answers_to(devices, i, asked) : is_cpu) {
      continue;
    }
    if (best < 0 || physical->info.kind < devices->list[best].info.kind) {
      best = (int)i;
    }
  }
  if (best < 0 && asked != NULL) {
    int at =
        snprintf(why, why_size, "no Vulkan device that can be used answers to \"%s\"; there %s",
                 asked, devices->n == 1 ? "is" : "are");
    for (size_t i = 0; i < devices->n && at >= 0 && (size_t)at < why_size; i++) {
      at += snprintf(why + at, why_size - (size_t)at, "%s #%zu %s", i == 0 ? "" : ",", i,
                     devices->list[i].name);
    }
  } else if (best < 0) {
    snprintf(why, why_size, "%s",
             any_cpu ? "the only Vulkan device is a program on the CPU; "
                       "DAEDALUS_VULKAN_DEVICE=lavapipe takes it all the same"
                     : "no Vulkan device has version 1.1 and computes");
  }
  return best < 0 ? -ENODEV : best;
}
