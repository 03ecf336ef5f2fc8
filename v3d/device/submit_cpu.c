/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that the kernel does itself, in order with those of the GPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfmon.h"
#include "submit.h"
#include "timed.h"

/* A CPU job while its extensions are read. */
struct reading {
  struct dev_job *job;
  struct dev_job *csd;
};

/* n queries: offsets (0: none are given), and syncobjs. */
static int read_queries(struct dev_call *call, struct dev_job *job, uint64_t offsets,
                        uint64_t syncs, uint32_t n) {
  uint32_t *offset = NULL, *handle = NULL;
  int result = offsets == 0 ? 0 : dev_user_array(call, offsets, n, sizeof *offset, &offset);
  if (result == 0)
    result = dev_user_array(call, syncs, n, sizeof *handle, &handle);
  if (result == 0) {
    job->cpu.queries = calloc((size_t)n + 1, sizeof *job->cpu.queries);
    result = job->cpu.queries == NULL ? -ENOMEM : 0;
  }
  for (uint32_t i = 0; result == 0 && i < n; i++) {
    struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handle[i]);
    if (syncobj == NULL) {
      result = -ENOENT;
      break;
    }
    syncobj->refs++;
    job->cpu.queries[job->cpu.n++] =
        (struct dev_query){.offset = offset == NULL ? 0 : offset[i], .syncobj = syncobj};
  }
  free(offset);
  free(handle);
  return result;
}

static int read_indirect(struct dev_call *call, uint64_t address, struct reading *reading) {
  struct abi_indirect_csd indirect;
  int result = dev_user_read(call, address, &indirect, sizeof indirect);
  if (result != 0)
    return result;
  struct dev_cpu_work *work = &reading->job->cpu;
  work->offset = indirect.offset;
  work->wg_size = indirect.wg_size;
  memcpy(work->wg_uniform_offsets, indirect.wg_uniform_offsets, sizeof work->wg_uniform_offsets);
  work->uniforms = dev_handles_get(&call->client->bos, indirect.indirect);
  if (work->uniforms == NULL)
    return -ENOENT;
  work->uniforms->refs++;
  reading->csd = dev_submit_csd_job(call, &indirect.submit, &result);
  return result;
}

static int read_timestamp(struct dev_call *call, uint64_t address, struct dev_job *job) {
  struct abi_timestamp stamp;
  const int result = dev_user_read(call, address, &stamp, sizeof stamp);
  if (result != 0)
    return result;
  if (stamp.pad != 0)
    return -EINVAL;
  return read_queries(call, job, stamp.offsets, stamp.syncs, stamp.count);
}

static int read_reset(struct dev_call *call, uint64_t address, struct dev_job *job) {
  struct abi_reset_timestamp reset;
  int result = dev_user_read(call, address, &reset, sizeof reset);
  if (result != 0)
    return result;
  result = read_queries(call, job, 0, reset.syncs, reset.count);
  for (size_t i = 0; i < job->cpu.n; i++)
    job->cpu.queries[i].offset = reset.offset + (uint32_t)(8 * i);
  return result;
}

static int read_copy(struct dev_call *call, uint64_t address, struct dev_job *job) {
  struct abi_copy_timestamp copy;
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
  return read_queries(call, job, copy.offsets, copy.syncs, copy.count);
}

static int read_extension(struct dev_call *call, uint32_t id, uint64_t address, void *self) {
  struct reading *reading = self;
  struct dev_job *job = reading->job;
  if (job->cpu.type != 0) /* one each */
    return -EINVAL;
  job->cpu.type = id;
  switch (id) {
    case ABI_EXT_INDIRECT_CSD:
      return read_indirect(call, address, reading);
    case ABI_EXT_TIMESTAMP:
      return read_timestamp(call, address, job);
    case ABI_EXT_RESET_TIMESTAMP:
      return read_reset(call, address, job);
    case ABI_EXT_COPY_TIMESTAMP:
      return read_copy(call, address, job);
    case ABI_EXT_RESET_PERFORMANCE:
    case ABI_EXT_COPY_PERFORMANCE:
      return dev_perf_read(call, address, job);
    default:
      return -EINVAL;
  }
}

/* How many buffers a job of a type names. */
static uint32_t n_bos_of(uint32_t type) {
  return type == ABI_EXT_COPY_TIMESTAMP ? 2 : type == ABI_EXT_RESET_PERFORMANCE ? 0 : 1;
}

/* Syncobjs of queries: written timestamps become available with the job, reset ones lose that. */
static void mark_queries(const struct dev_job *job) {
  for (size_t i = 0; i < job->cpu.n; i++) {
    struct dev_syncobj *syncobj = job->cpu.queries[i].syncobj;
    if (job->cpu.type == ABI_EXT_TIMESTAMP)
      dev_fence_replace(&syncobj->fence, job->done);
    else if (job->cpu.type == ABI_EXT_RESET_TIMESTAMP)
      dev_fence_replace(&syncobj->fence, NULL);
  }
}

int dev_ioctl_submit_cpu(struct dev_call *call) {
  const struct abi_submit_cpu *args = (const struct abi_submit_cpu *)call->arg;
  struct dev_syncs syncs = {0};
  struct reading reading = {0};
  int result = args->flags & ~(uint32_t)ABI_SUBMIT_EXTENSION ? -EINVAL : 0;
  if (result == 0) {
    reading.job = dev_job_create(call->client, DEV_QUEUE_CPU);
    result = reading.job == NULL ? -ENOMEM : 0;
  }
  struct dev_job *job = reading.job;
  if (result == 0 && args->flags & ABI_SUBMIT_EXTENSION)
    result = dev_submit_extensions(call, args->extensions, &syncs, read_extension, &reading);
  if (result == 0 && (job->cpu.type == 0 || args->n_bo_handles != n_bos_of(job->cpu.type)))
    result = -EINVAL;
  if (result == 0 && args->n_bo_handles > 0)
    result = dev_submit_bos(call, job, args->bo_handles, args->n_bo_handles);
  if (result == 0)
    result = dev_submit_waits(job, &syncs, 1u << ABI_STAGE_CPU);
  if (result == 0 && reading.csd != NULL)
    result = dev_job_wait_for(reading.csd, job->done);
  if (result != 0) {
    dev_job_destroy(reading.csd);
    dev_job_destroy(job);
  } else {
    struct dev_job *last = reading.csd != NULL ? reading.csd : job;
    job->cpu.csd = reading.csd;
    dev_submit_signals(call, &syncs, 0, last->done);
    dev_job_push(call->client, job);
    if (reading.csd != NULL)
      dev_job_push(call->client, reading.csd);
  }
  dev_syncs_drop(&syncs);
  return result;
}

/* Sets group counts of the waiting compute job from memory. */
static int run_indirect(struct dev_job *job) {
  struct dev_job *csd = job->cpu.csd;
  uint32_t counts[3];
  const uint8_t *from = dev_job_bo_at(job, job->bos[0], job->cpu.offset, sizeof counts);
  csd->skip = true; /* until all is right */
  if (from == NULL)
    return -EINVAL;
  memcpy(counts, from, sizeof counts);
  if (counts[0] == 0 || counts[1] == 0 || counts[2] == 0)
    return 0;
  for (int i = 0; i < 3; i++) {
    if (counts[i] > 0xffff) {
      snprintf(job->message, sizeof job->message,
               "indirect dispatch of %u x %u x %u groups: at most 65535 each", counts[0], counts[1],
               counts[2]);
      return -EINVAL;
    }
    csd->cfg[i] = counts[i] << 16;
  }
  csd->cfg[4] = (job->cpu.wg_size + 15) / 16 * (counts[0] * counts[1] * counts[2]);
  for (int i = 0; i < 3; i++) {
    const uint32_t word = job->cpu.wg_uniform_offsets[i];
    if (word == UINT32_MAX)
      continue;
    uint8_t *to = dev_job_bo_at(job, job->cpu.uniforms, (uint64_t)word * 4, 4);
    if (to == NULL)
      return -EINVAL;
    memcpy(to, &counts[i], sizeof counts[i]);
  }
  csd->skip = false;
  return 0;
}

static int run_timestamps(struct dev_job *job) {
  const uint64_t now = dev_timestamp_ns(job->device);
  for (size_t i = 0; i < job->cpu.n; i++) {
    /* The first is the value, the rest fill the views of a multiview pass. */
    const uint64_t value = job->cpu.type == ABI_EXT_TIMESTAMP && i == 0 ? now : 0;
    uint8_t *to = dev_job_bo_at(job, job->bos[0], job->cpu.queries[i].offset, sizeof value);
    if (to == NULL)
      return -EINVAL;
    memcpy(to, &value, sizeof value);
  }
  return 0;
}

static int run_copy(struct dev_job *job) {
  const struct dev_cpu_work *work = &job->cpu;
  const size_t width = work->wide ? 8 : 4;
  for (size_t i = 0; i < work->n; i++) {
    const struct dev_fence *fence = work->queries[i].syncobj->fence;
    const uint64_t available = fence != NULL && fence->signaled;
    const uint64_t at = work->offset + (uint64_t)i * work->stride;
    const uint8_t *from = dev_job_bo_at(job, job->bos[1], work->queries[i].offset, 8);
    uint8_t *to = dev_job_bo_at(job, job->bos[0], at, width * (work->availability ? 2 : 1));
    if (from == NULL || to == NULL)
      return -EINVAL;
    /* Little-endian hosts: the low half comes first. */
    if (available || work->partial)
      memcpy(to, from, width);
    if (work->availability)
      memcpy(to + width, &available, width);
  }
  return 0;
}

int dev_cpu_run(struct dev_job *job) {
  if (job->cpu.type == ABI_EXT_INDIRECT_CSD)
    return run_indirect(job);
  if (job->cpu.type == ABI_EXT_COPY_TIMESTAMP)
    return run_copy(job);
  if (job->cpu.type == ABI_EXT_RESET_PERFORMANCE || job->cpu.type == ABI_EXT_COPY_PERFORMANCE)
    return dev_perf_run(job);
  const int result = run_timestamps(job);
  mark_queries(job);
  return result;
}
