/* SPDX-License-Identifier: BSD-2-Clause */
/* What a context would do, before anything is appended. */
#include <errno.h>
#include <string.h>

#include "base/batch.h"
#include "cpu/cpu.h"
#include "gpu/job.h"
#include "gpu/route.h"

int daedalus_ctx_has_qpu(daedalus_ctx *ctx) {
  if (ctx == NULL) {
    return -EINVAL;
  }
  daedalus_device_info info = {.size = sizeof(info)};
  return daedalus_rt_gpu_open(ctx) == 0 && daedalus_ctx_device(ctx, &info) == 0 && info.lost == 0;
}

/** @return the class's index, or n_classes */
static uint16_t class_of_name(const daedalus_kernel_desc *kernel, const char *name) {
  uint16_t c = 0;
  while (c < kernel->n_classes && strcmp(kernel->classes[c].name, name) != 0) {
    c++;
  }
  return c;
}

/** As an append for AUTO picks, of buffers at address and stride 0: aligned for every variant. */
static int pick_of(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel, uint16_t class_index,
                   bool qpu, daedalus_pick *pick) {
  *pick = daedalus_rt_cpu_pick(ctx, kernel, class_index);
  if (!qpu) {
    return 0;
  }
  daedalus_pick *picks =
      ctx->allocator.resize(ctx->allocator.user, NULL, kernel->n_classes * sizeof(*picks));
  if (picks == NULL) {
    return -ENOMEM;
  }
  for (uint16_t c = 0; c < kernel->n_classes; c++) {
    picks[c] = daedalus_rt_cpu_pick(ctx, kernel, c);
  }
  const daedalus_buffer buffers[DAEDALUS_GPU_BUFFERS_MOST] = {{NULL, 0}};
  const daedalus_work work = {.kernel = kernel, .buffers = buffers};
  daedalus_rt_gpu_follow(ctx, &work, picks);
  *pick = picks[class_index];
  ctx->allocator.release(ctx->allocator.user, picks);
  return 0;
}

int daedalus_ctx_placement(daedalus_ctx *ctx, const char *kernel_id, const char *class_name,
                           daedalus_placement *placement) {
  if (ctx == NULL || kernel_id == NULL || placement == NULL ||
      placement->size != sizeof(*placement)) {
    return -EINVAL;
  }
  const daedalus_kernel_desc *kernel = daedalus_rt_find_kernel(ctx->table, kernel_id);
  if (kernel == NULL) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "there is no kernel %s in this library", kernel_id);
    return -EINVAL;
  }
  const uint16_t c = class_of_name(kernel, class_name == NULL ? "full" : class_name);
  if (c == kernel->n_classes) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s has no class %s", kernel->id, class_name);
    return -EINVAL;
  }
  const daedalus_recipe_entry *entry =
      daedalus_rt_recipe_find(ctx, kernel, c, DAEDALUS_SUBSTRATE_AUTO);
  daedalus_pick pick;
  const int error = pick_of(ctx, kernel, c, entry != NULL && entry->variant->cpu == NULL, &pick);
  if (error != 0) {
    return error;
  }
  if (pick.variant == NULL) {
    return -ENODEV;
  }
  const bool on_cpu = pick.variant->cpu != NULL;
  *placement = (daedalus_placement){
      .size = sizeof(*placement),
      .kernel = kernel->id,
      .class_name = kernel->classes[c].name,
      .variant = pick.variant->name,
      .route = on_cpu ? NULL : entry->route,
      .reason = pick.reason,
      .substrate = on_cpu ? DAEDALUS_SUBSTRATE_CPU : DAEDALUS_SUBSTRATE_QPU,
      .recorded = entry != NULL,
  };
  return 0;
}
