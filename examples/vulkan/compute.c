/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compute SPIRV - runs square.comp on the first Vulkan device, prints the device's name and whether
 * all 256 words of the result are right. It knows nothing of daedalus; how to build it and to run
 * it on the simulated GPU of a Raspberry Pi 5 is in docs/testing-without-a-pi.md.
 * Exit code: 0 right, 1 wrong, 2 something failed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

enum { GROUPS = 4, WORDS = 64 * GROUPS, MOST_CODE = 65536 };

/* Ends the program when a call has failed. */
static void check(const char *what, VkResult result) {
  if (result != VK_SUCCESS) {
    fprintf(stderr, "compute: %s: VkResult %d\n", what, (int)result);
    exit(2);
  }
}
#define CHECK(call) check(#call, call)
#define INFO(type) .sType = VK_STRUCTURE_TYPE_##type

static VkPhysicalDevice first_device(void) {
  VkApplicationInfo application = {INFO(APPLICATION_INFO), .apiVersion = VK_API_VERSION_1_1};
  VkInstanceCreateInfo info = {INFO(INSTANCE_CREATE_INFO), .pApplicationInfo = &application};
  VkInstance instance;
  CHECK(vkCreateInstance(&info, NULL, &instance));
  uint32_t n = 1;
  VkPhysicalDevice found = VK_NULL_HANDLE;
  VkResult result = vkEnumeratePhysicalDevices(instance, &n, &found);
  check("vkEnumeratePhysicalDevices", result == VK_INCOMPLETE ? VK_SUCCESS : result);
  check("no Vulkan device", n == 1 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED);
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(found, &properties);
  printf("%s\n", properties.deviceName);
  return found;
}

/* A buffer of WORDS words, and where the program sees it. Memory type 0 of v3dv is visible. */
static VkBuffer make_buffer(VkDevice device, uint32_t **words) {
  VkBufferCreateInfo info = {INFO(BUFFER_CREATE_INFO), .size = 4 * WORDS,
                             .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  VkBuffer buffer;
  CHECK(vkCreateBuffer(device, &info, NULL, &buffer));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, buffer, &needs);
  VkMemoryAllocateInfo allocate = {INFO(MEMORY_ALLOCATE_INFO), .allocationSize = needs.size};
  VkDeviceMemory memory;
  CHECK(vkAllocateMemory(device, &allocate, NULL, &memory));
  CHECK(vkBindBufferMemory(device, buffer, memory, 0));
  void *address;
  CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &address));
  *words = address;
  return buffer;
}

static VkShaderModule read_shader(VkDevice device, const char *path) {
  static uint32_t code[MOST_CODE / 4];
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    perror(path);
    exit(2);
  }
  VkShaderModuleCreateInfo info = {INFO(SHADER_MODULE_CREATE_INFO),
                                   .codeSize = fread(code, 1, sizeof code, f), .pCode = code};
  fclose(f);
  VkShaderModule module;
  CHECK(vkCreateShaderModule(device, &info, NULL, &module));
  return module;
}

/* A set whose binding 0 is the buffer; `layout` becomes its layout. */
static VkDescriptorSet make_set(VkDevice device, VkBuffer buffer, VkDescriptorSetLayout *layout) {
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  VkDescriptorSetLayoutBinding binding = {0, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  VkDescriptorSetLayoutCreateInfo info = {INFO(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                          .bindingCount = 1, .pBindings = &binding};
  CHECK(vkCreateDescriptorSetLayout(device, &info, NULL, layout));
  VkDescriptorPoolSize size = {type, 1};
  VkDescriptorPoolCreateInfo pool_info = {INFO(DESCRIPTOR_POOL_CREATE_INFO), .maxSets = 1,
                                          .poolSizeCount = 1, .pPoolSizes = &size};
  VkDescriptorPool pool;
  CHECK(vkCreateDescriptorPool(device, &pool_info, NULL, &pool));
  VkDescriptorSetAllocateInfo allocate = {INFO(DESCRIPTOR_SET_ALLOCATE_INFO),
                                          .descriptorPool = pool, .descriptorSetCount = 1,
                                          .pSetLayouts = layout};
  VkDescriptorSet set;
  CHECK(vkAllocateDescriptorSets(device, &allocate, &set));
  VkDescriptorBufferInfo whole = {buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write = {INFO(WRITE_DESCRIPTOR_SET), .dstSet = set, .descriptorCount = 1,
                                .descriptorType = type, .pBufferInfo = &whole};
  vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
  return set;
}

static void run(VkDevice device, VkPipelineLayout layout, VkPipeline pipeline,
                VkDescriptorSet set) {
  VkCommandPoolCreateInfo pool_info = {INFO(COMMAND_POOL_CREATE_INFO)};
  VkCommandPool pool;
  CHECK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
  VkCommandBufferAllocateInfo allocate = {INFO(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = pool,
                                          .commandBufferCount = 1};
  VkCommandBuffer commands;
  CHECK(vkAllocateCommandBuffers(device, &allocate, &commands));
  VkCommandBufferBeginInfo begin = {INFO(COMMAND_BUFFER_BEGIN_INFO)};
  CHECK(vkBeginCommandBuffer(commands, &begin));
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
  vkCmdDispatch(commands, GROUPS, 1, 1);
  CHECK(vkEndCommandBuffer(commands));
  VkQueue queue;
  vkGetDeviceQueue(device, 0, 0, &queue);
  VkSubmitInfo submit = {INFO(SUBMIT_INFO), .commandBufferCount = 1, .pCommandBuffers = &commands};
  CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
  CHECK(vkQueueWaitIdle(queue));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: compute SPIRV\n", stderr);
    return 2;
  }
  float priority = 1.0F;
  VkDeviceQueueCreateInfo queue = {INFO(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1,
                                   .pQueuePriorities = &priority};
  VkDeviceCreateInfo info = {INFO(DEVICE_CREATE_INFO), .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queue};
  VkDevice device;
  CHECK(vkCreateDevice(first_device(), &info, NULL, &device));
  uint32_t *words;
  VkBuffer buffer = make_buffer(device, &words);
  VkDescriptorSetLayout set_layout;
  VkDescriptorSet set = make_set(device, buffer, &set_layout);
  VkPipelineLayoutCreateInfo layout_info = {INFO(PIPELINE_LAYOUT_CREATE_INFO), .setLayoutCount = 1,
                                            .pSetLayouts = &set_layout};
  VkPipelineLayout layout;
  CHECK(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
  VkComputePipelineCreateInfo pipeline_info = {
      INFO(COMPUTE_PIPELINE_CREATE_INFO),
      .stage = {INFO(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = read_shader(device, argv[1]), .pName = "main"},
      .layout = layout,
  };
  VkPipeline pipeline;
  CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_info, NULL, &pipeline));
  run(device, layout, pipeline, set);
  uint32_t right = 0;
  while (right < WORDS && words[right] == right * right + 7) {
    ++right;
  }
  printf("%u of %d words are right\n", right, WORDS);
  return right == WORDS ? 0 : 1;
}
