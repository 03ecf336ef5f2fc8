/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ioctls of timeline syncobjs.  The hardware's driver has none of them, so that a device has
 * them only when asked for: --timelines.
 */
#include <errno.h>
#include <stdlib.h>

#include "call.h"

static int finish_wait(struct dev_wait *wait, int result, uint32_t first, uint64_t now_ns) {
  (void)now_ns;
  struct abi_timeline_wait *arg = (struct abi_timeline_wait *)wait->call->arg;
  if (result == 0 && !(arg->flags & ABI_SYNCOBJ_WAIT_ALL))
    arg->first_signaled = first;
  return result;
}

/* The arrays of a call; points is NULL where the client gave none. */
static int read_arrays(struct dev_call *call, uint64_t handles_at, uint64_t points_at, uint32_t n,
                       uint32_t **handles, uint64_t **points) {
  *points = NULL;
  int result = dev_user_array(call, handles_at, n, sizeof **handles, handles);
  if (result == 0 && points_at != 0)
    result = dev_user_array(call, points_at, n, sizeof **points, points);
  if (result != 0) {
    free(*handles);
    *handles = NULL;
  }
  return result;
}

int dev_ioctl_timeline_wait(struct dev_call *call) {
  const struct abi_timeline_wait *arg = (const struct abi_timeline_wait *)call->arg;
  const uint32_t for_submit = ABI_SYNCOBJ_WAIT_FOR_SUBMIT | ABI_SYNCOBJ_WAIT_AVAILABLE;
  if (!call->device->timelines)
    return -EOPNOTSUPP;
  if (arg->flags & ~(ABI_SYNCOBJ_WAIT_ALL | for_submit | ABI_SYNCOBJ_WAIT_DEADLINE))
    return -EINVAL;
  if (arg->n_handles == 0)
    return 0;
  uint32_t *handles;
  uint64_t *points;
  int result = read_arrays(call, arg->handles, arg->points, arg->n_handles, &handles, &points);
  if (result != 0)
    return result;
  struct dev_wait wait = {.all = arg->flags & ABI_SYNCOBJ_WAIT_ALL,
                          .available = arg->flags & ABI_SYNCOBJ_WAIT_AVAILABLE,
                          .deadline_ns = arg->timeout_ns < 0 ? 0 : (uint64_t)arg->timeout_ns,
                          .finish = finish_wait};
  result =
      dev_wait_for_syncobjs(&wait, call, handles, points, arg->n_handles, arg->flags & for_submit);
  free(handles);
  free(points);
  return result != 0 ? result : dev_wait_begin(&wait, call);
}

int dev_ioctl_timeline_query(struct dev_call *call) {
  const struct abi_timeline_array *arg = (const struct abi_timeline_array *)call->arg;
  if (!call->device->timelines)
    return -EOPNOTSUPP;
  if (arg->flags & ~(uint32_t)ABI_SYNCOBJ_QUERY_LAST_SUBMITTED || arg->n_handles == 0)
    return -EINVAL;
  uint32_t *handles;
  int result = dev_user_array(call, arg->handles, arg->n_handles, sizeof *handles, &handles);
  if (result != 0)
    return result;
  uint64_t *values = calloc(arg->n_handles, sizeof *values);
  if (values == NULL)
    result = -ENOMEM;
  for (uint32_t i = 0; result == 0 && i < arg->n_handles; i++) {
    struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handles[i]);
    if (syncobj == NULL) {
      result = -ENOENT;
      break;
    }
    dev_syncobj_advance(syncobj);
    if (syncobj->n_points > 0)
      values[i] = arg->flags != 0 ? syncobj->points[syncobj->n_points - 1].value : syncobj->reached;
  }
  if (result == 0)
    result = dev_user_write(call, arg->points, values, arg->n_handles * sizeof *values);
  free(handles);
  free(values);
  return result;
}

int dev_ioctl_timeline_signal(struct dev_call *call) {
  const struct abi_timeline_array *arg = (const struct abi_timeline_array *)call->arg;
  if (!call->device->timelines)
    return -EOPNOTSUPP;
  if (arg->flags != 0 || arg->n_handles == 0)
    return -EINVAL;
  uint32_t *handles;
  uint64_t *points;
  int result = read_arrays(call, arg->handles, arg->points, arg->n_handles, &handles, &points);
  if (result != 0)
    return result;
  struct dev_fence *fence = dev_fence_create(true);
  if (fence == NULL)
    result = -ENOMEM;
  for (uint32_t i = 0; result == 0 && i < arg->n_handles; i++)
    if (dev_handles_get(&call->client->syncobjs, handles[i]) == NULL)
      result = -ENOENT;
  for (uint32_t i = 0; result == 0 && i < arg->n_handles; i++)
    result = dev_syncobj_add_point(dev_handles_get(&call->client->syncobjs, handles[i]), fence,
                                   points == NULL ? 0 : points[i]);
  dev_fence_unref(fence);
  free(handles);
  free(points);
  return result;
}

/* The source has its fence now. */
static int finish_transfer(struct dev_wait *wait, int result, uint32_t first, uint64_t now_ns) {
  (void)first;
  (void)now_ns;
  if (result != 0)
    return result;
  if (wait->target_point != 0)
    return dev_syncobj_add_point(wait->target, wait->entries[0].fence, wait->target_point);
  dev_syncobj_replace(wait->target, wait->entries[0].fence);
  return 0;
}

/* As long as the kernel waits for a source to be submitted. */
#define MOST_NS UINT64_C(5000000000)

int dev_ioctl_syncobj_transfer(struct dev_call *call) {
  const struct abi_syncobj_transfer *arg = (const struct abi_syncobj_transfer *)call->arg;
  if (!call->device->timelines)
    return -EOPNOTSUPP;
  if (arg->pad != 0)
    return -EINVAL;
  struct dev_syncobj *target = dev_handles_get(&call->client->syncobjs, arg->target);
  if (target == NULL)
    return -ENOENT;
  struct dev_wait wait = {.all = true,
                          .available = true,
                          .deadline_ns = dev_now_ns() + MOST_NS,
                          .target_point = arg->target_point,
                          .finish = finish_transfer};
  if (arg->flags & ~(uint32_t)ABI_SYNCOBJ_WAIT_FOR_SUBMIT)
    return -EINVAL;
  const int result =
      dev_wait_for_syncobjs(&wait, call, &arg->source, &arg->source_point, 1, arg->flags != 0);
  if (result != 0)
    return result;
  target->refs++;
  wait.target = target;
  return dev_wait_begin(&wait, call);
}
