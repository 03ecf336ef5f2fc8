/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/cpu.h"

void daedalus_rt_cpu_run(const daedalus_groups *work, const daedalus_group *group) {
  /* Positions become pointers only here: the arrays may have moved since the append. */
  const daedalus_buffer *buffers = work->buffers.data;
  const unsigned char *meta = work->meta.data;
  const uint32_t *items = work->items.data;
  if (buffers != NULL) {
    buffers += group->buffers_at;
  }
  if (meta != NULL) {
    meta += group->meta_at;
  }
  group->variant->cpu(buffers, meta, items + group->items_at, group->n_items);
}
