/* SPDX-License-Identifier: BSD-2-Clause */
/* daedalus_memory: memory that the GPU uses in place. */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/job.h"

/* What an address of memory is a multiple of, and its size rounded up to. */
static const size_t unit = 256;

daedalus_memory *daedalus_rt_gpu_memory_at(const daedalus_gpu *gpu, daedalus_gpu_extent extent) {
  for (daedalus_memory *memory = gpu->memories; memory != NULL; memory = memory->next) {
    const uintptr_t data = (uintptr_t)memory->data;
    if (extent.begin >= data && extent.end <= data + memory->size) {
      return memory;
    }
  }
  return NULL;
}

/** As uses are compared. */
static daedalus_gpu_extent extent_of(const daedalus_memory *memory) {
  return (daedalus_gpu_extent){memory->base, memory->base + memory->size};
}

/** A submission that is behind all before.  @return 0 or an error of the backend's */
static int begin_now(daedalus_gpu *gpu, daedalus_gpu_submission **submission) {
  daedalus_gpu_backend *backend = gpu->backend;
  int error = backend->route->begin(backend, false, submission);
  if (error == 0) {
    error = backend->route->barrier(backend, *submission);
    if (error != 0) {
      backend->route->give(backend, *submission);
    }
  }
  return error;
}

/** Submits it, and waits, unless it could not be filled.  @return 0, the error, -ETIME for a hang
 */
static int do_now(daedalus_gpu *gpu, daedalus_gpu_submission *submission, int error) {
  daedalus_gpu_backend *backend = gpu->backend;
  if (error == 0) {
    error = backend->route->submit(backend, submission);
    if (error == 0) {
      do { /* a job that lies before it in the queue has that time, too */
        error = backend->route->wait(backend, submission, backend->timeout_ns);
      } while (error == -ETIME && daedalus_rt_gpu_any_progress(gpu));
      backend->hung = backend->hung || (error == -ETIME && !backend->lost);
      backend->lost = backend->lost || error != 0; /* it is in flight, and out of sight */
    }
  }
  backend->route->give(backend, submission);
  return error;
}

static int copy_now(daedalus_memory *memory, daedalus_gpu_extent extent, bool to_device) {
  daedalus_gpu_submission *submission;
  const int error = begin_now(memory->gpu, &submission);
  if (error != 0) {
    return error;
  }
  const uint64_t offset = extent.begin - memory->base;
  const daedalus_gpu_copy copy = {.from = to_device ? memory->staging : memory->block,
                                  .to = to_device ? memory->block : memory->staging,
                                  .from_offset = offset,
                                  .to_offset = offset,
                                  .size = extent.end - extent.begin};
  daedalus_gpu_backend *backend = memory->gpu->backend;
  return do_now(memory->gpu, submission, backend->route->copy(backend, submission, &copy));
}

static int release_now(daedalus_memory *memory) {
  daedalus_gpu_submission *submission;
  const int error = begin_now(memory->gpu, &submission);
  if (error != 0) {
    return error;
  }
  daedalus_gpu_backend *backend = memory->gpu->backend;
  return do_now(memory->gpu, submission,
                backend->route->hand_over(backend, submission, memory->block, false));
}

int daedalus_rt_gpu_memory_copy(daedalus_memory *memory, daedalus_gpu_extent extent,
                                bool to_device) {
  daedalus_gpu *gpu = memory->gpu;
  if (gpu->backend->lost) {
    return -ECANCELED;
  }
  int error = extent.begin == extent.end ? 0 : copy_now(memory, extent, to_device);
  if (error != 0 && !gpu->backend->lost) {
    error = copy_now(memory, extent, to_device);
  }
  if (error != 0) {
    gpu->backend->lost = true;
    daedalus_rt_gpu_report(gpu, error);
    return -ECANCELED;
  }
  const daedalus_gpu_extent newer = memory->newer;
  if (extent.begin <= newer.begin && newer.end <= extent.end) {
    memory->newer = (daedalus_gpu_extent){0, 0}; /* either way both halves are the same there */
  }
  return 0;
}

void daedalus_rt_gpu_memory_cpu(const daedalus_memory *memory, bool begin) {
  if (memory->fd >= 0) {
    daedalus_rt_gpu_dmabuf_sync(memory->fd, begin);
  }
}

/** A descriptor of the dma-buf of memory that was made for it.  @return 0 or -ENOTSUP */
static int get_dmabuf(daedalus_memory *memory, int *fd) {
  daedalus_gpu *gpu = memory->gpu;
  if (memory->imported || memory->staged || !gpu->backend->exports_dmabuf) {
    return -ENOTSUP;
  }
  return gpu->backend->route->block_export(gpu->backend, memory->block, fd) == 0 ? 0 : -ENOTSUP;
}

void daedalus_rt_gpu_memory_settle(daedalus_memory *memory) {
  int fd = memory->fd;
  if (memory->staged || (fd < 0 && get_dmabuf(memory, &fd) != 0)) {
    return;
  }
  daedalus_rt_gpu_dmabuf_sync(fd, true);
  daedalus_rt_gpu_dmabuf_sync(fd, false);
  if (fd != memory->fd) {
    close(fd);
  }
}

static void link_memory(daedalus_gpu *gpu, daedalus_memory *memory) {
  memory->next = gpu->memories;
  if (gpu->memories != NULL) {
    gpu->memories->previous = memory;
  }
  gpu->memories = memory;
}

static int make(daedalus_gpu *gpu, daedalus_memory *memory) {
  const uint64_t size = (memory->size + unit - 1) / unit * unit;
  daedalus_gpu_backend *backend = gpu->backend;
  const daedalus_gpu_route *route = backend->route;
  memory->staged = backend->staged;
  int error = 0;
  if (memory->staged) {
    error = route->block_create(backend, DAEDALUS_GPU_LOCAL, size, false, &memory->block);
    if (error == 0) {
      error = route->block_create(backend, DAEDALUS_GPU_SHARED, size, false, &memory->staging);
    }
    memory->data = error == 0 ? memory->staging->map : NULL;
  } else {
    error = route->block_create(backend, DAEDALUS_GPU_SHARED, size, backend->exports_dmabuf,
                                &memory->block);
    memory->data = error == 0 ? memory->block->map : NULL;
  }
  memory->base = (uintptr_t)memory->data;
  if (error == 0) {
    memset(memory->data, 0, memory->size);
  }
  if (error == 0 && memory->staged) {
    error = daedalus_rt_gpu_memory_copy(memory, extent_of(memory), true);
    if (error != 0) {
      daedalus_rt_gpu_finish_lost(gpu);
    }
  }
  return error;
}

static void free_memory(daedalus_memory *memory) {
  daedalus_gpu *gpu = memory->gpu;
  if (gpu->backend->lost && !gpu->backend->hung) {
    gpu->backend->route->idle(gpu->backend); /* a copy may be left that nobody waited for */
  }
  gpu->backend->route->block_destroy(gpu->backend, memory->block);
  gpu->backend->route->block_destroy(gpu->backend, memory->staging);
  if (memory->dmabuf != NULL) {
    daedalus_rt_gpu_dmabuf_drop(&gpu->ctx->allocator, &gpu->dmabufs, memory->dmabuf, memory->data,
                                memory->map_size);
  } else if (memory->map_size != 0) {
    munmap(memory->data, memory->map_size);
  }
  if (memory->fd >= 0) {
    close(memory->fd);
  }
  gpu->ctx->allocator.release(gpu->ctx->allocator.user, memory);
}

/** @return 0 or -ENODEV; -ENODEV, too, when the device is lost: nothing can lie in it */
static int new_memory(daedalus_ctx *ctx, size_t size, daedalus_memory **memory) {
  daedalus_gpu *gpu;
  const int error = daedalus_rt_gpu_get(ctx, &gpu);
  if (error != 0 || gpu->backend->lost) {
    return -ENODEV;
  }
  *memory = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(**memory));
  if (*memory == NULL) {
    return -ENOMEM;
  }
  **memory = (daedalus_memory){.gpu = gpu, .size = size, .fd = -1, .readable = true};
  return 0;
}

int daedalus_memory_create(daedalus_ctx *ctx, size_t size, daedalus_memory **memory) {
  if (memory == NULL) {
    return -EINVAL;
  }
  *memory = NULL;
  if (ctx == NULL || size == 0 || size > SIZE_MAX / 2) {
    return -EINVAL;
  }
  daedalus_memory *made;
  int error = new_memory(ctx, size, &made);
  if (error != 0) {
    return error;
  }
  error = make(made->gpu, made);
  if (error != 0) {
    free_memory(made);
    return error == -ENOMEM ? -ENOMEM : -ENODEV;
  }
  link_memory(made->gpu, made);
  *memory = made;
  return 0;
}

/** The mapping of an imported dma-buf; an address alone where there can be none. */
static int map_import(daedalus_memory *memory, void *mapping) {
  if (mapping != NULL) {
    memory->data = mapping;
    return 0;
  }
  void *map = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
  if (map == MAP_FAILED) {
    memory->readable = false;
    map = mmap(NULL, memory->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (map == MAP_FAILED) {
    return -ENOMEM;
  }
  memory->data = map;
  memory->map_size = memory->size;
  return 0;
}

/** Finds out whether other memory lies in the same dma-buf.  @return 0 or -ENOMEM */
static int know_dmabuf(daedalus_memory *memory, int fd) {
  daedalus_gpu *gpu = memory->gpu;
  const uintptr_t data = (uintptr_t)memory->data;
  const int error =
      daedalus_rt_gpu_dmabuf_take(&gpu->ctx->allocator, &gpu->dmabufs, fd, data, &memory->dmabuf);
  memory->base = memory->dmabuf != NULL ? memory->dmabuf->base : data;
  return error;
}

/** @return 0, -ENOMEM or -ENOTSUP, logged */
static int import_block(daedalus_memory *memory, int fd) {
  daedalus_gpu_backend *backend = memory->gpu->backend;
  backend->failed_call = NULL;
  const int error = backend->route->block_import(backend, fd, memory->size, &memory->block);
  if (error == 0) {
    return 0;
  }
  if (backend->failed_call == NULL) {
    daedalus_rt_log(memory->gpu->ctx, DAEDALUS_LOG_ERROR,
                    "%s cannot import the dma-buf: out of memory", backend->info.name);
  } else {
    daedalus_rt_log(memory->gpu->ctx, DAEDALUS_LOG_ERROR,
                    "%s cannot import the dma-buf: %s failed: %s", backend->info.name,
                    backend->failed_call, backend->failed_why);
  }
  return error == -ENOMEM ? -ENOMEM : -ENOTSUP;
}

int daedalus_memory_import_dmabuf(daedalus_ctx *ctx, int fd, size_t size, void *mapping,
                                  daedalus_memory **memory) {
  if (memory == NULL) {
    return -EINVAL;
  }
  *memory = NULL;
  if (ctx == NULL || fd < 0 || size == 0 || size % 4 != 0 || (uintptr_t)mapping % 64 != 0) {
    return -EINVAL;
  }
  const off_t end = lseek(fd, 0, SEEK_END); /* which a dma-buf answers; what does not, has none */
  if (end >= 0 && (uintmax_t)end < size) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "the dma-buf has %jd bytes, fewer than the %zu asked",
                    (intmax_t)end, size);
    return -EINVAL;
  }
  daedalus_memory *made;
  int error = new_memory(ctx, size, &made);
  if (error != 0) {
    return error;
  }
  daedalus_gpu *gpu = made->gpu;
  made->imported = true;
  if (gpu->backend->info.imports_dmabuf == 0) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s cannot import a dma-buf", gpu->backend->info.name);
    free_memory(made);
    return -ENOTSUP;
  }
  made->fd = dup(fd);
  if (made->fd < 0) {
    error = -ENOMEM;
  } else {
    error = import_block(made, fd);
  }
  if (error == 0) {
    error = map_import(made, mapping);
  }
  if (error == 0) {
    error = know_dmabuf(made, fd);
  }
  if (error != 0) {
    free_memory(made);
    return error;
  }
  made->released = true;
  link_memory(gpu, made);
  *memory = made;
  return 0;
}

/** Lets others use it: from now on each submission hands it over to them.  @return 0 or -ENOMEM */
static int share(daedalus_memory *memory, int fd) {
  daedalus_gpu *gpu = memory->gpu;
  const daedalus_gpu_extent all = extent_of(memory);
  const daedalus_gpu_use use = {.all = all, .writes = all, .by_cpu = true};
  daedalus_rt_gpu_finish_conflicting(gpu, &use, 1);
  int error = memory->dmabuf != NULL ? 0 : know_dmabuf(memory, fd);
  if (error == 0 && !gpu->backend->lost) {
    error = release_now(memory);
    if (gpu->backend->lost) { /* what lies in it is there all the same */
      daedalus_rt_gpu_report(gpu, error);
      daedalus_rt_gpu_finish_lost(gpu);
      error = 0;
    }
  }
  memory->released = error == 0;
  return error == 0 ? 0 : -ENOMEM;
}

int daedalus_memory_export_dmabuf(daedalus_memory *memory, int *fd) {
  if (fd == NULL) {
    return -EINVAL;
  }
  *fd = -1;
  if (memory == NULL) {
    return -EINVAL;
  }
  int error = get_dmabuf(memory, fd);
  if (error == 0 && !memory->released) {
    error = share(memory, *fd);
    if (error != 0) {
      close(*fd);
      *fd = -1;
    }
  }
  return error;
}

void *daedalus_memory_data(const daedalus_memory *memory) {
  return memory == NULL ? NULL : memory->data;
}

size_t daedalus_memory_size(const daedalus_memory *memory) {
  return memory == NULL ? 0 : memory->size;
}

static int bring_over(daedalus_memory *memory, size_t offset, size_t size, bool to_device) {
  if (memory == NULL || offset > memory->size || size > memory->size - offset) {
    return -EINVAL;
  }
  const daedalus_gpu_extent extent = {memory->base + offset, memory->base + offset + size};
  daedalus_gpu *gpu = memory->gpu;
  daedalus_rt_gpu_memory_cpu(memory, !to_device);
  if (!memory->staged || size == 0) {
    return 0;
  }
  const daedalus_gpu_use use = {.all = extent, .writes = extent, .by_cpu = true};
  daedalus_rt_gpu_finish_conflicting(gpu, &use, 1);
  if (daedalus_rt_gpu_memory_copy(memory, extent, to_device) == 0) {
    return 0;
  }
  daedalus_rt_gpu_finish_lost(gpu);
  /* What the CPU has is then all there is, which is an error only if the GPU had more. */
  return !to_device && daedalus_gpu_overlap(memory->newer, extent) ? -EIO : 0;
}

int daedalus_memory_flush(daedalus_memory *memory, size_t offset, size_t size) {
  return bring_over(memory, offset, size, true);
}

int daedalus_memory_invalidate(daedalus_memory *memory, size_t offset, size_t size) {
  return bring_over(memory, offset, size, false);
}

daedalus_ctx *daedalus_rt_gpu_memory_ctx(const daedalus_memory *memory) {
  return memory->gpu->ctx;
}

bool daedalus_rt_gpu_touches(const daedalus_groups *work, const daedalus_memory *memory) {
  const uintptr_t data = (uintptr_t)memory->data;
  const daedalus_gpu_extent own = {data, data + memory->size};
  for (size_t g = 0; g < work->list.size; g++) {
    const daedalus_group *group = (const daedalus_group *)work->list.data + g;
    for (size_t i = 0; i < group->kernel->n_buffers; i++) {
      const daedalus_gpu_part part = daedalus_rt_gpu_part(work, group, i);
      const unsigned access = DAEDALUS_ACCESS_READ | DAEDALUS_ACCESS_WRITE;
      if (daedalus_gpu_overlap(daedalus_rt_gpu_extent(&part, access), own)) {
        return true;
      }
    }
  }
  return false;
}

void daedalus_rt_gpu_memory_destroy(daedalus_memory *memory) {
  daedalus_gpu *gpu = memory->gpu;
  const daedalus_gpu_extent all = extent_of(memory);
  const daedalus_gpu_use use = {.all = all, .writes = all, .by_cpu = true};
  daedalus_rt_gpu_finish_conflicting(gpu, &use, 1);
  if (memory->next != NULL) {
    memory->next->previous = memory->previous;
  }
  *(memory->previous != NULL ? &memory->previous->next : &gpu->memories) = memory->next;
  free_memory(memory);
}
