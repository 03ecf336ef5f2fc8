/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sharing SPIRV - two processes, each with a Vulkan device of its own, that share memory, then
 * semaphores and fences, by descriptors passed over a socket.  Exit code: 0 right, 1 wrong, 2 a
 * call failed.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vulkan.h"

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
    return import_memory() ? 0 : 1;
  const bool good = export_memory();
  int status = -1;
  close(channel);
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 2)
    return 2;
  return good && WEXITSTATUS(status) == 0 ? 0 : 1;
}
