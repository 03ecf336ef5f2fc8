/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub driver's instance, physical devices and devices. */
#include <stdlib.h>
#include <string.h>

#include "stub_internal.h"

enum { STUB_CACHE_UUID = 0x5a };

typedef struct physical {
  stub_object object;
  const stub_device_desc *desc;
} physical;

static const stub_device_desc *opened;
static const char *const instance_extensions[] = {"VK_KHR_get_physical_device_properties2",
                                                  "VK_KHR_external_memory_capabilities",
                                                  "VK_KHR_external_fence_capabilities"};
static const char *const device_extensions[] = {"VK_KHR_8bit_storage",
                                                "VK_KHR_16bit_storage",
                                                "VK_KHR_storage_buffer_storage_class",
                                                "VK_KHR_driver_properties",
                                                "VK_KHR_external_memory",
                                                "VK_KHR_external_memory_fd",
                                                "VK_EXT_external_memory_dma_buf",
                                                "VK_KHR_external_fence",
                                                "VK_KHR_external_fence_fd",
                                                "VK_EXT_queue_family_foreign"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void stub_forget_device(void) {
  opened = NULL;
}

const stub_device_desc *stub_opened(void) {
  return opened;
}

/* How many of the above a device has: what it may lack comes last. */
static size_t n_extensions(const stub_device_desc *desc) {
  return COUNT(device_extensions) - (desc->no_external ? 6 : desc->no_foreign ? 1 : 0);
}

const stub_device_desc *stub_device_of(const void *handle) {
  return ((const physical *)stub_get(handle, STUB_PHYSICAL))->desc;
}

static uint32_t or_else(uint32_t value, uint32_t otherwise) {
  return value != 0 ? value : otherwise;
}

/* Vulkan's way of giving a list: the count alone, or as many as there is room for. */
static VkResult give(const void *list, size_t size, uint32_t n, uint32_t *count, void *out) {
  if (out == NULL) {
    *count = n;
    return VK_SUCCESS;
  }
  const VkResult result = *count < n ? VK_INCOMPLETE : VK_SUCCESS;
  *count = *count < n ? *count : n;
  memcpy(out, list, *count * size);
  return result;
}

static VkResult give_names(const char *const *names, size_t n, uint32_t *count,
                           VkExtensionProperties *out) {
  VkExtensionProperties list[16] = {0};
  for (size_t i = 0; i < n; i++) {
    strcpy(list[i].extensionName, names[i]);
    list[i].specVersion = 1;
  }
  return give(list, sizeof(*list), (uint32_t)n, count, out);
}

/* ----------------------------------------------------------------------------- instance */

VkResult stub_EnumerateInstanceVersion(uint32_t *version) {
  ENTER(EnumerateInstanceVersion);
  *version = stub.api_version;
  return VK_SUCCESS;
}

VkResult stub_CreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a,
                             VkInstance *out) {
  (void)a;
  ENTER(CreateInstance);
  for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
    bool known = false;
    for (size_t k = 0; k < COUNT(instance_extensions); k++) {
      known |= strcmp(info->ppEnabledExtensionNames[i], instance_extensions[k]) == 0;
    }
    if (!known) {
      return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
  }
  stub_any *instance = stub_new(STUB_INSTANCE, sizeof(*instance), NULL);
  for (size_t i = 0; i < stub.n_devices; i++) {
    physical *device = stub_new(STUB_PHYSICAL, sizeof(*device), &instance->object);
    device->desc = &stub.devices[stub.n_devices - 1 - i];
  }
  *out = (VkInstance)instance;
  return VK_SUCCESS;
}

void stub_DestroyInstance(VkInstance handle, const VkAllocationCallbacks *a) {
  (void)a;
  (void)stub_enter(STUB_DestroyInstance);
  if (handle != NULL) {
    stub_object *instance = stub_get(handle, STUB_INSTANCE);
    for (stub_object *p; (p = stub_child_of(instance, STUB_PHYSICAL)) != NULL;) {
      stub_delete(p, STUB_PHYSICAL);
    }
    stub_delete(instance, STUB_INSTANCE);
  }
}

VkResult stub_EnumeratePhysicalDevices(VkInstance handle, uint32_t *count, VkPhysicalDevice *out) {
  ENTER(EnumeratePhysicalDevices);
  stub_object *instance = stub_get(handle, STUB_INSTANCE);
  VkPhysicalDevice list[STUB_MAX_DEVICES];
  uint32_t n = 0;
  for (stub_object *p = stub_child_of(instance, STUB_PHYSICAL); p != NULL; p = p->next) {
    if (p->type == STUB_PHYSICAL && p->parent == instance) {
      list[n++] = (VkPhysicalDevice)p;
    }
  }
  return give(list, sizeof(*list), n, count, out);
}

/* ---------------------------------------------------------------------- physical device */

static void properties(const stub_device_desc *desc, VkPhysicalDeviceProperties *out) {
  *out = (VkPhysicalDeviceProperties){
      .apiVersion = stub.api_version,
      .driverVersion = 1,
      .vendorID = desc->vendor,
      .deviceID = desc->device,
      .deviceType = desc->type,
  };
  strcpy(out->deviceName, desc->name != NULL ? desc->name : "stub");
  memset(out->pipelineCacheUUID, STUB_CACHE_UUID, sizeof(out->pipelineCacheUUID));
  VkPhysicalDeviceLimits *limits = &out->limits;
  const uint32_t invocations = or_else(desc->max_workgroup, 256);
  limits->maxComputeWorkGroupInvocations = invocations;
  limits->maxComputeWorkGroupSize[0] = invocations;
  limits->maxComputeWorkGroupSize[1] = invocations;
  limits->maxComputeWorkGroupSize[2] = 64;
  for (int i = 0; i < 3; i++) {
    limits->maxComputeWorkGroupCount[i] = or_else(desc->max_groups, 65535);
  }
  limits->maxComputeSharedMemorySize = or_else(desc->shared_bytes, 16384);
  limits->maxStorageBufferRange = or_else(desc->max_range, UINT32_C(1) << 30);
  limits->maxPerStageDescriptorStorageBuffers = 8;
  limits->maxDescriptorSetStorageBuffers = 8;
  limits->maxPerStageResources = 128;
  limits->maxBoundDescriptorSets = 4;
  limits->maxPushConstantsSize = 128;
  limits->maxMemoryAllocationCount = 4096;
  limits->minStorageBufferOffsetAlignment = or_else(desc->offset_align, 32);
  limits->minMemoryMapAlignment = 4096;
  limits->nonCoherentAtomSize = 256;
  limits->timestampPeriod = 1;
}

void stub_GetPhysicalDeviceProperties2(VkPhysicalDevice handle, VkPhysicalDeviceProperties2 *out) {
  (void)stub_enter(STUB_GetPhysicalDeviceProperties2);
  const stub_device_desc *desc = stub_device_of(handle);
  properties(desc, &out->properties);
  for (VkBaseOutStructure *s = out->pNext; s != NULL; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
      VkPhysicalDeviceDriverProperties *driver = (void *)s;
      driver->driverID = desc->driver;
      strcpy(driver->driverName, "stub");
      strcpy(driver->driverInfo, "stub 1");
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
      ((VkPhysicalDeviceSubgroupProperties *)(void *)s)->subgroupSize = 16;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES) {
      VkPhysicalDeviceMaintenance3Properties *most = (void *)s;
      most->maxMemoryAllocationSize = UINT32_C(1) << 30;
      most->maxPerSetDescriptors = 1024;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
      memset(((VkPhysicalDeviceIDProperties *)(void *)s)->driverUUID, STUB_CACHE_UUID,
             VK_UUID_SIZE);
    }
  }
}

void stub_GetPhysicalDeviceFeatures2(VkPhysicalDevice handle, VkPhysicalDeviceFeatures2 *out) {
  (void)stub_enter(STUB_GetPhysicalDeviceFeatures2);
  const stub_device_desc *desc = stub_device_of(handle);
  memset(&out->features, 0, sizeof(out->features));
  for (VkBaseOutStructure *s = out->pNext; s != NULL; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES) {
      VkPhysicalDevice8BitStorageFeatures *f = (void *)s;
      f->storageBuffer8BitAccess = !desc->no_storage8;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES) {
      VkPhysicalDevice16BitStorageFeatures *f = (void *)s;
      f->storageBuffer16BitAccess = !desc->no_storage16;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      VkPhysicalDeviceVulkan11Features *f = (void *)s;
      f->storageBuffer16BitAccess = !desc->no_storage16;
    } else if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      VkPhysicalDeviceVulkan12Features *f = (void *)s;
      f->storageBuffer8BitAccess = !desc->no_storage8;
    }
  }
}

/* As v3dv has it: one type that is everything. */
static const VkMemoryPropertyFlags unified[] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                                VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};

void stub_GetPhysicalDeviceMemoryProperties(VkPhysicalDevice handle,
                                            VkPhysicalDeviceMemoryProperties *out) {
  (void)stub_enter(STUB_GetPhysicalDeviceMemoryProperties);
  const stub_device_desc *desc = stub_device_of(handle);
  const VkMemoryPropertyFlags *types = desc->memory[0] != 0 ? desc->memory : unified;
  const size_t most = desc->memory[0] != 0 ? VK_MAX_MEMORY_TYPES : COUNT(unified);
  memset(out, 0, sizeof(*out));
  out->memoryHeapCount = 1;
  out->memoryHeaps[0] = (VkMemoryHeap){UINT64_C(1) << 32, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  while (out->memoryTypeCount < most && types[out->memoryTypeCount] != 0) {
    out->memoryTypes[out->memoryTypeCount].propertyFlags = types[out->memoryTypeCount];
    out->memoryTypeCount++;
  }
}

void stub_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice handle, uint32_t *count,
                                                 VkQueueFamilyProperties *out) {
  (void)stub_enter(STUB_GetPhysicalDeviceQueueFamilyProperties);
  const stub_device_desc *desc = stub_device_of(handle);
  const VkQueueFamilyProperties family = {
      .queueFlags =
          desc->no_compute ? VK_QUEUE_TRANSFER_BIT : VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
      .queueCount = 1,
      .timestampValidBits = 64,
  };
  (void)give(&family, sizeof(family), 1, count, out);
}

void stub_GetPhysicalDeviceExternalBufferProperties(VkPhysicalDevice handle,
                                                    const VkPhysicalDeviceExternalBufferInfo *info,
                                                    VkExternalBufferProperties *out) {
  (void)stub_enter(STUB_GetPhysicalDeviceExternalBufferProperties);
  const bool can = !stub_device_of(handle)->no_external &&
                   info->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  VkExternalMemoryProperties *given = &out->externalMemoryProperties;
  memset(given, 0, sizeof(*given));
  if (can) {
    given->externalMemoryFeatures =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    given->compatibleHandleTypes = info->handleType;
  }
}

void stub_GetPhysicalDeviceExternalFenceProperties(VkPhysicalDevice handle,
                                                   const VkPhysicalDeviceExternalFenceInfo *info,
                                                   VkExternalFenceProperties *out) {
  (void)stub_enter(STUB_GetPhysicalDeviceExternalFenceProperties);
  const bool can = !stub_device_of(handle)->no_external &&
                   info->handleType == VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT;
  out->externalFenceFeatures = can ? VK_EXTERNAL_FENCE_FEATURE_EXPORTABLE_BIT : 0;
  out->compatibleHandleTypes = out->exportFromImportedHandleTypes = 0;
}

VkResult stub_EnumerateDeviceExtensionProperties(VkPhysicalDevice handle, const char *layer,
                                                 uint32_t *count, VkExtensionProperties *out) {
  (void)layer;
  ENTER(EnumerateDeviceExtensionProperties);
  const size_t n = n_extensions(stub_device_of(handle));
  return give_names(device_extensions, n, count, out);
}

/* ------------------------------------------------------------------------------- device */

VkResult stub_CreateDevice(VkPhysicalDevice handle, const VkDeviceCreateInfo *info,
                           const VkAllocationCallbacks *a, VkDevice *out) {
  (void)a;
  ENTER(CreateDevice);
  physical *from = stub_get(handle, STUB_PHYSICAL);
  const size_t n = n_extensions(from->desc);
  for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
    bool known = false;
    for (size_t k = 0; k < n; k++) {
      known |= strcmp(info->ppEnabledExtensionNames[i], device_extensions[k]) == 0;
    }
    if (!known) {
      return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
  }
  stub_any *device = stub_new(STUB_DEVICE, sizeof(*device), from->object.parent);
  (void)stub_new(STUB_QUEUE, sizeof(stub_any), &device->object);
  opened = from->desc;
  stub_is_lost = false;
  *out = (VkDevice)device;
  return VK_SUCCESS;
}

void stub_DestroyDevice(VkDevice handle, const VkAllocationCallbacks *a) {
  (void)a;
  (void)stub_enter(STUB_DestroyDevice);
  if (handle != NULL) {
    stub_object *device = stub_get(handle, STUB_DEVICE);
    stub_delete(stub_child_of(device, STUB_QUEUE), STUB_QUEUE);
    stub_delete(device, STUB_DEVICE);
  }
}

void stub_GetDeviceQueue(VkDevice handle, uint32_t family, uint32_t index, VkQueue *out) {
  (void)stub_enter(STUB_GetDeviceQueue);
  if (family != 0 || index != 0) {
    stub_misuse("queue %u of family %u: there is one of one", index, family);
  }
  *out = (VkQueue)stub_child_of(stub_get(handle, STUB_DEVICE), STUB_QUEUE);
}

/* --------------------------------------------------------------------------- the loader */

static PFN_vkVoidFunction lookup(const char *name) {
  for (size_t i = 0; i < STUB_N_FUNCTIONS; i++) {
    if (strcmp(stub_entries[i].name, name) == 0) {
      return stub_entries[i].function;
    }
  }
  return NULL;
}

PFN_vkVoidFunction stub_GetInstanceProcAddr(VkInstance instance, const char *name) {
  (void)stub_enter(STUB_GetInstanceProcAddr);
  const bool global = strncmp(name, "vkEnumerateInstance", 19) == 0 ||
                      strcmp(name, "vkCreateInstance") == 0 ||
                      strcmp(name, "vkGetInstanceProcAddr") == 0;
  return instance == NULL && !global ? NULL : lookup(name);
}

PFN_vkVoidFunction stub_GetDeviceProcAddr(VkDevice handle, const char *name) {
  (void)stub_enter(STUB_GetDeviceProcAddr);
  (void)stub_get(handle, STUB_DEVICE);
  return lookup(name);
}

PFN_vkVoidFunction stub_get_proc_addr(VkInstance instance, const char *name) {
  return stub_GetInstanceProcAddr(instance, name);
}
