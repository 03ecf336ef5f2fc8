/* SPDX-License-Identifier: BSD-2-Clause */
/* The direct route through DRM, as runtime/gpu asks for it. */
#define _DEFAULT_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "gpu/drm/submit.h"
#include "gpu/drm/timestamp.h"
#include "gpu/pool.h"
#include "gpu/wanted.h"

/* The kernel's driver resets a GPU that makes no progress for 500 ms; see submit.h. */
enum { RESET_MS = 400 };

static const char memory_text[] = "shared with the CPU, not cached: the CPU reads it slowly";

static int create(daedalus_ctx *ctx, daedalus_gpu_backend **backend, char *why, size_t why_size) {
  daedalus_drm *drm = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(*drm));
  *backend = NULL;
  if (drm == NULL) {
    return -ENODEV;
  }
  *drm = (daedalus_drm){.base = {.route = &daedalus_gpu_drm, .ctx = ctx}, .node = {.fd = -1}};
  drm->page = (size_t)sysconf(_SC_PAGESIZE);
  drm->base.block_unit = drm->page;
  if (daedalus_rt_drm_load(&drm->fn, why, why_size) != 0 ||
      daedalus_rt_drm_find(&drm->fn, open, &drm->node, why, why_size) != 0) {
    ctx->allocator.release(ctx->allocator.user, drm);
    return -ENODEV;
  }
  *backend = &drm->base;
  return 0;
}

static int open_device(daedalus_gpu_backend *backend, const char *asked, char *why,
                       size_t why_size) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  const daedalus_drm_node *node = &drm->node;
  if (asked != NULL && !daedalus_rt_name_holds(node->name, asked) &&
      !daedalus_rt_name_holds(node->driver, asked)) {
    snprintf(why, why_size, "%s (%s) does not answer to \"%s\"", node->name, node->path, asked);
    return -ENODEV;
  }
  backend->info = (daedalus_device_info){
      .size = sizeof(backend->info),
      .name = node->name,
      .driver = "DRM",
      .driver_version = node->driver,
      .memory = memory_text,
      .kind = DAEDALUS_DEVICE_V3D,
      .subgroup_size = 16,
      .max_workgroup = node->n_qpus * 4,
      .in_place = 1,
      .exports_fence = 1,
      .imports_dmabuf = 1,
      .timestamps = daedalus_rt_drm_has_timestamps(drm),
      .route = daedalus_gpu_drm.name,
  };
  backend->range_most = UINT32_MAX;
  backend->exports_dmabuf = true;
  drm->reset_ns =
      daedalus_rt_wanted_ms(backend->ctx, "DAEDALUS_DRM_RESET_MS", 0, RESET_MS) * UINT64_C(1000000);
  return 0;
}

static void destroy(daedalus_gpu_backend *backend) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  const daedalus_allocator *allocator = &backend->ctx->allocator;
  daedalus_rt_drm_submissions_close(drm);
  if (drm->query_sync != 0) {
    drm->fn.drmSyncobjDestroy(drm->node.fd, drm->query_sync);
  }
  if (drm->copier != NULL) {
    daedalus_rt_drm_program_destroy(backend, drm->copier);
  }
  if (drm->marker != NULL) {
    daedalus_rt_gpu_pool_give(backend->pool, drm->marker);
  }
  daedalus_rt_gpu_pool_trim(backend->pool);
  close(drm->node.fd);
  allocator->release(allocator->user, drm);
}

/* Jobs run one after the other, see submit.h; and the kernel's fences hand dma-bufs over. */

static int barrier(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission) {
  (void)backend;
  (void)submission;
  return 0;
}

static int hand_over(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                     const daedalus_gpu_block *block, bool acquire) {
  (void)backend;
  (void)submission;
  (void)block;
  (void)acquire;
  return 0;
}

const daedalus_gpu_route daedalus_gpu_drm = {
    .name = "drm",
    .has = daedalus_rt_drm_has,
    .create = create,
    .open = open_device,
    .destroy = destroy,
    .idle = daedalus_rt_drm_idle,
    .block_create = daedalus_rt_drm_block_create,
    .block_import = daedalus_rt_drm_block_import,
    .block_export = daedalus_rt_drm_block_export,
    .block_destroy = daedalus_rt_drm_block_destroy,
    .program_create = daedalus_rt_drm_program_create,
    .program_make = daedalus_rt_drm_program_make,
    .program_destroy = daedalus_rt_drm_program_destroy,
    .begin = daedalus_rt_drm_begin,
    .dispatch = daedalus_rt_drm_dispatch,
    .barrier = barrier,
    .copy = daedalus_rt_drm_copy,
    .hand_over = hand_over,
    .mark = daedalus_rt_drm_mark,
    .submit = daedalus_rt_drm_submit,
    .wait = daedalus_rt_drm_wait,
    .give = daedalus_rt_drm_give,
    .elapsed = daedalus_rt_drm_elapsed,
    .export_fence = daedalus_rt_drm_export_fence,
};
