/* SPDX-License-Identifier: BSD-2-Clause */
/* Which variants can be used on the device at hand; each is made ready and tested once. */
#include <errno.h>

#include "gpu/gpu.h"
#include "gpu/selftest.h"

bool daedalus_rt_gpu_lost(const daedalus_ctx *ctx) {
  return ctx->gpu != NULL && ctx->gpu->backend != NULL && ctx->gpu->backend->lost;
}

bool daedalus_rt_gpu_has(const daedalus_ctx *ctx, const daedalus_variant *variant) {
  return ctx->gpu->backend->route->has(variant);
}

const uint8_t *daedalus_rt_gpu_align(const daedalus_variant *variant) {
  return daedalus_gpu_arguments_of(variant).align;
}

/** @return as daedalus_rt_gpu_prepare(); `why` is set to the reason of an error */
static int prepare(daedalus_gpu *gpu, const daedalus_kernel_desc *kernel,
                   const daedalus_variant *variant, uint32_t workgroup, const char **why) {
  *why = DAEDALUS_GPU_UNTESTED_WHY;
  daedalus_gpu_program *program = daedalus_rt_gpu_program_find(gpu, kernel, variant, workgroup);
  if (program == NULL) {
    return -EAGAIN;
  }
  if (program->trust == DAEDALUS_GPU_UNTESTED) {
    daedalus_rt_gpu_selftest(gpu, program);
  }
  if (program->trust == DAEDALUS_GPU_REFUSED) {
    *why = program->why;
    return -ENODEV;
  }
  return program->trust == DAEDALUS_GPU_TRUSTED ? 0 : -EAGAIN;
}

int daedalus_rt_gpu_prepare(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                            const daedalus_variant *variant, uint32_t workgroup) {
  const char *why;
  return prepare(ctx->gpu, kernel, variant, workgroup, &why);
}

int daedalus_rt_gpu_accept(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                           const daedalus_variant *variant, uint32_t workgroup) {
  const daedalus_gpu_backend *backend = ctx->gpu->backend;
  const char *why;
  if (backend->lost) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s cannot run here: the GPU was lost", variant->name);
  } else if (!backend->route->has(variant)) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "%s cannot run on %s: it is not for the route %s; DAEDALUS_QPU_ROUTE chooses",
                    variant->name, backend->info.name, backend->route->name);
  } else if (prepare(ctx->gpu, kernel, variant, workgroup, &why) != 0) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s cannot run on %s: %s", variant->name,
                    backend->info.name, why);
  } else {
    return 0;
  }
  return -ENODEV;
}
