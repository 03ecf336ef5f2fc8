/* SPDX-License-Identifier: BSD-2-Clause */
#include "raw.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/vulkan/memory.h"

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
  daedalus_vk vk;
  daedalus_vk_devices devices;
  daedalus_gpu_backend backend;
  daedalus_vk_device device;
  daedalus_vk_memory memory;
  VkCommandPool pool;
  VkCommandBuffer empty, noop, copy;
  VkShaderModule module;
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkFence fence;
  VkQueryPool queries;
  double ns_per_tick; /* 0: no timestamps */
};

/* Opens the device of that name, once more. */
static bool open_named(raw_device *d, const char *name) {
  char why[256];
  size_t i = 0;
  if (daedalus_rt_vk_load(&d->vk, d->backend.ctx, why, sizeof(why)) != 0) {
    return false;
  }
  if (daedalus_rt_vk_enumerate(&d->vk, &d->devices, why, sizeof(why)) != 0) {
    return false;
  }
  while (i < d->devices.n && strcmp(d->devices.list[i].name, name) != 0) {
    i++;
  }
  if (i == d->devices.n || daedalus_rt_vk_open(&d->device, &d->backend, &d->vk, &d->devices.list[i],
                                               why, sizeof(why)) != 0) {
    return false;
  }
  daedalus_rt_vk_memory_init(&d->memory, &d->device);
  if (d->device.physical->timestamp_bits != 0) {
    d->ns_per_tick = (double)d->device.physical->limits.timestampPeriod;
  }
  return true;
}

static bool make_commands(raw_device *d) {
  const daedalus_vk_functions *vk = &d->vk.fn;
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                        .queueFamilyIndex = d->device.physical->queue_family};
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                         .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                         .queryCount = 2};
  VkCommandBuffer buffers[3];
  if (vk->CreateCommandPool(d->device.handle, &pool, NULL, &d->pool) != VK_SUCCESS) {
    return false;
  }
  const VkCommandBufferAllocateInfo allocate_info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = d->pool,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 3};
  if (vk->CreateFence(d->device.handle, &fence, NULL, &d->fence) != VK_SUCCESS ||
      (d->ns_per_tick > 0 &&
       vk->CreateQueryPool(d->device.handle, &queries, NULL, &d->queries) != VK_SUCCESS) ||
      vk->AllocateCommandBuffers(d->device.handle, &allocate_info, buffers) != VK_SUCCESS) {
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
  if (d->vk.fn.CreateShaderModule(d->device.handle, &module, NULL, &d->module) != VK_SUCCESS ||
      d->vk.fn.CreatePipelineLayout(d->device.handle, &layout, NULL, &d->layout) != VK_SUCCESS) {
    return false;
  }
  const VkComputePipelineCreateInfo pipeline = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = d->module,
                .pName = "main"},
      .layout = d->layout};
  if (d->vk.fn.CreateComputePipelines(d->device.handle, VK_NULL_HANDLE, 1, &pipeline, NULL,
                                      &d->pipeline) != VK_SUCCESS ||
      d->vk.fn.BeginCommandBuffer(d->empty, &begin_info) != VK_SUCCESS ||
      d->vk.fn.EndCommandBuffer(d->empty) != VK_SUCCESS ||
      d->vk.fn.BeginCommandBuffer(d->noop, &begin_info) != VK_SUCCESS) {
    return false;
  }
  d->vk.fn.CmdBindPipeline(d->noop, VK_PIPELINE_BIND_POINT_COMPUTE, d->pipeline);
  d->vk.fn.CmdDispatch(d->noop, 1, 1, 1);
  return d->vk.fn.EndCommandBuffer(d->noop) == VK_SUCCESS;
}

raw_device *raw_open(const daedalus_ctx *ctx, const daedalus_device_info *info) {
  raw_device *d = allocate_zeroed(sizeof(*d));
  d->backend.ctx = (daedalus_ctx *)(uintptr_t)ctx;
  if (open_named(d, info->name) && make_commands(d) && record_noop(d)) {
    return d;
  }
  raw_close(d);
  return NULL;
}

void raw_close(raw_device *d) {
  const daedalus_vk_functions *vk = &d->vk.fn;
  const VkDevice device = d->device.handle;
  if (device != NULL) {
    vk->DestroyPipeline(device, d->pipeline, NULL);
    vk->DestroyPipelineLayout(device, d->layout, NULL);
    vk->DestroyShaderModule(device, d->module, NULL);
    vk->DestroyQueryPool(device, d->queries, NULL);
    vk->DestroyFence(device, d->fence, NULL);
    vk->DestroyCommandPool(device, d->pool, NULL);
    daedalus_rt_vk_close(&d->device);
  }
  if (d->vk.instance != NULL) {
    daedalus_rt_vk_unload(&d->vk);
  }
  free(d->devices.list);
  free(d);
}

/* Submits and waits; the time of both. */
static bool submit(raw_device *d, VkCommandBuffer commands, samples *s) {
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .commandBufferCount = 1,
                             .pCommandBuffers = &commands};
  if (d->vk.fn.ResetFences(d->device.handle, 1, &d->fence) != VK_SUCCESS) {
    return false;
  }
  const double begin = now_ns();
  if (d->vk.fn.QueueSubmit(d->device.queue, 1, &info, d->fence) != VK_SUCCESS ||
      d->vk.fn.WaitForFences(d->device.handle, 1, &d->fence, VK_TRUE, UINT64_C(60000000000)) !=
          VK_SUCCESS) {
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

enum { LOOK_BYTES = 4096 };
static const uint32_t copied_word = 0x9e3779b9;

static void barrier(raw_device *d) {
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT |
                                                VK_ACCESS_TRANSFER_WRITE_BIT |
                                                VK_ACCESS_HOST_READ_BIT};
  d->vk.fn.CmdPipelineBarrier(d->copy, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                              &all, 0, NULL, 0, NULL);
}

/* The timed copy, and what shows that its two ends arrived. */
static bool record_copy(raw_device *d, VkBuffer from, VkBuffer to, VkBuffer look, uint64_t bytes) {
  const VkBufferCopy all = {.size = bytes};
  const VkBufferCopy ends[] = {
      {.size = LOOK_BYTES / 2},
      {.srcOffset = bytes - LOOK_BYTES / 2, .dstOffset = LOOK_BYTES / 2, .size = LOOK_BYTES / 2}};
  if (d->vk.fn.BeginCommandBuffer(d->copy, &begin_info) != VK_SUCCESS) {
    return false;
  }
  d->vk.fn.CmdFillBuffer(d->copy, from, 0, bytes, copied_word);
  d->vk.fn.CmdFillBuffer(d->copy, to, 0, bytes, 0);
  barrier(d);
  if (d->ns_per_tick > 0) {
    d->vk.fn.CmdResetQueryPool(d->copy, d->queries, 0, 2);
    d->vk.fn.CmdWriteTimestamp(d->copy, VK_PIPELINE_STAGE_TRANSFER_BIT, d->queries, 0);
  }
  d->vk.fn.CmdCopyBuffer(d->copy, from, to, 1, &all);
  if (d->ns_per_tick > 0) {
    barrier(d);
    d->vk.fn.CmdWriteTimestamp(d->copy, VK_PIPELINE_STAGE_TRANSFER_BIT, d->queries, 1);
  }
  barrier(d);
  d->vk.fn.CmdCopyBuffer(d->copy, to, look, 2, ends);
  barrier(d);
  return d->vk.fn.EndCommandBuffer(d->copy) == VK_SUCCESS;
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
        d->vk.fn.GetQueryPoolResults(d->device.handle, d->queries, 0, 2, sizeof(ticks), ticks,
                                     sizeof(*ticks), VK_QUERY_RESULT_64_BIT) == VK_SUCCESS) {
      samples_add(gpu, (double)(ticks[1] - ticks[0]) * d->ns_per_tick);
    }
  }
  return true;
}

bool raw_copy(raw_device *d, uint64_t bytes, int rounds, samples *gpu, samples *wall) {
  daedalus_gpu_block *from = NULL, *to = NULL, *look = NULL;
  const bool done =
      daedalus_rt_vk_block_create(&d->memory, DAEDALUS_GPU_LOCAL, bytes, false, &from) == 0 &&
      daedalus_rt_vk_block_create(&d->memory, DAEDALUS_GPU_LOCAL, bytes, false, &to) == 0 &&
      daedalus_rt_vk_block_create(&d->memory, DAEDALUS_GPU_SHARED, LOOK_BYTES, false, &look) == 0 &&
      record_copy(d, daedalus_vk_block_of(from)->buffer, daedalus_vk_block_of(to)->buffer,
                  daedalus_vk_block_of(look)->buffer, bytes) &&
      time_copies(d, (uint32_t *)(void *)look->map, rounds, gpu, wall);
  daedalus_rt_vk_block_destroy(&d->memory, from);
  daedalus_rt_vk_block_destroy(&d->memory, to);
  daedalus_rt_vk_block_destroy(&d->memory, look);
  return done;
}
