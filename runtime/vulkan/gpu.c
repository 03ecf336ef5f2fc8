/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening and closing the GPU of a context, and what can be asked about it. */
#include "vulkan/gpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "vulkan/route.h"
#include "vulkan/wanted.h"

enum { WHY_SIZE = 256 };

static uint64_t timeout_of(const daedalus_ctx *ctx) {
  uint64_t ms = ctx->timeout_ms;
  const char *text = getenv("DAEDALUS_VULKAN_TIMEOUT_MS");
  if (ms == 0 && text != NULL) {
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || value == 0 || value > UINT32_MAX) {
      daedalus_rt_log(ctx, DAEDALUS_LOG_WARNING,
                      "DAEDALUS_VULKAN_TIMEOUT_MS=%s is no number of milliseconds: %d is taken",
                      text, DAEDALUS_TIMEOUT_MS);
    } else {
      ms = value;
    }
  }
  return (ms != 0 ? ms : DAEDALUS_TIMEOUT_MS) * UINT64_C(1000000);
}

/*
 * The kernel's driver resets a V3D that makes no progress for 500 ms.  The
 * slowest kernel known takes about 0.5 us an item there, so that a submission
 * stays at about an eighth of that.  A card has no such limit, but may be shared.
 */
static size_t items_a_submission(daedalus_device_kind kind) {
  return kind == DAEDALUS_DEVICE_OTHER ? (size_t)1 << 22 : (size_t)1 << 17;
}

static daedalus_gpu *gpu_of(daedalus_ctx *ctx) {
  if (ctx->gpu == NULL) {
    ctx->gpu = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(*ctx->gpu));
    if (ctx->gpu != NULL) {
      *ctx->gpu = (daedalus_gpu){.ctx = ctx};
    }
  }
  return ctx->gpu;
}

static int load(daedalus_gpu *gpu, char *why) {
  if (gpu->loaded) {
    return 0;
  }
  int error = daedalus_rt_vk_load(&gpu->vk, gpu->ctx, why, WHY_SIZE);
  if (error == 0) {
    error = daedalus_rt_vk_enumerate(&gpu->vk, &gpu->devices, why, WHY_SIZE);
    if (error != 0) {
      daedalus_rt_vk_unload(&gpu->vk);
    }
  }
  gpu->loaded = error == 0;
  return error;
}

/** Everything above the device.  What was made before a failure is undone by close_all(). */
static int make_all(daedalus_gpu *gpu) {
  daedalus_rt_vk_memory_init(&gpu->memory, &gpu->device);
  daedalus_rt_vk_pool_init(&gpu->pool, &gpu->memory);
  int error = daedalus_rt_vk_pipelines_init(&gpu->pipelines, &gpu->device, &gpu->pool);
  if (error == 0) {
    error = daedalus_rt_vk_commands_init(&gpu->commands, &gpu->pipelines);
  }
  gpu->timeout_ns = timeout_of(gpu->ctx);
  gpu->items_a_submission = items_a_submission(gpu->device.physical->info.kind);
  return error;
}

static void close_all(daedalus_gpu *gpu) {
  if (gpu->commands.pipelines != NULL) {
    daedalus_rt_vk_commands_close(&gpu->commands);
  }
  daedalus_rt_vk_pipelines_close(&gpu->pipelines);
  daedalus_rt_vk_pool_trim(&gpu->pool);
  daedalus_rt_vk_close(&gpu->device);
}

static int open_gpu(daedalus_gpu *gpu, char *why) {
  const char *asked = daedalus_rt_wanted_device(gpu->ctx);
  int error = load(gpu, why);
  if (error != 0) {
    return error;
  }
  const int index = daedalus_rt_vk_choose(&gpu->devices, asked, why, WHY_SIZE);
  if (index < 0) {
    return index;
  }
  daedalus_vk_physical *physical = &gpu->devices.list[index];
  error = daedalus_rt_vk_open(&gpu->device, &gpu->vk, physical, why, WHY_SIZE);
  if (error != 0) {
    return error;
  }
  error = make_all(gpu);
  if (error != 0) {
    snprintf(why, WHY_SIZE, "%.100s cannot be used: %s failed: %s", physical->name,
             gpu->device.failed_call, daedalus_rt_vk_result(gpu->device.failed_result));
    close_all(gpu);
    return -ENODEV;
  }
  physical->info.memory = gpu->memory.description;
  physical->info.in_place = !gpu->memory.staged;
  daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_INFO,
                  "GPU: %s (%s, %s), subgroups of %" PRIu32 ", memory %s", physical->name,
                  physical->driver, physical->driver_version, physical->info.subgroup_size,
                  gpu->memory.description);
  return 0;
}

int daedalus_rt_gpu_get(daedalus_ctx *ctx, daedalus_gpu **found) {
  daedalus_gpu *gpu = gpu_of(ctx);
  if (gpu == NULL) {
    return -ENODEV;
  }
  *found = gpu;
  if (!gpu->tried) {
    gpu->tried = true;
    char why[WHY_SIZE] = "out of memory";
    const bool wanted = !daedalus_rt_no_device_wanted(ctx);
    gpu->opened = wanted && open_gpu(gpu, why) == 0;
    if (wanted && !gpu->opened) {
      daedalus_rt_log(ctx, DAEDALUS_LOG_WARNING, "no GPU: %s", why);
    }
  }
  return gpu->opened ? 0 : -ENODEV;
}

int daedalus_rt_gpu_open(daedalus_ctx *ctx) {
  daedalus_gpu *gpu;
  return daedalus_rt_gpu_get(ctx, &gpu);
}

int daedalus_rt_gpu_load(daedalus_ctx *ctx) {
  daedalus_gpu *gpu = (ctx->flags & DAEDALUS_CONFIG_NO_QPU) != 0 ? NULL : gpu_of(ctx);
  char why[WHY_SIZE] = "out of memory";
  return gpu == NULL || load(gpu, why) != 0 ? -ENODEV : 0;
}

void daedalus_rt_gpu_close(daedalus_ctx *ctx) {
  daedalus_gpu *gpu = ctx->gpu;
  if (gpu == NULL) {
    return;
  }
  while (gpu->memories != NULL) {
    daedalus_memory_destroy(gpu->memories);
  }
  if (gpu->device.hung) {
    /* What still runs uses all of it, and waiting for it has no end. */
    daedalus_rt_log(ctx, DAEDALUS_LOG_WARNING, "%s still hangs: what it uses is not freed",
                    gpu->device.physical->name);
  } else if (gpu->opened) {
    gpu->vk.fn.DeviceWaitIdle(gpu->device.handle);
  }
  if (gpu->opened) {
    close_all(gpu);
  }
  if (gpu->loaded && !gpu->device.hung) {
    daedalus_rt_vk_unload(&gpu->vk);
  }
  ctx->allocator.release(ctx->allocator.user, gpu->devices.list);
  ctx->allocator.release(ctx->allocator.user, gpu);
  ctx->gpu = NULL;
}

static int give_info(const daedalus_vk_physical *physical, daedalus_device_info *info) {
  if (info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  *info = physical->info;
  return 0;
}

int daedalus_ctx_device(daedalus_ctx *ctx, daedalus_device_info *info) {
  if (ctx == NULL || info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  daedalus_gpu *gpu;
  const int error = daedalus_rt_gpu_get(ctx, &gpu);
  if (error == 0) {
    give_info(gpu->device.physical, info);
    info->lost = gpu->device.lost;
  }
  return error;
}

size_t daedalus_device_count(daedalus_ctx *ctx) {
  return ctx == NULL || daedalus_rt_gpu_load(ctx) != 0 ? 0 : ctx->gpu->devices.n;
}

int daedalus_device_at(daedalus_ctx *ctx, size_t index, daedalus_device_info *info) {
  if (ctx == NULL || index >= daedalus_device_count(ctx)) {
    return -EINVAL;
  }
  return give_info(&ctx->gpu->devices.list[index], info);
}

int daedalus_ctx_pool(const daedalus_ctx *ctx, daedalus_pool_info *info) {
  if (ctx == NULL || info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  *info = ctx->gpu != NULL && ctx->gpu->opened ? ctx->gpu->pool.info : (daedalus_pool_info){0};
  info->size = sizeof(*info);
  return 0;
}

void daedalus_ctx_pool_trim(daedalus_ctx *ctx) {
  if (ctx == NULL || ctx->gpu == NULL || !ctx->gpu->opened || ctx->gpu->device.lost) {
    return;
  }
  daedalus_rt_vk_pool_trim(&ctx->gpu->pool);
  ctx->gpu->pool.info.in_use_peak = ctx->gpu->pool.info.in_use;
}
