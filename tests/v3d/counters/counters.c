/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters SPIRV - reads performance counters of a dispatch through VK_KHR_performance_query, by
 * the host and by a copy on the device.  Exit code: 0 right, 1 wrong, 2 a call failed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sharing/vulkan.h"

enum { N = 3, MOST = 128 };
static const char *const names[N] = {"cycle-count", "QPU-active", "QPU-stalls-TMU"};

/* The numbers of the counters of those names. */
static void find(uint32_t indices[N]) {
  static VkPerformanceCounterKHR counters[MOST];
  static VkPerformanceCounterDescriptionKHR about[MOST];
  uint32_t n = MOST, found = 0;
  for (int i = 0; i < MOST; i++) {
    counters[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_KHR;
    about[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_DESCRIPTION_KHR;
  }
  VK_CHECK(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR(vulkan_physical, 0, &n,
                                                                           counters, about));
  for (uint32_t i = 0; i < n; i++)
    for (int k = 0; k < N; k++)
      if (!strcmp(about[i].name, names[k])) {
        indices[k] = i;
        found++;
      }
  printf("%u counters, %u of %d that are looked for\n", n, found, N);
  if (found != N)
    exit(1);
}

static VkQueryPool make_pool(const uint32_t indices[N]) {
  const VkQueryPoolPerformanceCreateInfoKHR performance = {
      VK_INFO(QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR), .counterIndexCount = N,
      .pCounterIndices = indices};
  const VkQueryPoolCreateInfo info = {VK_INFO(QUERY_POOL_CREATE_INFO), .pNext = &performance,
                                      .queryType = VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR,
                                      .queryCount = 1};
  VkQueryPool pool;
  VK_CHECK(vkCreateQueryPool(vulkan_device, &info, NULL, &pool));
  return pool;
}

/* Submits commands with the only pass that the counters take, and waits. */
static void submit(VkCommandBuffer commands) {
  const VkPerformanceQuerySubmitInfoKHR pass = {VK_INFO(PERFORMANCE_QUERY_SUBMIT_INFO_KHR)};
  const VkSubmitInfo info = {VK_INFO(SUBMIT_INFO), .pNext = &pass, .commandBufferCount = 1,
                             .pCommandBuffers = &commands};
  VK_CHECK(vkQueueSubmit(vulkan_queue, 1, &info, VK_NULL_HANDLE));
  VK_CHECK(vkQueueWaitIdle(vulkan_queue));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: counters SPIRV\n", stderr);
    return 2;
  }
  vulkan_open(argv[1]);
  uint32_t indices[N];
  find(indices);
  const VkAcquireProfilingLockInfoKHR lock = {VK_INFO(ACQUIRE_PROFILING_LOCK_INFO_KHR)};
  VK_CHECK(vkAcquireProfilingLockKHR(vulkan_device, &lock));
  VkQueryPool pool = make_pool(indices);
  struct shared data = vulkan_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, -1);
  struct shared out = vulkan_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, -1);
  memset(out.words, 0xff, BYTES);
  VkCommandBuffer reset = vulkan_begin(), count = vulkan_begin(), copy = vulkan_begin();
  vkCmdResetQueryPool(reset, pool, 0, 1);
  VK_CHECK(vkEndCommandBuffer(reset));
  vkCmdBeginQuery(count, pool, 0, 0);
  vulkan_dispatch(count, data.buffer);
  vkCmdEndQuery(count, pool, 0);
  VK_CHECK(vkEndCommandBuffer(count));
  vkCmdCopyQueryPoolResults(copy, pool, 0, 1, out.buffer, 0, 64, VK_QUERY_RESULT_WAIT_BIT);
  VK_CHECK(vkEndCommandBuffer(copy));
  submit(reset);
  submit(count);
  VkPerformanceCounterResultKHR results[N] = {{.uint64 = 0}};
  VK_CHECK(vkGetQueryPoolResults(vulkan_device, pool, 0, 1, sizeof results, results, sizeof results,
                                 VK_QUERY_RESULT_WAIT_BIT));
  submit(copy);
  bool good = true;
  for (int i = 0; i < N; i++) {
    uint64_t copied;
    memcpy(&copied, (const char *)out.words + 8 * i, sizeof copied);
    printf("%s: %llu, copied %llu\n", names[i], (unsigned long long)results[i].uint64,
           (unsigned long long)copied);
    good &= results[i].uint64 > 0 && copied == results[i].uint64;
  }
  /* A QPU issues an instruction in four clocks, and there are twelve. */
  good &= results[1].uint64 <= 12 * results[0].uint64 / 4;
  puts(good ? "right" : "wrong");
  return good ? 0 : 1;
}
