/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs: what they hold, and what they wait for. */
#include <errno.h>
#include <stdlib.h>

#include "fault_jobs.h"
#include "perfmon.h"

static void forget_monitors(struct dev_job *job) {
  for (size_t i = 0; i < job->cpu.n; i++) {
    for (uint32_t j = 0; j < job->cpu.queries[i].n_perfmons; j++)
      dev_perfmon_unref(job->cpu.queries[i].perfmons[j]);
    free(job->cpu.queries[i].perfmons);
  }
  dev_perfmon_unref(job->perfmon);
}

void dev_job_destroy(struct dev_job *job) {
  if (job == NULL)
    return;
  for (size_t i = 0; i < job->n_waits; i++)
    dev_fence_unref(job->waits[i]);
  for (size_t i = 0; i < job->n_bos; i++)
    dev_bo_unref(job->bos[i]);
  forget_monitors(job);
  for (size_t i = 0; i < job->cpu.n; i++)
    dev_syncobj_unref(job->cpu.queries[i].syncobj);
  dev_bo_unref(job->cpu.uniforms);
  dev_fence_unref(job->done);
  dev_view_unref(job->view);
  dev_fault_forget(job);
  free(job->waits);
  free(job->bos);
  free(job->cpu.queries);
  free(job->modelled);
  free(job);
}

int dev_job_wait_for(struct dev_job *job, struct dev_fence *fence) {
  if (fence == NULL || fence->signaled)
    return 0;
  if ((job->n_waits & (job->n_waits - 1)) == 0) { /* full at each power of two */
    const size_t room = job->n_waits ? job->n_waits * 2 : 1;
    struct dev_fence **waits = realloc(job->waits, room * sizeof(struct dev_fence *));
    if (waits == NULL)
      return -ENOMEM;
    job->waits = waits;
  }
  job->waits[job->n_waits++] = dev_fence_ref(fence);
  return 0;
}

struct dev_job *dev_job_create(struct dev_client *client, enum dev_queue_kind queue) {
  struct dev_job *job = calloc(1, sizeof *job);
  if (job == NULL)
    return NULL;
  job->queue = queue;
  job->device = client->device;
  job->client = client->id;
  job->done = dev_fence_create(false);
  if (job->done != NULL) {
    job->done->is_job = true;
    job->done->name = client->device->queues[queue].kind->fence_name;
  }
  job->view = dev_client_view(client);
  if (job->done == NULL || job->view == NULL || dev_job_wait_for(job, client->last[queue]) != 0) {
    dev_job_destroy(job);
    return NULL;
  }
  return job;
}

uint8_t *dev_job_bo_at(struct dev_job *job, const struct dev_bo *bo, uint64_t offset,
                       uint64_t bytes) {
  const struct dev_range range = bo->range;
  if (offset > range.bytes || bytes > range.bytes - offset) {
    snprintf(job->message, sizeof job->message, "offset %llu is outside a buffer of %u bytes",
             (unsigned long long)offset, range.bytes);
    return NULL;
  }
  return job->device->memory.base + range.address + offset;
}
