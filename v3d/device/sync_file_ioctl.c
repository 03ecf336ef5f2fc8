/* SPDX-License-Identifier: BSD-2-Clause */
/* Sync files as clients ask for them: the descriptor itself came along first. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"

int dev_sync_file_create(struct dev_device *device, struct dev_fence *fence, const char *name,
                         int *fd) {
  int ends[2];
  struct stat status;
  dev_sweep_if_many(device);
  struct dev_sync_file *file = calloc(1, sizeof *file);
  if (file == NULL)
    return -ENOMEM;
  bool made = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0;
  if (!made) {
    dev_sweep(device);
    made = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0;
  }
  if (!made || fstat(ends[0], &status) != 0) {
    free(file);
    return -EMFILE;
  }
  file->fence = dev_fence_ref(fence);
  file->fd = ends[1];
  file->inode = status.st_ino;
  memcpy(file->name, name, strnlen(name, sizeof file->name - 1));
  /* In order, so that those that others were merged of are signaled before these. */
  *device->last_sync_file = file;
  device->last_sync_file = &file->next;
  device->n_sync_files++;
  device->n_unwritten++;
  dev_sync_files_progress(device); /* its fence may be signaled already */
  *fd = ends[0];
  return 0;
}

enum { MAX_PARTS = 1024 };

struct leaves {
  size_t n;
  struct dev_fence *fences[MAX_PARTS];
};

static bool contains(struct dev_fence *const *fences, size_t n, const struct dev_fence *fence) {
  for (size_t i = 0; i < n; i++)
    if (fences[i] == fence)
      return true;
  return false;
}

/* The fences that a fence consists of, each once. False: it consists of too many. */
static bool unwrap(struct dev_fence *fence, struct leaves *leaves) {
  struct dev_fence *seen[MAX_PARTS] = {fence};
  size_t n = 1;
  leaves->n = 0;
  for (size_t at = 0; at < n; at++) {
    const struct dev_fence *whole = seen[at];
    if (whole->n_parts == 0)
      leaves->fences[leaves->n++] = seen[at];
    for (size_t i = 0; i < whole->n_parts; i++) {
      if (contains(seen, n, whole->parts[i].part))
        continue;
      if (n == MAX_PARTS)
        return false;
      seen[n++] = whole->parts[i].part;
    }
  }
  return true;
}

static int merge_files(struct dev_call *call, const struct dev_sync_file *file) {
  struct abi_sync_merge *merge = (struct abi_sync_merge *)call->arg;
  if (merge->flags != 0 || merge->pad != 0)
    return -EINVAL;
  const struct dev_sync_file *other =
      call->fds_in.n < 2 ? NULL : dev_sync_file_of(call->device, call->fds_in.fd[1]);
  if (other == NULL)
    return -ENOENT;
  merge->name[sizeof merge->name - 1] = 0;
  struct dev_fence *parts[2] = {file->fence, other->fence};
  struct dev_fence *fence =
      file->fence == other->fence ? dev_fence_ref(file->fence) : dev_fence_merge(parts, 2);
  if (fence == NULL)
    return -ENOMEM;
  const int result = dev_sync_file_create(call->device, fence, merge->name, &call->fd_out);
  dev_fence_unref(fence);
  return result;
}

static int tell(struct dev_call *call, const struct dev_sync_file *file) {
  struct abi_sync_file_info *arg = (struct abi_sync_file_info *)call->arg;
  struct leaves leaves;
  if (arg->flags != 0 || arg->pad != 0)
    return -EINVAL;
  if (!unwrap(file->fence, &leaves))
    return -ENOMEM;
  const uint32_t room = arg->n_fences;
  memcpy(arg->name, file->name, sizeof arg->name);
  arg->status = file->fence->signaled;
  arg->n_fences = (uint32_t)leaves.n;
  if (room == 0)
    return 0;
  if (room < leaves.n)
    return -EINVAL;
  struct abi_sync_fence_info *infos = calloc(leaves.n, sizeof *infos);
  if (infos == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < leaves.n; i++) {
    const struct dev_fence *fence = leaves.fences[i];
    const char *driver = fence->is_job ? "drm_sched" : fence->name;
    memcpy(infos[i].object, fence->name, strlen(fence->name));
    memcpy(infos[i].driver, driver, strlen(driver));
    infos[i].status = fence->signaled;
    infos[i].timestamp_ns = fence->signaled_ns;
  }
  const int result = dev_user_write(call, arg->fences, infos, leaves.n * sizeof *infos);
  free(infos);
  return result;
}

int dev_ioctl_of_sync_file(struct dev_call *call) {
  const struct dev_sync_file *file =
      call->fds_in.n == 0 ? NULL : dev_sync_file_of(call->device, call->fds_in.fd[0]);
  if (file == NULL)
    return -ENOTTY;
  switch (ABI_NR(call->code)) {
    case ABI_SYNC_MERGE:
      return merge_files(call, file);
    case ABI_SYNC_INFO:
      return tell(call, file);
    case ABI_SYNC_SET_DEADLINE: /* a hint */
      return ((const struct abi_sync_deadline *)call->arg)->pad != 0 ? -EINVAL : 0;
    default:
      return -ENOTTY;
  }
}
