/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vulkan/memory.h"

#include <errno.h>
#include <unistd.h>

enum {
  LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
  VISIBLE = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
  CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT
};

static const VkMemoryPropertyFlags shared_order[] = {LOCAL | VISIBLE | CACHED, VISIBLE | CACHED,
                                                     LOCAL | VISIBLE, VISIBLE};
static const VkMemoryPropertyFlags local_order[] = {LOCAL};
static const VkMemoryPropertyFlags any_order[] = {0}; /* an import lies where it lies */

/*
 * v3dv takes a dma-buf only if there is so much behind what is imported, and for buffers that end
 * with a page wants some more: room for units that read ahead of images and of uniforms, which
 * nothing does here.  Frames that fill their pages have none; where one is refused, v3dv is told of
 * less.  The GPU sees the whole dma-buf all the same, and there binding a buffer asks for no sizes.
 */
static const int64_t v3dv_read_ahead = 64;

/** The first type among `bits` with all of `wanted`, or -1. */
static int type_with(const daedalus_vk_memory *memory, uint32_t bits,
                     VkMemoryPropertyFlags wanted) {
  for (uint32_t i = 0; i < memory->properties.memoryTypeCount; i++) {
    if ((bits >> i & 1) != 0 &&
        (memory->properties.memoryTypes[i].propertyFlags & wanted) == wanted) {
      return (int)i;
    }
  }
  return -1;
}

void daedalus_rt_vk_memory_init(daedalus_vk_memory *memory, daedalus_vk_device *device) {
  *memory = (daedalus_vk_memory){.device = device};
  device->vk->fn.GetPhysicalDeviceMemoryProperties(device->physical->handle, &memory->properties);
  const bool best = type_with(memory, UINT32_MAX, shared_order[0]) >= 0;
  memory->staged = device->physical->type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU && !best;
  if (memory->staged) {
    memory->description = "the device's own, behind a copy in the CPU's";
  } else if (best || type_with(memory, UINT32_MAX, shared_order[1]) >= 0) {
    memory->description = "shared with the CPU, cached";
  } else {
    memory->description = "shared with the CPU, not cached: the CPU reads it slowly";
  }
}

static int create_buffer(daedalus_vk_memory *memory, uint64_t size,
                         VkExternalMemoryHandleTypeFlags external, daedalus_vk_block *block) {
  const VkExternalMemoryBufferCreateInfo external_info = {
      .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = external};
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .pNext = external != 0 ? &external_info : NULL,
      .size = size,
      .usage = daedalus_vk_usage,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
  };
  daedalus_vk_device *device = memory->device;
  const VkResult result = device->vk->fn.CreateBuffer(device->handle, &info, NULL, &block->buffer);
  if (result != VK_SUCCESS) {
    block->buffer = VK_NULL_HANDLE;
    return daedalus_rt_vk_failed(device, "vkCreateBuffer", result);
  }
  return 0;
}

/** Allocates in the first type of the order that has room. */
static int allocate(daedalus_vk_memory *memory, const VkMemoryPropertyFlags *order, size_t n_order,
                    uint32_t bits, VkMemoryAllocateInfo *info, daedalus_vk_block *block) {
  daedalus_vk_device *device = memory->device;
  int error = -ENOTSUP;
  VkMemoryPropertyFlags flags = 0;
  for (size_t i = 0; i < n_order; i++) {
    const int type = type_with(memory, bits, order[i]);
    if (type < 0) {
      continue;
    }
    info->memoryTypeIndex = (uint32_t)type;
    flags = memory->properties.memoryTypes[type].propertyFlags;
    const VkResult result =
        device->vk->fn.AllocateMemory(device->handle, info, NULL, &block->memory);
    if (result == VK_SUCCESS) {
      error = 0;
      break;
    }
    block->memory = VK_NULL_HANDLE;
    error = daedalus_rt_vk_failed(device, "vkAllocateMemory", result);
    if (device->backend->lost) {
      return error;
    }
  }
  if (error != 0) {
    return error;
  }
  VkResult result =
      device->vk->fn.BindBufferMemory(device->handle, block->buffer, block->memory, 0);
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkBindBufferMemory", result);
  }
  if (order == shared_order && (flags & VISIBLE) == VISIBLE) {
    void *map = NULL;
    result = device->vk->fn.MapMemory(device->handle, block->memory, 0, VK_WHOLE_SIZE, 0, &map);
    if (result != VK_SUCCESS) {
      return daedalus_rt_vk_failed(device, "vkMapMemory", result);
    }
    block->base.map = map;
  }
  return 0;
}

static daedalus_vk_block *new_block(daedalus_vk_memory *memory, uint64_t size) {
  const daedalus_allocator *allocator = &memory->device->vk->ctx->allocator;
  daedalus_vk_block *block = allocator->resize(allocator->user, NULL, sizeof(*block));
  if (block != NULL) {
    *block = (daedalus_vk_block){.base = {.size = size, .id = ++memory->last_id}};
  }
  return block;
}

int daedalus_rt_vk_block_create(daedalus_vk_memory *memory, daedalus_gpu_place place, uint64_t size,
                                bool exported, daedalus_gpu_block **created) {
  daedalus_vk_block *block = new_block(memory, size);
  *created = NULL;
  if (block == NULL) {
    return -ENOMEM;
  }
  const VkExternalMemoryHandleTypeFlags external =
      exported ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT : 0;
  int error = create_buffer(memory, size, external, block);
  if (error != 0) {
    daedalus_rt_vk_block_destroy(memory, &block->base);
    return error;
  }
  daedalus_vk_device *device = memory->device;
  VkMemoryRequirements needs;
  device->vk->fn.GetBufferMemoryRequirements(device->handle, block->buffer, &needs);
  const VkMemoryDedicatedAllocateInfo dedicated = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = block->buffer};
  const VkExportMemoryAllocateInfo export_info = {
      .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
      .pNext = &dedicated,
      .handleTypes = external};
  VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                               .pNext = exported ? &export_info : NULL,
                               .allocationSize = needs.size};
  error = place == DAEDALUS_GPU_SHARED
              ? allocate(memory, shared_order, sizeof(shared_order) / sizeof(shared_order[0]),
                         needs.memoryTypeBits, &info, block)
              : allocate(memory, local_order, 1, needs.memoryTypeBits, &info, block);
  if (error != 0) {
    daedalus_rt_vk_block_destroy(memory, &block->base);
    return error;
  }
  *created = &block->base;
  return 0;
}

int daedalus_rt_vk_block_export(daedalus_vk_memory *memory, const daedalus_gpu_block *block,
                                int *fd) {
  daedalus_vk_device *device = memory->device;
  if (device->vk->fn.GetMemoryFdKHR == NULL) {
    return -ENOTSUP;
  }
  const VkMemoryGetFdInfoKHR info = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
      .memory = daedalus_vk_block_of(block)->memory,
      .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
  };
  const VkResult result = device->vk->fn.GetMemoryFdKHR(device->handle, &info, fd);
  if (result != VK_SUCCESS) {
    *fd = -1;
    return daedalus_rt_vk_failed(device, "vkGetMemoryFdKHR", result);
  }
  return 0;
}

/** `fd` is taken over, whatever comes of it. */
static int import_into(daedalus_vk_memory *memory, int fd, uint64_t size,
                       daedalus_vk_block *block) {
  daedalus_vk_device *device = memory->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  int error = create_buffer(memory, size, type, block);
  if (error != 0) {
    close(fd);
    return error;
  }
  VkMemoryRequirements needs;
  fn->GetBufferMemoryRequirements(device->handle, block->buffer, &needs);
  VkMemoryFdPropertiesKHR properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
  const VkResult result = fn->GetMemoryFdPropertiesKHR(device->handle, type, fd, &properties);
  if (result != VK_SUCCESS) {
    daedalus_rt_vk_failed(device, "vkGetMemoryFdPropertiesKHR", result);
    error = -ENOTSUP;
  }
  const VkMemoryDedicatedAllocateInfo dedicated = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = block->buffer};
  const VkImportMemoryFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                          .pNext = &dedicated,
                                          .handleType = type,
                                          .fd = fd};
  VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                               .pNext = &import,
                               .allocationSize = needs.size};
  const uint32_t types = needs.memoryTypeBits & properties.memoryTypeBits;
  if (error == 0) {
    error = allocate(memory, any_order, 1, types, &info, block);
  }
  const int64_t end = lseek(fd, 0, SEEK_END);
  if (error != 0 && device->failed_result == VK_ERROR_INVALID_EXTERNAL_HANDLE &&
      device->physical->info.kind == DAEDALUS_DEVICE_V3D && end > v3dv_read_ahead) {
    info.allocationSize = (VkDeviceSize)end - v3dv_read_ahead;
    error = allocate(memory, any_order, 1, types, &info, block);
  }
  if (error != 0) {
    if (block->memory == VK_NULL_HANDLE) {
      close(fd); /* else it has become the memory's */
    }
  }
  return error;
}

int daedalus_rt_vk_block_import(daedalus_vk_memory *memory, int fd, uint64_t size,
                                daedalus_gpu_block **imported) {
  *imported = NULL;
  if (memory->device->vk->fn.GetMemoryFdPropertiesKHR == NULL) {
    return -ENOTSUP;
  }
  const int given = dup(fd);
  daedalus_vk_block *block = given < 0 ? NULL : new_block(memory, size);
  if (block == NULL) {
    if (given >= 0) {
      close(given);
    }
    return -ENOMEM;
  }
  const int error = import_into(memory, given, size, block);
  if (error != 0) {
    daedalus_rt_vk_block_destroy(memory, &block->base);
    return error;
  }
  *imported = &block->base;
  return 0;
}

void daedalus_rt_vk_block_destroy(daedalus_vk_memory *memory, daedalus_gpu_block *base) {
  if (base == NULL) {
    return;
  }
  daedalus_vk_block *block = (daedalus_vk_block *)base;
  daedalus_vk_device *device = memory->device;
  const bool can = daedalus_vk_destroyable(device);
  if (can && block->buffer != VK_NULL_HANDLE) {
    device->vk->fn.DestroyBuffer(device->handle, block->buffer, NULL);
  }
  if (can && block->memory != VK_NULL_HANDLE) {
    device->vk->fn.FreeMemory(device->handle, block->memory, NULL); /* unmaps it, too */
  }
  const daedalus_allocator *allocator = &device->vk->ctx->allocator;
  allocator->release(allocator->user, block);
}
