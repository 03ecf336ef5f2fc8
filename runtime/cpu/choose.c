/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/cpu.h"

const daedalus_variant *daedalus_rt_cpu_choose(const daedalus_kernel_desc *kernel,
                                               uint16_t class_index) {
  const daedalus_variant *best = NULL;
  for (size_t i = 0; i < kernel->n_variants; i++) {
    const daedalus_variant *variant = &kernel->variants[i];
    if (variant->class_index == class_index && variant->cpu != NULL &&
        (variant->needs & ~daedalus_cpu_features) == 0 &&
        (best == NULL || variant->rank < best->rank)) {
      best = variant;
    }
  }
  return best;
}
