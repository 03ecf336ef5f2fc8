/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "gpu/dmabuf.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#if defined(__linux__)
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#endif

int daedalus_rt_gpu_dmabuf_take(const daedalus_allocator *allocator, daedalus_gpu_dmabuf **list,
                                int fd, uintptr_t base, daedalus_gpu_dmabuf **made) {
  *made = NULL;
  struct stat status;
  /* An inode of its own has the dma-buf's size; the one that all shared before has none. */
  if (fstat(fd, &status) != 0 || status.st_size <= 0) {
    return 0;
  }
  daedalus_gpu_dmabuf *found = *list;
  while (found != NULL && (found->device != status.st_dev || found->inode != status.st_ino)) {
    found = found->next;
  }
  if (found == NULL) {
    found = allocator->resize(allocator->user, NULL, sizeof(*found));
    if (found == NULL) {
      return -ENOMEM;
    }
    *found = (daedalus_gpu_dmabuf){
        .device = status.st_dev, .inode = status.st_ino, .base = base, .next = *list};
    *list = found;
  }
  found->n_users++;
  *made = found;
  return 0;
}

void daedalus_rt_gpu_dmabuf_drop(const daedalus_allocator *allocator, daedalus_gpu_dmabuf **list,
                                 daedalus_gpu_dmabuf *dmabuf, void *map, size_t map_size) {
  if (--dmabuf->n_users != 0) {
    if (map_size != 0 && (uintptr_t)map == dmabuf->base) {
      dmabuf->map = map; /* so that nothing else comes to lie at these addresses */
      dmabuf->map_size = map_size;
    } else if (map_size != 0) {
      munmap(map, map_size);
    }
    return;
  }
  if (map_size != 0) {
    munmap(map, map_size);
  }
  if (dmabuf->map_size != 0) {
    munmap(dmabuf->map, dmabuf->map_size);
  }
  daedalus_gpu_dmabuf **at = list;
  while (*at != dmabuf) {
    at = &(*at)->next;
  }
  *at = dmabuf->next;
  allocator->release(allocator->user, dmabuf);
}

void daedalus_rt_gpu_dmabuf_sync(int fd, bool begin) {
#if defined(__linux__)
  struct dma_buf_sync sync = {.flags = (begin ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END) |
                                       DMA_BUF_SYNC_RW};
  /* Whether it has to be told is the exporter's affair; where it cannot be, it need not. */
  while (ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync) != 0 && (errno == EINTR || errno == EAGAIN)) {
  }
#else
  (void)fd;
  (void)begin;
#endif
}
