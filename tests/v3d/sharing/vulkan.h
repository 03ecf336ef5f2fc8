/* SPDX-License-Identifier: BSD-2-Clause */
/* The little of Vulkan that sharing.c, ../counters, ../refused and ../threads need. */
#ifndef DAEDALUS_TESTS_V3D_SHARING_VULKAN_H
#define DAEDALUS_TESTS_V3D_SHARING_VULKAN_H

#include <stdint.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

enum { GROUPS = 4, WORDS = 64 * GROUPS, BYTES = 4 * WORDS };

/* Formatted by hand, as clang-format does it another way each time. */
/* clang-format off */
#define VK_FUNCTIONS(X) \
  X(EnumeratePhysicalDevices) X(CreateDevice) X(GetDeviceQueue) X(CreateBuffer)                    \
  X(GetBufferMemoryRequirements) X(AllocateMemory) X(BindBufferMemory) X(MapMemory)                \
  X(FreeMemory) X(DestroyBuffer) X(CreateShaderModule) X(CreateDescriptorSetLayout)                \
  X(CreateDescriptorPool) X(AllocateDescriptorSets) X(UpdateDescriptorSets)                        \
  X(CreatePipelineLayout) X(CreateComputePipelines) X(CreateCommandPool)                           \
  X(AllocateCommandBuffers) X(BeginCommandBuffer) X(CmdBindPipeline) X(CmdBindDescriptorSets)      \
  X(CmdDispatch) X(EndCommandBuffer) X(QueueSubmit) X(QueueWaitIdle) X(CreateSemaphore)            \
  X(DestroySemaphore) X(CreateFence) X(DestroyFence) X(WaitForFences) X(WaitSemaphores)            \
  X(SignalSemaphore) X(GetSemaphoreCounterValue) X(GetMemoryFdKHR) X(GetMemoryFdPropertiesKHR)     \
  X(GetSemaphoreFdKHR) X(ImportSemaphoreFdKHR) X(GetFenceFdKHR) X(ImportFenceFdKHR)                \
  X(EnumerateDeviceExtensionProperties) X(CreateQueryPool) X(GetQueryPoolResults)                  \
  X(CmdResetQueryPool) X(CmdBeginQuery) X(CmdEndQuery) X(CmdCopyQueryPoolResults)                  \
  X(CreateImage) X(GetImageMemoryRequirements) X(BindImageMemory) X(CmdCopyBufferToImage)          \
  X(CmdPipelineBarrier) X(DestroyDevice)
/* clang-format on */

/* Of extensions that a device may lack; NULL then. */
#define VK_OPTIONAL_FUNCTIONS(X) \
  X(EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR) X(AcquireProfilingLockKHR)

#define VK_DECLARE(name) extern PFN_vk##name vk##name;
VK_FUNCTIONS(VK_DECLARE)
VK_OPTIONAL_FUNCTIONS(VK_DECLARE)
#undef VK_DECLARE

/* Ends the process when a call has failed, naming it. */
void vulkan_check(const char *what, VkResult result);
#define VK_CHECK(call) vulkan_check(#call, call)
#define VK_INFO(type) .sType = VK_STRUCTURE_TYPE_##type

extern VkPhysicalDevice vulkan_physical;
extern VkDevice vulkan_device;
extern VkQueue vulkan_queue;

/* Opens the first device, with sharing and, if it has them, performance queries; shader: a file of
 * SPIR-V. */
void vulkan_open(const char *shader);

struct shared {
  VkBuffer buffer;
  VkDeviceMemory memory;
  uint32_t *words;
  VkCommandBuffer step; /* one run of the shader on it */
};

/* A buffer that can be exported, or one of a descriptor, which is taken over; -1: none. */
struct shared vulkan_buffer(VkExternalMemoryHandleTypeFlagBits type, int fd);
void vulkan_free(struct shared *shared);

/* A command buffer that has begun; and the shader, run on a buffer, in one. */
VkCommandBuffer vulkan_begin(void);
void vulkan_dispatch(VkCommandBuffer commands, VkBuffer buffer);

/* Submits the step; what is not NULL is waited for or signaled. */
void vulkan_submit(const struct shared *shared, VkSemaphore wait, VkSemaphore signal,
                   VkFence fence);

#endif
