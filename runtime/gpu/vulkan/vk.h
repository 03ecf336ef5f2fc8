/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vulkan's types, and pointers to those of its functions that the runtime
 * calls: all of them, listed once.  A driver that is injected has to have those
 * of the first four lists.
 */
#ifndef DAEDALUS_VULKAN_VK_H
#define DAEDALUS_VULKAN_VK_H

#define VK_NO_PROTOTYPES 1
#include <vulkan/vulkan_core.h>

/** Asked for with a NULL instance. */
#define DAEDALUS_VK_GLOBAL(X) \
  X(EnumerateInstanceVersion) \
  X(CreateInstance)

#define DAEDALUS_VK_INSTANCE(X)                \
  X(DestroyInstance)                           \
  X(EnumeratePhysicalDevices)                  \
  X(GetPhysicalDeviceProperties2)              \
  X(GetPhysicalDeviceFeatures2)                \
  X(GetPhysicalDeviceMemoryProperties)         \
  X(GetPhysicalDeviceQueueFamilyProperties)    \
  X(GetPhysicalDeviceExternalBufferProperties) \
  X(GetPhysicalDeviceExternalFenceProperties)  \
  X(EnumerateDeviceExtensionProperties)        \
  X(CreateDevice)                              \
  X(GetDeviceProcAddr)

/** Creating, destroying and memory. */
#define DAEDALUS_VK_DEVICE(X)    \
  X(DestroyDevice)               \
  X(GetDeviceQueue)              \
  X(DeviceWaitIdle)              \
  X(AllocateMemory)              \
  X(FreeMemory)                  \
  X(MapMemory)                   \
  X(CreateBuffer)                \
  X(DestroyBuffer)               \
  X(GetBufferMemoryRequirements) \
  X(BindBufferMemory)            \
  X(CreateShaderModule)          \
  X(DestroyShaderModule)         \
  X(CreatePipelineCache)         \
  X(DestroyPipelineCache)        \
  X(GetPipelineCacheData)        \
  X(CreateComputePipelines)      \
  X(DestroyPipeline)             \
  X(CreatePipelineLayout)        \
  X(DestroyPipelineLayout)       \
  X(CreateDescriptorSetLayout)   \
  X(DestroyDescriptorSetLayout)  \
  X(CreateDescriptorPool)        \
  X(DestroyDescriptorPool)       \
  X(AllocateDescriptorSets)      \
  X(CreateCommandPool)           \
  X(DestroyCommandPool)          \
  X(AllocateCommandBuffers)      \
  X(CreateFence)                 \
  X(DestroyFence)                \
  X(CreateQueryPool)             \
  X(DestroyQueryPool)

/** What a warm batch calls. */
#define DAEDALUS_VK_WORK(X) \
  X(UpdateDescriptorSets)   \
  X(BeginCommandBuffer)     \
  X(EndCommandBuffer)       \
  X(CmdBindPipeline)        \
  X(CmdBindDescriptorSets)  \
  X(CmdPushConstants)       \
  X(CmdDispatch)            \
  X(CmdPipelineBarrier)     \
  X(CmdCopyBuffer)          \
  X(CmdFillBuffer)          \
  X(CmdResetQueryPool)      \
  X(CmdWriteTimestamp)      \
  X(GetQueryPoolResults)    \
  X(ResetFences)            \
  X(GetFenceStatus)         \
  X(WaitForFences)          \
  X(QueueSubmit)

/** Of extensions; NULL where the device has them not. */
#define DAEDALUS_VK_OPTIONAL(X) \
  X(GetFenceFdKHR)              \
  X(GetMemoryFdKHR)             \
  X(GetMemoryFdPropertiesKHR)

typedef struct daedalus_vk_functions {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define DAEDALUS_VK_MEMBER(name) PFN_vk##name name;
  DAEDALUS_VK_GLOBAL(DAEDALUS_VK_MEMBER)
  DAEDALUS_VK_INSTANCE(DAEDALUS_VK_MEMBER)
  DAEDALUS_VK_DEVICE(DAEDALUS_VK_MEMBER)
  DAEDALUS_VK_WORK(DAEDALUS_VK_MEMBER)
  DAEDALUS_VK_OPTIONAL(DAEDALUS_VK_MEMBER)
#undef DAEDALUS_VK_MEMBER
} daedalus_vk_functions;

/** @return the name of a result, or "VkResult" with an unknown one; static */
const char *daedalus_rt_vk_result(VkResult result);

#endif /* DAEDALUS_VULKAN_VK_H */
