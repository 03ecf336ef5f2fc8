/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refused SPIRV HOW - fills an image by a copy, which the simulated device refuses, and waits for
 * it: idle       by vkQueueWaitIdle fence      by vkWaitForFences, for ever threaded   by
 * vkQueueWaitIdle; the submission waits for a timeline semaphore, so that the driver hands it to a
 * thread of its own, and vkQueueSubmit has returned before semaphore  by vkWaitSemaphores for a
 * timeline that the submission signals; handed on as well Prints what each call returned, a line
 * each.  Exit code 0 when one of them was an error.
 */
#include <stdio.h>
#include <string.h>
#include <stdbool.h>

#include "../sharing/vulkan.h"

static int n_errors;

static VkResult told(const char *what, VkResult result) {
  printf("%s: %d\n", what, (int)result);
  fflush(stdout);
  n_errors += result < 0;
  return result;
}

static VkImage make_image(void) {
  const VkImageCreateInfo info = {
      VK_INFO(IMAGE_CREATE_INFO),
      .imageType = VK_IMAGE_TYPE_2D,
      .format = VK_FORMAT_R8G8B8A8_UNORM,
      .extent = {8, 8, 1},
      .mipLevels = 1,
      .arrayLayers = 1,
      .samples = VK_SAMPLE_COUNT_1_BIT,
      .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT};
  VkImage image;
  VkDeviceMemory memory;
  VkMemoryRequirements needs;
  VK_CHECK(vkCreateImage(vulkan_device, &info, NULL, &image));
  vkGetImageMemoryRequirements(vulkan_device, image, &needs);
  const VkMemoryAllocateInfo allocate = {VK_INFO(MEMORY_ALLOCATE_INFO),
                                         .allocationSize = needs.size};
  VK_CHECK(vkAllocateMemory(vulkan_device, &allocate, NULL, &memory));
  VK_CHECK(vkBindImageMemory(vulkan_device, image, memory, 0));
  return image;
}

static VkCommandBuffer copy_to_image(VkBuffer from) {
  const VkImage image = make_image();
  const VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  const VkImageMemoryBarrier barrier = {VK_INFO(IMAGE_MEMORY_BARRIER),
                                        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                        .image = image,
                                        .subresourceRange = whole};
  const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {8, 8, 1}};
  const VkCommandBuffer commands = vulkan_begin();
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                       0, 0, NULL, 0, NULL, 1, &barrier);
  vkCmdCopyBufferToImage(commands, from, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
  VK_CHECK(vkEndCommandBuffer(commands));
  return commands;
}

static VkSemaphore make_timeline(void) {
  const VkSemaphoreTypeCreateInfo type = {VK_INFO(SEMAPHORE_TYPE_CREATE_INFO),
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {VK_INFO(SEMAPHORE_CREATE_INFO), .pNext = &type};
  VkSemaphore semaphore;
  VK_CHECK(vkCreateSemaphore(vulkan_device, &info, NULL, &semaphore));
  return semaphore;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const char *how = argv[2];
  const bool handed_on = strcmp(how, "threaded") == 0 || strcmp(how, "semaphore") == 0;
  vulkan_open(argv[1]);
  const struct shared from = vulkan_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, -1);
  const VkCommandBuffer commands = copy_to_image(from.buffer);
  const VkSemaphore go = make_timeline(), done = make_timeline();
  const uint64_t one = 1;
  const VkTimelineSemaphoreSubmitInfo values = {
      VK_INFO(TIMELINE_SEMAPHORE_SUBMIT_INFO), .waitSemaphoreValueCount = 1,
      .pWaitSemaphoreValues = &one, .signalSemaphoreValueCount = 1, .pSignalSemaphoreValues = &one};
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const VkSubmitInfo submit = {VK_INFO(SUBMIT_INFO),
                               .pNext = handed_on ? &values : NULL,
                               .waitSemaphoreCount = handed_on,
                               .pWaitSemaphores = &go,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = handed_on,
                               .pSignalSemaphores = &done};
  const VkFenceCreateInfo fence_info = {VK_INFO(FENCE_CREATE_INFO)};
  VkFence fence;
  VK_CHECK(vkCreateFence(vulkan_device, &fence_info, NULL, &fence));
  told("vkQueueSubmit", vkQueueSubmit(vulkan_queue, 1, &submit, fence));
  if (handed_on) {
    const VkSemaphoreSignalInfo signal = {VK_INFO(SEMAPHORE_SIGNAL_INFO), .semaphore = go,
                                          .value = 1};
    told("vkSignalSemaphore", vkSignalSemaphore(vulkan_device, &signal));
  }
  const VkSemaphoreWaitInfo wait = {VK_INFO(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                    .pSemaphores = &done, .pValues = &one};
  if (strcmp(how, "fence") == 0)
    told("vkWaitForFences", vkWaitForFences(vulkan_device, 1, &fence, VK_TRUE, UINT64_MAX));
  else if (strcmp(how, "semaphore") == 0)
    told("vkWaitSemaphores", vkWaitSemaphores(vulkan_device, &wait, UINT64_MAX));
  else
    told("vkQueueWaitIdle", vkQueueWaitIdle(vulkan_queue));
  vkDestroyDevice(vulkan_device, NULL); /* ends the driver's thread */
  return n_errors == 0;
}
