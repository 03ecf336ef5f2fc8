/* SPDX-License-Identifier: BSD-2-Clause */
/* Performance queries: monitors that CPU jobs reset, and copy to buffers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfmon.h"

enum { MOST_MONITORS = 64 }; /* of a query; there are not that many counters */

/* The monitors of a query; those that are unknown are left out when it runs. */
static int read_monitors(struct dev_call *call, uint64_t address, uint32_t n,
                         struct dev_query *query) {
  uint32_t *ids;
  const int result = dev_user_array(call, address, n, sizeof *ids, &ids);
  if (result != 0)
    return result;
  query->perfmons = calloc((size_t)n + 1, sizeof(struct dev_perfmon *));
  if (query->perfmons == NULL) {
    free(ids);
    return -ENOMEM;
  }
  for (uint32_t i = 0; i < n; i++)
    query->perfmons[i] = dev_perfmon_get(call->client, ids[i]);
  query->n_perfmons = n;
  free(ids);
  return 0;
}

/* n queries, of so many monitors each. */
static int read_queries(struct dev_call *call, struct dev_job *job, uint64_t syncs,
                        uint64_t monitors, uint32_t n, uint32_t n_monitors) {
  uint32_t *handles = NULL;
  uint64_t *lists = NULL;
  if (n_monitors > MOST_MONITORS)
    return -EINVAL;
  int result = dev_user_array(call, syncs, n, sizeof *handles, &handles);
  if (result == 0)
    result = dev_user_array(call, monitors, n, sizeof *lists, &lists);
  if (result == 0) {
    job->cpu.queries = calloc((size_t)n + 1, sizeof *job->cpu.queries);
    result = job->cpu.queries == NULL ? -ENOMEM : 0;
  }
  for (uint32_t i = 0; result == 0 && i < n; i++) {
    struct dev_query *query = &job->cpu.queries[i];
    query->syncobj = dev_handles_get(&call->client->syncobjs, handles[i]);
    if (query->syncobj == NULL) {
      result = -ENOENT;
      break;
    }
    query->syncobj->refs++;
    job->cpu.n++;
    result = read_monitors(call, lists[i], n_monitors, query);
  }
  free(handles);
  free(lists);
  return result;
}

int dev_perf_read(struct dev_call *call, uint64_t address, struct dev_job *job) {
  if (job->cpu.type == ABI_EXT_RESET_PERFORMANCE) {
    struct abi_reset_performance reset;
    const int result = dev_user_read(call, address, &reset, sizeof reset);
    return result != 0 ? result
                       : read_queries(call, job, reset.syncs, reset.monitors, reset.count,
                                      reset.n_monitors);
  }
  struct abi_copy_performance copy;
  const int result = dev_user_read(call, address, &copy, sizeof copy);
  if (result != 0)
    return result;
  if (copy.mbz != 0)
    return -EINVAL;
  job->cpu.wide = copy.do_64bit;
  job->cpu.partial = copy.do_partial;
  job->cpu.availability = copy.availability_bit;
  job->cpu.offset = copy.offset;
  job->cpu.stride = copy.stride;
  job->cpu.n_counters = copy.n_counters;
  return read_queries(call, job, copy.syncs, copy.monitors, copy.count, copy.n_monitors);
}

/* Word index of a query's results, in the buffer. */
static int put(struct dev_job *job, uint64_t at, uint64_t index, uint64_t value) {
  const size_t width = job->cpu.wide ? 8 : 4;
  uint8_t *to = dev_job_bo_at(job, job->bos[0], at + index * width, width);
  if (to == NULL)
    return -EINVAL;
  memcpy(to, &value, width); /* little-endian hosts: the low half comes first */
  return 0;
}

static int copy_query(struct dev_job *job, const struct dev_query *query, uint64_t at) {
  const struct dev_fence *fence = query->syncobj->fence;
  const bool available = fence != NULL && fence->signaled;
  int result = 0;
  for (uint32_t i = 0; (available || job->cpu.partial) && i < query->n_perfmons; i++) {
    const struct dev_perfmon *perfmon = query->perfmons[i];
    for (uint32_t j = 0; result == 0 && perfmon != NULL && j < perfmon->n; j++)
      result = put(job, at, (uint64_t)i * ABI_MAX_COUNTERS + j, perfmon->values[j]);
  }
  if (result == 0 && job->cpu.availability)
    result = put(job, at, job->cpu.n_counters, available);
  return result;
}

int dev_perf_run(struct dev_job *job) {
  int result = 0;
  for (size_t i = 0; result == 0 && i < job->cpu.n; i++) {
    struct dev_query *query = &job->cpu.queries[i];
    if (job->cpu.type == ABI_EXT_COPY_PERFORMANCE) {
      result = copy_query(job, query, job->cpu.offset + (uint64_t)i * job->cpu.stride);
      continue;
    }
    for (uint32_t j = 0; j < query->n_perfmons; j++)
      if (query->perfmons[j] != NULL)
        memset(query->perfmons[j]->values, 0, sizeof query->perfmons[j]->values);
    dev_fence_replace(&query->syncobj->fence, NULL);
  }
  return result;
}
