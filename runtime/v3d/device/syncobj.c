/* SPDX-License-Identifier: BSD-2-Clause */
/* Syncobjs: boxes that hold a fence or none. */
#include <errno.h>
#include <stdlib.h>

#include "call.h"

void dev_syncobj_unref(struct dev_syncobj *syncobj) {
  if (syncobj == NULL || --syncobj->refs > 0)
    return;
  dev_fence_unref(syncobj->fence);
  free(syncobj);
}

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

static void finish_wait(struct dev_call *call, int result, uint32_t first, uint64_t now_ns) {
  (void)now_ns;
  struct abi_syncobj_wait *arg = (struct abi_syncobj_wait *)call->arg;
  if (result == 0 && !(arg->flags & ABI_SYNCOBJ_WAIT_ALL))
    arg->first_signaled = first;
}

int dev_ioctl_syncobj_wait(struct dev_call *call) {
  const struct abi_syncobj_wait *arg = (const struct abi_syncobj_wait *)call->arg;
  if (arg->flags &
      ~(uint32_t)(ABI_SYNCOBJ_WAIT_ALL | ABI_SYNCOBJ_WAIT_FOR_SUBMIT | ABI_SYNCOBJ_WAIT_DEADLINE))
    return -EINVAL;
  if (arg->n_handles == 0)
    return 0;
  uint32_t *handles;
  const int result = dev_user_array(call, arg->handles, arg->n_handles, sizeof *handles, &handles);
  if (result != 0)
    return result;
  struct dev_wait wait = {.all = arg->flags & ABI_SYNCOBJ_WAIT_ALL,
                          .deadline_ns = arg->timeout_ns < 0 ? 0 : (uint64_t)arg->timeout_ns,
                          .finish = finish_wait};
  int error = 0;
  wait.entries = calloc(arg->n_handles, sizeof *wait.entries);
  if (wait.entries == NULL)
    error = -ENOMEM;
  for (; error == 0 && wait.n < arg->n_handles; wait.n++) {
    struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handles[wait.n]);
    if (syncobj == NULL)
      error = -ENOENT;
    else if (syncobj->fence == NULL && !(arg->flags & ABI_SYNCOBJ_WAIT_FOR_SUBMIT))
      error = -EINVAL;
    if (error != 0)
      break;
    syncobj->refs++;
    wait.entries[wait.n].syncobj = syncobj;
  }
  free(handles);
  if (error != 0) {
    while (wait.n > 0)
      dev_syncobj_unref(wait.entries[--wait.n].syncobj);
    free(wait.entries);
    return error;
  }
  return dev_wait_begin(&wait, call);
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
