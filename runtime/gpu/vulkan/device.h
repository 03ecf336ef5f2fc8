/* SPDX-License-Identifier: BSD-2-Clause */
/* Vulkan devices: what there is, which one is taken, what it can. */
#ifndef DAEDALUS_VULKAN_DEVICE_H
#define DAEDALUS_VULKAN_DEVICE_H

#include "gpu/backend.h"
#include "gpu/vulkan/loader.h"

/** What every buffer of the runtime is made for. */
static const VkBufferUsageFlags daedalus_vk_usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                    VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                    VK_BUFFER_USAGE_TRANSFER_DST_BIT;

/** One device as it was enumerated. */
typedef struct daedalus_vk_physical {
  VkPhysicalDevice handle;
  daedalus_device_info info; /* its strings are the arrays below; as far as known before opening */
  char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
  char driver[VK_MAX_DRIVER_NAME_SIZE];
  char driver_version[VK_MAX_DRIVER_INFO_SIZE];
  VkDriverId driver_id; /* 0 where the driver does not tell */
  VkPhysicalDeviceType type;
  uint32_t driver_version_number;
  uint8_t cache_uuid[VK_UUID_SIZE];
  VkPhysicalDeviceLimits limits;
  uint32_t queue_family; /* UINT32_MAX: none computes */
  uint32_t timestamp_bits;
  bool dmabuf; /* VK_EXT_external_memory_dma_buf and VK_KHR_external_memory_fd */
  bool dmabuf_import, dmabuf_export; /* of buffers as the runtime makes them */
  uint32_t others; /* the queue family that stands for whoever else uses a dma-buf */
  bool fence_fd;   /* VK_KHR_external_fence_fd, and exports sync files */
  bool has_8bit_extension;
} daedalus_vk_physical;

typedef struct daedalus_vk_devices {
  daedalus_vk_physical *list;
  size_t n;
} daedalus_vk_devices;

/** Looks at all devices.  @return 0, -ENODEV (`why` set) or -ENOMEM */
int daedalus_rt_vk_enumerate(daedalus_vk *vk, daedalus_vk_devices *devices, char *why,
                             size_t why_size);

/**
 * Which one to take.
 * @param asked  as daedalus/gpu.h says, NULL for the order of preference
 * @return its index, or -ENODEV, `why` set
 */
int daedalus_rt_vk_choose(const daedalus_vk_devices *devices, const char *asked, char *why,
                          size_t why_size);

/** The device in use. */
typedef struct daedalus_vk_device {
  daedalus_vk *vk;
  const daedalus_vk_physical *physical;
  VkDevice handle;
  VkQueue queue;
  daedalus_gpu_backend *backend; /* where failures are noted */
  VkResult failed_result;        /* the last one */
} daedalus_vk_device;

/** @return 0 or -ENODEV, `why` set */
int daedalus_rt_vk_open(daedalus_vk_device *device, daedalus_gpu_backend *backend, daedalus_vk *vk,
                        const daedalus_vk_physical *physical, char *why, size_t why_size);
void daedalus_rt_vk_close(daedalus_vk_device *device);

/** Whether what was made on it may be destroyed. */
static inline bool daedalus_vk_destroyable(const daedalus_vk_device *device) {
  return !device->backend->hung;
}

/**
 * Takes note of a failed call.
 * @return -ENOMEM for the errors that are about memory, else -EIO; a lost device is noted as such
 */
int daedalus_rt_vk_failed(daedalus_vk_device *device, const char *call, VkResult result);

#endif /* DAEDALUS_VULKAN_DEVICE_H */
