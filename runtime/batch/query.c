/* SPDX-License-Identifier: BSD-2-Clause */
/* What a context would do, before anything is appended. */
#include <errno.h>
#include <string.h>

#include "batch/choices.h"
#include "gpu/route.h"

int daedalus_ctx_has_qpu(daedalus_ctx *ctx) {
  if (ctx == NULL) {
    return -EINVAL;
  }
  return daedalus_rt_gpu_open(ctx) == 0 && !daedalus_rt_gpu_lost(ctx);
}

/** @return the class's index, or n_classes */
static uint16_t class_of_name(const daedalus_kernel_desc *kernel, const char *name) {
  uint16_t c = 0;
  while (c < kernel->n_classes && strcmp(kernel->classes[c].name, name) != 0) {
    c++;
  }
  return c;
}

/** @return the kernel, or NULL, logged */
static const daedalus_kernel_desc *kernel_of_id(const daedalus_ctx *ctx, const char *id) {
  const daedalus_kernel_desc *kernel = daedalus_rt_find_kernel(ctx->table, id);
  if (kernel == NULL) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "there is no kernel %s in this library", id);
  }
  return kernel;
}

int daedalus_ctx_prepare(daedalus_ctx *ctx, const char *kernel_id, daedalus_substrate substrate) {
  const daedalus_kernel_desc *kernel =
      ctx == NULL || kernel_id == NULL ? NULL : kernel_of_id(ctx, kernel_id);
  daedalus_choices *choices;
  const int error = kernel == NULL ? -EINVAL : daedalus_rt_choices_check(ctx, kernel, substrate);
  return error == 0 ? daedalus_rt_choices_get(ctx, kernel, substrate, &choices) : error;
}

int daedalus_ctx_placement(daedalus_ctx *ctx, const char *kernel_id, const char *class_name,
                           daedalus_placement *placement) {
  if (ctx == NULL || kernel_id == NULL || placement == NULL ||
      placement->size != sizeof(*placement)) {
    return -EINVAL;
  }
  const daedalus_kernel_desc *kernel = kernel_of_id(ctx, kernel_id);
  if (kernel == NULL) {
    return -EINVAL;
  }
  const uint16_t c = class_of_name(kernel, class_name == NULL ? "full" : class_name);
  if (c == kernel->n_classes) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s has no class %s", kernel->id, class_name);
    return -EINVAL;
  }
  daedalus_choices *choices;
  const int error = daedalus_rt_choices_get(ctx, kernel, DAEDALUS_SUBSTRATE_AUTO, &choices);
  if (error != 0) {
    return error;
  }
  const daedalus_pick pick = daedalus_rt_choices_pick(choices, c, NULL);
  const daedalus_recipe_entry *entry =
      daedalus_rt_recipe_find(ctx, kernel, c, DAEDALUS_SUBSTRATE_AUTO);
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
