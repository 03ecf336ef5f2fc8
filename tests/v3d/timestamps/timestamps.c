/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timestamps of one command buffer: before and after one dispatch, after two more, and once more.
 * Argument: a file of SPIR-V without bindings. Prints the four, in nanoseconds, a line each.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

enum { STAMPS = 4 };

/* Formatted by hand, as clang-format does it another way each time. */
/* clang-format off */
#define VK_FUNCTIONS(X)                                                                     \
  X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties) X(CreateDevice)                \
  X(GetDeviceQueue) X(CreateShaderModule) X(CreatePipelineLayout) X(CreateComputePipelines) \
  X(CreateCommandPool) X(AllocateCommandBuffers) X(BeginCommandBuffer) X(CmdBindPipeline)   \
  X(CmdDispatch) X(EndCommandBuffer) X(QueueSubmit) X(QueueWaitIdle) X(CreateQueryPool)     \
  X(CmdResetQueryPool) X(CmdWriteTimestamp) X(GetQueryPoolResults)
/* clang-format on */
#define VK_DEFINE(name) static PFN_vk##name vk##name;
VK_FUNCTIONS(VK_DEFINE)
#undef VK_DEFINE

#define VK_CHECK(call) check(#call, call)
#define VK_INFO(type) .sType = VK_STRUCTURE_TYPE_##type

static void check(const char *what, VkResult result) {
  if (result == VK_SUCCESS)
    return;
  fprintf(stderr, "timestamps: %s: VkResult %d\n", what, (int)result);
  exit(2);
}

static VkPhysicalDevice open_instance(void) {
  void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  void *symbol = loader == NULL ? NULL : dlsym(loader, "vkGetInstanceProcAddr");
  PFN_vkGetInstanceProcAddr get;
  if (symbol == NULL) {
    fprintf(stderr, "timestamps: libvulkan.so.1: %s\n", dlerror());
    exit(2);
  }
  memcpy(&get, &symbol, sizeof get); /* ISO C has no cast between the two */
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  const VkInstanceCreateInfo info = {VK_INFO(INSTANCE_CREATE_INFO)};
  VkInstance instance;
  VK_CHECK(create(&info, NULL, &instance));
#define VK_LOAD(name)                                 \
  vk##name = (PFN_vk##name)get(instance, "vk" #name); \
  if (vk##name == NULL)                               \
    check("vk" #name, VK_ERROR_INITIALIZATION_FAILED);
  VK_FUNCTIONS(VK_LOAD)
#undef VK_LOAD
  uint32_t n = 1;
  VkPhysicalDevice physical;
  const VkResult result = vkEnumeratePhysicalDevices(instance, &n, &physical);
  check("vkEnumeratePhysicalDevices", result == VK_INCOMPLETE ? VK_SUCCESS : result);
  return physical;
}

static VkPipeline make_pipeline(VkDevice device, const char *path) {
  static uint32_t code[4096];
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  const VkShaderModuleCreateInfo shader = {VK_INFO(SHADER_MODULE_CREATE_INFO),
                                           .codeSize = fread(code, 1, sizeof code, file),
                                           .pCode = code};
  fclose(file);
  const VkPipelineLayoutCreateInfo empty = {VK_INFO(PIPELINE_LAYOUT_CREATE_INFO)};
  VkComputePipelineCreateInfo info = {
      VK_INFO(COMPUTE_PIPELINE_CREATE_INFO),
      .stage = {VK_INFO(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .pName = "main"}};
  VkPipeline pipeline;
  VK_CHECK(vkCreateShaderModule(device, &shader, NULL, &info.stage.module));
  VK_CHECK(vkCreatePipelineLayout(device, &empty, NULL, &info.layout));
  VK_CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
  return pipeline;
}

static void record(VkCommandBuffer commands, VkPipeline pipeline, VkQueryPool pool) {
  static const uint32_t groups[STAMPS][2] = {{1, 0}, {7, 3}, {0, 0}, {0, 0}};
  const VkCommandBufferBeginInfo begin = {VK_INFO(COMMAND_BUFFER_BEGIN_INFO)};
  VK_CHECK(vkBeginCommandBuffer(commands, &begin));
  vkCmdResetQueryPool(commands, pool, 0, STAMPS);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  for (uint32_t i = 0; i < STAMPS; i++) {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, i);
    for (uint32_t k = 0; k < 2 && groups[i][k] != 0; k++)
      vkCmdDispatch(commands, groups[i][k], 1, 1);
  }
  VK_CHECK(vkEndCommandBuffer(commands));
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  const VkPhysicalDevice physical = open_instance();
  const float priority = 1;
  const VkDeviceQueueCreateInfo family = {VK_INFO(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1,
                                          .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info = {VK_INFO(DEVICE_CREATE_INFO), .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &family};
  const VkCommandPoolCreateInfo pool_info = {VK_INFO(COMMAND_POOL_CREATE_INFO)};
  const VkQueryPoolCreateInfo query_info = {
      VK_INFO(QUERY_POOL_CREATE_INFO), .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = STAMPS};
  VkPhysicalDeviceProperties properties;
  VkDevice device;
  VkQueue queue;
  VkQueryPool stamps;
  VkCommandBuffer commands;
  VkCommandBufferAllocateInfo allocate = {VK_INFO(COMMAND_BUFFER_ALLOCATE_INFO),
                                          .commandBufferCount = 1};
  vkGetPhysicalDeviceProperties(physical, &properties);
  VK_CHECK(vkCreateDevice(physical, &info, NULL, &device));
  vkGetDeviceQueue(device, 0, 0, &queue);
  VK_CHECK(vkCreateQueryPool(device, &query_info, NULL, &stamps));
  VK_CHECK(vkCreateCommandPool(device, &pool_info, NULL, &allocate.commandPool));
  VK_CHECK(vkAllocateCommandBuffers(device, &allocate, &commands));
  record(commands, make_pipeline(device, argv[1]), stamps);
  const VkSubmitInfo submit = {VK_INFO(SUBMIT_INFO), .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
  VK_CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
  VK_CHECK(vkQueueWaitIdle(queue));
  uint64_t values[STAMPS];
  VK_CHECK(vkGetQueryPoolResults(device, stamps, 0, STAMPS, sizeof values, values, sizeof values[0],
                                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  for (int i = 0; i < STAMPS; i++)
    printf("%" PRIu64 "\n",
           (uint64_t)((double)values[i] * (double)properties.limits.timestampPeriod));
  return 0;
}
