/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job: consecutive GPU groups of a batch, from the copies of the caller's
 * memory to the copies back.  One is kept with each batch and used again.
 */
#ifndef DAEDALUS_GPU_JOB_H
#define DAEDALUS_GPU_JOB_H

#include "gpu/gpu.h"

/**
 * What a group's buffer is.  Extents of memory used in place are those that its `base` gives: to be
 * compared, with the same for every daedalus_memory of a dma-buf.
 */
typedef struct daedalus_gpu_use {
  daedalus_gpu_extent all; /* read or written; empty: the buffer is not touched */
  daedalus_gpu_extent reads;
  daedalus_gpu_extent writes;
  daedalus_memory *memory; /* used in place; NULL: copied */
  size_t region;           /* index of the copy */
  bool by_cpu;             /* of a group that the CPU does */
} daedalus_gpu_use;

/** A copy of the caller's memory: of all uses that overlap, one. */
typedef struct daedalus_gpu_region {
  daedalus_gpu_extent extent; /* begins at a multiple of DAEDALUS_GPU_REGION_ALIGN */
  daedalus_gpu_block *block;
  uint64_t offset; /* in the block, a multiple of that, too */
} daedalus_gpu_region;

/**
 * Addresses keep their remainders in the copy, so that alignment does; and
 * offsets are fit to be bound: no device may ask for more than 256.
 */
enum { DAEDALUS_GPU_REGION_ALIGN = 256 };

/**
 * Bytes that are the job's behind its last record.  QPU code may read records by ldunifa, which
 * fetches a word ahead of what it reads: behind the last page of a block that is a fault of the
 * MMU.
 */
enum { DAEDALUS_GPU_RECORDS_AHEAD = DAEDALUS_GPU_REGION_ALIGN };

/** What memory used in place was before the job. */
typedef struct daedalus_gpu_shadow {
  daedalus_memory *memory;
  daedalus_gpu_extent extent; /* as a use's */
  uint64_t offset;            /* in the shadow block, behind the marker */
} daedalus_gpu_shadow;

/** What the first word of the shadow block is once the copies in it are complete. */
#define DAEDALUS_GPU_SHADOW_MARKER UINT32_C(0x5ad0c0de)

struct daedalus_gpu_job {
  daedalus_gpu *gpu;
  daedalus_gpu_batch *batch;
  size_t first, end;          /* groups */
  bool active;                /* in gpu->in_flight */
  bool started;               /* something may have been written */
  bool fetched;               /* the CPU's half of staged memory is what it began with */
  bool whole;                 /* all of its submissions are made */
  daedalus_vec uses;          /* daedalus_gpu_use, buffers of the groups in order */
  daedalus_vec extents;       /* daedalus_gpu_extent, scratch */
  daedalus_vec regions;       /* daedalus_gpu_region, by address */
  daedalus_vec shadows;       /* daedalus_gpu_shadow */
  daedalus_vec submissions;   /* daedalus_gpu_submission * */
  size_t n_done;              /* of the submissions */
  daedalus_gpu_block *blocks; /* list of all that are taken */
  daedalus_gpu_block *records;
  uint64_t records_offset;
  daedalus_gpu_block *shadow;
  bool timed;
  bool measured;                     /* gpu_time_ns is known */
  uint64_t gpu_time_ns;              /* of all jobs of the batch */
  daedalus_gpu_job *next, *previous; /* in gpu->in_flight */
};

/** The use of memory that is read and written there; `memory` is set if it lies in one. */
daedalus_gpu_use daedalus_rt_gpu_use(const daedalus_gpu *gpu, const daedalus_gpu_part *part);

/** The uses of the groups, and where they lie. */
int daedalus_rt_gpu_job_collect(daedalus_gpu_job *job);

/** Takes blocks for regions and records, and fills the regions. */
int daedalus_rt_gpu_job_fill(daedalus_gpu_job *job);

/**
 * Writes the records of items `first` to `end` of a group, a dispatch of the program; the group's
 * begin at byte `records` of the job's.  Where the program has groups of threads, each has a part
 * of the items, and does it from its first to its last item.
 */
void daedalus_rt_gpu_job_gather(const daedalus_gpu_job *job, const daedalus_group *group,
                                const daedalus_gpu_program *program, uint64_t records, size_t first,
                                size_t end);

/** Decides what is shadowed, and takes a block for it. */
int daedalus_rt_gpu_job_shadow(daedalus_gpu_job *job);

/** Puts the submissions together and makes them. */
int daedalus_rt_gpu_job_emit(daedalus_gpu_job *job);

/** Copies what was written back to the caller's memory. */
void daedalus_rt_gpu_job_copy_back(daedalus_gpu_job *job);

/** Gives submissions and blocks back; the job leaves those in flight. */
void daedalus_rt_gpu_job_release(daedalus_gpu_job *job);

/**
 * Brings memory used in place back to what it was before the job.  Of several
 * jobs that failed the last is undone first.
 */
void daedalus_rt_gpu_job_undo(daedalus_gpu_job *job);

/**
 * Has the CPU do the job in the GPU's stead, and releases it.  It and all
 * later ones were undone, all earlier ones done.
 * @return 0 or -EIO, items marked
 */
int daedalus_rt_gpu_job_rescue(daedalus_gpu_job *job);

/** Whether one touches memory that the other writes, and the order of the queue is not enough. */
bool daedalus_rt_gpu_jobs_conflict(const daedalus_gpu_job *earlier, const daedalus_gpu_use *uses,
                                   size_t n_uses);

/** Puts an end to all jobs in flight that conflict with the uses (NULL: to all). */
void daedalus_rt_gpu_finish_conflicting(daedalus_gpu *gpu, const daedalus_gpu_use *uses,
                                        size_t n_uses);

/** After the device was lost: puts an end to all jobs in flight. */
void daedalus_rt_gpu_finish_lost(daedalus_gpu *gpu);

/**
 * Waits for one of the job's submissions.  When copies of it were reset, they are given up: nothing
 * is then brought back from them.
 * @return 0, -ETIME, or an error of the backend's
 */
int daedalus_rt_gpu_submission_wait(daedalus_gpu_job *job, size_t index, uint64_t timeout_ns);

/** Waits; then the job is done and its batch has the outcome.  @return 0 or -ETIME */
int daedalus_rt_gpu_job_wait(daedalus_gpu_job *job, int64_t timeout_ns);

/** The job's uses of a group's buffers; call with the groups in order, from `at` = 0 on. */
static inline const daedalus_gpu_use *daedalus_gpu_next_uses(const daedalus_gpu_job *job,
                                                             const daedalus_group *group,
                                                             size_t *at) {
  const daedalus_gpu_use *uses = (const daedalus_gpu_use *)job->uses.data + *at;
  *at += group->kernel->n_buffers;
  return uses;
}

#endif /* DAEDALUS_GPU_JOB_H */
