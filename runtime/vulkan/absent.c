/* SPDX-License-Identifier: BSD-2-Clause */
/* The route of a build without Vulkan's headers: there is no GPU. */
#include <errno.h>
#include <stddef.h>

#include "vulkan/route.h"
#include "vulkan/wanted.h"

/* There is one as soon as it was said that there is no GPU. */
struct daedalus_gpu {
  char said;
};

int daedalus_rt_gpu_open(daedalus_ctx *ctx) {
  if (ctx->gpu == NULL && !daedalus_rt_no_device_wanted(ctx)) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_WARNING,
                    "no GPU: this library was built without the Vulkan headers");
    ctx->gpu = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(*ctx->gpu));
  }
  return -ENODEV;
}

void daedalus_rt_gpu_close(daedalus_ctx *ctx) {
  ctx->allocator.release(ctx->allocator.user, ctx->gpu);
}

/* Nothing below is reached with work for the GPU, as no append for it succeeds. */

void daedalus_rt_gpu_choose(daedalus_ctx *ctx, const daedalus_work *work, daedalus_pick *picks) {
  (void)ctx;
  for (size_t c = 0; c < work->kernel->n_classes; c++) {
    picks[c] = (daedalus_pick){0};
  }
}

int daedalus_rt_gpu_accept(daedalus_ctx *ctx, const daedalus_work *work,
                           const daedalus_variant *variant, uint32_t workgroup,
                           daedalus_pick *pick) {
  (void)ctx;
  (void)work;
  (void)variant;
  (void)workgroup;
  (void)pick;
  return -ENODEV;
}

int daedalus_rt_gpu_submit(daedalus_batch *batch, size_t first, size_t end) {
  (void)batch;
  (void)first;
  (void)end;
  return -EIO;
}

int daedalus_rt_gpu_wait(daedalus_batch *batch, int64_t timeout_ns) {
  (void)timeout_ns;
  return batch->gpu_error;
}

int daedalus_rt_gpu_before_cpu(daedalus_batch *batch, const daedalus_group *group) {
  (void)batch;
  (void)group;
  return 0;
}

void daedalus_rt_gpu_after_cpu(daedalus_batch *batch, const daedalus_group *group) {
  (void)batch;
  (void)group;
}

int daedalus_rt_gpu_time(const daedalus_batch *batch, uint64_t *ns) {
  (void)batch;
  (void)ns;
  return -ENOTSUP;
}

int daedalus_rt_gpu_export_fence(daedalus_batch *batch, int *fd) {
  (void)batch;
  *fd = -1;
  return -ENOTSUP;
}

void daedalus_rt_gpu_forget(daedalus_batch *batch) {
  (void)batch;
}

int daedalus_ctx_device(daedalus_ctx *ctx, daedalus_device_info *info) {
  if (ctx == NULL || info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  return daedalus_rt_gpu_open(ctx);
}

size_t daedalus_device_count(daedalus_ctx *ctx) {
  (void)ctx;
  return 0;
}

int daedalus_device_at(daedalus_ctx *ctx, size_t index, daedalus_device_info *info) {
  (void)ctx;
  (void)index;
  (void)info;
  return -EINVAL;
}

int daedalus_ctx_pool(const daedalus_ctx *ctx, daedalus_pool_info *info) {
  if (ctx == NULL || info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  *info = (daedalus_pool_info){.size = sizeof(*info)};
  return 0;
}

void daedalus_ctx_pool_trim(daedalus_ctx *ctx) {
  (void)ctx;
}

int daedalus_memory_create(daedalus_ctx *ctx, size_t size, daedalus_memory **memory) {
  if (memory == NULL) {
    return -EINVAL;
  }
  *memory = NULL;
  return ctx == NULL || size == 0 ? -EINVAL : daedalus_rt_gpu_open(ctx);
}

int daedalus_memory_import_dmabuf(daedalus_ctx *ctx, int fd, size_t size, void *mapping,
                                  daedalus_memory **memory) {
  (void)mapping;
  return fd < 0 ? -EINVAL : daedalus_memory_create(ctx, size, memory);
}

/* No object of memory is ever made, so there is none to be handed in. */

int daedalus_memory_export_dmabuf(daedalus_memory *memory, int *fd) {
  (void)memory;
  (void)fd;
  return -EINVAL;
}

void *daedalus_memory_data(const daedalus_memory *memory) {
  (void)memory;
  return NULL;
}

size_t daedalus_memory_size(const daedalus_memory *memory) {
  (void)memory;
  return 0;
}

int daedalus_memory_flush(daedalus_memory *memory, size_t offset, size_t size) {
  (void)memory;
  (void)offset;
  (void)size;
  return -EINVAL;
}

int daedalus_memory_invalidate(daedalus_memory *memory, size_t offset, size_t size) {
  return daedalus_memory_flush(memory, offset, size);
}

void daedalus_memory_destroy(daedalus_memory *memory) {
  (void)memory;
}
