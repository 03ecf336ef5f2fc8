/* SPDX-License-Identifier: BSD-2-Clause */
/* Records: what GPU code reads of its items, in the order in which they are done: drm-route.md. */
#include <string.h>

#include "gpu/job.h"

/** Where records go, and of what. */
typedef struct gathering {
  const daedalus_group *group;
  daedalus_gpu_arguments code;
  const unsigned char *meta; /* the group's */
  const uint32_t *items;     /* numbers of those of the dispatch */
  uint32_t *out;
} gathering;

/** The records of `n` items from number `at` of the dispatch on. */
static void gather(gathering *g, size_t at, size_t n) {
  for (const uint32_t *index = g->items + at; index < g->items + at + n; index++) {
    const unsigned char *item = g->meta + (size_t)*index * g->group->kernel->meta_size;
    for (size_t k = 0; k < g->code.n_record; k++, g->out++) {
      if (g->code.record[k] == DAEDALUS_RECORD_INDEX) {
        *g->out = *index;
      } else {
        memcpy(g->out, item + (size_t)g->code.record[k] * sizeof(*g->out), sizeof(*g->out));
      }
    }
  }
}

void daedalus_rt_gpu_job_gather(const daedalus_gpu_job *job, const daedalus_group *group,
                                const daedalus_gpu_program *program, uint64_t records, size_t first,
                                size_t end) {
  const daedalus_gpu_arguments code = daedalus_gpu_arguments_of(group->variant);
  const uint64_t offset =
      job->records_offset + records + (uint64_t)first * code.n_record * sizeof(uint32_t);
  gathering g = {
      .group = group,
      .code = code,
      .meta = (const unsigned char *)job->batch->work->meta.data + group->meta_at,
      .items = (const uint32_t *)job->batch->work->items.data + group->items_at + first,
      .out = (uint32_t *)(void *)(job->records->map + offset),
  };
  const size_t n = end - first, group_items = program->items_group;
  const size_t groups = group_items == 0 ? 0 : program->items_step / group_items;
  const size_t trips = groups == 0 ? 0 : n / program->items_step; /* that all threads make */
  for (size_t trip = 0; trip < trips; trip++) {
    for (size_t i = 0; i < groups; i++) {
      gather(&g, (i * trips + trip) * group_items, group_items);
    }
  }
  const size_t done = trips * program->items_step;
  gather(&g, done, n - done);
}
