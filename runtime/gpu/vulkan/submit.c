/* SPDX-License-Identifier: BSD-2-Clause */
/* Recording and submitting; the other half of commands.h. */
#include <errno.h>
#include <string.h>

#include "gpu/vulkan/commands.h"

static void barrier(const daedalus_vk_functions *fn, VkCommandBuffer buffer) {
  const VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                       VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
  };
  const VkPipelineStageFlags stages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  fn->CmdPipelineBarrier(buffer, stages, stages, 0, 1, &all, 0, NULL, 0, NULL);
}

/** So that the CPU sees what the GPU wrote, once the fence tells it. */
static void host_barrier(const daedalus_vk_functions *fn, VkCommandBuffer buffer) {
  const VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
  };
  fn->CmdPipelineBarrier(buffer,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

/** Hands a dma-buf over, between the queue and whoever else uses it. */
static void hand_over(const daedalus_vk_device *device, VkCommandBuffer buffer, VkBuffer dmabuf,
                      bool acquire) {
  const VkPipelineStageFlags stages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  const uint32_t own = device->physical->queue_family, others = device->physical->others;
  const VkBufferMemoryBarrier one = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
      .srcAccessMask = acquire ? 0 : VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = acquire ? VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                     VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT
                               : 0,
      .srcQueueFamilyIndex = acquire ? others : own,
      .dstQueueFamilyIndex = acquire ? own : others,
      .buffer = dmabuf,
      .size = VK_WHOLE_SIZE,
  };
  device->vk->fn.CmdPipelineBarrier(buffer, stages,
                                    acquire ? stages : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0,
                                    NULL, 1, &one, 0, NULL);
}

static void record_dispatch(const daedalus_vk_functions *fn, VkCommandBuffer buffer,
                            const daedalus_vk_dispatch *dispatch,
                            const daedalus_vk_dispatch *before) {
  if (before == NULL || before->pipeline != dispatch->pipeline) {
    fn->CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch->pipeline);
  }
  if (before == NULL || before->set != dispatch->set || before->layout != dispatch->layout) {
    fn->CmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch->layout, 0, 1,
                              &dispatch->set, 0, NULL);
  }
  fn->CmdPushConstants(buffer, dispatch->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       dispatch->n_push * (uint32_t)sizeof(uint32_t), dispatch->push);
  fn->CmdDispatch(buffer, dispatch->groups, 1, 1);
}

static void record_ops(const daedalus_vk_device *device, const daedalus_vk_submission *submission) {
  const daedalus_vk_functions *fn = &device->vk->fn;
  const daedalus_vk_op *ops = submission->ops.data;
  const VkCommandBuffer buffer = submission->buffer;
  const daedalus_vk_dispatch *before = NULL;
  for (size_t i = 0; i < submission->ops.size; i++) {
    const daedalus_vk_op *op = &ops[i];
    switch (op->kind) {
      case DAEDALUS_VK_OP_DISPATCH:
        record_dispatch(fn, buffer, &op->of.dispatch, before);
        before = &op->of.dispatch;
        break;
      case DAEDALUS_VK_OP_BARRIER:
        barrier(fn, buffer);
        break;
      case DAEDALUS_VK_OP_COPY:
        fn->CmdCopyBuffer(buffer, op->of.copy.from, op->of.copy.to, 1, &op->of.copy.region);
        break;
      case DAEDALUS_VK_OP_FILL:
        fn->CmdFillBuffer(buffer, op->of.fill.buffer, op->of.fill.offset, op->of.fill.size,
                          op->of.fill.value);
        break;
      case DAEDALUS_VK_OP_ACQUIRE:
      case DAEDALUS_VK_OP_RELEASE:
        hand_over(device, buffer, op->of.owned.buffer, op->kind == DAEDALUS_VK_OP_ACQUIRE);
        break;
      case DAEDALUS_VK_OP_TIME_BEGIN:
        fn->CmdResetQueryPool(buffer, submission->queries, 0, 2);
        /* The bottom: when all that was submitted before is done, not while it still runs. */
        fn->CmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, submission->queries, 0);
        break;
      case DAEDALUS_VK_OP_TIME_END:
        fn->CmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, submission->queries, 1);
        break;
    }
  }
  host_barrier(fn, buffer);
}

static int make_queries(daedalus_vk_device *device, daedalus_vk_submission *submission) {
  const daedalus_vk_op *ops = submission->ops.data;
  if (submission->queries != VK_NULL_HANDLE || submission->ops.size == 0 ||
      ops[0].kind != DAEDALUS_VK_OP_TIME_BEGIN) {
    return 0;
  }
  const VkQueryPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
      .queryType = VK_QUERY_TYPE_TIMESTAMP,
      .queryCount = 2,
  };
  const VkResult result =
      device->vk->fn.CreateQueryPool(device->handle, &info, NULL, &submission->queries);
  if (result != VK_SUCCESS) {
    submission->queries = VK_NULL_HANDLE;
    return daedalus_rt_vk_failed(device, "vkCreateQueryPool", result);
  }
  return 0;
}

static int record(daedalus_vk_commands *commands, daedalus_vk_submission *submission) {
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  const daedalus_vec ops = submission->ops, recorded = submission->recorded;
  if (!submission->changed && ops.size == recorded.size && ops.size != 0 &&
      memcmp(ops.data, recorded.data, ops.size * sizeof(daedalus_vk_op)) == 0) {
    return 0;
  }
  const int error = make_queries(device, submission);
  if (error != 0) {
    return error;
  }
  submission->recorded.size = 0; /* until it is recorded to its end */
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  VkResult result = fn->BeginCommandBuffer(submission->buffer, &info);
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkBeginCommandBuffer", result);
  }
  record_ops(device, submission);
  result = fn->EndCommandBuffer(submission->buffer);
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkEndCommandBuffer", result);
  }
  submission->ops = (daedalus_vec){recorded.data, 0, recorded.capacity};
  submission->recorded = ops;
  submission->changed = false;
  return 0;
}

int daedalus_rt_vk_submit(daedalus_vk_commands *commands, daedalus_vk_submission *submission) {
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  const int error = record(commands, submission);
  if (error != 0) {
    return error;
  }
  VkResult result = fn->ResetFences(device->handle, 1, &submission->fence);
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkResetFences", result);
  }
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .commandBufferCount = 1,
      .pCommandBuffers = &submission->buffer,
  };
  result = fn->QueueSubmit(device->queue, 1, &info, submission->fence);
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkQueueSubmit", result);
  }
  submission->submitted = true;
  return 0;
}

int daedalus_rt_vk_fence_wait(daedalus_vk_commands *commands, daedalus_vk_submission *submission,
                              uint64_t timeout_ns) {
  if (!submission->submitted) {
    return 0;
  }
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  const VkResult result = timeout_ns == 0 ? fn->GetFenceStatus(device->handle, submission->fence)
                                          : fn->WaitForFences(device->handle, 1, &submission->fence,
                                                              VK_TRUE, timeout_ns);
  switch (result) {
    case VK_SUCCESS:
      submission->submitted = false;
      return 0;
    case VK_NOT_READY:
    case VK_TIMEOUT:
      return -ETIME;
    default:
      return daedalus_rt_vk_failed(device, timeout_ns == 0 ? "vkGetFenceStatus" : "vkWaitForFences",
                                   result);
  }
}

int daedalus_rt_vk_elapsed(daedalus_vk_commands *commands, const daedalus_vk_submission *first,
                           const daedalus_vk_submission *last, uint64_t *ns) {
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  uint64_t begin, end;
  const VkQueryResultFlags flags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT;
  VkResult result = fn->GetQueryPoolResults(device->handle, first->queries, 0, 1, sizeof(begin),
                                            &begin, sizeof(begin), flags);
  if (result == VK_SUCCESS) {
    result = fn->GetQueryPoolResults(device->handle, last->queries, 1, 1, sizeof(end), &end,
                                     sizeof(end), flags);
  }
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkGetQueryPoolResults", result);
  }
  const uint32_t bits = device->physical->timestamp_bits;
  const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  *ns =
      (uint64_t)((double)((end - begin) & mask) * (double)device->physical->limits.timestampPeriod);
  return 0;
}

int daedalus_rt_vk_export_fence(daedalus_vk_commands *commands, int *fd) {
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  if (!device->physical->fence_fd || fn->GetFenceFdKHR == NULL || commands->export_failed) {
    return -ENOTSUP;
  }
  if (commands->export_fence == VK_NULL_HANDLE) {
    const VkExportFenceCreateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                    .pNext = &exported};
    const VkResult result = fn->CreateFence(device->handle, &info, NULL, &commands->export_fence);
    if (result != VK_SUCCESS) {
      commands->export_fence = VK_NULL_HANDLE;
      return daedalus_rt_vk_failed(device, "vkCreateFence", result);
    }
  }
  /* An empty submission ends after all before it.  Exporting its fence resets that again. */
  VkResult result = fn->QueueSubmit(device->queue, 0, NULL, commands->export_fence);
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkQueueSubmit", result);
  }
  const VkFenceGetFdInfoKHR info = {
      .sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR,
      .fence = commands->export_fence,
      .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
  };
  result = fn->GetFenceFdKHR(device->handle, &info, fd);
  if (result != VK_SUCCESS) {
    *fd = -1;
    commands->export_failed = true;
    return daedalus_rt_vk_failed(device, "vkGetFenceFdKHR", result);
  }
  return *fd < 0 ? -ENOTSUP : 0; /* -1: it was done already */
}
