/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vkrun - runs compute work described by a plan on a Vulkan device.
 *
 * plan.c reads plans, gpu.c finds the device, work.c makes a case's objects, record.c its commands,
 * main.c goes through the cases. The format of plans is described in docs/testing-without-a-pi.md.
 */
#ifndef VKRUN_H
#define VKRUN_H

#define VK_NO_PROTOTYPES
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2, EXIT_ABSENT = 3 };
enum { MAX_BINDINGS = 16, MAX_SPEC = 32, PUSH_BYTES = 128, MAX_UPDATE_BYTES = 65536 };

/* ---- plans ---- */

typedef enum fill_kind { FILL_ZERO, FILL_RANDOM, FILL_FILE, FILL_WORD } fill_kind;

typedef struct buffer_plan {
  char *name;
  int line;
  uint64_t bytes; /* a multiple of 4 */
  fill_kind kind;
  uint64_t seed; /* of FILL_RANDOM; the 32-bit word of FILL_WORD */
  char *path;    /* of FILL_FILE; a shorter file is followed by zeros */
} buffer_plan;

typedef struct pipeline_plan {
  char *name, *path; /* of the SPIR-V file */
  int line;
  uint32_t subgroup; /* the required subgroup size; 0: the device's choice */
  uint32_t n_spec;
  uint32_t spec_id[MAX_SPEC], spec_value[MAX_SPEC];
  VkDescriptorType types[MAX_BINDINGS]; /* VK_DESCRIPTOR_TYPE_MAX_ENUM: not bound */
  uint32_t push_end;                    /* bytes of push constants that the plan sets */
} pipeline_plan;

typedef enum op_kind {
  OP_BIND,     /* pipeline; a: buffer, n: binding, offset, bytes */
  OP_PUSH,     /* pipeline; offset, words */
  OP_DISPATCH, /* pipeline; n: groups, n + 3: base */
  OP_INDIRECT, /* pipeline; a: buffer, offset */
  OP_BARRIER,
  OP_COPY,   /* a, offset -> b, offset2, bytes */
  OP_FILL,   /* a, offset, bytes, n: word */
  OP_UPDATE, /* a, offset, words */
  OP_SUBMIT, /* n: how often */
} op_kind;

typedef struct op {
  op_kind kind;
  int line;
  size_t pipeline, a, b;
  uint64_t offset, offset2, bytes;
  uint32_t n[6];
  uint32_t *words, n_words;
} op;

typedef struct case_plan {
  char *name;
  int line;
  uint32_t needs_subgroup; /* the subgroup size without which the case is not run; 0: any */
  buffer_plan *buffers;
  pipeline_plan *pipelines;
  op *ops;
  size_t n_buffers, n_pipelines, n_ops;
} case_plan;

typedef struct plan {
  const char *path;
  case_plan *cases;
  size_t n_cases;
} plan;

/* Reads a whole plan ("-" is standard input). Returns false when it is wrong, after one message
 * `path:line: what` a mistake on standard error. The plan lives until the program ends. */
bool plan_read(const char *path, plan *out);

/* ---- the device ---- */

#define VKRUN_FUNCTIONS(F)                  \
  F(AllocateCommandBuffers)                 \
  F(AllocateDescriptorSets)                 \
  F(AllocateMemory)                         \
  F(BeginCommandBuffer)                     \
  F(BindBufferMemory)                       \
  F(CmdBindDescriptorSets)                  \
  F(CmdBindPipeline)                        \
  F(CmdCopyBuffer)                          \
  F(CmdDispatch)                            \
  F(CmdDispatchBase)                        \
  F(CmdDispatchIndirect)                    \
  F(CmdFillBuffer)                          \
  F(CmdPipelineBarrier)                     \
  F(CmdPushConstants)                       \
  F(CmdUpdateBuffer)                        \
  F(CreateBuffer)                           \
  F(CreateCommandPool)                      \
  F(CreateComputePipelines)                 \
  F(CreateDescriptorPool)                   \
  F(CreateDescriptorSetLayout)              \
  F(CreateDevice)                           \
  F(CreateFence)                            \
  F(CreatePipelineLayout)                   \
  F(CreateShaderModule)                     \
  F(DestroyBuffer)                          \
  F(DestroyCommandPool)                     \
  F(DestroyDescriptorPool)                  \
  F(DestroyDescriptorSetLayout)             \
  F(DestroyDevice)                          \
  F(DestroyFence)                           \
  F(DestroyInstance)                        \
  F(DestroyPipeline)                        \
  F(DestroyPipelineLayout)                  \
  F(DestroyShaderModule)                    \
  F(DeviceWaitIdle)                         \
  F(EndCommandBuffer)                       \
  F(EnumerateDeviceExtensionProperties)     \
  F(EnumeratePhysicalDevices)               \
  F(FreeMemory)                             \
  F(GetBufferMemoryRequirements)            \
  F(GetDeviceQueue)                         \
  F(GetPhysicalDeviceFeatures2)             \
  F(GetPhysicalDeviceMemoryProperties)      \
  F(GetPhysicalDeviceProperties2)           \
  F(GetPhysicalDeviceQueueFamilyProperties) \
  F(MapMemory)                              \
  F(QueueSubmit)                            \
  F(ResetFences)                            \
  F(UpdateDescriptorSets)                   \
  F(WaitForFences)

typedef struct gpu {
#define VKRUN_MEMBER(name) PFN_vk##name name;
  VKRUN_FUNCTIONS(VKRUN_MEMBER)
#undef VKRUN_MEMBER
  PFN_vkGetPipelineExecutablePropertiesKHR GetPipelineExecutableProperties; /* NULL: not there */
  PFN_vkGetPipelineExecutableStatisticsKHR GetPipelineExecutableStatistics;
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  uint32_t family;
  uint32_t subgroup; /* the size of a subgroup unless a pipeline asks for another */
  uint32_t subgroup_min, subgroup_max;
  bool subgroup_control; /* pipelines may ask for a subgroup size */
  uint32_t memory_type;
} gpu;

/* Opens the device whose name or driver's name contains `wanted` (any case; NULL: the first), with
 * every feature that compute shaders can use, but no robust buffer access. Prints the choice. With
 * `list_only`, prints all devices and opens none. Returns an exit code. */
int gpu_open(gpu *g, const char *wanted, bool list_only);
void gpu_close(gpu *g);

/* The name of a result, such as "VK_ERROR_DEVICE_LOST". */
const char *gpu_result_name(VkResult result);

/* ---- a case's objects and commands ---- */

typedef struct work {
  gpu *g;
  const plan *in;
  const case_plan *c;
  VkBuffer *buffers;
  VkDeviceMemory *memories;
  uint8_t **mapped;
  VkShaderModule *modules;
  VkDescriptorSetLayout *set_layouts;
  VkPipelineLayout *layouts;
  VkPipeline *pipelines;
  VkDescriptorPool descriptors;
  VkCommandPool commands;
  VkFence *fences;
  size_t n_fences;
} work;

/* Makes buffers with their content, and pipelines; prints their statistics when asked. Returns
 * false after a message that names the plan's line. work_free() is right after either. */
bool work_make(work *w, bool statistics);

/* Records and submits the case's commands and waits for them, `timeout_s` at most for each fence.
 * Returns false after a message; *lost then says whether the device can be used no more. */
bool work_run(work *w, unsigned timeout_s, bool *lost);
void work_free(work *w);

/* Prints `failed CASE path:line: call: RESULT` and returns false. */
bool work_failed(const work *w, int line, const char *call, VkResult result);

/* Calls a function of the device; where that fails the caller returns false, and that was said. */
#define TRY(w, line, name, ...)                       \
  do {                                                \
    const VkResult tried = (w)->g->name(__VA_ARGS__); \
    if (tried != VK_SUCCESS)                          \
      return work_failed(w, line, "vk" #name, tried); \
  } while (0)

/* ---- small things ---- */

/* malloc that ends the program (exit code 1) where there is no memory; zeroed. */
void *need(size_t n, size_t size);

/* Reads a file. Returns NULL when that is not possible; errno says why. */
uint8_t *read_file(const char *path, size_t *bytes);

#endif
