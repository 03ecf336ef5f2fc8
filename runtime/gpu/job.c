/* SPDX-License-Identifier: BSD-2-Clause */
/* Before and after the GPU's work: the caller's memory and its copies. */
#include "gpu/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t block_most = UINT64_C(1) << DAEDALUS_GPU_POOL_SHIFT_MAX;

static const daedalus_group *groups_of(const daedalus_gpu_job *job) {
  return job->batch->work->list.data;
}

static uint64_t aligned(uint64_t size) {
  return (size + DAEDALUS_GPU_REGION_ALIGN - 1) / DAEDALUS_GPU_REGION_ALIGN *
         DAEDALUS_GPU_REGION_ALIGN;
}

static int compare_extents(const void *a, const void *b) {
  const daedalus_gpu_extent *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/** Extents that overlap become one region. */
static int make_regions(daedalus_gpu_job *job) {
  daedalus_gpu_extent *extents = job->extents.data;
  const size_t n = job->extents.size;
  const int error = daedalus_rt_vec_reserve(&job->gpu->ctx->allocator, &job->regions, n,
                                            sizeof(daedalus_gpu_region));
  if (error != 0 || n == 0) {
    return error;
  }
  qsort(extents, n, sizeof(*extents), compare_extents);
  daedalus_gpu_region *regions = job->regions.data;
  size_t n_regions = 0;
  for (size_t i = 0; i < n; i++) {
    if (n_regions != 0 && extents[i].begin < regions[n_regions - 1].extent.end) {
      daedalus_gpu_extent *last = &regions[n_regions - 1].extent;
      last->end = extents[i].end > last->end ? extents[i].end : last->end;
    } else {
      regions[n_regions++] = (daedalus_gpu_region){.extent = extents[i]};
    }
  }
  for (size_t i = 0; i < n_regions; i++) {
    regions[i].extent.begin -= regions[i].extent.begin % DAEDALUS_GPU_REGION_ALIGN;
  }
  job->regions.size = n_regions;
  return 0;
}

/** The last region that begins at or before the address; it holds the address. */
static size_t region_at(const daedalus_gpu_job *job, uintptr_t address) {
  const daedalus_gpu_region *regions = job->regions.data;
  size_t low = 0, high = job->regions.size;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (regions[middle].extent.begin <= address) {
      low = middle;
    } else {
      high = middle;
    }
  }
  /* Its begin was rounded down, maybe below the end of the one before. */
  while (low > 0 && address < regions[low - 1].extent.end) {
    low--;
  }
  return low;
}

static void shift(daedalus_gpu_extent *extent, uintptr_t by) {
  if (extent->begin != extent->end) {
    extent->begin += by;
    extent->end += by;
  }
}

daedalus_gpu_use daedalus_rt_gpu_use(const daedalus_gpu *gpu, const daedalus_gpu_part *part) {
  daedalus_gpu_use use = {.reads = daedalus_rt_gpu_extent(part, DAEDALUS_ACCESS_READ),
                          .writes = daedalus_rt_gpu_extent(part, DAEDALUS_ACCESS_WRITE)};
  use.all = daedalus_gpu_together(use.reads, use.writes);
  if (use.all.begin != use.all.end) {
    use.memory = daedalus_rt_gpu_memory_at(gpu, use.all);
  }
  if (use.memory != NULL) {
    const uintptr_t by = use.memory->base - (uintptr_t)use.memory->data;
    shift(&use.all, by);
    shift(&use.reads, by);
    shift(&use.writes, by);
  }
  return use;
}

int daedalus_rt_gpu_job_collect(daedalus_gpu_job *job) {
  const daedalus_allocator *allocator = &job->gpu->ctx->allocator;
  size_t n_uses = 0;
  for (size_t i = job->first; i < job->end; i++) {
    n_uses += groups_of(job)[i].kernel->n_buffers;
  }
  job->uses.size = job->extents.size = job->regions.size = 0;
  int error = daedalus_rt_vec_reserve(allocator, &job->uses, n_uses, sizeof(daedalus_gpu_use));
  if (error == 0) {
    error = daedalus_rt_vec_reserve(allocator, &job->extents, n_uses, sizeof(daedalus_gpu_extent));
  }
  if (error != 0) {
    return error;
  }
  daedalus_gpu_use *uses = job->uses.data;
  daedalus_gpu_extent *extents = job->extents.data;
  for (size_t i = job->first; i < job->end; i++) {
    const daedalus_group *group = &groups_of(job)[i];
    for (size_t b = 0; b < group->kernel->n_buffers; b++) {
      const daedalus_gpu_part part = daedalus_rt_gpu_part(job->batch->work, group, b);
      daedalus_gpu_use *use = &uses[job->uses.size++];
      *use = daedalus_rt_gpu_use(job->gpu, &part);
      if (use->memory == NULL && use->all.begin != use->all.end) {
        extents[job->extents.size++] = use->all;
      }
    }
  }
  error = make_regions(job);
  for (size_t i = 0; error == 0 && i < n_uses; i++) {
    if (uses[i].memory == NULL && uses[i].all.begin != uses[i].all.end) {
      uses[i].region = region_at(job, uses[i].all.begin);
    }
  }
  return error;
}

/** A part of a block: of the one at hand if there is room, else of a new one. */
typedef struct arena {
  daedalus_gpu_block *block;
  uint64_t at;
  uint64_t left; /* bytes that are still to be placed, this one among them */
} arena;

static int place(daedalus_gpu_job *job, arena *into, uint64_t size, daedalus_gpu_block **block,
                 uint64_t *offset) {
  if (into->block == NULL || into->block->size - into->at < size) {
    const uint64_t wanted = size > block_most         ? size
                            : into->left > block_most ? block_most
                                                      : into->left;
    const int error = daedalus_rt_gpu_pool_take(&job->gpu->pool, wanted, &into->block);
    if (error != 0) {
      into->block = NULL;
      return error;
    }
    into->block->next = job->blocks;
    job->blocks = into->block;
    into->at = 0;
  }
  *block = into->block;
  *offset = into->at;
  into->at += size;
  into->left -= size;
  return 0;
}

static uint64_t records_of(const daedalus_group *group) {
  return aligned((uint64_t)group->n_items * daedalus_gpu_arguments_of(group->variant).n_record *
                 sizeof(uint32_t));
}

static int place_all(daedalus_gpu_job *job) {
  arena into = {0};
  daedalus_gpu_region *regions = job->regions.data;
  uint64_t records = DAEDALUS_GPU_RECORDS_AHEAD;
  for (size_t i = job->first; i < job->end; i++) {
    records += records_of(&groups_of(job)[i]);
  }
  into.left = records;
  for (size_t i = 0; i < job->regions.size; i++) {
    into.left += aligned(regions[i].extent.end - regions[i].extent.begin);
  }
  int error = place(job, &into, records, &job->records, &job->records_offset);
  for (size_t i = 0; error == 0 && i < job->regions.size; i++) {
    error = place(job, &into, aligned(regions[i].extent.end - regions[i].extent.begin),
                  &regions[i].block, &regions[i].offset);
  }
  return error;
}

/** Copies runs between the caller's memory and a region. */
typedef struct copier {
  const daedalus_gpu_region *region;
  bool back;
} copier;

static void copy_run(void *user, const daedalus_gpu_run *run) {
  const copier *c = user;
  uintptr_t address = run->address;
  for (size_t row = 0; row < run->rows; row++, address += (uintptr_t)run->stride) {
    unsigned char *copy =
        c->region->block->map + c->region->offset + (address - c->region->extent.begin);
    unsigned char *own = (unsigned char *)address;
    memcpy(c->back ? own : copy, c->back ? copy : own, run->bytes);
  }
}

static void copy_all(daedalus_gpu_job *job, bool back) {
  size_t at = 0;
  for (size_t i = job->first; i < job->end; i++) {
    const daedalus_group *group = &groups_of(job)[i];
    const daedalus_gpu_use *uses = daedalus_gpu_next_uses(job, group, &at);
    for (size_t b = 0; b < group->kernel->n_buffers; b++) {
      if (uses[b].memory == NULL && uses[b].all.begin != uses[b].all.end) {
        const daedalus_gpu_part part = daedalus_rt_gpu_part(job->batch->work, group, b);
        copier c = {(const daedalus_gpu_region *)job->regions.data + uses[b].region, back};
        /* In goes, too, what is only written: an item need not write all of its rectangle. */
        daedalus_rt_gpu_runs(
            &part, back ? DAEDALUS_ACCESS_WRITE : DAEDALUS_ACCESS_READ | DAEDALUS_ACCESS_WRITE,
            copy_run, &c);
      }
    }
  }
}

int daedalus_rt_gpu_job_fill(daedalus_gpu_job *job) {
  const int error = place_all(job);
  if (error == 0) {
    copy_all(job, false);
  }
  return error;
}

void daedalus_rt_gpu_job_copy_back(daedalus_gpu_job *job) {
  copy_all(job, true);
}

void daedalus_rt_gpu_job_release(daedalus_gpu_job *job) {
  daedalus_gpu *gpu = job->gpu;
  daedalus_gpu_submission **submissions = job->submissions.data;
  /* The last goes first, so that the next job takes the first one first. */
  for (size_t i = job->submissions.size; i-- > 0;) {
    gpu->backend->route->give(gpu->backend, submissions[i]);
  }
  job->submissions.size = 0;
  while (job->blocks != NULL) {
    daedalus_gpu_block *block = job->blocks;
    job->blocks = block->next;
    daedalus_rt_gpu_pool_give(&gpu->pool, block);
  }
  job->records = job->shadow = NULL;
  job->shadows.size = 0;
  job->n_done = 0;
  job->started = job->whole = job->fetched = false;
  if (job->active) {
    *(job->previous != NULL ? &job->previous->next : &gpu->in_flight) = job->next;
    *(job->next != NULL ? &job->next->previous : &gpu->in_flight_last) = job->previous;
    job->next = job->previous = NULL;
    job->active = false;
  }
}
