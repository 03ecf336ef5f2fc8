/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps of /dev/dma_heap, where decoders and cameras get the buffers that the GPU then imports: of
 * the device's memory, as a Pi has but one.
 */
#include <errno.h>
#include <fcntl.h>

#include "call.h"

static int allocate(struct dev_call *call) {
  const struct abi_dma_heap_alloc *arg = (const struct abi_dma_heap_alloc *)call->arg;
  struct dev_bo *bo;
  if (arg->fd != 0 || arg->heap_flags != 0 || arg->fd_flags & ~(uint32_t)(O_CLOEXEC | O_ACCMODE))
    return -EINVAL;
  int result = dev_bo_create(call->device, arg->bytes, &bo);
  if (result != 0)
    return result;
  const int fd = dev_bo_descriptor(bo, (int)arg->fd_flags & O_ACCMODE);
  call->fd_out = fd < 0 ? -1 : fd;
  result = fd < 0 ? fd : 0;
  dev_bo_unref(bo); /* the descriptor's alone */
  return result;
}

int dev_ioctl_of_dma_heap(struct dev_call *call) {
  if (call->fds_in.n == 0 ||
      dev_descriptor_object(call->device, call->fds_in.fd[0]).object != WIRE_HEAP ||
      ABI_NR(call->code) != ABI_DMA_HEAP_ALLOC)
    return -ENOTTY;
  return allocate(call);
}
