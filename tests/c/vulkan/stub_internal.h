/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the stub driver know of each other. */
#ifndef DAEDALUS_TESTS_VULKAN_STUB_INTERNAL_H
#define DAEDALUS_TESTS_VULKAN_STUB_INTERNAL_H

#include "stub.h"

/*
 * Every function: X(name without vk, whether it returns a VkResult, whether it creates something).
 */
#define STUB_FUNCTIONS(X)                            \
  X(GetInstanceProcAddr, 0, 0)                       \
  X(EnumerateInstanceVersion, 1, 0)                  \
  X(CreateInstance, 1, 1)                            \
  X(DestroyInstance, 0, 0)                           \
  X(EnumeratePhysicalDevices, 1, 0)                  \
  X(GetPhysicalDeviceProperties2, 0, 0)              \
  X(GetPhysicalDeviceFeatures2, 0, 0)                \
  X(GetPhysicalDeviceMemoryProperties, 0, 0)         \
  X(GetPhysicalDeviceQueueFamilyProperties, 0, 0)    \
  X(GetPhysicalDeviceExternalBufferProperties, 0, 0) \
  X(GetPhysicalDeviceExternalFenceProperties, 0, 0)  \
  X(EnumerateDeviceExtensionProperties, 1, 0)        \
  X(CreateDevice, 1, 1)                              \
  X(GetDeviceProcAddr, 0, 0)                         \
  X(DestroyDevice, 0, 0)                             \
  X(GetDeviceQueue, 0, 0)                            \
  X(DeviceWaitIdle, 1, 0)                            \
  X(QueueSubmit, 1, 0)                               \
  X(CreateBuffer, 1, 1)                              \
  X(DestroyBuffer, 0, 0)                             \
  X(GetBufferMemoryRequirements, 0, 0)               \
  X(AllocateMemory, 1, 1)                            \
  X(FreeMemory, 0, 0)                                \
  X(MapMemory, 1, 0)                                 \
  X(BindBufferMemory, 1, 0)                          \
  X(GetMemoryFdKHR, 1, 0)                            \
  X(GetMemoryFdPropertiesKHR, 1, 0)                  \
  X(CreateShaderModule, 1, 1)                        \
  X(DestroyShaderModule, 0, 0)                       \
  X(CreateDescriptorSetLayout, 1, 1)                 \
  X(DestroyDescriptorSetLayout, 0, 0)                \
  X(CreatePipelineLayout, 1, 1)                      \
  X(DestroyPipelineLayout, 0, 0)                     \
  X(CreatePipelineCache, 1, 1)                       \
  X(DestroyPipelineCache, 0, 0)                      \
  X(GetPipelineCacheData, 1, 0)                      \
  X(CreateComputePipelines, 1, 1)                    \
  X(DestroyPipeline, 0, 0)                           \
  X(CreateDescriptorPool, 1, 1)                      \
  X(DestroyDescriptorPool, 0, 0)                     \
  X(AllocateDescriptorSets, 1, 1)                    \
  X(UpdateDescriptorSets, 0, 0)                      \
  X(CreateCommandPool, 1, 1)                         \
  X(DestroyCommandPool, 0, 0)                        \
  X(AllocateCommandBuffers, 1, 1)                    \
  X(BeginCommandBuffer, 1, 0)                        \
  X(EndCommandBuffer, 1, 0)                          \
  X(CmdBindPipeline, 0, 0)                           \
  X(CmdBindDescriptorSets, 0, 0)                     \
  X(CmdPushConstants, 0, 0)                          \
  X(CmdDispatch, 0, 0)                               \
  X(CmdPipelineBarrier, 0, 0)                        \
  X(CmdCopyBuffer, 0, 0)                             \
  X(CmdFillBuffer, 0, 0)                             \
  X(CreateQueryPool, 1, 1)                           \
  X(DestroyQueryPool, 0, 0)                          \
  X(CmdResetQueryPool, 0, 0)                         \
  X(CmdWriteTimestamp, 0, 0)                         \
  X(GetQueryPoolResults, 1, 0)                       \
  X(CreateFence, 1, 1)                               \
  X(DestroyFence, 0, 0)                              \
  X(ResetFences, 1, 0)                               \
  X(GetFenceStatus, 1, 0)                            \
  X(WaitForFences, 1, 0)                             \
  X(GetFenceFdKHR, 1, 0)

typedef enum stub_id {
#define X(name, fails, creates) STUB_##name,
  STUB_FUNCTIONS(X)
#undef X
      STUB_N_FUNCTIONS
} stub_id;

enum { STUB_MAX_QUERIES = 64 };

typedef enum stub_type {
  STUB_INSTANCE = 1,
  STUB_PHYSICAL,
  STUB_DEVICE,
  STUB_QUEUE,
  STUB_BUFFER,
  STUB_MEMORY,
  STUB_SHADER,
  STUB_SET_LAYOUT,
  STUB_PIPELINE_LAYOUT,
  STUB_PIPELINE_CACHE,
  STUB_PIPELINE,
  STUB_DESCRIPTOR_POOL,
  STUB_DESCRIPTOR_SET,
  STUB_COMMAND_POOL,
  STUB_COMMAND_BUFFER,
  STUB_FENCE,
  STUB_QUERIES
} stub_type;

/* What a handle points at begins with this. */
typedef struct stub_object {
  struct stub_object *next; /* in the list of those alive */
  stub_type type;
  unsigned in_flight; /* submissions that use it */
  struct stub_object *parent;
} stub_object;

typedef struct stub_memory {
  stub_object object;
  uint64_t size;
  unsigned char *device; /* what the device sees */
  unsigned char *host;   /* what mapping gives; the same where it is coherent */
  uint32_t type;
  bool mapped;
  bool imported; /* a mapped file, whether taken over or to be exported */
  bool foreign;  /* others have it: not to be used before it is acquired */
  int fd;        /* to export; -1: not */
} stub_memory;

typedef struct stub_buffer {
  stub_object object;
  uint64_t size;
  stub_memory *memory;
  uint64_t offset;
} stub_buffer;

typedef struct stub_shader {
  stub_object object;
  uint32_t *code;
  size_t n_words;
} stub_shader;

typedef struct stub_layout {
  stub_object object;
  uint32_t n_bindings; /* of a set layout */
  uint32_t push_bytes; /* of a pipeline layout */
} stub_layout;

typedef struct stub_pipeline {
  stub_object object;
  uint32_t *code; /* its own: the module may be gone */
  size_t n_words;
  uint32_t workgroup;
} stub_pipeline;

typedef struct stub_pool {
  stub_object object;
  uint32_t sets_left; /* of a descriptor pool */
  bool frees;         /* its sets one by one */
} stub_pool;

typedef struct stub_set {
  stub_object object;
  uint32_t n_bindings;
  struct {
    stub_buffer *buffer;
    uint64_t offset, size;
  } bindings[STUB_MAX_BINDINGS];
} stub_set;

/* Times are numbers that go up: how many timestamps were written before. */
typedef struct stub_queries {
  stub_object object;
  uint32_t n;
  bool available[STUB_MAX_QUERIES];
  uint64_t values[STUB_MAX_QUERIES];
} stub_queries;

typedef enum stub_operation {
  STUB_DISPATCH,
  STUB_COPY,
  STUB_FILL,
  STUB_BARRIER,
  STUB_ACQUIRE, /* memory of `to` */
  STUB_RELEASE,
  STUB_RESET,
  STUB_TIME
} stub_operation;

typedef struct stub_command {
  stub_operation operation;
  stub_pipeline *pipeline;
  stub_set *set;
  unsigned char push[STUB_PUSH_BYTES];
  uint32_t push_bytes;
  uint32_t groups[3];
  stub_buffer *from, *to;
  VkBufferCopy region;
  uint32_t word;
  stub_queries *queries;
  uint32_t query, n_queries;
} stub_command;

typedef enum stub_state { STUB_INITIAL, STUB_RECORDING, STUB_EXECUTABLE } stub_state;

typedef struct stub_commands {
  stub_object object;
  stub_state state;
  bool once;
  stub_command *list;
  size_t n, capacity;
  stub_command now; /* what the next dispatch will use */
} stub_commands;

typedef struct stub_fence {
  stub_object object;
  bool signalled, submitted;
} stub_fence;

typedef struct stub_any {
  stub_object object;
} stub_any;

/* Counts a call; VK_SUCCESS, or what the test ordered. */
VkResult stub_enter(stub_id id);
#define ENTER(name)                                   \
  do {                                                \
    const VkResult ordered = stub_enter(STUB_##name); \
    if (ordered != VK_SUCCESS) {                      \
      return ordered;                                 \
    }                                                 \
  } while (0)

void stub_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A new object, zeroed but for its head; the process ends without memory. */
void *stub_new(stub_type type, size_t size, stub_object *parent);
/* The object of a handle; a misuse, and the program ends, where it is not alive or another type. */
void *stub_get(const void *handle, stub_type type);
/* Takes it from the living; NULL is fine.  Children that are left are a misuse. */
void stub_delete(void *object, stub_type type);
/* Whether some object's parent it is. */
stub_object *stub_child_of(const stub_object *parent, stub_type type);

/* A handle that is no pointer in C's eyes on machines of 32 bits. */
#define HANDLE(type, object) ((type)(uintptr_t)(object))
#define POINTER(handle) ((const void *)(uintptr_t)(handle))

extern bool stub_is_lost;
typedef struct stub_entry {
  const char *name;
  PFN_vkVoidFunction function;
  bool can_fail, creates;
} stub_entry;
extern const stub_entry stub_entries[STUB_N_FUNCTIONS];

const stub_device_desc *stub_device_of(const void *physical);
const stub_device_desc *stub_opened(void); /* the description of the device that was created last */

#define X(name, fails, creates) extern __typeof__(*(PFN_vk##name)NULL) stub_##name;
STUB_FUNCTIONS(X)
#undef X

/* Loses the device: half of the oldest submission is done, the rest never. */
void stub_lose_queue(void);

/* Forgets the queue, or the device's state, without a word; for stub_reset(). */
void stub_forget_queue(void);
void stub_forget_device(void);

#endif /* DAEDALUS_TESTS_VULKAN_STUB_INTERNAL_H */
