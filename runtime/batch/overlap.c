/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug check that no item of an append touches what another one writes, nor by one buffer what
 * it writes by another.
 *
 * Every row of every rectangle becomes a span of addresses, so that planes
 * which lie in the same memory need no special care.  Sorted by their begin,
 * a span meets an earlier one exactly if one of those before it ends behind
 * its begin; to know that, the one that reaches farthest is enough, and, as
 * an item's spans of the same buffer may meet, the farthest of any other item
 * or buffer.  So one pass over the sorted spans finds a conflict if there is one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "batch/check.h"
#include "base/meta.h"

typedef struct daedalus_span {
  uintptr_t begin, end; /* half-open, never empty */
  uint32_t item;
  uint16_t buffer; /* index in the kernel */
  bool write;
} daedalus_span;

/** Whether both are of one item and one buffer, which its kernel may read and write in place. */
static bool together(const daedalus_span *a, const daedalus_span *b) {
  return a->item == b->item && a->buffer == b->buffer;
}

/** The span that reaches farthest, and the farthest among those that are not together with it. */
typedef struct reach {
  const daedalus_span *first, *second;
} reach;

static void reach_add(reach *r, const daedalus_span *span) {
  if (r->first == NULL || together(span, r->first)) {
    if (r->first == NULL || span->end > r->first->end) {
      r->first = span;
    }
  } else if (span->end > r->first->end) {
    r->second = r->first;
    r->first = span;
  } else if (r->second == NULL || span->end > r->second->end) {
    r->second = span;
  }
}

/** @return a span in `r` that meets this one and is not together with it, or NULL */
static const daedalus_span *reach_meets(const reach *r, const daedalus_span *span) {
  const daedalus_span *other = r->first != NULL && together(r->first, span) ? r->second : r->first;
  return other != NULL && other->end > span->begin ? other : NULL;
}

static int compare_spans(const void *a, const void *b) {
  const daedalus_span *x = a, *y = b;
  if (x->begin != y->begin) {
    return x->begin < y->begin ? -1 : 1;
  }
  /* The rest only makes the message independent of the sorting algorithm. */
  if (x->item != y->item) {
    return x->item < y->item ? -1 : 1;
  }
  return (int)x->buffer - (int)y->buffer;
}

static size_t rows_of(const daedalus_rect *rect) {
  return rect->row_end > rect->row_begin && rect->col_end > rect->col_begin
             ? (size_t)((int64_t)rect->row_end - rect->row_begin)
             : 0;
}

/** Whether `inner` says nothing that `outer` does not say. */
static bool covers(const daedalus_rect *outer, const daedalus_rect *inner) {
  return outer->row_begin <= inner->row_begin && inner->row_end <= outer->row_end &&
         outer->col_begin <= inner->col_begin && inner->col_end <= outer->col_end;
}

/** Appends the spans of one rectangle for every item; room is reserved. */
static void add_rect(daedalus_vec *spans, const daedalus_work *work, uint16_t index, bool write) {
  const daedalus_buffer_desc *desc = &work->kernel->buffers[index];
  const daedalus_buffer *buffer = &work->buffers[index];
  const daedalus_rect *rect = write ? &desc->writes : &desc->reads;
  const size_t size = daedalus_type_size(desc->type);
  if (rows_of(rect) == 0) {
    return;
  }
  daedalus_span *out = (daedalus_span *)spans->data + spans->size;
  for (size_t i = 0; i < work->n_items; i++) {
    const unsigned char *item = daedalus_meta_of(work->kernel, work->meta, i);
    int64_t row_end = rect->row_end;
    if (desc->rows_param != 0) {
      const daedalus_param_desc *rows = &work->kernel->params[desc->rows_param - 1];
      row_end -= rows->hi - daedalus_meta_param(rows, item);
    }
    /* Unsigned, so that negative rows, columns and strides may wrap on the way. */
    const uintptr_t origin =
        (uintptr_t)buffer->data + (desc->is_plane ? (uintptr_t)daedalus_meta_offset(desc, item)
                                                  : (uintptr_t)i * desc->item_stride * size);
    for (int64_t row = rect->row_begin; row < row_end; row++) {
      const uintptr_t line = origin + (uintptr_t)row * (uintptr_t)buffer->stride;
      *out++ = (daedalus_span){
          .begin = line + (uintptr_t)(intptr_t)rect->col_begin * size,
          .end = line + (uintptr_t)(intptr_t)rect->col_end * size,
          .item = (uint32_t)i,
          .buffer = index,
          .write = write,
      };
    }
  }
  spans->size = (size_t)(out - (daedalus_span *)spans->data);
}

static int collect(daedalus_batch *batch, const daedalus_work *work) {
  const daedalus_kernel_desc *kernel = work->kernel;
  size_t rows = 0; /* of one item; a few dozen */
  for (size_t i = 0; i < kernel->n_buffers; i++) {
    rows += rows_of(&kernel->buffers[i].reads) + rows_of(&kernel->buffers[i].writes);
  }
  if (rows != 0 && work->n_items > SIZE_MAX / rows) {
    return -ENOMEM;
  }
  batch->spans.size = 0;
  const int error = daedalus_rt_vec_reserve(&batch->ctx->allocator, &batch->spans,
                                            work->n_items * rows, sizeof(daedalus_span));
  if (error != 0) {
    return error;
  }
  for (uint16_t i = 0; i < kernel->n_buffers; i++) {
    const daedalus_buffer_desc *desc = &kernel->buffers[i];
    add_rect(&batch->spans, work, i, true);
    if (!covers(&desc->writes, &desc->reads)) {
      add_rect(&batch->spans, work, i, false);
    }
  }
  return 0;
}

static int report(const daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                  const daedalus_span *a, const daedalus_span *b) {
  if (a->item > b->item || (a->item == b->item && !a->write)) {
    const daedalus_span *swap = a;
    a = b;
    b = swap;
  }
  if (a->item == b->item) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "%s: item %" PRIu32 " overlaps itself: it writes %s where it %s %s", kernel->id,
                    a->item, kernel->buffers[a->buffer].name, b->write ? "writes" : "reads",
                    kernel->buffers[b->buffer].name);
    return -EINVAL;
  }
  daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                  "%s: items %" PRIu32 " and %" PRIu32
                  " of one append overlap: the first %s %s where the second %s %s",
                  kernel->id, a->item, b->item, a->write ? "writes" : "reads",
                  kernel->buffers[a->buffer].name, b->write ? "writes" : "reads",
                  kernel->buffers[b->buffer].name);
  return -EINVAL;
}

int daedalus_rt_check_overlap(daedalus_batch *batch, const daedalus_work *work) {
  const int error = collect(batch, work);
  if (error != 0 || batch->spans.size == 0) {
    return error;
  }
  const daedalus_span *spans = batch->spans.data;
  qsort(batch->spans.data, batch->spans.size, sizeof(*spans), compare_spans);
  reach all = {NULL, NULL}, writes = {NULL, NULL};
  for (size_t i = 0; i < batch->spans.size; i++) {
    const daedalus_span *other = reach_meets(spans[i].write ? &all : &writes, &spans[i]);
    if (other != NULL) {
      return report(batch->ctx, work->kernel, other, &spans[i]);
    }
    reach_add(&all, &spans[i]);
    if (spans[i].write) {
      reach_add(&writes, &spans[i]);
    }
  }
  return 0;
}
