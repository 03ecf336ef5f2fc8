/* SPDX-License-Identifier: BSD-2-Clause */
/* The ioctls of syncobjs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "call.h"

int dev_ioctl_syncobj_create(struct dev_call *call) {
  struct abi_syncobj_create *create = (struct abi_syncobj_create *)call->arg;
  if (create->flags & ~(uint32_t)ABI_SYNCOBJ_CREATE_SIGNALED)
    return -EINVAL;
  struct dev_syncobj *syncobj = calloc(1, sizeof *syncobj);
  if (syncobj == NULL)
    return -ENOMEM;
  syncobj->refs = 1;
  if (create->flags & ABI_SYNCOBJ_CREATE_SIGNALED) {
    syncobj->fence = dev_fence_create(true);
    if (syncobj->fence == NULL) {
      dev_syncobj_unref(syncobj);
      return -ENOMEM;
    }
  }
  create->handle = dev_handles_add(&call->client->syncobjs, syncobj);
  if (create->handle == 0) {
    dev_syncobj_unref(syncobj);
    return -ENOMEM;
  }
  return 0;
}

int dev_ioctl_syncobj_destroy(struct dev_call *call) {
  const struct abi_syncobj_destroy *destroy = (const struct abi_syncobj_destroy *)call->arg;
  if (destroy->pad != 0)
    return -EINVAL;
  struct dev_syncobj *syncobj = dev_handles_remove(&call->client->syncobjs, destroy->handle);
  if (syncobj == NULL)
    return -EINVAL;
  dev_syncobj_unref(syncobj);
  return 0;
}

static int finish_wait(struct dev_wait *wait, int result, uint32_t first, uint64_t clock_ns) {
  (void)clock_ns;
  struct abi_syncobj_wait *arg = (struct abi_syncobj_wait *)wait->call->arg;
  if (result == 0 && !(arg->flags & ABI_SYNCOBJ_WAIT_ALL))
    arg->first_signaled = first;
  return result;
}

/*
 * An absolute timeout of CLOCK_MONOTONIC by the waits' clock. The program reckoned it not long ago,
 * so what is left of it counts from now; one that comes again from the same thread, since a wait
 * was interrupted or is one of several, is the moment that it was at first.
 */
static void set_deadline(struct dev_wait *wait, struct dev_call *call, int64_t timeout_ns) {
  const uint64_t at = timeout_ns < 0 ? 0 : (uint64_t)timeout_ns, now = dev_now_ns();
  wait->deadline_ns = UINT64_MAX;
  if (timeout_ns == INT64_MAX)
    return;
  if (call->timeout_ns != at || at == 0) {
    call->timeout_ns = at;
    call->timeout_clock_ns = dev_clock_ns(call->device) + (at > now ? at - now : 0);
    call->timeout_begun_ns = dev_clock_begun(call->device);
  }
  wait->deadline_ns = call->timeout_clock_ns;
  wait->begun_ns = call->timeout_begun_ns;
}

int dev_ioctl_syncobj_wait(struct dev_call *call) {
  const struct abi_syncobj_wait *arg = (const struct abi_syncobj_wait *)call->arg;
  if (arg->flags &
      ~(uint32_t)(ABI_SYNCOBJ_WAIT_ALL | ABI_SYNCOBJ_WAIT_FOR_SUBMIT | ABI_SYNCOBJ_WAIT_DEADLINE))
    return -EINVAL;
  if (arg->n_handles == 0)
    return 0;
  uint32_t *handles;
  int result = dev_user_array(call, arg->handles, arg->n_handles, sizeof *handles, &handles);
  if (result != 0)
    return result;
  struct dev_wait wait = {.all = arg->flags & ABI_SYNCOBJ_WAIT_ALL, .finish = finish_wait};
  set_deadline(&wait, call, arg->timeout_ns);
  result = dev_wait_for_syncobjs(&wait, call, handles, arg->n_handles,
                                 arg->flags & ABI_SYNCOBJ_WAIT_FOR_SUBMIT);
  free(handles);
  return result != 0 ? result : dev_wait_begin(&wait, call);
}

/* Gives every syncobj of the array a reference to fence, which may be NULL. */
static int set_fences(struct dev_call *call, struct dev_fence *fence) {
  const struct abi_syncobj_array *arg = (const struct abi_syncobj_array *)call->arg;
  if (arg->pad != 0 || arg->n_handles == 0)
    return -EINVAL;
  uint32_t *handles;
  int result = dev_user_array(call, arg->handles, arg->n_handles, sizeof *handles, &handles);
  if (result != 0)
    return result;
  for (uint32_t i = 0; i < arg->n_handles; i++)
    if (dev_handles_get(&call->client->syncobjs, handles[i]) == NULL)
      result = -ENOENT;
  for (uint32_t i = 0; result == 0 && i < arg->n_handles; i++) {
    struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handles[i]);
    dev_fence_replace(&syncobj->fence, fence);
  }
  free(handles);
  return result;
}

int dev_ioctl_syncobj_reset(struct dev_call *call) {
  return set_fences(call, NULL);
}

int dev_ioctl_syncobj_signal(struct dev_call *call) {
  struct dev_fence *fence = dev_fence_create(true);
  if (fence == NULL)
    return -ENOMEM;
  const int result = set_fences(call, fence);
  dev_fence_unref(fence);
  return result;
}

static int export_syncobj(struct dev_call *call, uint32_t handle) {
  struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handle);
  if (syncobj == NULL)
    return -EINVAL;
  dev_sweep_if_many(call->device);
  const int result = dev_export_syncobj(call->device, syncobj);
  if (result != 0)
    return result;
  /* Where that fails, nothing holds the export, and the next sweep ends it. */
  call->fd_out = dev_descriptor_open(
      call->device, (struct wire_position){.object = WIRE_SYNCOBJ, .number = syncobj->number},
      O_RDONLY);
  return call->fd_out < 0 ? call->fd_out : 0;
}

static int export_sync_file(struct dev_call *call, uint32_t handle) {
  const struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handle);
  if (syncobj == NULL)
    return -ENOENT;
  if (syncobj->fence == NULL)
    return -EINVAL;
  return dev_sync_file_create(call->device, syncobj->fence, "", &call->fd_out);
}

int dev_ioctl_syncobj_handle_to_fd(struct dev_call *call) {
  const struct abi_syncobj_handle *arg = (const struct abi_syncobj_handle *)call->arg;
  if (arg->pad != 0 || arg->flags & ~(uint32_t)ABI_SYNCOBJ_FD_SYNC_FILE)
    return -EINVAL;
  return arg->flags & ABI_SYNCOBJ_FD_SYNC_FILE ? export_sync_file(call, arg->handle)
                                               : export_syncobj(call, arg->handle);
}

static int import_sync_file(struct dev_call *call, int fd, uint32_t handle) {
  const struct dev_sync_file *file = dev_sync_file_of(call->device, fd);
  if (file == NULL)
    return -EINVAL;
  struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handle);
  if (syncobj == NULL)
    return -ENOENT;
  dev_fence_replace(&syncobj->fence, file->fence);
  return 0;
}

int dev_ioctl_syncobj_fd_to_handle(struct dev_call *call) {
  struct abi_syncobj_handle *arg = (struct abi_syncobj_handle *)call->arg;
  if (arg->pad != 0 || arg->flags & ~(uint32_t)ABI_SYNCOBJ_FD_SYNC_FILE || call->fds_in.n == 0)
    return -EINVAL;
  const int fd = call->fds_in.fd[0];
  if (arg->flags & ABI_SYNCOBJ_FD_SYNC_FILE)
    return import_sync_file(call, fd, arg->handle);
  const struct wire_position position = dev_descriptor_object(call->device, fd);
  const struct dev_export *export =
      position.object == WIRE_SYNCOBJ ? dev_export_find(call->device, position) : NULL;
  if (export == NULL)
    return -EINVAL;
  /* Unlike a buffer's, each import is a handle of its own. */
  arg->handle = dev_handles_add(&call->client->syncobjs, export->syncobj);
  if (arg->handle == 0)
    return -ENOMEM;
  export->syncobj->refs++;
  return 0;
}
