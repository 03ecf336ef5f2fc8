/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread synchroniser, as far as compute jobs need it: the barrier of a supergroup, whose
 * configuration barrierid hands out.
 */
#include "simulator/engine.h"

unsigned daedalus_v3d_sync(v3d_thread *thread, v3d_op *op, const uint32_t *config) {
  v3d_supergroup *group = thread->supergroup;
  (void)config;
  (void)op;
  thread->awaits_barrier = true;
  thread->barrier_generation = group->generation;
  if (++group->arrived == group->n_batches) {
    group->arrived = 0;
    group->generation++;
  }
  return 0;
}
