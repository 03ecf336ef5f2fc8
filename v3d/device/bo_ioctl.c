/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers as clients ask for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "call.h"

/* The client's buffers have changed. */
static void forget_view(struct dev_client *client) {
  dev_view_unref(client->view);
  client->view = NULL;
}

int dev_bo_create(struct dev_device *device, uint64_t bytes, struct dev_bo **created) {
  struct dev_bo *bo = calloc(1, sizeof *bo);
  if (bo == NULL)
    return -ENOMEM;
  bo->refs = 1;
  bo->device = device;
  int result = dev_memory_take(&device->memory, bytes, &bo->range);
  if (result == -ENOMEM || result == -ENOSPC) {
    dev_sweep(device);
    result = dev_memory_take(&device->memory, bytes, &bo->range);
  }
  if (result != 0) {
    free(bo);
    return result;
  }
  *created = bo;
  return 0;
}

int dev_ioctl_create_bo(struct dev_call *call) {
  struct abi_create_bo *create = (struct abi_create_bo *)call->arg;
  struct dev_bo *bo;
  if (create->flags != 0)
    return -EINVAL;
  const int result = dev_bo_create(call->device, create->size, &bo);
  if (result != 0)
    return result;
  const uint32_t handle = dev_handles_add(&call->client->bos, bo);
  if (handle == 0) {
    dev_bo_unref(bo);
    return -ENOMEM;
  }
  forget_view(call->client);
  create->handle = handle;
  create->offset = bo->range.address;
  return 0;
}

int dev_ioctl_gem_close(struct dev_call *call) {
  const struct abi_gem_close *close = (const struct abi_gem_close *)call->arg;
  struct dev_bo *bo = dev_handles_remove(&call->client->bos, close->handle);
  if (bo == NULL)
    return -EINVAL;
  forget_view(call->client);
  dev_bo_unref(bo);
  return 0;
}

int dev_ioctl_mmap_bo(struct dev_call *call) {
  struct abi_mmap_bo *map = (struct abi_mmap_bo *)call->arg;
  if (map->flags != 0)
    return -EINVAL;
  const struct dev_bo *bo = dev_handles_get(&call->client->bos, map->handle);
  if (bo == NULL)
    return -ENOENT;
  map->offset = bo->range.address;
  return 0;
}

int dev_ioctl_get_bo_offset(struct dev_call *call) {
  struct abi_get_bo_offset *get = (struct abi_get_bo_offset *)call->arg;
  const struct dev_bo *bo = dev_handles_get(&call->client->bos, get->handle);
  if (bo == NULL)
    return -ENOENT;
  get->offset = bo->range.address;
  return 0;
}

/* The kernel gives back what is left of the time. */
static int finish_wait(struct dev_wait *wait, int result, uint32_t first, uint64_t clock_ns) {
  (void)first;
  struct abi_wait_bo *arg = (struct abi_wait_bo *)wait->call->arg;
  const bool has_left = (result == 0 || result == -EINTR) && wait->deadline_ns > clock_ns;
  arg->timeout_ns = has_left ? wait->deadline_ns - clock_ns : 0;
  return result;
}

int dev_ioctl_wait_bo(struct dev_call *call) {
  const struct abi_wait_bo *arg = (const struct abi_wait_bo *)call->arg;
  if (arg->pad != 0)
    return -EINVAL;
  const struct dev_bo *bo = dev_handles_get(&call->client->bos, arg->handle);
  if (bo == NULL)
    return -EINVAL;
  if (bo->last == NULL)
    return 0;
  const uint64_t now = dev_clock_ns(call->device);
  struct dev_wait wait = {.deadline_ns = dev_wait_deadline(now, arg->timeout_ns),
                          .begun_ns = dev_clock_begun(call->device),
                          .all = true,
                          .relative = true,
                          .n = 1,
                          .finish = finish_wait};
  wait.entries = calloc(1, sizeof *wait.entries);
  if (wait.entries == NULL)
    return -ENOMEM;
  wait.entries->fence = dev_fence_ref(bo->last);
  return dev_wait_begin(&wait, call);
}

int dev_bo_descriptor(struct dev_bo *bo, int mode) {
  const struct dev_range range = bo->range;
  const int fd = dev_descriptor_open(
      bo->device, (struct wire_position){WIRE_BUFFER, range.address, range.bytes}, mode);
  if (fd < 0)
    return fd;
  dev_sweep_if_many(bo->device);
  const int result = dev_export_bo(bo);
  if (result == 0)
    return fd;
  close(fd);
  return result;
}

int dev_ioctl_prime_handle_to_fd(struct dev_call *call) {
  const struct abi_prime_handle *prime = (const struct abi_prime_handle *)call->arg;
  if (prime->flags & ~(uint32_t)(O_CLOEXEC | O_RDWR))
    return -EINVAL;
  struct dev_bo *bo = dev_handles_get(&call->client->bos, prime->handle);
  if (bo == NULL)
    return -ENOENT;
  const int fd = dev_bo_descriptor(bo, prime->flags & O_RDWR ? O_RDWR : O_RDONLY);
  call->fd_out = fd < 0 ? -1 : fd;
  return fd < 0 ? fd : 0;
}

/* The handle that the client has for a buffer already; 0: none. */
static uint32_t handle_of(const struct dev_client *client, const struct dev_bo *bo) {
  for (size_t i = 0; i < client->bos.room; i++)
    if (client->bos.items[i] == bo)
      return (uint32_t)i + 1;
  return 0;
}

int dev_ioctl_prime_fd_to_handle(struct dev_call *call) {
  struct abi_prime_handle *prime = (struct abi_prime_handle *)call->arg;
  if (call->fds_in.n == 0)
    return -EBADF;
  const struct wire_position position = dev_descriptor_object(call->device, call->fds_in.fd[0]);
  const struct dev_export *export =
      position.object == WIRE_BUFFER ? dev_export_find(call->device, position) : NULL;
  if (export == NULL)
    return -EINVAL;
  prime->handle = handle_of(call->client, export->bo);
  if (prime->handle != 0)
    return 0;
  prime->handle = dev_handles_add(&call->client->bos, export->bo);
  if (prime->handle == 0)
    return -ENOMEM;
  export->bo->refs++;
  forget_view(call->client);
  return 0;
}
