/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/table.h>

#include <string.h>

#include "base/context.h"

size_t daedalus_rt_kernel_number(const daedalus_kernel_table *table,
                                 const daedalus_kernel_desc *kernel) {
  /* By addresses: pointers to parts of different arrays must not be subtracted. */
  const size_t k = ((uintptr_t)kernel - (uintptr_t)table->kernels) / sizeof(*kernel);
  return k < table->n_kernels && kernel == &table->kernels[k] ? k : table->n_kernels;
}

const daedalus_kernel_desc *daedalus_rt_find_kernel(const daedalus_kernel_table *table,
                                                    const char *id) {
  for (size_t i = 0; i < table->n_kernels; i++) {
    if (strcmp(table->kernels[i].id, id) == 0) {
      return &table->kernels[i];
    }
  }
  for (size_t i = 0; i < table->n_aliases; i++) {
    if (strcmp(table->aliases[i].alias, id) == 0) {
      return &table->kernels[table->aliases[i].kernel];
    }
  }
  return NULL;
}

const daedalus_kernel_desc *daedalus_find_kernel(const char *id) {
  return id == NULL ? NULL : daedalus_rt_find_kernel(&daedalus_kernels, id);
}
