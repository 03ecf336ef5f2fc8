/* SPDX-License-Identifier: BSD-2-Clause */
#include "batch/context.h"

#include <errno.h>
#include <string.h>

#include "base/config.h"
#include "batch/choices.h"
#include "gpu/backend.h"
#include "gpu/route.h"

/* What a Pi was measured with comes first. */
static const daedalus_gpu_route *const routes[DAEDALUS_GPU_ROUTES] = {&daedalus_gpu_vulkan,
                                                                      &daedalus_gpu_drm};

static int copy_text(const daedalus_ctx *ctx, const char *text, char **copy) {
  if (text == NULL) {
    return 0;
  }
  const size_t size = strlen(text) + 1;
  *copy = ctx->allocator.resize(ctx->allocator.user, NULL, size);
  if (*copy == NULL) {
    return -ENOMEM;
  }
  memcpy(*copy, text, size);
  return 0;
}

static void release_texts(daedalus_ctx *ctx) {
  ctx->allocator.release(ctx->allocator.user, ctx->device);
  ctx->allocator.release(ctx->allocator.user, ctx->cache_dir);
  ctx->allocator.release(ctx->allocator.user, ctx->route);
  daedalus_rt_recipe_free(ctx);
}

/** Takes over `config`. */
static int configure(daedalus_ctx *ctx, const daedalus_config *config) {
  ctx->flags = config->flags;
  ctx->get_instance_proc_addr = config->get_instance_proc_addr;
  ctx->timeout_ms = config->timeout_ms;
  int error = copy_text(ctx, config->device, &ctx->device);
  if (error == 0) {
    error = copy_text(ctx, config->cache_dir, &ctx->cache_dir);
  }
  return error == 0 ? copy_text(ctx, config->route, &ctx->route) : error;
}

static int check_table(const daedalus_ctx *ctx, const daedalus_kernel_table *table) {
  if (table->version == DAEDALUS_TABLE_VERSION) {
    return 0;
  }
  daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                  "the kernel table has version %lu, this runtime needs %d: generated code and "
                  "runtime are of different releases",
                  (unsigned long)table->version, DAEDALUS_TABLE_VERSION);
  return -EINVAL;
}

daedalus_ctx *daedalus_rt_ctx_create(const daedalus_config *config,
                                     const daedalus_kernel_table *table,
                                     const daedalus_allocator *allocator) {
  daedalus_ctx created = {.allocator = *allocator, .table = table, .routes = routes};
  daedalus_config known;
  int error = daedalus_rt_config_read(&created, config, &known);
  if (error == 0) {
    error = configure(&created, &known);
  }
  if (error == 0) {
    error = check_table(&created, table);
  }
  if (error == 0) {
    error = daedalus_rt_recipe_load(&created, known.recipe);
  }
  daedalus_ctx *ctx = NULL;
  if (error == 0) {
    ctx = allocator->resize(allocator->user, NULL, sizeof(*ctx));
    error = ctx == NULL ? -ENOMEM : 0;
  }
  if (error != 0) {
    release_texts(&created);
    errno = -error;
    return NULL;
  }
  *ctx = created;
  return ctx;
}

daedalus_ctx *daedalus_ctx_create_with(const daedalus_config *config) {
  return daedalus_rt_ctx_create(config, &daedalus_kernels, &daedalus_rt_libc_allocator);
}

daedalus_ctx *daedalus_ctx_create(void) {
  return daedalus_ctx_create_with(NULL);
}

daedalus_ctx *daedalus_ctx_create_no_qpu(void) {
  const daedalus_config config = {.size = sizeof(config), .flags = DAEDALUS_CONFIG_NO_QPU};
  return daedalus_ctx_create_with(&config);
}

void daedalus_ctx_destroy(daedalus_ctx *ctx) {
  if (ctx == NULL) {
    return;
  }
  while (ctx->batches != NULL) {
    daedalus_batch_destroy(ctx->batches);
  }
  daedalus_rt_choices_free(ctx);
  daedalus_rt_gpu_close(ctx);
  release_texts(ctx);
  const daedalus_allocator allocator = ctx->allocator;
  allocator.release(allocator.user, ctx);
}
