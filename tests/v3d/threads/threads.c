/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads SPIRV PROCESSES THREADS DISPATCHES - each process has a Vulkan device, each of its
 * threads a buffer on which it runs the shader (r[i] = r[i] * 3 + 1) so often, looking at every
 * word each time.  Exit code: 0 right, 1 wrong, 2 a call failed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../sharing/vulkan.h"

static unsigned n_dispatches;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER; /* Vulkan asks for one */

struct worker {
  pthread_t thread;
  struct shared data;
  uint32_t first; /* of its words */
  unsigned n_wrong;
};

static void *work(void *argument) {
  struct worker *worker = argument;
  uint32_t expected[WORDS];
  const VkFenceCreateInfo info = {VK_INFO(FENCE_CREATE_INFO)};
  for (uint32_t i = 0; i < WORDS; i++)
    expected[i] = worker->data.words[i] = worker->first + i;
  for (unsigned n = 0; n < n_dispatches; n++) {
    VkFence fence;
    VK_CHECK(vkCreateFence(vulkan_device, &info, NULL, &fence));
    pthread_mutex_lock(&queue_lock);
    vulkan_submit(&worker->data, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
    pthread_mutex_unlock(&queue_lock);
    VK_CHECK(vkWaitForFences(vulkan_device, 1, &fence, VK_TRUE, UINT64_MAX));
    vkDestroyFence(vulkan_device, fence, NULL);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < WORDS; i++) {
      expected[i] = expected[i] * 3 + 1;
      wrong += worker->data.words[i] != expected[i];
    }
    worker->n_wrong += wrong > 0;
  }
  return NULL;
}

static int be_process(const char *shader, unsigned process, unsigned n_threads) {
  unsigned n_wrong = 0;
  struct worker *workers = calloc(n_threads, sizeof *workers);
  vulkan_open(shader);
  for (unsigned i = 0; i < n_threads; i++) { /* Vulkan's command pool is of one thread */
    workers[i].data = vulkan_buffer(VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, -1);
    workers[i].first = (process * n_threads + i) * 0x01010101u;
  }
  for (unsigned i = 0; i < n_threads; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
      return 2;
  for (unsigned i = 0; i < n_threads; i++) {
    pthread_join(workers[i].thread, NULL);
    n_wrong += workers[i].n_wrong;
  }
  free(workers);
  if (n_wrong > 0)
    fprintf(stderr, "threads: process %u: %u dispatches were wrong\n", process, n_wrong);
  return n_wrong > 0;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fputs("usage: threads SPIRV PROCESSES THREADS DISPATCHES\n", stderr);
    return 2;
  }
  const unsigned n_processes = (unsigned)strtoul(argv[2], NULL, 10);
  const unsigned n_threads = (unsigned)strtoul(argv[3], NULL, 10);
  n_dispatches = (unsigned)strtoul(argv[4], NULL, 10);
  int result = 0;
  for (unsigned i = 0; i < n_processes; i++) /* before there is a device to share */
    if (fork() == 0)
      exit(be_process(argv[1], i, n_threads));
  for (unsigned i = 0; i < n_processes; i++) {
    int status = -1;
    wait(&status);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    result = code > result ? code : result;
  }
  printf("%u processes x %u threads x %u dispatches: %s\n", n_processes, n_threads, n_dispatches,
         result == 0 ? "right" : "wrong");
  return result;
}
