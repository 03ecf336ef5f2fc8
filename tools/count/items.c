/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * items.c - how functions for many items, and others that do many, are called.
 *
 * What is called is named by a text, "KERNEL items", "KERNEL clearing" (the public functions),
 * "KERNEL batch CLASS" (the function of the best variant of a class, which takes indices and meta)
 * or "KERNEL dispatch" (the runtime).  Items stand beside each other in planes, all with the same
 * parameters: the case's, after the number of items.  All but a dispatch are called through
 * functions with the arguments that all kernels have alike, which take some instructions of their
 * own, once a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus.h>
#include <daedalus/table.h>

#include "count.h"

enum { MOST_ITEMS = 1000, MOST_BUFFERS = 8, MARGIN = 64 };

static struct {
  const daedalus_kernel_desc *kernel;
  daedalus_buffer buffers[MOST_BUFFERS];
  ptrdiff_t steps[MOST_BUFFERS];
  uint8_t *meta;
  uint32_t items[MOST_ITEMS];
  daedalus_ctx *ctx;
} job;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "count: %s\n", what);
  exit(2);
}

static void *allocate(size_t bytes) {
  void *memory = calloc(bytes, 1);
  if (memory == NULL) {
    fail("no memory");
  }
  return memory;
}

static size_t number_of_items(void) {
  return (size_t)parameters[0];
}

static size_t type_bytes(daedalus_type type) {
  static const size_t bytes[] = {1, 1, 2, 2, 4, 4};
  return bytes[type];
}

/* What a plane's rectangle covers; of one that is read and written both rectangles. */
static daedalus_rect covered(const daedalus_buffer_desc *b) {
  const daedalus_rect r = b->reads, w = b->writes;
  if (r.row_end <= r.row_begin) {
    return w;
  }
  if (w.row_end <= w.row_begin) {
    return r;
  }
  return (daedalus_rect){r.row_begin < w.row_begin ? r.row_begin : w.row_begin,
                         r.row_end > w.row_end ? r.row_end : w.row_end,
                         r.col_begin < w.col_begin ? r.col_begin : w.col_begin,
                         r.col_end > w.col_end ? r.col_end : w.col_end};
}

/* A row of items that touch, in a picture of small steps. */
static void make_plane(size_t b) {
  const daedalus_buffer_desc *desc = &job.kernel->buffers[b];
  const daedalus_rect r = covered(desc);
  const size_t element = type_bytes(desc->type);
  const size_t rows = (size_t)(r.row_end - r.row_begin), cols = (size_t)(r.col_end - r.col_begin);
  const size_t stride = (MOST_ITEMS * cols * element / MARGIN + 1) * MARGIN;
  uint8_t *memory = allocate(stride * rows);
  for (size_t k = 0; k < stride * rows; k++) {
    memory[k] = (uint8_t)(100 + (k % stride * 3 + k / stride * 2) % 7 * 2);
  }
  uint8_t *origin = memory - r.row_begin * (ptrdiff_t)stride - r.col_begin * (ptrdiff_t)element;
  job.buffers[b] = (daedalus_buffer){origin, (ptrdiff_t)stride};
  job.steps[b] = (ptrdiff_t)(cols * element);
}

/* Small numbers. */
static void make_block(size_t b) {
  const daedalus_buffer_desc *desc = &job.kernel->buffers[b];
  const size_t n = (size_t)desc->item_stride * MOST_ITEMS;
  int16_t *memory = allocate(n * sizeof *memory);
  if (type_bytes(desc->type) != sizeof *memory) {
    fail("a block of other elements than 16 bits");
  }
  for (size_t k = 0; k < n; k++) {
    memory[k] = (int16_t)((int)(k * 37 % 61) - 30);
  }
  job.buffers[b] = (daedalus_buffer){memory, 0};
}

static void make_meta(size_t item) {
  uint8_t *meta = job.meta + item * job.kernel->meta_size;
  for (size_t b = 0; b < job.kernel->n_buffers; b++) {
    const uint32_t offset = (uint32_t)((size_t)job.steps[b] * item);
    if (job.kernel->buffers[b].is_plane) {
      memcpy(meta + job.kernel->buffers[b].meta_offset, &offset, sizeof offset);
    }
  }
  for (size_t p = 0; p < job.kernel->n_params; p++) {
    const daedalus_param_desc *param = &job.kernel->params[p];
    const int32_t value = (int32_t)parameters[1 + p];
    for (size_t k = 0; k < (param->count == 0 ? 1 : param->count); k++) {
      /* Low bytes first, as the processor has them. */
      memcpy(meta + param->meta_offset + k * type_bytes(param->type), &value,
             type_bytes(param->type));
    }
  }
}

static void make_job(void) {
  if (number_of_items() > MOST_ITEMS || job.kernel->n_buffers > MOST_BUFFERS) {
    fail("too many items, or buffers");
  }
  for (size_t b = 0; b < job.kernel->n_buffers; b++) {
    if (job.kernel->buffers[b].is_plane) {
      make_plane(b);
    } else {
      make_block(b);
    }
  }
  job.meta = allocate((size_t)job.kernel->meta_size * MOST_ITEMS);
  for (size_t k = 0; k < MOST_ITEMS; k++) {
    make_meta(k);
    job.items[k] = (uint32_t)k;
  }
  job.ctx = daedalus_ctx_create_no_qpu();
  if (job.ctx == NULL) {
    fail("no context");
  }
}

static void call_items(any_fn *fn, work *w) {
  (void)w;
  ((daedalus_items_fn *)fn)(job.buffers, job.steps, job.meta, 0, number_of_items());
}

static void call_batch(any_fn *fn, work *w) {
  (void)w;
  ((daedalus_cpu_fn *)fn)(job.buffers, job.meta, job.items, number_of_items());
}

static void call_dispatch(any_fn *fn, work *w) {
  (void)w;
  typedef int dispatch_fn(daedalus_ctx *, const daedalus_kernel_desc *, daedalus_substrate,
                          const daedalus_buffer *, size_t, const void *);
  if (((dispatch_fn *)fn)(job.ctx, job.kernel, DAEDALUS_SUBSTRATE_CPU, job.buffers,
                          number_of_items(), job.meta) != 0) {
    fail("the dispatch was refused");
  }
}

const shape shapes[] = {
    {"items", 1, make_job, call_items, NULL},
    {"batch", 1, make_job, call_batch, NULL},
    {"dispatch", 1, make_job, call_dispatch, NULL},
    {NULL, 0, NULL, NULL, NULL},
};

/* The best variant of the class that holds every item. */
static daedalus_cpu_fn *best_of(const daedalus_kernel_desc *kernel, const char *class_name) {
  const daedalus_variant *best = NULL;
  for (size_t v = 0; v < kernel->n_variants; v++) {
    const daedalus_variant *one = &kernel->variants[v];
    const bool fits = strcmp(kernel->classes[one->class_index].name, class_name) == 0;
    if (fits && one->cpu != NULL && one->prod && (best == NULL || one->rank < best->rank)) {
      best = one;
    }
  }
  return best == NULL ? NULL : best->cpu;
}

any_fn *function_of_table(const char *name) {
  char kernel[64], way[16], class_name[32] = "";
  if (sscanf(name, "%63s %15s %31s", kernel, way, class_name) < 2) {
    return NULL;
  }
  job.kernel = daedalus_find_kernel(kernel);
  const daedalus_items_entry *e = daedalus_items_entries;
  while (e->name != NULL && strcmp(e->name, kernel) != 0) {
    e++;
  }
  if (job.kernel == NULL || e->name == NULL) {
    return NULL;
  }
  return strcmp(way, "items") == 0      ? (any_fn *)e->items
         : strcmp(way, "clearing") == 0 ? (any_fn *)e->clearing
         : strcmp(way, "batch") == 0    ? (any_fn *)best_of(job.kernel, class_name)
         : strcmp(way, "dispatch") == 0 ? (any_fn *)daedalus_dispatch
                                        : NULL;
}
