/* SPDX-License-Identifier: BSD-2-Clause */
/* Which memory of the caller's the items of a group touch. */
#ifndef DAEDALUS_GPU_EXTENT_H
#define DAEDALUS_GPU_EXTENT_H

#include "base/groups.h"

/** Items `first` to `end` of a group's order, and one buffer of its kernel. */
typedef struct daedalus_gpu_part {
  const daedalus_kernel_desc *kernel;
  const daedalus_buffer_desc *desc;
  const daedalus_buffer *buffer;
  const unsigned char *meta;
  const uint32_t *items;
  size_t first, end;
} daedalus_gpu_part;

/** The whole group's. */
daedalus_gpu_part daedalus_rt_gpu_part(const daedalus_groups *work, const daedalus_group *group,
                                       size_t buffer);

/** Half-open range of addresses; empty when begin == end. */
typedef struct daedalus_gpu_extent {
  uintptr_t begin, end;
} daedalus_gpu_extent;

/** From the first to the last byte that is read, written (the DAEDALUS_ACCESS_*), or either. */
daedalus_gpu_extent daedalus_rt_gpu_extent(const daedalus_gpu_part *part, unsigned access);

static inline bool daedalus_gpu_overlap(daedalus_gpu_extent a, daedalus_gpu_extent b) {
  return a.begin < b.end && b.begin < a.end;
}

/** What is in both; empty when nothing is. */
static inline daedalus_gpu_extent daedalus_gpu_common(daedalus_gpu_extent a,
                                                      daedalus_gpu_extent b) {
  const daedalus_gpu_extent both = {a.begin > b.begin ? a.begin : b.begin,
                                    a.end < b.end ? a.end : b.end};
  return both.begin < both.end ? both : (daedalus_gpu_extent){0, 0};
}

/** The smallest that holds both. */
static inline daedalus_gpu_extent daedalus_gpu_together(daedalus_gpu_extent a,
                                                        daedalus_gpu_extent b) {
  if (a.begin == a.end || b.begin == b.end) {
    return a.begin == a.end ? b : a;
  }
  return (daedalus_gpu_extent){a.begin < b.begin ? a.begin : b.begin,
                               a.end > b.end ? a.end : b.end};
}

/** `rows` rows of `bytes` bytes from `address` on, `stride` apart. */
typedef struct daedalus_gpu_run {
  uintptr_t address;
  ptrdiff_t stride;
  size_t rows, bytes;
} daedalus_gpu_run;

/**
 * Every byte that the items read or write, and no other one, in few runs:
 * neighbours in the order that touch or overlap sidewise become one.
 */
void daedalus_rt_gpu_runs(const daedalus_gpu_part *part, unsigned access,
                          void (*each)(void *user, const daedalus_gpu_run *run), void *user);

/** Whether all that is written is read as well. */
bool daedalus_rt_gpu_reads_all(const daedalus_buffer_desc *desc);

#endif /* DAEDALUS_GPU_EXTENT_H */
