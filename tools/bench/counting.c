/* SPDX-License-Identifier: BSD-2-Clause */
#include "counting.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "gpu/vulkan/vk.h"

static counted so_far;
static PFN_vkGetInstanceProcAddr loader;
static PFN_vkGetDeviceProcAddr device_loader;

counted counted_so_far(void) {
  return so_far;
}

/*
 * The functions of a device that the runtime calls, each replaced by one that counts:
 * X(result, name, creates, parameters, arguments).
 */
#define COUNTED(X)                                                                                 \
  X(VkResult, AllocateMemory, 1,                                                                   \
    (VkDevice d, const VkMemoryAllocateInfo *i, const VkAllocationCallbacks *a,                    \
     VkDeviceMemory *o),                                                                           \
    (d, i, a, o))                                                                                  \
  X(VkResult, MapMemory, 0,                                                                        \
    (VkDevice d, VkDeviceMemory m, VkDeviceSize at, VkDeviceSize n, VkMemoryMapFlags f, void **o), \
    (d, m, at, n, f, o))                                                                           \
  X(VkResult, CreateBuffer, 1,                                                                     \
    (VkDevice d, const VkBufferCreateInfo *i, const VkAllocationCallbacks *a, VkBuffer *o),        \
    (d, i, a, o))                                                                                  \
  X(VkResult, BindBufferMemory, 0, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize at),    \
    (d, b, m, at))                                                                                 \
  X(VkResult, CreateComputePipelines, 1,                                                           \
    (VkDevice d, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo *i,              \
     const VkAllocationCallbacks *a, VkPipeline *o),                                               \
    (d, c, n, i, a, o))                                                                            \
  X(VkResult, CreateShaderModule, 1,                                                               \
    (VkDevice d, const VkShaderModuleCreateInfo *i, const VkAllocationCallbacks *a,                \
     VkShaderModule *o),                                                                           \
    (d, i, a, o))                                                                                  \
  X(VkResult, CreateDescriptorPool, 1,                                                             \
    (VkDevice d, const VkDescriptorPoolCreateInfo *i, const VkAllocationCallbacks *a,              \
     VkDescriptorPool *o),                                                                         \
    (d, i, a, o))                                                                                  \
  X(VkResult, AllocateDescriptorSets, 1,                                                           \
    (VkDevice d, const VkDescriptorSetAllocateInfo *i, VkDescriptorSet *o), (d, i, o))             \
  X(VkResult, CreateCommandPool, 1,                                                                \
    (VkDevice d, const VkCommandPoolCreateInfo *i, const VkAllocationCallbacks *a,                 \
     VkCommandPool *o),                                                                            \
    (d, i, a, o))                                                                                  \
  X(VkResult, AllocateCommandBuffers, 1,                                                           \
    (VkDevice d, const VkCommandBufferAllocateInfo *i, VkCommandBuffer *o), (d, i, o))             \
  X(VkResult, CreateFence, 1,                                                                      \
    (VkDevice d, const VkFenceCreateInfo *i, const VkAllocationCallbacks *a, VkFence *o),          \
    (d, i, a, o))                                                                                  \
  X(VkResult, CreateQueryPool, 1,                                                                  \
    (VkDevice d, const VkQueryPoolCreateInfo *i, const VkAllocationCallbacks *a, VkQueryPool *o),  \
    (d, i, a, o))                                                                                  \
  X(void, UpdateDescriptorSets, 0,                                                                 \
    (VkDevice d, uint32_t n, const VkWriteDescriptorSet *w, uint32_t m,                            \
     const VkCopyDescriptorSet *c),                                                                \
    (d, n, w, m, c))                                                                               \
  X(VkResult, BeginCommandBuffer, 0, (VkCommandBuffer c, const VkCommandBufferBeginInfo *i),       \
    (c, i))                                                                                        \
  X(VkResult, EndCommandBuffer, 0, (VkCommandBuffer c), (c))                                       \
  X(void, CmdBindPipeline, 0, (VkCommandBuffer c, VkPipelineBindPoint p, VkPipeline l), (c, p, l)) \
  X(void, CmdBindDescriptorSets, 0,                                                                \
    (VkCommandBuffer c, VkPipelineBindPoint p, VkPipelineLayout l, uint32_t f, uint32_t n,         \
     const VkDescriptorSet *s, uint32_t m, const uint32_t *o),                                     \
    (c, p, l, f, n, s, m, o))                                                                      \
  X(void, CmdPushConstants, 0,                                                                     \
    (VkCommandBuffer c, VkPipelineLayout l, VkShaderStageFlags f, uint32_t at, uint32_t n,         \
     const void *v),                                                                               \
    (c, l, f, at, n, v))                                                                           \
  X(void, CmdDispatch, 0, (VkCommandBuffer c, uint32_t x, uint32_t y, uint32_t z), (c, x, y, z))   \
  X(void, CmdPipelineBarrier, 0,                                                                   \
    (VkCommandBuffer c, VkPipelineStageFlags s, VkPipelineStageFlags t, VkDependencyFlags f,       \
     uint32_t n, const VkMemoryBarrier *p, uint32_t m, const VkBufferMemoryBarrier *q, uint32_t k, \
     const VkImageMemoryBarrier *r),                                                               \
    (c, s, t, f, n, p, m, q, k, r))                                                                \
  X(void, CmdCopyBuffer, 0,                                                                        \
    (VkCommandBuffer c, VkBuffer s, VkBuffer t, uint32_t n, const VkBufferCopy *r),                \
    (c, s, t, n, r))                                                                               \
  X(VkResult, ResetFences, 0, (VkDevice d, uint32_t n, const VkFence *f), (d, n, f))               \
  X(VkResult, GetFenceStatus, 0, (VkDevice d, VkFence f), (d, f))                                  \
  X(VkResult, WaitForFences, 0,                                                                    \
    (VkDevice d, uint32_t n, const VkFence *f, VkBool32 all, uint64_t ns), (d, n, f, all, ns))     \
  X(VkResult, QueueSubmit, 0, (VkQueue q, uint32_t n, const VkSubmitInfo *i, VkFence f),           \
    (q, n, i, f))

#define FORWARD(result, name, creates, parameters, arguments)      \
  static PFN_vk##name real_##name;                                 \
  static VKAPI_ATTR result VKAPI_CALL counting_##name parameters { \
    so_far.calls++;                                                \
    so_far.creations += (creates);                                 \
    RETURN_##result real_##name arguments;                         \
  }
#define RETURN_VkResult return
#define RETURN_void
COUNTED(FORWARD)

/* The counting function in a real one's place; any other as it is. */
static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction real) {
#define REPLACE(result, function, creates, parameters, arguments) \
  if (real != NULL && strcmp(name, "vk" #function) == 0) {        \
    real_##function = (PFN_vk##function)real;                     \
    return (PFN_vkVoidFunction)counting_##function;               \
  }
  COUNTED(REPLACE)
  return real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char *name) {
  return replaced(name, device_loader(device, name));
}

static daedalus_vulkan_fn function(void *instance, const char *name) {
  PFN_vkVoidFunction found = loader((VkInstance)instance, name);
  if (found != NULL && strcmp(name, "vkGetDeviceProcAddr") == 0) {
    device_loader = (PFN_vkGetDeviceProcAddr)found;
    found = (PFN_vkVoidFunction)device_function;
  }
  return (daedalus_vulkan_fn)replaced(name, found);
}

daedalus_get_instance_proc_addr_fn counting_loader(void) {
  if (loader == NULL) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
      *(void **)&loader = dlsym(library, "vkGetInstanceProcAddr");
    }
  }
  return loader != NULL ? function : NULL;
}
