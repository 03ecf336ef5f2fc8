/* SPDX-License-Identifier: BSD-2-Clause */
#include "raw.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/vulkan/vk.h"

/* layout(local_size_x = 16) in; void main() {} */
static const uint32_t noop_words[] = {
    0x7230203,  0x10300,    0x8000b,    0xb,     0x0,     0x20011, 0x1,     0x6000b, 0x1,
    0x4c534c47, 0x6474732e, 0x3035342e, 0x0,     0x3000e, 0x0,     0x1,     0x5000f, 0x5,
    0x4,        0x6e69616d, 0x0,        0x60010, 0x4,     0x11,    0x10,    0x1,     0x1,
    0x40047,    0xa,        0xb,        0x19,    0x20013, 0x2,     0x30021, 0x3,     0x2,
    0x40015,    0x6,        0x20,       0x0,     0x40017, 0x7,     0x6,     0x3,     0x4002b,
    0x6,        0x8,        0x10,       0x4002b, 0x6,     0x9,     0x1,     0x6002c, 0x7,
    0xa,        0x8,        0x9,        0x9,     0x50036, 0x2,     0x4,     0x0,     0x3,
    0x200f8,    0x5,        0x100fd,    0x10038};

struct raw_device {
  daedalus_vk_functions vk;
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  VkCommandPool pool;
  VkCommandBuffer empty, noop, copy;
  VkShaderModule module;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkFence fence;
  VkQueryPool queries;
  double ns_per_tick; /* 0: no timestamps */
};

static bool load(raw_device *d) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return false;
  }
  *(void **)&d->vk.GetInstanceProcAddr = dlsym(library, "vkGetInstanceProcAddr");
  return d->vk.GetInstanceProcAddr != NULL;
}

static bool make_instance(raw_device *d) {
  d->vk.CreateInstance = (PFN_vkCreateInstance)d->vk.GetInstanceProcAddr(NULL, "vkCreateInstance");
  const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                 .apiVersion = VK_API_VERSION_1_1};
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &app};
  if (d->vk.CreateInstance == NULL ||
      d->vk.CreateInstance(&info, NULL, &d->instance) != VK_SUCCESS) {
    return false;
  }
  bool all = true;
#define LOAD(name)                                                               \
  d->vk.name = (PFN_vk##name)d->vk.GetInstanceProcAddr(d->instance, "vk" #name); \
  all = all && d->vk.name != NULL;
  DAEDALUS_VK_INSTANCE(LOAD)
  DAEDALUS_VK_DEVICE(LOAD)
  DAEDALUS_VK_WORK(LOAD)
  return all;
}

static bool find_physical(raw_device *d, const daedalus_device_info *info) {
  VkPhysicalDevice list[16];
  uint32_t n = 16;
  const VkResult result = d->vk.EnumeratePhysicalDevices(d->instance, &n, list);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    d->vk.GetPhysicalDeviceProperties2(list[i], &p);
    if (strcmp(p.properties.deviceName, info->name) == 0) {
      d->physical = list[i];
      d->ns_per_tick = (double)p.properties.limits.timestampPeriod;
      return true;
    }
  }
  return false;
}

static bool make_device(raw_device *d) {
  VkQueueFamilyProperties families[16];
  uint32_t n = 16, family = 0;
  d->vk.GetPhysicalDeviceQueueFamilyProperties(d->physical, &n, families);
  while (family < n && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) {
    family++;
  }
  if (family == n) {
    return false;
  }
  if (families[family].timestampValidBits == 0) {
    d->ns_per_tick = 0;
  }
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueFamilyIndex = family,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queue};
  if (d->vk.CreateDevice(d->physical, &info, NULL, &d->device) != VK_SUCCESS) {
    return false;
  }
  d->vk.GetDeviceQueue(d->device, family, 0, &d->queue);
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                        .queueFamilyIndex = family};
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                         .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                         .queryCount = 2};
  VkCommandBuffer buffers[3];
  if (d->vk.CreateCommandPool(d->device, &pool, NULL, &d->pool) != VK_SUCCESS) {
    return false;
  }
  const VkCommandBufferAllocateInfo allocate_info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = d->pool,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 3};
  if (d->vk.CreateFence(d->device, &fence, NULL, &d->fence) != VK_SUCCESS ||
      (d->ns_per_tick > 0 &&
       d->vk.CreateQueryPool(d->device, &queries, NULL, &d->queries) != VK_SUCCESS) ||
      d->vk.AllocateCommandBuffers(d->device, &allocate_info, buffers) != VK_SUCCESS) {
    return false;
  }
  d->empty = buffers[0];
  d->noop = buffers[1];
  d->copy = buffers[2];
  return true;
}

static const VkCommandBufferBeginInfo begin_info = {
    .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};

static bool record_noop(raw_device *d) {
  const VkShaderModuleCreateInfo module = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = sizeof(noop_words),
                                           .pCode = noop_words};
  const VkPipelineLayoutCreateInfo layout = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  if (d->vk.CreateShaderModule(d->device, &module, NULL, &d->module) != VK_SUCCESS ||
      d->vk.CreatePipelineLayout(d->device, &layout, NULL, &d->layout) != VK_SUCCESS) {
    return false;
  }
  const VkComputePipelineCreateInfo pipeline = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = d->module,
                .pName = "main"},
      .layout = d->layout};
  if (d->vk.CreateComputePipelines(d->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &d->pipeline) !=
          VK_SUCCESS ||
      d->vk.BeginCommandBuffer(d->empty, &begin_info) != VK_SUCCESS ||
      d->vk.EndCommandBuffer(d->empty) != VK_SUCCESS ||
      d->vk.BeginCommandBuffer(d->noop, &begin_info) != VK_SUCCESS) {
    return false;
  }
  d->vk.CmdBindPipeline(d->noop, VK_PIPELINE_BIND_POINT_COMPUTE, d->pipeline);
  d->vk.CmdDispatch(d->noop, 1, 1, 1);
  return d->vk.EndCommandBuffer(d->noop) == VK_SUCCESS;
}

raw_device *raw_open(const daedalus_device_info *info) {
  raw_device *d = allocate(sizeof(*d));
  memset(d, 0, sizeof(*d));
  if (load(d) && make_instance(d) && find_physical(d, info) && make_device(d) && record_noop(d)) {
    return d;
  }
  raw_close(d);
  return NULL;
}

void raw_close(raw_device *d) {
  if (d->device != NULL) {
    d->vk.DestroyPipeline(d->device, d->pipeline, NULL);
    d->vk.DestroyPipelineLayout(d->device, d->layout, NULL);
    d->vk.DestroyShaderModule(d->device, d->module, NULL);
    d->vk.DestroyQueryPool(d->device, d->queries, NULL);
    d->vk.DestroyFence(d->device, d->fence, NULL);
    d->vk.DestroyCommandPool(d->device, d->pool, NULL);
    d->vk.DestroyDevice(d->device, NULL);
  }
  if (d->instance != NULL && d->vk.DestroyInstance != NULL) {
    d->vk.DestroyInstance(d->instance, NULL);
  }
  free(d);
}

/* Submits and waits; the time of both. */
static bool submit(raw_device *d, VkCommandBuffer commands, samples *s) {
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .commandBufferCount = 1,
                             .pCommandBuffers = &commands};
  if (d->vk.ResetFences(d->device, 1, &d->fence) != VK_SUCCESS) {
    return false;
  }
  const double begin = now_ns();
  if (d->vk.QueueSubmit(d->queue, 1, &info, d->fence) != VK_SUCCESS ||
      d->vk.WaitForFences(d->device, 1, &d->fence, VK_TRUE, UINT64_C(60000000000)) != VK_SUCCESS) {
    return false;
  }
  if (s != NULL) {
    samples_add(s, now_ns() - begin);
  }
  return true;
}

bool raw_empty_submit(raw_device *d, samples *s) {
  return submit(d, d->empty, s);
}

bool raw_noop_dispatch(raw_device *d, samples *s) {
  return submit(d, d->noop, s);
}

/* ------------------------------------------------------------------------------- copy */

typedef struct allocation {
  VkBuffer buffer;
  VkDeviceMemory memory;
} allocation;

static bool make_buffer(raw_device *d, uint64_t bytes, VkMemoryPropertyFlags flags,
                        allocation *out) {
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = bytes,
      .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
  VkMemoryRequirements needs;
  VkPhysicalDeviceMemoryProperties have;
  d->vk.GetPhysicalDeviceMemoryProperties(d->physical, &have);
  if (d->vk.CreateBuffer(d->device, &info, NULL, &out->buffer) != VK_SUCCESS) {
    return false;
  }
  d->vk.GetBufferMemoryRequirements(d->device, out->buffer, &needs);
  uint32_t type = 0;
  while (type < have.memoryTypeCount && ((needs.memoryTypeBits >> type & 1) == 0 ||
                                         (have.memoryTypes[type].propertyFlags & flags) != flags)) {
    type++;
  }
  const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = type};
  return type < have.memoryTypeCount &&
         d->vk.AllocateMemory(d->device, &memory, NULL, &out->memory) == VK_SUCCESS &&
         d->vk.BindBufferMemory(d->device, out->buffer, out->memory, 0) == VK_SUCCESS;
}

static void free_buffer(raw_device *d, allocation *a) {
  d->vk.DestroyBuffer(d->device, a->buffer, NULL);
  d->vk.FreeMemory(d->device, a->memory, NULL);
}

static const uint32_t copied_word = 0x9e3779b9;
enum { LOOK_BYTES = 4096 };

static void barrier(raw_device *d) {
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT |
                                                VK_ACCESS_TRANSFER_WRITE_BIT |
                                                VK_ACCESS_HOST_READ_BIT};
  d->vk.CmdPipelineBarrier(d->copy, VK_PIPELINE_STAGE_TRANSFER_BIT,
                           VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all,
                           0, NULL, 0, NULL);
}

/* The timed copy, and what shows that its two ends arrived. */
static bool record_copy(raw_device *d, VkBuffer from, VkBuffer to, VkBuffer look, uint64_t bytes) {
  const VkBufferCopy all = {.size = bytes};
  const VkBufferCopy ends[] = {
      {.size = LOOK_BYTES / 2},
      {.srcOffset = bytes - LOOK_BYTES / 2, .dstOffset = LOOK_BYTES / 2, .size = LOOK_BYTES / 2}};
  if (d->vk.BeginCommandBuffer(d->copy, &begin_info) != VK_SUCCESS) {
    return false;
  }
  d->vk.CmdFillBuffer(d->copy, from, 0, bytes, copied_word);
  d->vk.CmdFillBuffer(d->copy, to, 0, bytes, 0);
  barrier(d);
  if (d->ns_per_tick > 0) {
    d->vk.CmdResetQueryPool(d->copy, d->queries, 0, 2);
    d->vk.CmdWriteTimestamp(d->copy, VK_PIPELINE_STAGE_TRANSFER_BIT, d->queries, 0);
  }
  d->vk.CmdCopyBuffer(d->copy, from, to, 1, &all);
  if (d->ns_per_tick > 0) {
    barrier(d);
    d->vk.CmdWriteTimestamp(d->copy, VK_PIPELINE_STAGE_TRANSFER_BIT, d->queries, 1);
  }
  barrier(d);
  d->vk.CmdCopyBuffer(d->copy, to, look, 2, ends);
  barrier(d);
  return d->vk.EndCommandBuffer(d->copy) == VK_SUCCESS;
}

static bool arrived(const uint32_t *look) {
  for (size_t i = 0; i < LOOK_BYTES / sizeof(*look); i++) {
    if (look[i] != copied_word) {
      return false;
    }
  }
  return true;
}

static bool time_copies(raw_device *d, uint32_t *look, int rounds, samples *gpu, samples *wall) {
  for (int i = -1; i < rounds; i++) {
    uint64_t ticks[2] = {0, 0};
    memset(look, 0, LOOK_BYTES);
    if (!submit(d, d->copy, i < 0 ? NULL : wall)) {
      return false;
    }
    if (!arrived(look)) {
      samples_refuse(gpu);
      samples_refuse(wall);
      continue;
    }
    if (d->ns_per_tick > 0 && i >= 0 &&
        d->vk.GetQueryPoolResults(d->device, d->queries, 0, 2, sizeof(ticks), ticks, sizeof(*ticks),
                                  VK_QUERY_RESULT_64_BIT) == VK_SUCCESS) {
      samples_add(gpu, (double)(ticks[1] - ticks[0]) * d->ns_per_tick);
    }
  }
  return true;
}

bool raw_copy(raw_device *d, uint64_t bytes, int rounds, samples *gpu, samples *wall) {
  allocation from = {0}, to = {0}, look = {0};
  void *mapped = NULL;
  const VkMemoryPropertyFlags seen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const bool done =
      make_buffer(d, bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &from) &&
      make_buffer(d, bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &to) &&
      make_buffer(d, LOOK_BYTES, seen, &look) &&
      d->vk.MapMemory(d->device, look.memory, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS &&
      record_copy(d, from.buffer, to.buffer, look.buffer, bytes) &&
      time_copies(d, mapped, rounds, gpu, wall);
  free_buffer(d, &from);
  free_buffer(d, &to);
  free_buffer(d, &look);
  return done;
}
