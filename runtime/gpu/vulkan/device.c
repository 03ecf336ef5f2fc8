/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vulkan/device.h"

#include <errno.h>
#include <stdio.h>

int daedalus_rt_vk_open(daedalus_vk_device *device, daedalus_gpu_backend *backend, daedalus_vk *vk,
                        const daedalus_vk_physical *physical, char *why, size_t why_size) {
  *device = (daedalus_vk_device){.vk = vk, .physical = physical, .backend = backend};
  const float priority = 1.0F;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = physical->queue_family,
      .queueCount = 1,
      .pQueuePriorities = &priority,
  };
  const char *extensions[5];
  uint32_t n_extensions = 0;
  if (physical->dmabuf) {
    extensions[n_extensions++] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    extensions[n_extensions++] = VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME;
  }
  if (physical->dmabuf && physical->others == VK_QUEUE_FAMILY_FOREIGN_EXT) {
    extensions[n_extensions++] = VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME;
  }
  if (physical->fence_fd) {
    extensions[n_extensions++] = VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME;
  }
  const bool storage8 = (physical->info.features & DAEDALUS_GPU_STORAGE8) != 0;
  if (storage8 && physical->has_8bit_extension) {
    extensions[n_extensions++] = VK_KHR_8BIT_STORAGE_EXTENSION_NAME;
  }
  VkPhysicalDevice8BitStorageFeatures features8 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
      .storageBuffer8BitAccess = VK_TRUE};
  VkPhysicalDevice16BitStorageFeatures features16 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
      .pNext = storage8 ? &features8 : NULL,
      .storageBuffer16BitAccess = (physical->info.features & DAEDALUS_GPU_STORAGE16) != 0};
  const VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &features16,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledExtensionCount = n_extensions,
      .ppEnabledExtensionNames = extensions,
  };
  const VkResult result = vk->fn.CreateDevice(physical->handle, &info, NULL, &device->handle);
  if (result != VK_SUCCESS) {
    device->handle = VK_NULL_HANDLE;
    snprintf(why, why_size, "vkCreateDevice failed on %s: %s", physical->name,
             daedalus_rt_vk_result(result));
    return -ENODEV;
  }
  const int error = daedalus_rt_vk_load_device(vk, device->handle, why, why_size);
  if (error != 0) {
    daedalus_rt_vk_close(device);
    return error;
  }
  vk->fn.GetDeviceQueue(device->handle, physical->queue_family, 0, &device->queue);
  return 0;
}

void daedalus_rt_vk_close(daedalus_vk_device *device) {
  if (daedalus_vk_destroyable(device) && device->handle != VK_NULL_HANDLE &&
      device->vk->fn.DestroyDevice != NULL) {
    device->vk->fn.DestroyDevice(device->handle, NULL);
  }
  device->handle = VK_NULL_HANDLE;
}

int daedalus_rt_vk_failed(daedalus_vk_device *device, const char *call, VkResult result) {
  device->failed_result = result;
  device->backend->failed_call = call;
  device->backend->failed_why = daedalus_rt_vk_result(result);
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_MEMORY_MAP_FAILED:
      return -ENOMEM;
    case VK_ERROR_DEVICE_LOST:
      device->backend->lost = true;
      return -EIO;
    default:
      return -EIO;
  }
}
