/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sharing SPIRV - two processes, each with a Vulkan device of its own, that share memory, then
 * semaphores and fences, by descriptors passed over a socket.  Exit code: 0 right, 1 wrong, 2 a
 * call failed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vulkan.h"

#define SECOND UINT64_C(1000000000)

static int channel; /* to the other process */

static void send_fd(int fd) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {.room = {0}};
  char byte = 'd';
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control.room};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  if (sendmsg(channel, &message, 0) != 1)
    exit(2);
  close(fd);
}

static int receive_fd(void) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {.room = {0}};
  char byte;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control.room};
  int fd = -1;
  if (recvmsg(channel, &message, 0) != 1 || CMSG_FIRSTHDR(&message) == NULL)
    exit(2);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

static void send_byte(void) {
  if (write(channel, "b", 1) != 1)
    exit(2);
}

static void receive_byte(void) {
  char byte;
  if (read(channel, &byte, 1) != 1)
    exit(2);
}

static void fill(const struct shared *shared) {
  for (uint32_t i = 0; i < WORDS; i++)
    shared->words[i] = i;
}

/* Whether all words are what so many steps make of them. */
static bool right(const char *what, const struct shared *shared, unsigned steps) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < WORDS; i++) {
    uint32_t expected = i;
    for (unsigned s = 0; s < steps; s++)
      expected = expected * 3 + 1;
    n += shared->words[i] == expected;
  }
  printf("%s: %u of %d words are right\n", what, n, WORDS);
  fflush(stdout);
  return n == WORDS;
}

static int memory_fd(const struct shared *shared, VkExternalMemoryHandleTypeFlagBits type) {
  const VkMemoryGetFdInfoKHR get = {VK_INFO(MEMORY_GET_FD_INFO_KHR), .memory = shared->memory,
                                    .handleType = type};
  int fd;
  VK_CHECK(vkGetMemoryFdKHR(vulkan_device, &get, &fd));
  return fd;
}

static const VkExternalMemoryHandleTypeFlagBits memory_types[] = {
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};

/* -- Memory: one exports, the other computes on it. -- */

static bool export_memory(void) {
  bool good = true;
  for (int i = 0; i < 2; i++) {
    struct shared shared = vulkan_buffer(memory_types[i], -1);
    fill(&shared);
    send_fd(memory_fd(&shared, memory_types[i]));
    receive_byte();
    good &= right(i == 0 ? "opaque memory" : "dma-buf", &shared, 1);
    vulkan_submit(&shared, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
    VK_CHECK(vkQueueWaitIdle(vulkan_queue));
    send_byte();
    receive_byte(); /* the other has seen it */
    vulkan_free(&shared);
  }
  return good;
}

static bool import_memory(void) {
  bool good = true;
  for (int i = 0; i < 2; i++) {
    struct shared shared = vulkan_buffer(memory_types[i], receive_fd());
    vulkan_submit(&shared, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
    VK_CHECK(vkQueueWaitIdle(vulkan_queue));
    send_byte();
    receive_byte();
    good &= right("imported", &shared, 2);
    send_byte();
    vulkan_free(&shared);
  }
  return good;
}

/* -- A frame that no Vulkan device has made, as a decoder's: computed on where it lies. -- */

static bool import_frame(void) {
  const int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
  struct dma_heap_allocation_data data = {.len = BYTES, .fd_flags = O_RDWR | O_CLOEXEC};
  if (heap < 0 || ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) != 0) {
    perror("sharing: /dev/dma_heap/system");
    exit(2);
  }
  close(heap);
  void *frame = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)data.fd, 0);
  if (frame == MAP_FAILED)
    exit(2);
  struct shared shared = vulkan_buffer(memory_types[1], dup((int)data.fd));
  const struct shared seen = {.words = frame};
  fill(&seen);
  vulkan_submit(&shared, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
  VK_CHECK(vkQueueWaitIdle(vulkan_queue));
  struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};
  if (ioctl((int)data.fd, DMA_BUF_IOCTL_SYNC, &sync) != 0)
    exit(2);
  const bool good = right("frame of a heap", &seen, 1);
  vulkan_free(&shared);
  munmap(frame, BYTES);
  close((int)data.fd);
  return good;
}

/* -- Semaphores: the other's step waits for ours. -- */

static const VkExternalSemaphoreHandleTypeFlagBits semaphore_types[] = {
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};

static bool readable(int fd, int timeout_ms) {
  struct pollfd one = {.fd = fd, .events = POLLIN};
  return poll(&one, 1, timeout_ms) == 1 && one.revents == POLLIN;
}

static VkSemaphore make_semaphore(const void *next) {
  const VkSemaphoreCreateInfo info = {VK_INFO(SEMAPHORE_CREATE_INFO), .pNext = next};
  VkSemaphore semaphore;
  VK_CHECK(vkCreateSemaphore(vulkan_device, &info, NULL, &semaphore));
  return semaphore;
}

static bool export_semaphores(void) {
  bool good = true;
  for (int i = 0; i < 2; i++) {
    const VkExportSemaphoreCreateInfo exported = {VK_INFO(EXPORT_SEMAPHORE_CREATE_INFO),
                                                  .handleTypes = semaphore_types[i]};
    VkSemaphore semaphore = make_semaphore(&exported);
    struct shared shared = vulkan_buffer(memory_types[0], -1);
    fill(&shared);
    vulkan_submit(&shared, VK_NULL_HANDLE, semaphore, VK_NULL_HANDLE);
    const VkSemaphoreGetFdInfoKHR get = {VK_INFO(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = semaphore,
                                         .handleType = semaphore_types[i]};
    int fd;
    VK_CHECK(vkGetSemaphoreFdKHR(vulkan_device, &get, &fd));
    send_fd(memory_fd(&shared, memory_types[0]));
    const int copy = i == 1 ? dup(fd) : -1;
    send_fd(fd);
    receive_byte();
    if (i == 1 && !readable(copy, 10000)) {
      printf("a sync file is not readable after its semaphore was signaled\n");
      good = false;
    }
    close(copy);
    good &= right(i == 0 ? "opaque semaphore" : "semaphore by a sync file", &shared, 2);
    VK_CHECK(vkQueueWaitIdle(vulkan_queue));
    vkDestroySemaphore(vulkan_device, semaphore, NULL);
    vulkan_free(&shared);
  }
  return good;
}

static void import_semaphores(void) {
  for (int i = 0; i < 2; i++) {
    struct shared shared = vulkan_buffer(memory_types[0], receive_fd());
    VkSemaphore semaphore = make_semaphore(NULL);
    const VkImportSemaphoreFdInfoKHR import = {
        VK_INFO(IMPORT_SEMAPHORE_FD_INFO_KHR), .semaphore = semaphore,
        .flags = i == 1 ? VK_SEMAPHORE_IMPORT_TEMPORARY_BIT : 0, .handleType = semaphore_types[i],
        .fd = receive_fd()};
    VK_CHECK(vkImportSemaphoreFdKHR(vulkan_device, &import));
    vulkan_submit(&shared, semaphore, VK_NULL_HANDLE, VK_NULL_HANDLE);
    VK_CHECK(vkQueueWaitIdle(vulkan_queue));
    send_byte();
    vkDestroySemaphore(vulkan_device, semaphore, NULL);
    vulkan_free(&shared);
  }
}

/* -- Fences: the other waits for our step. -- */

static const VkExternalFenceHandleTypeFlagBits fence_types[] = {
    VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT, VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT};

static VkFence make_fence(const void *next) {
  const VkFenceCreateInfo info = {VK_INFO(FENCE_CREATE_INFO), .pNext = next};
  VkFence fence;
  VK_CHECK(vkCreateFence(vulkan_device, &info, NULL, &fence));
  return fence;
}

static bool export_fences(void) {
  bool good = true;
  for (int i = 0; i < 2; i++) {
    const VkExportFenceCreateInfo exported = {VK_INFO(EXPORT_FENCE_CREATE_INFO),
                                              .handleTypes = fence_types[i]};
    VkFence fence = make_fence(&exported);
    struct shared shared = vulkan_buffer(memory_types[1], -1);
    fill(&shared);
    vulkan_submit(&shared, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
    const VkFenceGetFdInfoKHR get = {VK_INFO(FENCE_GET_FD_INFO_KHR), .fence = fence,
                                     .handleType = fence_types[i]};
    int fd;
    VK_CHECK(vkGetFenceFdKHR(vulkan_device, &get, &fd));
    send_fd(memory_fd(&shared, memory_types[1]));
    send_fd(fd);
    receive_byte();
    good &= right(i == 0 ? "opaque fence" : "fence by a sync file", &shared, 1);
    VK_CHECK(vkQueueWaitIdle(vulkan_queue));
    vkDestroyFence(vulkan_device, fence, NULL);
    vulkan_free(&shared);
  }
  return good;
}

static bool import_fences(void) {
  bool good = true;
  for (int i = 0; i < 2; i++) {
    struct shared shared = vulkan_buffer(memory_types[1], receive_fd());
    VkFence fence = make_fence(NULL);
    const VkImportFenceFdInfoKHR import = {VK_INFO(IMPORT_FENCE_FD_INFO_KHR), .fence = fence,
                                           .flags = i == 1 ? VK_FENCE_IMPORT_TEMPORARY_BIT : 0,
                                           .handleType = fence_types[i], .fd = receive_fd()};
    VK_CHECK(vkImportFenceFdKHR(vulkan_device, &import));
    VK_CHECK(vkWaitForFences(vulkan_device, 1, &fence, VK_TRUE, 10 * SECOND));
    good &= right("waited for a fence", &shared, 1);
    send_byte();
    vkDestroyFence(vulkan_device, fence, NULL);
    vulkan_free(&shared);
  }
  return good;
}

/* -- A timeline, which the driver makes of binary syncobjs: its waits must sleep. -- */

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void *signal_later(void *timeline) {
  const struct timespec pause = {.tv_nsec = 400000000};
  nanosleep(&pause, NULL);
  const VkSemaphoreSignalInfo signal = {VK_INFO(SEMAPHORE_SIGNAL_INFO),
                                        .semaphore = *(VkSemaphore *)timeline, .value = 1};
  VK_CHECK(vkSignalSemaphore(vulkan_device, &signal));
  return NULL;
}

static bool timelines(void) {
  const VkSemaphoreTypeCreateInfo type = {VK_INFO(SEMAPHORE_TYPE_CREATE_INFO),
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  VkSemaphore timeline = make_semaphore(&type);
  struct shared shared = vulkan_buffer(memory_types[0], -1);
  fill(&shared);
  /* Two steps, 1 -> 2 and 2 -> 3, submitted before anything is signaled. */
  for (uint64_t value = 1; value <= 2; value++) {
    const uint64_t next = value + 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_INFO(TIMELINE_SEMAPHORE_SUBMIT_INFO), .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &value, .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &next};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkSubmitInfo submit = {VK_INFO(SUBMIT_INFO),
                                 .pNext = &values,
                                 .waitSemaphoreCount = 1,
                                 .pWaitSemaphores = &timeline,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &shared.step,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &timeline};
    VK_CHECK(vkQueueSubmit(vulkan_queue, 1, &submit, VK_NULL_HANDLE));
  }
  pthread_t thread;
  pthread_create(&thread, NULL, signal_later, &timeline);
  const uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
  const uint64_t last = 3;
  const VkSemaphoreWaitInfo wait = {VK_INFO(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                    .pSemaphores = &timeline, .pValues = &last};
  VK_CHECK(vkWaitSemaphores(vulkan_device, &wait, 10 * SECOND));
  const uint64_t cpu_ms = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1000000;
  const uint64_t wall_ms = (clock_ns(CLOCK_MONOTONIC) - wall) / 1000000;
  pthread_join(thread, NULL);
  bool good = right("timeline", &shared, 2);
  uint64_t value = 0;
  VK_CHECK(vkGetSemaphoreCounterValue(vulkan_device, timeline, &value));
  good &= value == 3;
  printf("timeline: %d ms of the processor in %d ms\n", (int)cpu_ms, (int)wall_ms);
  if (4 * cpu_ms > wall_ms) {
    printf("timeline: its waits do not sleep\n");
    good = false;
  }
  VK_CHECK(vkQueueWaitIdle(vulkan_queue));
  vkDestroySemaphore(vulkan_device, timeline, NULL);
  vulkan_free(&shared);
  return good;
}

static bool exporting(void) {
  bool good = export_memory();
  good &= import_frame();
  good &= export_semaphores();
  good &= export_fences();
  good &= timelines();
  return good;
}

static bool importing(void) {
  bool good = import_memory();
  import_semaphores();
  good &= import_fences();
  return good;
}

int main(int argc, char **argv) {
  int ends[2];
  if (argc != 2) {
    fputs("usage: sharing SPIRV\n", stderr);
    return 2;
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return 2;
  const pid_t child = fork();
  channel = ends[child == 0];
  close(ends[child != 0]);
  vulkan_open(argv[1]);
  if (child == 0)
    return importing() ? 0 : 1;
  const bool good = exporting();
  int status = -1;
  close(channel);
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 2)
    return 2;
  return good && WEXITSTATUS(status) == 0 ? 0 : 1;
}
