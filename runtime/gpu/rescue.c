/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the GPU fails: what memory used in place was before the job, and the
 * CPU in the GPU's stead.  Copies of the caller's memory need no care: nothing
 * has been copied back yet.
 */
#include <errno.h>
#include <string.h>

#include "cpu/cpu.h"
#include "gpu/job.h"

/** Whether a batch wants what is written in this memory to be kept. */
static bool to_be_kept(const daedalus_gpu_batch *batch, const daedalus_memory *memory) {
  return memory->imported ? (batch->flags & DAEDALUS_BATCH_SHADOW) != 0
                          : (batch->flags & DAEDALUS_BATCH_NO_SHADOW) == 0;
}

static bool reads(const daedalus_gpu_job *job, daedalus_gpu_extent extent) {
  const daedalus_gpu_use *uses = job->uses.data;
  for (size_t i = 0; i < job->uses.size; i++) {
    if (daedalus_gpu_overlap(uses[i].reads, extent)) {
      return true;
    }
  }
  return false;
}

/**
 * Whether this job, or an earlier one that may have to be done again with it,
 * reads what the use writes: it has then to be undone before.
 */
static bool to_be_undone(const daedalus_gpu_job *job, const daedalus_gpu_use *use) {
  for (const daedalus_gpu_job *reader = job; reader != NULL; reader = reader->previous) {
    if (reads(reader, use->writes)) {
      return true;
    }
  }
  return false;
}

/** Makes the CPU's half of staged memory what the device's is.  @return 0 or an error */
static int fetch_staged(daedalus_gpu_job *job) {
  const daedalus_gpu_use *uses = job->uses.data;
  for (size_t i = 0; i < job->uses.size; i++) {
    daedalus_memory *memory = uses[i].memory;
    if (memory != NULL && memory->staged) {
      const int error = daedalus_rt_gpu_memory_copy(
          memory, daedalus_gpu_common(memory->newer, uses[i].all), false);
      if (error != 0) {
        return error;
      }
    }
  }
  job->fetched = true;
  return 0;
}

/** Adds what one use writes; with one that it overlaps it becomes one. */
static void add_shadow(daedalus_gpu_job *job, const daedalus_gpu_use *use) {
  daedalus_gpu_shadow *shadows = job->shadows.data;
  daedalus_gpu_extent extent = use->writes;
  size_t kept = 0;
  for (size_t i = 0; i < job->shadows.size; i++) {
    if (daedalus_gpu_overlap(shadows[i].extent, extent)) {
      extent = daedalus_gpu_together(shadows[i].extent, extent);
    } else {
      shadows[kept++] = shadows[i];
    }
  }
  shadows[kept] = (daedalus_gpu_shadow){.memory = use->memory, .extent = extent};
  job->shadows.size = kept + 1;
}

int daedalus_rt_gpu_job_shadow(daedalus_gpu_job *job) {
  const daedalus_gpu_use *uses = job->uses.data;
  job->shadows.size = 0;
  if ((job->batch->flags & DAEDALUS_BATCH_SHADOW) != 0) {
    const int error = fetch_staged(job);
    if (error != 0) {
      return error;
    }
  }
  for (size_t i = 0; i < job->uses.size; i++) {
    const daedalus_memory *memory = uses[i].memory;
    if (memory == NULL || memory->staged || !memory->readable ||
        uses[i].writes.begin == uses[i].writes.end || !to_be_kept(job->batch, memory) ||
        !to_be_undone(job, &uses[i])) {
      continue;
    }
    const int error = daedalus_rt_vec_reserve(&job->gpu->ctx->allocator, &job->shadows, 1,
                                              sizeof(daedalus_gpu_shadow));
    if (error != 0) {
      return error;
    }
    add_shadow(job, &uses[i]);
  }
  if (job->shadows.size == 0) {
    return 0;
  }
  uint64_t size = DAEDALUS_GPU_REGION_ALIGN; /* the marker's */
  daedalus_gpu_shadow *shadows = job->shadows.data;
  for (size_t i = 0; i < job->shadows.size; i++) {
    /* The GPU copies words at best: the offset keeps the address's place in one. */
    shadows[i].offset = size + shadows[i].extent.begin % 16;
    size = (shadows[i].offset + (shadows[i].extent.end - shadows[i].extent.begin) + 15) / 16 * 16;
  }
  const int error = daedalus_rt_gpu_pool_take(&job->gpu->pool, size, &job->shadow);
  if (error != 0) {
    job->shadow = NULL;
    return error;
  }
  job->shadow->next = job->blocks;
  job->blocks = job->shadow;
  memset(job->shadow->map, 0, sizeof(uint32_t));
  return 0;
}

/** @return whether the shadows were whole, so that the job may have begun to write */
static bool shadows_whole(const daedalus_gpu_job *job) {
  uint32_t marker = 0;
  if (job->shadow != NULL) {
    memcpy(&marker, job->shadow->map, sizeof(marker));
  }
  return marker == DAEDALUS_GPU_SHADOW_MARKER;
}

static bool shadowed(const daedalus_gpu_job *job, const daedalus_gpu_use *use) {
  const daedalus_gpu_shadow *shadows = job->shadows.data;
  for (size_t i = 0; i < job->shadows.size; i++) {
    if (shadows[i].extent.begin <= use->writes.begin && use->writes.end <= shadows[i].extent.end) {
      return true;
    }
  }
  return false;
}

/** Whether what the use writes may be written, and be neither undone nor written again as it was.
 */
static bool spoilt(const daedalus_gpu_job *job, const daedalus_gpu_use *use) {
  const daedalus_memory *memory = use->memory;
  if (memory == NULL || memory->staged || !job->started || use->writes.begin == use->writes.end) {
    return false;
  }
  return (memory->imported && !to_be_kept(job->batch, memory)) ||
         (reads(job, use->writes) && !shadowed(job, use));
}

/** Whether the CPU cannot bring about what the job was to do with this. */
static bool lost_for_good(const daedalus_gpu_job *job, const daedalus_gpu_use *use) {
  const daedalus_memory *memory = use->memory;
  if (memory == NULL || use->all.begin == use->all.end) {
    return false;
  }
  if (!memory->readable || spoilt(job, use) ||
      (memory->staged && !job->fetched && daedalus_gpu_overlap(memory->newer, use->all))) {
    return true;
  }
  /* A later job may have overwritten what this one is to read again. */
  for (const daedalus_gpu_job *later = job->next; later != NULL && !memory->staged;
       later = later->next) {
    const daedalus_gpu_use *theirs = later->uses.data;
    for (size_t i = 0; i < later->uses.size; i++) {
      if (later->started && theirs[i].memory != NULL && !shadowed(later, &theirs[i]) &&
          daedalus_gpu_overlap(theirs[i].writes, use->reads)) {
        return true;
      }
    }
  }
  return false;
}

void daedalus_rt_gpu_job_undo(daedalus_gpu_job *job) {
  if (!shadows_whole(job)) {
    return; /* nothing but the copies has begun */
  }
  const daedalus_gpu_shadow *shadows = job->shadows.data;
  for (size_t i = 0; i < job->shadows.size; i++) {
    const daedalus_memory *memory = shadows[i].memory;
    daedalus_rt_gpu_memory_cpu(memory, true);
    memcpy(memory->data + (shadows[i].extent.begin - memory->base),
           job->shadow->map + shadows[i].offset, shadows[i].extent.end - shadows[i].extent.begin);
    daedalus_rt_gpu_memory_cpu(memory, false);
  }
}

/** What the CPU has for the items of a GPU variant's class: that, or a wider one. */
static const daedalus_variant *cpu_variant(const daedalus_group *group) {
  const daedalus_variant *variant = NULL;
  for (uint16_t c = group->variant->class_index; variant == NULL && c < group->kernel->n_classes;
       c++) {
    variant = daedalus_rt_cpu_choose(group->kernel, c);
  }
  return variant;
}

static void run_on_cpu(daedalus_gpu_job *job, const daedalus_group *group,
                       const daedalus_variant *variant, const daedalus_gpu_use *uses) {
  const size_t n = uses == NULL ? 0 : group->kernel->n_buffers;
  for (size_t b = 0; b < n; b++) {
    if (uses[b].memory != NULL) {
      daedalus_rt_gpu_memory_cpu(uses[b].memory, true);
    }
  }
  daedalus_group copy = *group;
  copy.variant = variant;
  daedalus_rt_cpu_run(job->batch->work, &copy);
  for (size_t b = 0; b < n; b++) {
    if (uses[b].memory == NULL) {
      continue;
    }
    daedalus_rt_gpu_memory_cpu(uses[b].memory, false);
    if (uses[b].memory->staged && !job->gpu->backend->lost) {
      daedalus_rt_gpu_memory_copy(uses[b].memory, uses[b].writes, true);
    }
  }
}

int daedalus_rt_gpu_job_rescue(daedalus_gpu_job *job) {
  daedalus_group *groups = job->batch->work->list.data;
  const daedalus_allocator *allocator = &job->gpu->ctx->allocator;
  daedalus_vec *bad = &job->extents; /* what is undefined; scratch by now */
  bad->size = 0;
  if (!job->started && !job->gpu->backend->lost) {
    fetch_staged(job);
  }
  const daedalus_gpu_use *uses = job->uses.data;
  bool all_bad =
      daedalus_rt_vec_reserve(allocator, bad, job->uses.size, sizeof(daedalus_gpu_extent)) != 0 &&
      job->started;
  for (size_t i = 0; !all_bad && i < job->uses.size; i++) {
    if (lost_for_good(job, &uses[i])) {
      ((daedalus_gpu_extent *)bad->data)[bad->size++] = uses[i].all;
    }
  }
  job->batch->rescued = true;
  int error = 0;
  size_t at = 0;
  for (size_t i = job->first; i < job->end; i++) {
    const daedalus_gpu_use *own =
        job->uses.size == 0 ? NULL : daedalus_gpu_next_uses(job, &groups[i], &at);
    const daedalus_variant *variant = cpu_variant(&groups[i]);
    bool undefined = all_bad || variant == NULL;
    for (size_t b = 0; own != NULL && !undefined && b < groups[i].kernel->n_buffers; b++) {
      for (size_t k = 0; !undefined && k < bad->size; k++) {
        undefined = daedalus_gpu_overlap(((const daedalus_gpu_extent *)bad->data)[k], own[b].all);
      }
    }
    groups[i].undefined = undefined;
    if (!undefined) {
      run_on_cpu(job, &groups[i], variant, own);
      continue;
    }
    error = -EIO;
    for (size_t b = 0; own != NULL && !all_bad && b < groups[i].kernel->n_buffers; b++) {
      if (daedalus_rt_vec_reserve(allocator, bad, 1, sizeof(daedalus_gpu_extent)) != 0) {
        all_bad = true;
      } else {
        ((daedalus_gpu_extent *)bad->data)[bad->size++] = own[b].writes;
      }
    }
  }
  if (error != 0) {
    daedalus_rt_log(job->gpu->ctx, DAEDALUS_LOG_ERROR,
                    "memory that the GPU used in place is undefined: daedalus_batch_undefined() "
                    "names the items, DAEDALUS_BATCH_SHADOW avoids it");
  }
  daedalus_rt_gpu_job_release(job);
  return error;
}
