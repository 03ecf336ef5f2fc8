/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub driver's queue, what it executes, and fences. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "stub_internal.h"

/* One VkSubmitInfo. */
typedef struct submission {
  struct submission *next;
  stub_commands **commands;
  uint32_t n;
  stub_fence *fence;
  int event; /* of an exported fence; -1 */
} submission;

static submission *queue; /* the oldest first */

static void use(stub_object *object, bool begins) {
  if (object != NULL) {
    object->in_flight += begins ? 1u : -1u;
  }
}

static void use_buffer(stub_buffer *buffer, bool begins) {
  if (buffer != NULL) {
    use(&buffer->object, begins);
    use(buffer->memory != NULL ? &buffer->memory->object : NULL, begins);
  }
}

/* Marks all that a command buffer needs until it is done. */
static void use_commands(stub_commands *commands, bool begins) {
  use(&commands->object, begins);
  for (size_t i = 0; i < commands->n; i++) {
    const stub_command *command = &commands->list[i];
    use(command->pipeline != NULL ? &command->pipeline->object : NULL, begins);
    use(command->set != NULL ? &command->set->object : NULL, begins);
    use(command->queries != NULL ? &command->queries->object : NULL, begins);
    use_buffer(command->from, begins);
    use_buffer(command->to, begins);
    for (uint32_t b = 0; command->set != NULL && b < command->set->n_bindings; b++) {
      use_buffer(command->set->bindings[b].buffer, begins);
    }
  }
}

static unsigned char *bytes_of(const stub_buffer *buffer, uint64_t offset) {
  if (buffer->memory == NULL) {
    stub_misuse("a buffer without memory is used");
    abort();
  }
  if (buffer->memory->foreign) {
    stub_misuse("a dma-buf's memory is used that was not acquired");
  }
  return buffer->memory->device + buffer->offset + offset;
}

static void dispatch(const stub_command *command) {
  stub_dispatch given = {
      .code = command->pipeline->code,
      .n_words = command->pipeline->n_words,
      .workgroup = command->pipeline->workgroup,
      .groups = {command->groups[0], command->groups[1], command->groups[2]},
      .push_bytes = command->push_bytes,
  };
  memcpy(given.push, command->push, sizeof(given.push));
  for (uint32_t b = 0; b < command->set->n_bindings; b++) {
    if (command->set->bindings[b].buffer == NULL) {
      stub_misuse("binding %u was never written", b);
      continue;
    }
    given.bindings[b].data =
        bytes_of(command->set->bindings[b].buffer, command->set->bindings[b].offset);
    given.bindings[b].size = (size_t)command->set->bindings[b].size;
  }
  if (stub.execute != NULL) {
    stub.execute(stub.user, &given);
  }
}

static void times(const stub_command *command) {
  static uint64_t now;
  stub_queries *queries = command->queries;
  if (command->query > queries->n || command->n_queries > queries->n - command->query) {
    stub_misuse("queries %u.. of a pool of %u", command->query, queries->n);
    return;
  }
  for (uint32_t i = command->query; i < command->query + command->n_queries; i++) {
    if (command->operation == STUB_TIME && queries->available[i]) {
      stub_misuse("a timestamp is written twice without a reset");
    }
    queries->available[i] = command->operation == STUB_TIME;
    queries->values[i] = now += 1000;
  }
}

static void execute(const stub_command *command) {
  switch (command->operation) {
    case STUB_DISPATCH:
      dispatch(command);
      break;
    case STUB_COPY:
      memmove(bytes_of(command->to, command->region.dstOffset),
              bytes_of(command->from, command->region.srcOffset), (size_t)command->region.size);
      stub_done.copied_bytes += command->region.size;
      break;
    case STUB_FILL:
      for (uint64_t at = 0; at < command->region.size; at += 4) {
        memcpy(bytes_of(command->to, command->region.dstOffset + at), &command->word, 4);
      }
      break;
    case STUB_BARRIER:
      break;
    case STUB_ACQUIRE:
      command->to->memory->foreign = false;
      break;
    case STUB_RELEASE:
      if (command->to->memory->foreign) {
        stub_misuse("a dma-buf's memory is released that was not acquired");
      }
      command->to->memory->foreign = true;
      break;
    case STUB_RESET:
    case STUB_TIME:
      times(command);
      break;
  }
}

typedef enum share { NOTHING, HALF, ALL } share;

/* Takes the oldest submission off the queue; so much of its work is done. */
static void finish_oldest(share done) {
  submission *oldest = queue;
  queue = oldest->next;
  for (uint32_t i = 0; i < oldest->n; i++) {
    use_commands(oldest->commands[i], false);
    const size_t n = oldest->commands[i]->n;
    const size_t end = done == ALL ? n : done == HALF ? (n + 1) / 2 : 0;
    for (size_t k = 0; k < end; k++) {
      execute(&oldest->commands[i]->list[k]);
    }
  }
  if (oldest->fence != NULL) {
    oldest->fence->signalled = true;
    oldest->fence->object.in_flight--;
  }
  if (oldest->event >= 0) {
    const ssize_t written = write(oldest->event, &(uint64_t){1}, sizeof(uint64_t));
    (void)written;
    close(oldest->event);
  }
  free(oldest->commands);
  free(oldest);
}

void stub_run_queue(void) {
  while (queue != NULL) {
    finish_oldest(stub_is_lost ? NOTHING : ALL);
  }
}

void stub_lose_queue(void) {
  if (queue != NULL && !stub_is_lost) {
    finish_oldest(HALF);
  }
  stub_is_lost = true;
  stub_run_queue();
}

void stub_forget_queue(void) {
  stub_is_lost = true;
  stub_run_queue();
}

static void count_work(const submission *s) {
  uint64_t groups = 0;
  stub_done.submits++;
  for (uint32_t i = 0; i < s->n; i++) {
    for (size_t k = 0; k < s->commands[i]->n; k++) {
      const stub_command *command = &s->commands[i]->list[k];
      stub_done.barriers += command->operation == STUB_BARRIER;
      stub_done.acquires += command->operation == STUB_ACQUIRE;
      stub_done.releases += command->operation == STUB_RELEASE;
      if (command->operation == STUB_DISPATCH) {
        stub_done.dispatches++;
        groups += (uint64_t)command->groups[0] * command->groups[1] * command->groups[2];
      }
    }
  }
  if (groups > stub_done.largest_submit_groups) {
    stub_done.largest_submit_groups = groups;
  }
}

static void submit_one(const VkSubmitInfo *info, stub_fence *fence) {
  submission *s = calloc(1, sizeof(*s));
  if (s == NULL) {
    abort();
  }
  s->n = info->commandBufferCount;
  s->fence = fence;
  s->event = -1;
  s->commands = calloc(s->n + 1, sizeof(stub_commands *));
  for (uint32_t i = 0; s->commands != NULL && i < s->n; i++) {
    s->commands[i] = stub_get(info->pCommandBuffers[i], STUB_COMMAND_BUFFER);
    if (s->commands[i]->state != STUB_EXECUTABLE || s->commands[i]->object.in_flight != 0) {
      stub_misuse("a command buffer is submitted that is not ready");
    }
    use_commands(s->commands[i], true);
  }
  count_work(s);
  submission **end = &queue;
  while (*end != NULL) {
    end = &(*end)->next;
  }
  *end = s;
}

VkResult stub_QueueSubmit(VkQueue handle, uint32_t n, const VkSubmitInfo *infos,
                          VkFence fence_handle) {
  ENTER(QueueSubmit);
  (void)stub_get(handle, STUB_QUEUE);
  if (stub_is_lost) {
    return VK_ERROR_DEVICE_LOST;
  }
  stub_fence *fence = NULL;
  if (fence_handle != VK_NULL_HANDLE) {
    fence = stub_get(POINTER(fence_handle), STUB_FENCE);
    if (fence->signalled || fence->object.in_flight != 0) {
      stub_misuse("a fence is submitted that is signalled or in use");
    }
    fence->submitted = true;
    fence->object.in_flight++;
  }
  for (uint32_t i = 0; i < n; i++) {
    submit_one(&infos[i], i + 1 == n ? fence : NULL);
  }
  if (n == 0) {
    submit_one(&(VkSubmitInfo){0}, fence);
  }
  if (!stub.deferred && !stub.hang) {
    stub_run_queue();
  }
  return VK_SUCCESS;
}

static VkResult idle(void) {
  if (!stub.hang) {
    stub_run_queue();
  }
  return stub_is_lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

VkResult stub_DeviceWaitIdle(VkDevice handle) {
  ENTER(DeviceWaitIdle);
  (void)stub_get(handle, STUB_DEVICE);
  return idle();
}

/* ------------------------------------------------------------------------------ fences */

VkResult stub_CreateFence(VkDevice device, const VkFenceCreateInfo *info,
                          const VkAllocationCallbacks *a, VkFence *out) {
  (void)a;
  ENTER(CreateFence);
  stub_fence *fence = stub_new(STUB_FENCE, sizeof(*fence), stub_get(device, STUB_DEVICE));
  fence->signalled = (info->flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0;
  *out = HANDLE(VkFence, fence);
  return VK_SUCCESS;
}

void stub_DestroyFence(VkDevice device, VkFence handle, const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_DestroyFence);
  if (handle != VK_NULL_HANDLE) {
    stub_delete(stub_get(POINTER(handle), STUB_FENCE), STUB_FENCE);
  }
}

VkResult stub_ResetFences(VkDevice device, uint32_t n, const VkFence *fences) {
  (void)device;
  ENTER(ResetFences);
  for (uint32_t i = 0; i < n; i++) {
    stub_fence *fence = stub_get(POINTER(fences[i]), STUB_FENCE);
    if (fence->object.in_flight != 0) {
      stub_misuse("a fence is reset while work in flight will signal it");
    }
    fence->signalled = fence->submitted = false;
  }
  return VK_SUCCESS;
}

VkResult stub_GetFenceStatus(VkDevice device, VkFence handle) {
  (void)device;
  ENTER(GetFenceStatus);
  const stub_fence *fence = stub_get(POINTER(handle), STUB_FENCE);
  if (stub_is_lost) {
    return VK_ERROR_DEVICE_LOST;
  }
  return fence->signalled ? VK_SUCCESS : VK_NOT_READY;
}

VkResult stub_WaitForFences(VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all,
                            uint64_t timeout) {
  (void)device;
  (void)all;
  ENTER(WaitForFences);
  for (uint32_t i = 0; i < n; i++) {
    const stub_fence *fence = stub_get(POINTER(fences[i]), STUB_FENCE);
    if (!fence->signalled && !fence->submitted) {
      stub_misuse("waiting for a fence that nothing will signal");
      return VK_TIMEOUT;
    }
  }
  if (stub_is_lost) {
    return VK_ERROR_DEVICE_LOST;
  }
  if (stub.hang) {
    if (timeout == UINT64_MAX) {
      stub_misuse("waiting without limit for a device that hangs");
    }
    return VK_TIMEOUT;
  }
  if (timeout != 0) {
    stub_run_queue();
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!((const stub_fence *)stub_get(POINTER(fences[i]), STUB_FENCE))->signalled) {
      return VK_TIMEOUT;
    }
  }
  return VK_SUCCESS;
}

/* Exporting takes the signal out of the fence, as for all handles that copy it. */
VkResult stub_GetFenceFdKHR(VkDevice device, const VkFenceGetFdInfoKHR *info, int *out) {
  (void)device;
  ENTER(GetFenceFdKHR);
  stub_fence *fence = stub_get(POINTER(info->fence), STUB_FENCE);
  if (!fence->signalled && !fence->submitted) {
    stub_misuse("a fence is exported that nothing will signal");
  }
  const bool signalled = fence->signalled;
  fence->signalled = fence->submitted = false;
  *out = -1;
  if (signalled) {
    return VK_SUCCESS; /* -1 stands for a signal that was given */
  }
  const int fd = eventfd(0, EFD_CLOEXEC);
  for (submission *s = queue; s != NULL; s = s->next) {
    if (s->fence == fence) {
      s->fence = NULL;
      s->event = dup(fd);
      fence->object.in_flight--;
    }
  }
  *out = fd;
  return fd >= 0 ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS;
}

/* ------------------------------------------------------------------------- query pools */

VkResult stub_CreateQueryPool(VkDevice device, const VkQueryPoolCreateInfo *info,
                              const VkAllocationCallbacks *a, VkQueryPool *out) {
  (void)a;
  ENTER(CreateQueryPool);
  stub_queries *queries = stub_new(STUB_QUERIES, sizeof(*queries), stub_get(device, STUB_DEVICE));
  queries->n = info->queryCount;
  if (info->queryCount > STUB_MAX_QUERIES || info->queryType != VK_QUERY_TYPE_TIMESTAMP) {
    stub_misuse("only %d timestamps are known here", STUB_MAX_QUERIES);
    abort();
  }
  *out = HANDLE(VkQueryPool, queries);
  return VK_SUCCESS;
}

void stub_DestroyQueryPool(VkDevice device, VkQueryPool handle, const VkAllocationCallbacks *a) {
  (void)device;
  (void)a;
  (void)stub_enter(STUB_DestroyQueryPool);
  if (handle != VK_NULL_HANDLE) {
    stub_delete(stub_get(POINTER(handle), STUB_QUERIES), STUB_QUERIES);
  }
}

VkResult stub_GetQueryPoolResults(VkDevice device, VkQueryPool handle, uint32_t first, uint32_t n,
                                  size_t size, void *out, VkDeviceSize stride,
                                  VkQueryResultFlags flags) {
  (void)device;
  ENTER(GetQueryPoolResults);
  const stub_queries *queries = stub_get(POINTER(handle), STUB_QUERIES);
  if ((flags & VK_QUERY_RESULT_64_BIT) == 0 || first + n > queries->n ||
      (n - 1) * stride + sizeof(uint64_t) > size) {
    stub_misuse("results of queries that are not there, or not as 64 bits");
    return VK_ERROR_UNKNOWN;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!queries->available[first + i]) {
      return VK_NOT_READY;
    }
    memcpy((char *)out + i * stride, &queries->values[first + i], sizeof(uint64_t));
  }
  return VK_SUCCESS;
}
