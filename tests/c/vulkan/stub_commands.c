/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub driver's command buffers and what is recorded into them. */
#include <stdlib.h>
#include <string.h>

#include "stub_internal.h"

VkResult stub_CreateCommandPool(VkDevice device, const VkCommandPoolCreateInfo *info,
                                const VkAllocationCallbacks *a, VkCommandPool *out) {
  (void)a;
  ENTER(CreateCommandPool);
  stub_pool *pool = stub_new(STUB_COMMAND_POOL, sizeof(*pool), stub_get(device, STUB_DEVICE));
  pool->frees = (info->flags & VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT) != 0;
  *out = HANDLE(VkCommandPool, pool);
  return VK_SUCCESS;
}

static void delete_commands(stub_commands *commands) {
  free(commands->list);
  commands->list = NULL;
  stub_delete(commands, STUB_COMMAND_BUFFER);
}

void stub_DestroyCommandPool(VkDevice device, VkCommandPool handle,
                             const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_DestroyCommandPool);
  if (handle != VK_NULL_HANDLE) {
    stub_pool *pool = stub_get(POINTER(handle), STUB_COMMAND_POOL);
    for (stub_object *c; (c = stub_child_of(&pool->object, STUB_COMMAND_BUFFER)) != NULL;) {
      delete_commands((stub_commands *)(void *)c);
    }
    stub_delete(pool, STUB_COMMAND_POOL);
  }
}

static void empty(stub_commands *commands) {
  if (commands->object.in_flight != 0) {
    stub_misuse("a command buffer is reset while it is in flight");
  }
  commands->n = 0;
  commands->state = STUB_INITIAL;
  memset(&commands->now, 0, sizeof(commands->now));
}

VkResult stub_AllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo *info,
                                     VkCommandBuffer *out) {
  (void)device;
  ENTER(AllocateCommandBuffers);
  stub_object *pool = stub_get(POINTER(info->commandPool), STUB_COMMAND_POOL);
  for (uint32_t i = 0; i < info->commandBufferCount; i++) {
    out[i] = (VkCommandBuffer)stub_new(STUB_COMMAND_BUFFER, sizeof(stub_commands), pool);
  }
  return VK_SUCCESS;
}

VkResult stub_BeginCommandBuffer(VkCommandBuffer handle, const VkCommandBufferBeginInfo *info) {
  ENTER(BeginCommandBuffer);
  stub_commands *commands = stub_get(handle, STUB_COMMAND_BUFFER);
  if (commands->state != STUB_INITIAL &&
      !((const stub_pool *)(const void *)commands->object.parent)->frees) {
    stub_misuse("a command buffer is begun again that its pool cannot reset alone");
  }
  empty(commands);
  commands->once = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
  commands->state = STUB_RECORDING;
  return VK_SUCCESS;
}

VkResult stub_EndCommandBuffer(VkCommandBuffer handle) {
  ENTER(EndCommandBuffer);
  stub_commands *commands = stub_get(handle, STUB_COMMAND_BUFFER);
  if (commands->state != STUB_RECORDING) {
    stub_misuse("a command buffer ends that was not begun");
  }
  commands->state = STUB_EXECUTABLE;
  return VK_SUCCESS;
}

static stub_commands *recording(VkCommandBuffer handle) {
  stub_commands *commands = stub_get(handle, STUB_COMMAND_BUFFER);
  if (commands->state != STUB_RECORDING) {
    stub_misuse("a command into a command buffer that is not being recorded");
  }
  return commands;
}

static void add(stub_commands *commands, stub_command command) {
  if (commands->n == commands->capacity) {
    commands->capacity = commands->capacity != 0 ? 2 * commands->capacity : 16;
    commands->list = realloc(commands->list, commands->capacity * sizeof(*commands->list));
    if (commands->list == NULL) {
      abort();
    }
  }
  commands->list[commands->n++] = command;
}

void stub_CmdBindPipeline(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline) {
  (void)point;
  (void)stub_enter(STUB_CmdBindPipeline);
  recording(handle)->now.pipeline = stub_get(POINTER(pipeline), STUB_PIPELINE);
}

void stub_CmdBindDescriptorSets(VkCommandBuffer handle, VkPipelineBindPoint point,
                                VkPipelineLayout layout, uint32_t first, uint32_t n,
                                const VkDescriptorSet *sets, uint32_t n_offsets,
                                const uint32_t *offsets) {
  (void)point;
  (void)layout;
  (void)offsets;
  (void)stub_enter(STUB_CmdBindDescriptorSets);
  if (first != 0 || n != 1 || n_offsets != 0) {
    stub_misuse("only one set, number 0, without offsets, is known here");
  }
  recording(handle)->now.set = stub_get(POINTER(sets[0]), STUB_DESCRIPTOR_SET);
}

void stub_CmdPushConstants(VkCommandBuffer handle, VkPipelineLayout layout_handle,
                           VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                           const void *values) {
  (void)stages;
  (void)stub_enter(STUB_CmdPushConstants);
  const stub_layout *layout = stub_get(POINTER(layout_handle), STUB_PIPELINE_LAYOUT);
  if (offset % 4 != 0 || size % 4 != 0 || offset + size > layout->push_bytes) {
    stub_misuse("push constants %u..%u, the layout has %u", offset, offset + size,
                layout->push_bytes);
    return;
  }
  stub_command *now = &recording(handle)->now;
  memcpy(now->push + offset, values, size);
  now->push_bytes = now->push_bytes > offset + size ? now->push_bytes : offset + size;
}

void stub_CmdDispatch(VkCommandBuffer handle, uint32_t x, uint32_t y, uint32_t z) {
  (void)stub_enter(STUB_CmdDispatch);
  stub_commands *commands = recording(handle);
  stub_command command = commands->now;
  command.operation = STUB_DISPATCH;
  command.groups[0] = x;
  command.groups[1] = y;
  command.groups[2] = z;
  const uint32_t most = stub_opened()->max_groups != 0 ? stub_opened()->max_groups : 65535;
  if (x > most || y > most || z > most) {
    stub_misuse("%u x %u x %u workgroups, %u are allowed", x, y, z, most);
  }
  if (command.pipeline == NULL || command.set == NULL) {
    stub_misuse("a dispatch without pipeline or descriptor set");
    return;
  }
  add(commands, command);
}

/* A barrier of a buffer: here only between the queue's family, 0, and that of others. */
static void hand_over(stub_commands *commands, const VkBufferMemoryBarrier *barrier) {
  const uint32_t others =
      stub_opened()->no_foreign ? VK_QUEUE_FAMILY_EXTERNAL : VK_QUEUE_FAMILY_FOREIGN_EXT;
  const uint32_t from = barrier->srcQueueFamilyIndex, to = barrier->dstQueueFamilyIndex;
  if (!(from == others && to == 0) && !(from == 0 && to == others)) {
    stub_misuse("a buffer goes from queue family %u to %u", from, to);
  }
  if (barrier->offset != 0 || barrier->size != VK_WHOLE_SIZE) {
    stub_misuse("a part of a buffer is handed over");
  }
  add(commands, (stub_command){.operation = to == 0 ? STUB_ACQUIRE : STUB_RELEASE,
                               .to = stub_get(POINTER(barrier->buffer), STUB_BUFFER)});
}

void stub_CmdPipelineBarrier(VkCommandBuffer handle, VkPipelineStageFlags from,
                             VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t n_memory,
                             const VkMemoryBarrier *memory, uint32_t n_buffers,
                             const VkBufferMemoryBarrier *buffers, uint32_t n_images,
                             const VkImageMemoryBarrier *images) {
  (void)flags;
  (void)memory;
  (void)images;
  (void)stub_enter(STUB_CmdPipelineBarrier);
  if (from == 0 || to == 0 || n_memory + n_buffers == 0 || n_images != 0) {
    stub_misuse("a barrier between nothing");
  }
  if (n_memory != 0) {
    add(recording(handle), (stub_command){.operation = STUB_BARRIER});
  }
  for (uint32_t i = 0; i < n_buffers; i++) {
    hand_over(recording(handle), &buffers[i]);
  }
}

void stub_CmdCopyBuffer(VkCommandBuffer handle, VkBuffer from, VkBuffer to, uint32_t n,
                        const VkBufferCopy *regions) {
  (void)stub_enter(STUB_CmdCopyBuffer);
  stub_buffer *source = stub_get(POINTER(from), STUB_BUFFER);
  stub_buffer *target = stub_get(POINTER(to), STUB_BUFFER);
  for (uint32_t i = 0; i < n; i++) {
    if (regions[i].srcOffset + regions[i].size > source->size ||
        regions[i].dstOffset + regions[i].size > target->size || regions[i].size == 0) {
      stub_misuse("a copy beyond the end of a buffer, or of nothing");
      continue;
    }
    add(recording(handle),
        (stub_command){.operation = STUB_COPY, .from = source, .to = target, .region = regions[i]});
  }
}

void stub_CmdFillBuffer(VkCommandBuffer handle, VkBuffer to, VkDeviceSize offset, VkDeviceSize size,
                        uint32_t word) {
  (void)stub_enter(STUB_CmdFillBuffer);
  stub_buffer *target = stub_get(POINTER(to), STUB_BUFFER);
  const uint64_t bytes = size == VK_WHOLE_SIZE ? (target->size - offset) & ~UINT64_C(3) : size;
  if (offset % 4 != 0 || bytes % 4 != 0 || offset + bytes > target->size) {
    stub_misuse("a fill beyond the end of a buffer, or not of words");
    return;
  }
  add(recording(handle), (stub_command){.operation = STUB_FILL,
                                        .to = target,
                                        .region = {.dstOffset = offset, .size = bytes},
                                        .word = word});
}

void stub_CmdResetQueryPool(VkCommandBuffer handle, VkQueryPool pool, uint32_t first, uint32_t n) {
  (void)stub_enter(STUB_CmdResetQueryPool);
  add(recording(handle), (stub_command){.operation = STUB_RESET,
                                        .queries = stub_get(POINTER(pool), STUB_QUERIES),
                                        .query = first,
                                        .n_queries = n});
}

void stub_CmdWriteTimestamp(VkCommandBuffer handle, VkPipelineStageFlagBits stage, VkQueryPool pool,
                            uint32_t query) {
  (void)stage;
  (void)stub_enter(STUB_CmdWriteTimestamp);
  add(recording(handle), (stub_command){.operation = STUB_TIME,
                                        .queries = stub_get(POINTER(pool), STUB_QUERIES),
                                        .query = query,
                                        .n_queries = 1});
}
