/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub driver's buffers and memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub_internal.h"

enum { STUB_FRESH = 0xa5, STUB_BUFFER_ALIGN = 256 };

/* --------------------------------------------------------------------------- memory */

static VkMemoryPropertyFlags flags_of(uint32_t type) {
  const stub_device_desc *desc = stub_opened();
  const VkMemoryPropertyFlags everything = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  return desc->memory[0] != 0 ? desc->memory[type] : type == 0 ? everything : 0;
}

/* A file's memory, as of a dma-buf; NULL where it cannot be mapped or is too small. */
static unsigned char *map_file(int fd, uint64_t size) {
  struct stat status;
  if (fstat(fd, &status) != 0 || (uint64_t)status.st_size < size) {
    return NULL;
  }
  void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) { /* what keeps a program from mapping it does not keep a device */
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const int again = open(path, O_RDWR | O_CLOEXEC);
    memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
    close(again);
  }
  return memory == MAP_FAILED ? NULL : memory;
}

VkResult stub_AllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                             const VkAllocationCallbacks *a, VkDeviceMemory *out) {
  (void)a;
  ENTER(AllocateMemory);
  const VkMemoryPropertyFlags flags = flags_of(info->memoryTypeIndex);
  if (flags == 0) {
    stub_misuse("memory type %u: there is none", info->memoryTypeIndex);
    return VK_ERROR_UNKNOWN;
  }
  if (info->allocationSize == 0) {
    stub_misuse("an allocation of no bytes");
  }
  const VkImportMemoryFdInfoKHR *import = NULL;
  bool exports = false;
  for (const VkBaseInStructure *s = info->pNext; s != NULL; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) {
      import = (const void *)s;
    }
    exports |= s->sType == VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  }
  const uint64_t size = info->allocationSize;
  unsigned char *bytes;
  int fd = -1;
  if (import != NULL) {
    bytes = map_file(import->fd, size);
    if (bytes == NULL) {
      return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    close(import->fd); /* from now on the driver's */
  } else if (exports) {
    fd = memfd_create("stub", MFD_CLOEXEC);
    bytes = ftruncate(fd, (off_t)size) == 0 ? map_file(fd, size) : NULL;
  } else {
    bytes = aligned_alloc(4096, ((size_t)size + 4095) / 4096 * 4096);
  }
  if (bytes == NULL) {
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  if (import == NULL) {
    memset(bytes, STUB_FRESH, (size_t)size);
  }
  stub_memory *memory = stub_new(STUB_MEMORY, sizeof(*memory), stub_get(device, STUB_DEVICE));
  memory->size = size;
  memory->device = memory->host = bytes;
  memory->type = info->memoryTypeIndex;
  memory->imported = import != NULL || exports;
  memory->foreign = import != NULL;
  memory->fd = fd;
  if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
      (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) == 0) {
    memory->host = aligned_alloc(4096, ((size_t)size + 4095) / 4096 * 4096);
    if (memory->host == NULL) {
      abort();
    }
    memcpy(memory->host, bytes, (size_t)size);
  }
  *out = HANDLE(VkDeviceMemory, memory);
  return VK_SUCCESS;
}

void stub_FreeMemory(VkDevice device, VkDeviceMemory handle, const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_FreeMemory);
  if (handle == VK_NULL_HANDLE) {
    return;
  }
  stub_memory *memory = stub_get(POINTER(handle), STUB_MEMORY);
  if (memory->host != memory->device) {
    free(memory->host);
  }
  if (memory->imported) {
    munmap(memory->device, (size_t)memory->size);
  } else {
    free(memory->device);
  }
  if (memory->fd >= 0) {
    close(memory->fd);
  }
  stub_delete(memory, STUB_MEMORY);
}

VkResult stub_MapMemory(VkDevice device, VkDeviceMemory handle, VkDeviceSize offset,
                        VkDeviceSize size, VkMemoryMapFlags flags, void **out) {
  (void)device;
  (void)flags;
  ENTER(MapMemory);
  stub_memory *memory = stub_get(POINTER(handle), STUB_MEMORY);
  const uint64_t bytes = size == VK_WHOLE_SIZE ? memory->size - offset : size;
  if (memory->mapped) {
    stub_misuse("memory is mapped twice");
  }
  if ((flags_of(memory->type) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
    stub_misuse("memory is mapped that the host cannot see");
    return VK_ERROR_MEMORY_MAP_FAILED;
  }
  if (offset > memory->size || bytes > memory->size - offset) {
    stub_misuse("memory is mapped beyond its end");
    return VK_ERROR_MEMORY_MAP_FAILED;
  }
  memory->mapped = true;
  *out = memory->host + offset;
  return VK_SUCCESS;
}

VkResult stub_GetMemoryFdKHR(VkDevice device, const VkMemoryGetFdInfoKHR *info, int *out) {
  (void)device;
  ENTER(GetMemoryFdKHR);
  const stub_memory *memory = stub_get(POINTER(info->memory), STUB_MEMORY);
  if (memory->fd < 0) {
    stub_misuse("memory is exported that was not allocated for it");
    return VK_ERROR_UNKNOWN;
  }
  *out = dup(memory->fd);
  return *out >= 0 ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS;
}

VkResult stub_GetMemoryFdPropertiesKHR(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                                       int fd, VkMemoryFdPropertiesKHR *out) {
  (void)device;
  (void)type;
  ENTER(GetMemoryFdPropertiesKHR);
  struct stat status;
  if (fstat(fd, &status) != 0) {
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
  }
  out->memoryTypeBits = 1;
  return VK_SUCCESS;
}

/* -------------------------------------------------------------------------- buffers */

VkResult stub_CreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                           const VkAllocationCallbacks *a, VkBuffer *out) {
  (void)a;
  ENTER(CreateBuffer);
  stub_buffer *buffer = stub_new(STUB_BUFFER, sizeof(*buffer), stub_get(device, STUB_DEVICE));
  buffer->size = info->size;
  if (info->size == 0 || info->usage == 0) {
    stub_misuse("a buffer of no bytes, or for no use");
  }
  *out = HANDLE(VkBuffer, buffer);
  return VK_SUCCESS;
}

void stub_DestroyBuffer(VkDevice device, VkBuffer handle, const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_DestroyBuffer);
  if (handle != VK_NULL_HANDLE) {
    stub_delete(stub_get(POINTER(handle), STUB_BUFFER), STUB_BUFFER);
  }
}

void stub_GetBufferMemoryRequirements(VkDevice device, VkBuffer handle, VkMemoryRequirements *out) {
  (void)device;
  (void)stub_enter(STUB_GetBufferMemoryRequirements);
  const stub_buffer *buffer = stub_get(POINTER(handle), STUB_BUFFER);
  uint32_t bits = 0;
  for (uint32_t type = 0; type < VK_MAX_MEMORY_TYPES; type++) {
    bits |= flags_of(type) != 0 ? UINT32_C(1) << type : 0;
  }
  *out = (VkMemoryRequirements){
      .size = (buffer->size + STUB_BUFFER_ALIGN - 1) / STUB_BUFFER_ALIGN * STUB_BUFFER_ALIGN,
      .alignment = STUB_BUFFER_ALIGN,
      .memoryTypeBits = bits,
  };
}

VkResult stub_BindBufferMemory(VkDevice device, VkBuffer handle, VkDeviceMemory memory_handle,
                               VkDeviceSize offset) {
  (void)device;
  ENTER(BindBufferMemory);
  stub_buffer *buffer = stub_get(POINTER(handle), STUB_BUFFER);
  stub_memory *memory = stub_get(POINTER(memory_handle), STUB_MEMORY);
  if (buffer->memory != NULL) {
    stub_misuse("a buffer is bound twice");
  }
  if (offset % STUB_BUFFER_ALIGN != 0 || offset > memory->size ||
      buffer->size > memory->size - offset) {
    stub_misuse("a buffer of %llu bytes at %llu of memory of %llu",
                (unsigned long long)buffer->size, (unsigned long long)offset,
                (unsigned long long)memory->size);
    return VK_ERROR_UNKNOWN;
  }
  buffer->memory = memory;
  buffer->offset = offset;
  return VK_SUCCESS;
}
