/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/extent.h"

#include "base/meta.h"

daedalus_gpu_part daedalus_rt_gpu_part(const daedalus_groups *work, const daedalus_group *group,
                                       size_t buffer) {
  return (daedalus_gpu_part){
      .kernel = group->kernel,
      .desc = &group->kernel->buffers[buffer],
      .buffer = (const daedalus_buffer *)work->buffers.data + group->buffers_at + buffer,
      .meta = (const unsigned char *)work->meta.data + group->meta_at,
      .items = (const uint32_t *)work->items.data + group->items_at,
      .first = 0,
      .end = group->n_items,
  };
}

static bool is_empty(const daedalus_rect *rect) {
  return rect->row_end <= rect->row_begin || rect->col_end <= rect->col_begin;
}

/** Address of the item's element (0, 0); unsigned, so that what is negative wraps on the way. */
static uintptr_t origin_of(const daedalus_gpu_part *part, uint32_t item) {
  const uintptr_t data = (uintptr_t)part->buffer->data;
  return part->desc->is_plane
             ? data + daedalus_meta_offset(part->desc,
                                           daedalus_meta_of(part->kernel, part->meta, item))
             : data +
                   (uintptr_t)item * part->desc->item_stride * daedalus_type_size(part->desc->type);
}

/** Rows of the rectangle that this item has. */
static int64_t row_end_of(const daedalus_gpu_part *part, const daedalus_rect *rect, uint32_t item) {
  if (part->desc->rows_param == 0) {
    return rect->row_end;
  }
  const daedalus_param_desc *rows = &part->kernel->params[part->desc->rows_param - 1];
  return rect->row_end -
         (rows->hi - daedalus_meta_param(rows, daedalus_meta_of(part->kernel, part->meta, item)));
}

static daedalus_gpu_extent extent_of_rect(const daedalus_gpu_part *part,
                                          const daedalus_rect *rect) {
  daedalus_gpu_extent extent = {0, 0};
  if (is_empty(rect)) {
    return extent;
  }
  const size_t size = daedalus_type_size(part->desc->type);
  const intptr_t stride = part->buffer->stride;
  for (size_t i = part->first; i < part->end; i++) {
    const uint32_t item = part->items[i];
    const int64_t row_end = row_end_of(part, rect, item);
    if (row_end <= rect->row_begin) {
      continue;
    }
    const uintptr_t origin = origin_of(part, item);
    const uintptr_t top = origin + (uintptr_t)((intptr_t)rect->row_begin * stride);
    const uintptr_t bottom = origin + (uintptr_t)(((intptr_t)row_end - 1) * stride);
    const uintptr_t low = (stride < 0 ? bottom : top) + (uintptr_t)(intptr_t)rect->col_begin * size;
    const uintptr_t high = (stride < 0 ? top : bottom) + (uintptr_t)(intptr_t)rect->col_end * size;
    if (extent.begin == extent.end) {
      extent = (daedalus_gpu_extent){low, high};
    }
    extent.begin = low < extent.begin ? low : extent.begin;
    extent.end = high > extent.end ? high : extent.end;
  }
  return extent;
}

daedalus_gpu_extent daedalus_rt_gpu_extent(const daedalus_gpu_part *part, unsigned access) {
  const daedalus_gpu_extent none = {0, 0};
  const daedalus_gpu_extent reads =
      (access & DAEDALUS_ACCESS_READ) != 0 ? extent_of_rect(part, &part->desc->reads) : none;
  const daedalus_gpu_extent writes =
      (access & DAEDALUS_ACCESS_WRITE) != 0 ? extent_of_rect(part, &part->desc->writes) : none;
  return daedalus_gpu_together(reads, writes);
}

bool daedalus_rt_gpu_reads_all(const daedalus_buffer_desc *desc) {
  const daedalus_rect *r = &desc->reads, *w = &desc->writes;
  return r->row_begin <= w->row_begin && w->row_end <= r->row_end && r->col_begin <= w->col_begin &&
         w->col_end <= r->col_end;
}

static void runs_of_rect(const daedalus_gpu_part *part, const daedalus_rect *rect,
                         void (*each)(void *user, const daedalus_gpu_run *run), void *user) {
  if (is_empty(rect)) {
    return;
  }
  const size_t size = daedalus_type_size(part->desc->type);
  const ptrdiff_t stride = part->buffer->stride;
  const size_t bytes = (size_t)((int64_t)rect->col_end - rect->col_begin) * size;
  daedalus_gpu_run run = {0};
  for (size_t i = part->first; i < part->end; i++) {
    const uint32_t item = part->items[i];
    const int64_t row_end = row_end_of(part, rect, item);
    if (row_end <= rect->row_begin) {
      continue;
    }
    const size_t rows = (size_t)(row_end - rect->row_begin);
    const uintptr_t address = origin_of(part, item) +
                              (uintptr_t)((intptr_t)rect->row_begin * stride) +
                              (uintptr_t)(intptr_t)rect->col_begin * size;
    if (run.bytes != 0 && rows == run.rows && address >= run.address &&
        address - run.address <= run.bytes) {
      const size_t together = address - run.address + bytes;
      run.bytes = together > run.bytes ? together : run.bytes;
      continue;
    }
    if (run.bytes != 0) {
      each(user, &run);
    }
    run = (daedalus_gpu_run){address, stride, rows, bytes};
  }
  if (run.bytes != 0) {
    each(user, &run);
  }
}

void daedalus_rt_gpu_runs(const daedalus_gpu_part *part, unsigned access,
                          void (*each)(void *user, const daedalus_gpu_run *run), void *user) {
  const bool reads = (access & DAEDALUS_ACCESS_READ) != 0;
  if (reads) {
    runs_of_rect(part, &part->desc->reads, each, user);
  }
  if ((access & DAEDALUS_ACCESS_WRITE) != 0 && !(reads && daedalus_rt_gpu_reads_all(part->desc))) {
    runs_of_rect(part, &part->desc->writes, each, user);
  }
}
