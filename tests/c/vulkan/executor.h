/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the stub driver's dispatches with CPU variants, by what table.h says of a GPU variant's
 * arguments: bindings, records, push constants, workgroups.
 */
#ifndef DAEDALUS_TESTS_VULKAN_EXECUTOR_H
#define DAEDALUS_TESTS_VULKAN_EXECUTOR_H

#include <daedalus/table.h>

#include "stub.h"

typedef struct executor {
  const daedalus_kernel_table *table; /* where a module's variant is looked for */
  unsigned long dispatches, items;    /* done so far */
  unsigned long faults;               /* arguments that table.h does not allow; printed */
  /* Spoils a byte of what the nth item from now writes; negative: never. */
  long spoil;
  bool spoil_all; /* of every item */
} executor;

/* For stub_settings.execute; `user` is an executor. */
void executor_run(void *user, const stub_dispatch *dispatch);

#endif /* DAEDALUS_TESTS_VULKAN_EXECUTOR_H */
