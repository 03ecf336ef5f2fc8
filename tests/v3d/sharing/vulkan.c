/* SPDX-License-Identifier: BSD-2-Clause */
#include "vulkan.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_DEFINE(name) PFN_vk##name vk##name;
VK_FUNCTIONS(VK_DEFINE)
VK_OPTIONAL_FUNCTIONS(VK_DEFINE)
#undef VK_DEFINE

VkPhysicalDevice vulkan_physical;
VkDevice vulkan_device;
VkQueue vulkan_queue;

static VkDescriptorSetLayout set_layout;
static VkPipelineLayout pipeline_layout;
static VkPipeline pipeline;
static VkCommandPool commands;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "vulkan: %s: %s\n", what, why);
  exit(2);
}

void vulkan_check(const char *what, VkResult result) {
  char number[32];
  snprintf(number, sizeof number, "VkResult %d", (int)result);
  if (result != VK_SUCCESS)
    fail(what, number);
}

static VkPhysicalDevice open_instance(void) {
  void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  void *symbol = loader == NULL ? NULL : dlsym(loader, "vkGetInstanceProcAddr");
  PFN_vkGetInstanceProcAddr get;
  if (symbol == NULL)
    fail("libvulkan.so.1", dlerror());
  memcpy(&get, &symbol, sizeof get); /* ISO C has no cast between the two */
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  const VkApplicationInfo application = {VK_INFO(APPLICATION_INFO),
                                         .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo info = {VK_INFO(INSTANCE_CREATE_INFO),
                                     .pApplicationInfo = &application};
  VkInstance instance;
  VK_CHECK(create(&info, NULL, &instance));
#define VK_LOAD(name)                                 \
  vk##name = (PFN_vk##name)get(instance, "vk" #name); \
  if (vk##name == NULL)                               \
    fail("vk" #name, "the loader does not know it");
  VK_FUNCTIONS(VK_LOAD)
#undef VK_LOAD
#define VK_LOAD(name) vk##name = (PFN_vk##name)get(instance, "vk" #name);
  VK_OPTIONAL_FUNCTIONS(VK_LOAD)
#undef VK_LOAD
  uint32_t n = 1;
  VkPhysicalDevice physical;
  const VkResult result = vkEnumeratePhysicalDevices(instance, &n, &physical);
  if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || n != 1)
    fail("vkEnumeratePhysicalDevices", "no device");
  return physical;
}

static bool has_extension(const char *name) {
  static VkExtensionProperties found[512];
  uint32_t n = sizeof found / sizeof *found;
  VK_CHECK(vkEnumerateDeviceExtensionProperties(vulkan_physical, NULL, &n, found));
  for (uint32_t i = 0; i < n; i++)
    if (!strcmp(found[i].extensionName, name))
      return true;
  return false;
}

static void open_device(void) {
  static const char *const extensions[] = {
      VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
      VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME,
      VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME}; /* last: the optional one */
  const bool counts = has_extension(VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME);
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {VK_INFO(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1,
                                         .pQueuePriorities = &priority};
  VkPhysicalDevicePerformanceQueryFeaturesKHR counters = {
      VK_INFO(PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR),
      .performanceCounterQueryPools = VK_TRUE};
  VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
      VK_INFO(PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES), .pNext = counts ? &counters : NULL,
      .timelineSemaphore = VK_TRUE};
  const VkDeviceCreateInfo info = {
      VK_INFO(DEVICE_CREATE_INFO),
      .pNext = &timelines,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledExtensionCount = sizeof extensions / sizeof *extensions - !counts,
      .ppEnabledExtensionNames = extensions};
  VK_CHECK(vkCreateDevice(vulkan_physical, &info, NULL, &vulkan_device));
  vkGetDeviceQueue(vulkan_device, 0, 0, &vulkan_queue);
}

static VkShaderModule read_shader(const char *path) {
  static uint32_t code[16384];
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    fail(path, "cannot be read");
  const VkShaderModuleCreateInfo info = {VK_INFO(SHADER_MODULE_CREATE_INFO),
                                         .codeSize = fread(code, 1, sizeof code, file),
                                         .pCode = code};
  fclose(file);
  VkShaderModule module;
  VK_CHECK(vkCreateShaderModule(vulkan_device, &info, NULL, &module));
  return module;
}

void vulkan_open(const char *shader) {
  vulkan_physical = open_instance();
  open_device();
  const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  const VkDescriptorSetLayoutCreateInfo set = {VK_INFO(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                               .bindingCount = 1, .pBindings = &binding};
  VK_CHECK(vkCreateDescriptorSetLayout(vulkan_device, &set, NULL, &set_layout));
  const VkPipelineLayoutCreateInfo layout = {VK_INFO(PIPELINE_LAYOUT_CREATE_INFO),
                                             .setLayoutCount = 1, .pSetLayouts = &set_layout};
  VK_CHECK(vkCreatePipelineLayout(vulkan_device, &layout, NULL, &pipeline_layout));
  const VkComputePipelineCreateInfo info = {
      VK_INFO(COMPUTE_PIPELINE_CREATE_INFO),
      .stage = {VK_INFO(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = read_shader(shader), .pName = "main"},
      .layout = pipeline_layout};
  VK_CHECK(vkCreateComputePipelines(vulkan_device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
  const VkCommandPoolCreateInfo pool = {VK_INFO(COMMAND_POOL_CREATE_INFO)};
  VK_CHECK(vkCreateCommandPool(vulkan_device, &pool, NULL, &commands));
}

static VkDescriptorSet make_set(VkBuffer buffer) {
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  const VkDescriptorPoolCreateInfo pool_info = {VK_INFO(DESCRIPTOR_POOL_CREATE_INFO), .maxSets = 1,
                                                .poolSizeCount = 1, .pPoolSizes = &size};
  VkDescriptorPool pool;
  VK_CHECK(vkCreateDescriptorPool(vulkan_device, &pool_info, NULL, &pool));
  const VkDescriptorSetAllocateInfo allocate = {VK_INFO(DESCRIPTOR_SET_ALLOCATE_INFO),
                                                .descriptorPool = pool, .descriptorSetCount = 1,
                                                .pSetLayouts = &set_layout};
  VkDescriptorSet set;
  VK_CHECK(vkAllocateDescriptorSets(vulkan_device, &allocate, &set));
  const VkDescriptorBufferInfo whole = {buffer, 0, VK_WHOLE_SIZE};
  const VkWriteDescriptorSet write = {
      VK_INFO(WRITE_DESCRIPTOR_SET), .dstSet = set, .descriptorCount = 1,
      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &whole};
  vkUpdateDescriptorSets(vulkan_device, 1, &write, 0, NULL);
  return set;
}

VkCommandBuffer vulkan_begin(void) {
  const VkCommandBufferAllocateInfo allocate = {VK_INFO(COMMAND_BUFFER_ALLOCATE_INFO),
                                                .commandPool = commands, .commandBufferCount = 1};
  VkCommandBuffer begun;
  VK_CHECK(vkAllocateCommandBuffers(vulkan_device, &allocate, &begun));
  const VkCommandBufferBeginInfo begin = {VK_INFO(COMMAND_BUFFER_BEGIN_INFO),
                                          .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
  VK_CHECK(vkBeginCommandBuffer(begun, &begin));
  return begun;
}

void vulkan_dispatch(VkCommandBuffer to, VkBuffer buffer) {
  const VkDescriptorSet set = make_set(buffer);
  vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(to, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout, 0, 1, &set, 0, NULL);
  vkCmdDispatch(to, GROUPS, 1, 1);
}

static VkCommandBuffer record(VkBuffer buffer) {
  VkCommandBuffer step = vulkan_begin();
  vulkan_dispatch(step, buffer);
  VK_CHECK(vkEndCommandBuffer(step));
  return step;
}

struct shared vulkan_buffer(VkExternalMemoryHandleTypeFlagBits type, int fd) {
  struct shared shared;
  const VkExternalMemoryBufferCreateInfo external = {VK_INFO(EXTERNAL_MEMORY_BUFFER_CREATE_INFO),
                                                     .handleTypes = type};
  const VkBufferCreateInfo info = {
      VK_INFO(BUFFER_CREATE_INFO), .pNext = &external, .size = BYTES,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
  VK_CHECK(vkCreateBuffer(vulkan_device, &info, NULL, &shared.buffer));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(vulkan_device, shared.buffer, &needs);
  const VkExportMemoryAllocateInfo exported = {VK_INFO(EXPORT_MEMORY_ALLOCATE_INFO),
                                               .handleTypes = type};
  const VkImportMemoryFdInfoKHR imported = {VK_INFO(IMPORT_MEMORY_FD_INFO_KHR), .handleType = type,
                                            .fd = fd};
  const VkMemoryAllocateInfo allocate = {
      VK_INFO(MEMORY_ALLOCATE_INFO),
      .pNext = fd < 0 ? (const void *)&exported : (const void *)&imported,
      .allocationSize = needs.size};
  VK_CHECK(vkAllocateMemory(vulkan_device, &allocate, NULL, &shared.memory));
  VK_CHECK(vkBindBufferMemory(vulkan_device, shared.buffer, shared.memory, 0));
  void *address;
  VK_CHECK(vkMapMemory(vulkan_device, shared.memory, 0, VK_WHOLE_SIZE, 0, &address));
  shared.words = address;
  shared.step = record(shared.buffer);
  return shared;
}

void vulkan_free(struct shared *shared) {
  vkDestroyBuffer(vulkan_device, shared->buffer, NULL);
  vkFreeMemory(vulkan_device, shared->memory, NULL);
}

void vulkan_submit(const struct shared *shared, VkSemaphore wait, VkSemaphore signal,
                   VkFence fence) {
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  const VkSubmitInfo submit = {VK_INFO(SUBMIT_INFO),
                               .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                               .pWaitSemaphores = &wait,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &shared->step,
                               .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                               .pSignalSemaphores = &signal};
  VK_CHECK(vkQueueSubmit(vulkan_queue, 1, &submit, fence));
}
