/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/cpu.h"

const daedalus_variant *daedalus_rt_cpu_choose(const daedalus_kernel_desc *kernel,
                                               uint16_t class_index) {
  const uint16_t full = (uint16_t)(kernel->n_classes - 1);
  const daedalus_variant *best = NULL;
  bool has_own = false;
  for (size_t i = 0; i < kernel->n_variants; i++) {
    const daedalus_variant *variant = &kernel->variants[i];
    const bool own = variant->class_index == class_index;
    /* In a library those for any items rank behind a class's own of their target, and before those
     * of targets that come later. */
    if ((own || variant->class_index == full) && variant->cpu != NULL &&
        (variant->needs & ~daedalus_cpu_features) == 0) {
      best = best == NULL || variant->rank < best->rank ? variant : best;
      has_own = has_own || own;
    }
  }
  return has_own ? best : NULL;
}

daedalus_pick daedalus_rt_cpu_pick(const daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                                   uint16_t class_index) {
  const daedalus_recipe_entry *entry =
      daedalus_rt_recipe_find(ctx, kernel, class_index, DAEDALUS_SUBSTRATE_CPU);
  if (entry != NULL && (entry->variant->needs & ~daedalus_cpu_features) == 0) {
    return (daedalus_pick){.variant = entry->variant, .reason = entry->reason};
  }
  const daedalus_variant *variant = daedalus_rt_cpu_choose(kernel, class_index);
  return (daedalus_pick){.variant = variant,
                         .reason = variant == NULL ? NULL
                                   : entry != NULL ? "this processor cannot run the recipe's "
                                                     "variant: the one of lowest rank"
                                                   : variant->reason};
}
