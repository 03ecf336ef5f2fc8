/* SPDX-License-Identifier: BSD-2-Clause */
/* The ioctls of an exported buffer, as those of a dma-buf. */
#include <errno.h>
#include <stdlib.h>

#include "call.h"

static int finish_sync(struct dev_wait *wait, int result, uint32_t first, uint64_t clock_ns) {
  (void)wait;
  (void)first;
  (void)clock_ns;
  return result;
}

/* The program is about to look: jobs that were submitted before end first. */
static int sync_access(struct dev_call *call, const struct dev_bo *bo) {
  const struct abi_dma_buf_sync *arg = (const struct abi_dma_buf_sync *)call->arg;
  const uint64_t both = ABI_DMA_BUF_READ | ABI_DMA_BUF_WRITE;
  if (arg->flags & ~(both | ABI_DMA_BUF_END) || !(arg->flags & both))
    return -EINVAL;
  if (arg->flags & ABI_DMA_BUF_END || bo->last == NULL)
    return 0;
  struct dev_wait wait = {.all = true, .n = 1, .deadline_ns = UINT64_MAX, .finish = finish_sync};
  wait.entries = calloc(1, sizeof *wait.entries);
  if (wait.entries == NULL)
    return -ENOMEM;
  wait.entries->fence = dev_fence_ref(bo->last);
  return dev_wait_begin(&wait, call);
}

static int export_sync_file(struct dev_call *call, const struct dev_bo *bo) {
  const struct abi_dma_buf_sync_file *arg = (const struct abi_dma_buf_sync_file *)call->arg;
  const uint32_t both = ABI_DMA_BUF_READ | ABI_DMA_BUF_WRITE;
  if (arg->flags & ~both || !(arg->flags & both))
    return -EINVAL;
  struct dev_fence *fence = bo->last != NULL ? dev_fence_ref(bo->last) : dev_fence_create(true);
  if (fence == NULL)
    return -ENOMEM;
  const int result = dev_sync_file_create(call->device, fence, "", &call->fd_out);
  dev_fence_unref(fence);
  return result;
}

/* Jobs to come that name the buffer wait for the sync file, too. */
static int import_sync_file(struct dev_call *call, struct dev_bo *bo) {
  const struct abi_dma_buf_sync_file *arg = (const struct abi_dma_buf_sync_file *)call->arg;
  const uint32_t both = ABI_DMA_BUF_READ | ABI_DMA_BUF_WRITE;
  if (arg->flags & ~both || !(arg->flags & both))
    return -EINVAL;
  const struct dev_sync_file *file =
      call->fds_in.n < 2 ? NULL : dev_sync_file_of(call->device, call->fds_in.fd[1]);
  if (file == NULL)
    return -EINVAL;
  if (bo->last == NULL || bo->last->signaled) {
    dev_fence_replace(&bo->last, file->fence);
    return 0;
  }
  struct dev_fence *parts[2] = {bo->last, file->fence};
  struct dev_fence *fence = dev_fence_merge(parts, 2);
  if (fence == NULL)
    return -ENOMEM;
  dev_fence_replace(&bo->last, fence);
  dev_fence_unref(fence);
  return 0;
}

int dev_ioctl_of_dma_buf(struct dev_call *call) {
  const struct wire_position position =
      call->fds_in.n == 0 ? (struct wire_position){.object = WIRE_NOTHING}
                          : dev_descriptor_object(call->device, call->fds_in.fd[0]);
  const struct dev_export *export =
      position.object == WIRE_BUFFER ? dev_export_find(call->device, position) : NULL;
  if (export == NULL)
    return -ENOTTY;
  switch (ABI_NR(call->code)) {
    case ABI_DMA_BUF_SYNC:
      return sync_access(call, export->bo);
    case ABI_DMA_BUF_SET_NAME: /* for who debugs the kernel */
      return 0;
    case ABI_DMA_BUF_EXPORT_SYNC_FILE:
      return export_sync_file(call, export->bo);
    case ABI_DMA_BUF_IMPORT_SYNC_FILE:
      return import_sync_file(call, export->bo);
    default:
      return -ENOTTY;
  }
}
