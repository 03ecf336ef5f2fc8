/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffer objects.  The kernel makes them of whole pages, gives each an address for as long as it
 * lives, and maps them write-combined: writing is fast, reading slow.
 */
#define _DEFAULT_SOURCE 1
#define _FILE_OFFSET_BITS 64 /* where the kernel has buffers mapped lies above 4 GiB */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/drm/device.h"
#include "../../../v3d/device/abi.h"

int daedalus_rt_drm_failed(daedalus_drm *drm, const char *call, int error) {
  drm->base.failed_call = call;
  drm->base.was_reset = false;
  drm->base.failed_why = strerror(error);
  switch (error) {
    case ENOMEM:
    case ENOSPC: /* of the GPU's addresses */
    case EMFILE:
    case ENFILE:
      return -ENOMEM;
    case ENODEV:
    case EIO:
      drm->base.lost = true;
      return -EIO;
    default:
      return -EIO;
  }
}

int daedalus_rt_drm_ioctl(daedalus_drm *drm, const char *call, unsigned long request, void *arg) {
  return drm->fn.drmIoctl(drm->node.fd, request, arg) == 0
             ? 0
             : daedalus_rt_drm_failed(drm, call, errno);
}

static void link_block(daedalus_drm *drm, daedalus_drm_block *block) {
  block->after = drm->blocks;
  if (drm->blocks != NULL) {
    drm->blocks->before = block;
  }
  drm->blocks = block;
}

static daedalus_drm_block *new_block(daedalus_drm *drm, uint64_t size) {
  const daedalus_allocator *allocator = &drm->base.ctx->allocator;
  daedalus_drm_block *block = allocator->resize(allocator->user, NULL, sizeof(*block));
  if (block != NULL) {
    *block = (daedalus_drm_block){.base = {.size = size, .id = ++drm->last_id}};
    link_block(drm, block);
  }
  return block;
}

static int map_block(daedalus_drm *drm, daedalus_drm_block *block, size_t size) {
  struct abi_mmap_bo where = {.handle = block->handle};
  const int error = daedalus_rt_drm_ioctl(
      drm, "DRM_IOCTL_V3D_MMAP_BO", ABI_REQUEST(1, ABI_V3D_MMAP_BO, struct abi_mmap_bo), &where);
  if (error != 0) {
    return error;
  }
  void *map =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, drm->node.fd, (off_t)where.offset);
  if (map == MAP_FAILED) {
    return daedalus_rt_drm_failed(drm, "mmap", errno == EAGAIN ? ENOMEM : errno);
  }
  block->base.map = map;
  block->map_size = size;
  return 0;
}

int daedalus_rt_drm_block_create(daedalus_gpu_backend *backend, daedalus_gpu_place place,
                                 uint64_t size, bool exported, daedalus_gpu_block **created) {
  (void)place; /* all of it is the same */
  (void)exported;
  daedalus_drm *drm = daedalus_drm_of(backend);
  const uint64_t whole = (size + drm->page - 1) / drm->page * drm->page;
  *created = NULL;
  if (whole < size || whole > UINT32_MAX) {
    return daedalus_rt_drm_failed(drm, "DRM_IOCTL_V3D_CREATE_BO", ENOMEM);
  }
  daedalus_drm_block *block = new_block(drm, size);
  if (block == NULL) {
    return -ENOMEM;
  }
  struct abi_create_bo create = {.size = (uint32_t)whole};
  int error =
      daedalus_rt_drm_ioctl(drm, "DRM_IOCTL_V3D_CREATE_BO",
                            ABI_REQUEST(1, ABI_V3D_CREATE_BO, struct abi_create_bo), &create);
  if (error == 0) {
    block->handle = create.handle;
    block->address = create.offset;
    error = map_block(drm, block, (size_t)whole);
  }
  if (error != 0) {
    daedalus_rt_drm_block_destroy(backend, &block->base);
    return error;
  }
  *created = &block->base;
  return 0;
}

int daedalus_rt_drm_block_import(daedalus_gpu_backend *backend, int fd, uint64_t size,
                                 daedalus_gpu_block **imported) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  *imported = NULL;
  daedalus_drm_block *block = new_block(drm, size);
  if (block == NULL) {
    return -ENOMEM;
  }
  int error = 0;
  if (drm->fn.drmPrimeFDToHandle(drm->node.fd, fd, &block->handle) != 0) {
    const bool lost = backend->lost;
    error = daedalus_rt_drm_failed(drm, "DRM_IOCTL_PRIME_FD_TO_HANDLE", errno);
    backend->lost = lost; /* ENODEV and EIO are the exporter's here */
    block->handle = 0;
  }
  struct abi_get_bo_offset get = {.handle = block->handle};
  if (error == 0) {
    error = daedalus_rt_drm_ioctl(drm, "DRM_IOCTL_V3D_GET_BO_OFFSET",
                                  ABI_REQUEST(1, ABI_V3D_GET_BO_OFFSET, struct abi_get_bo_offset),
                                  &get);
  }
  if (error != 0) {
    daedalus_rt_drm_block_destroy(backend, &block->base);
    return error == -ENOMEM ? -ENOMEM : -ENOTSUP;
  }
  block->address = get.offset;
  *imported = &block->base;
  return 0;
}

int daedalus_rt_drm_block_export(daedalus_gpu_backend *backend, const daedalus_gpu_block *block,
                                 int *fd) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  if (drm->fn.drmPrimeHandleToFD(drm->node.fd, daedalus_drm_block_of(block)->handle,
                                 O_CLOEXEC | O_RDWR, fd) == 0) {
    return 0;
  }
  *fd = -1;
  return daedalus_rt_drm_failed(drm, "DRM_IOCTL_PRIME_HANDLE_TO_FD", errno);
}

/** Whether another block has the same buffer object. */
static bool handle_is_shared(const daedalus_drm *drm, const daedalus_drm_block *block) {
  for (const daedalus_drm_block *other = drm->blocks; other != NULL; other = other->after) {
    if (other != block && other->handle == block->handle) {
      return true;
    }
  }
  return false;
}

void daedalus_rt_drm_block_destroy(daedalus_gpu_backend *backend, daedalus_gpu_block *base) {
  if (base == NULL) {
    return;
  }
  daedalus_drm *drm = daedalus_drm_of(backend);
  daedalus_drm_block *block = (daedalus_drm_block *)base;
  /* The kernel keeps what a job in flight uses, so that even a hanging one's may be let go. */
  if (base->map != NULL) {
    munmap(base->map, block->map_size);
  }
  if (block->handle != 0 && !handle_is_shared(drm, block)) {
    struct abi_gem_close close = {.handle = block->handle};
    drm->fn.drmIoctl(drm->node.fd, ABI_REQUEST(0, ABI_GEM_CLOSE, struct abi_gem_close), &close);
  }
  *(block->before != NULL ? &block->before->after : &drm->blocks) = block->after;
  if (block->after != NULL) {
    block->after->before = block->before;
  }
  const daedalus_allocator *allocator = &drm->base.ctx->allocator;
  allocator->release(allocator->user, block);
}
