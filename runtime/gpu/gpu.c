/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening and closing the GPU of a context, by one route or another; what can be asked about it. */
#include "gpu/gpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/wanted.h"

enum { WHY_SIZE = 512, N_ROUTES = DAEDALUS_GPU_ROUTES };

static daedalus_gpu *gpu_of(daedalus_ctx *ctx) {
  if (ctx->gpu == NULL) {
    ctx->gpu = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(*ctx->gpu));
    if (ctx->gpu != NULL) {
      *ctx->gpu = (daedalus_gpu){.ctx = ctx};
    }
  }
  return ctx->gpu;
}

/** The backend of a route, which for the one that lists devices is made once. */
static int make_backend(daedalus_gpu *gpu, const daedalus_gpu_route *route,
                        daedalus_gpu_backend **made, char *why) {
  if (route->n_devices != NULL && gpu->listed != NULL) {
    *made = gpu->listed;
    return 0;
  }
  const int error = route->create(gpu->ctx, made, why, WHY_SIZE);
  if (error == 0 && route->n_devices != NULL) {
    gpu->listed = *made;
  }
  return error;
}

static int open_route(daedalus_gpu *gpu, const daedalus_gpu_route *route, char *why) {
  daedalus_gpu_backend *backend;
  int error = make_backend(gpu, route, &backend, why);
  if (error != 0) {
    return error;
  }
  daedalus_rt_gpu_pool_init(&gpu->pool, backend);
  backend->pool = &gpu->pool;
  backend->timeout_ns = daedalus_rt_wanted_timeout(gpu->ctx);
  error = route->open(backend, daedalus_rt_wanted_device(gpu->ctx), why, WHY_SIZE);
  if (error != 0) {
    if (backend != gpu->listed) {
      route->destroy(backend);
    }
    return error;
  }
  gpu->backend = backend;
  daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_INFO,
                  "GPU: %s (%s, %s) by the route %s, subgroups of %" PRIu32 ", memory %s",
                  backend->info.name, backend->info.driver, backend->info.driver_version,
                  route->name, backend->info.subgroup_size, backend->info.memory);
  return 0;
}

/** By the route that is wanted, or the first one that leads somewhere. */
static int open_gpu(daedalus_gpu *gpu) {
  const daedalus_gpu_route *const *routes = gpu->ctx->routes;
  const char *wanted = daedalus_rt_wanted_route(gpu->ctx);
  const bool second = wanted != NULL && strcmp(wanted, routes[1]->name) == 0;
  if (wanted != NULL && !second && strcmp(wanted, routes[0]->name) != 0) {
    daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_WARNING,
                    "there is no route \"%s\" to the QPU: \"%s\" and \"%s\" are known", wanted,
                    routes[0]->name, routes[1]->name);
    wanted = NULL;
  }
  const daedalus_gpu_route *const order[N_ROUTES] = {routes[second], routes[!second]};
  char why[N_ROUTES][WHY_SIZE] = {"out of memory", "out of memory"};
  for (size_t i = 0; i < N_ROUTES; i++) {
    if (open_route(gpu, order[i], why[i]) == 0) {
      if (i != 0 && wanted != NULL) {
        daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_WARNING,
                        "the QPU's route %s leads nowhere: %s; %s is used instead", wanted, why[0],
                        order[i]->name);
      }
      return 0;
    }
  }
  daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_WARNING, "no GPU: %s: %s; %s: %s", order[0]->name, why[0],
                  order[1]->name, why[1]);
  return -ENODEV;
}

int daedalus_rt_gpu_get(daedalus_ctx *ctx, daedalus_gpu **found) {
  daedalus_gpu *gpu = gpu_of(ctx);
  if (gpu == NULL) {
    return -ENODEV;
  }
  *found = gpu;
  if (!gpu->tried) {
    gpu->tried = true;
    if (!daedalus_rt_no_device_wanted(ctx)) {
      open_gpu(gpu);
    }
  }
  return gpu->backend != NULL ? 0 : -ENODEV;
}

int daedalus_rt_gpu_open(daedalus_ctx *ctx) {
  daedalus_gpu *gpu;
  return daedalus_rt_gpu_get(ctx, &gpu);
}

daedalus_gpu_program *daedalus_rt_gpu_program_find(daedalus_gpu *gpu,
                                                   const daedalus_kernel_desc *kernel,
                                                   const daedalus_variant *variant,
                                                   uint32_t workgroup) {
  for (daedalus_gpu_program *p = gpu->programs; p != NULL; p = p->next) {
    if (p->variant == variant && p->asked == workgroup) {
      return p;
    }
  }
  daedalus_gpu_program *program;
  daedalus_gpu_backend *backend = gpu->backend;
  if (backend->route->program_create(backend, kernel, variant, workgroup, &program) != 0) {
    return NULL;
  }
  program->kernel = kernel;
  program->variant = variant;
  program->asked = workgroup;
  program->next = gpu->programs;
  gpu->programs = program;
  return program;
}

static void close_backend(daedalus_gpu *gpu) {
  daedalus_gpu_backend *backend = gpu->backend;
  if (backend->hung) {
    /* What still runs uses all of it, and waiting for it has no end. */
    daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_WARNING, "%s still hangs: what it uses is not freed",
                    backend->info.name);
  } else {
    backend->route->idle(backend);
  }
  while (gpu->programs != NULL) {
    daedalus_gpu_program *program = gpu->programs;
    gpu->programs = program->next;
    backend->route->program_destroy(backend, program);
  }
  if (backend != gpu->listed) {
    backend->route->destroy(backend);
  }
  gpu->backend = NULL;
}

void daedalus_rt_gpu_close(daedalus_ctx *ctx) {
  daedalus_gpu *gpu = ctx->gpu;
  if (gpu == NULL) {
    return;
  }
  while (gpu->memories != NULL) {
    daedalus_rt_gpu_memory_destroy(gpu->memories);
  }
  if (gpu->backend != NULL) {
    close_backend(gpu);
  }
  if (gpu->listed != NULL) {
    gpu->listed->route->destroy(gpu->listed);
  }
  ctx->allocator.release(ctx->allocator.user, gpu);
  ctx->gpu = NULL;
}

static int give_info(const daedalus_device_info *found, daedalus_device_info *info) {
  if (info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  *info = *found;
  return 0;
}

int daedalus_ctx_device(daedalus_ctx *ctx, daedalus_device_info *info) {
  if (ctx == NULL || info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  daedalus_gpu *gpu;
  const int error = daedalus_rt_gpu_get(ctx, &gpu);
  if (error == 0) {
    give_info(&gpu->backend->info, info);
    info->lost = gpu->backend->lost;
  }
  return error;
}

/** The backend whose devices are listed, or NULL. */
static const daedalus_gpu_backend *listed(daedalus_ctx *ctx) {
  daedalus_gpu *gpu = (ctx->flags & DAEDALUS_CONFIG_NO_QPU) != 0 ? NULL : gpu_of(ctx);
  const daedalus_gpu_route *const *routes = ctx->routes;
  char why[WHY_SIZE];
  daedalus_gpu_backend *backend = NULL;
  for (size_t i = 0; gpu != NULL && backend == NULL && i < N_ROUTES; i++) {
    if (routes[i]->n_devices != NULL && make_backend(gpu, routes[i], &backend, why) != 0) {
      backend = NULL;
    }
  }
  return backend;
}

size_t daedalus_device_count(daedalus_ctx *ctx) {
  const daedalus_gpu_backend *backend = ctx == NULL ? NULL : listed(ctx);
  return backend == NULL ? 0 : backend->route->n_devices(backend);
}

int daedalus_device_at(daedalus_ctx *ctx, size_t index, daedalus_device_info *info) {
  const daedalus_gpu_backend *backend = ctx == NULL ? NULL : listed(ctx);
  if (backend == NULL || index >= backend->route->n_devices(backend)) {
    return -EINVAL;
  }
  return give_info(backend->route->device_at(backend, index), info);
}

int daedalus_ctx_pool(const daedalus_ctx *ctx, daedalus_pool_info *info) {
  if (ctx == NULL || info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  const bool opened = ctx->gpu != NULL && ctx->gpu->backend != NULL;
  *info = opened ? ctx->gpu->pool.info : (daedalus_pool_info){0};
  info->size = sizeof(*info);
  return 0;
}

void daedalus_ctx_pool_trim(daedalus_ctx *ctx) {
  if (ctx == NULL || ctx->gpu == NULL || ctx->gpu->backend == NULL || ctx->gpu->backend->lost) {
    return;
  }
  daedalus_rt_gpu_pool_trim(&ctx->gpu->pool);
  ctx->gpu->pool.info.in_use_peak = ctx->gpu->pool.info.in_use;
}
