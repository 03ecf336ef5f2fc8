/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/context.h"

#include <errno.h>
#include <string.h>

#include "gpu/route.h"

/* The structs of releases 0.1 and 0.2 ended before these members. */
static const size_t size_of_0_1 = offsetof(daedalus_config, device);
static const size_t size_of_0_2 = offsetof(daedalus_config, recipe);

static const uint32_t known_flags = DAEDALUS_CONFIG_NO_QPU | DAEDALUS_CONFIG_CHECK_OVERLAP;

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

/*
 * Takes over `config`.  The logger comes first, so that what is wrong with the
 * rest is told to the caller's own logger; of a struct of unknown size nothing
 * is read.
 */
static int configure(daedalus_ctx *ctx, const daedalus_config *config) {
  ctx->log = daedalus_rt_log_stderr;
  if (config == NULL) {
    return 0;
  }
  if (config->size != sizeof(*config) && config->size != size_of_0_1 &&
      config->size != size_of_0_2) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "daedalus_config.size is %zu, this library knows %zu, %zu and %zu",
                    config->size, sizeof(*config), size_of_0_2, size_of_0_1);
    return -EINVAL;
  }
  if (config->log != NULL) {
    ctx->log = config->log;
    ctx->log_user = config->log_user;
  }
  if ((config->flags & ~known_flags) != 0) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "daedalus_config.flags has unknown bits 0x%lx",
                    (unsigned long)(config->flags & ~known_flags));
    return -EINVAL;
  }
  ctx->flags = config->flags;
  if (config->size == size_of_0_1) {
    return 0;
  }
  ctx->get_instance_proc_addr = config->get_instance_proc_addr;
  ctx->timeout_ms = config->timeout_ms;
  int error = copy_text(ctx, config->device, &ctx->device);
  if (error == 0) {
    error = copy_text(ctx, config->cache_dir, &ctx->cache_dir);
  }
  return error == 0 ? copy_text(ctx, config->route, &ctx->route) : error;
}

/** NULL where the caller's struct ends before it. */
static const char *recipe_of(const daedalus_config *config) {
  return config == NULL || config->size <= size_of_0_2 ? NULL : config->recipe;
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
  daedalus_ctx created = {.allocator = *allocator, .table = table};
  int error = configure(&created, config);
  if (error == 0) {
    error = check_table(&created, table);
  }
  if (error == 0) {
    error = daedalus_rt_recipe_load(&created, recipe_of(config));
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
  daedalus_rt_gpu_close(ctx);
  release_texts(ctx);
  const daedalus_allocator allocator = ctx->allocator;
  allocator.release(allocator.user, ctx);
}
