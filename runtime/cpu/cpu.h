/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU as a place to run variants. */
#ifndef DAEDALUS_CPU_CPU_H
#define DAEDALUS_CPU_CPU_H

#include "base/context.h"
#include "base/groups.h"

/** What is to run a class of items, and why. */
typedef struct daedalus_pick {
  const daedalus_variant *variant; /* NULL: nothing here can */
  const char *reason;              /* static */
  uint32_t workgroup;              /* of a GPU variant, as daedalus_append_variant() takes it */
} daedalus_pick;

/** @return the variant of lowest rank that can do items of that class on the CPU, one for any items
 *          among them; NULL where the class has none of its own: wider ones may have */
const daedalus_variant *daedalus_rt_cpu_choose(const daedalus_kernel_desc *kernel,
                                               uint16_t class_index);

/**
 * What is to run items of that class on the CPU: what the recipe names where the CPU can run it,
 * else that of lowest rank; no variant where there is none.
 */
daedalus_pick daedalus_rt_cpu_pick(const daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                                   uint16_t class_index);

/** Runs one of the groups on the calling thread. */
void daedalus_rt_cpu_run(const daedalus_groups *work, const daedalus_group *group);

#endif /* DAEDALUS_CPU_CPU_H */
