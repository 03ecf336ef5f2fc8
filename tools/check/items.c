/* SPDX-License-Identifier: BSD-2-Clause */
#include "items.h"

#include <stdlib.h>
#include <string.h>

static const daedalus_items_entry *find_entry(const char *name) {
  for (const daedalus_items_entry *e = daedalus_items_entries; e->name != NULL; e++) {
    if (strcmp(e->name, name) == 0) {
      return e;
    }
  }
  return NULL;
}

static daedalus_items_fn *find_function(const char *name, items_way way) {
  const daedalus_items_entry *entry = find_entry(name);
  if (entry == NULL) {
    return NULL;
  }
  return way.cleared != NULL ? entry->clearing : way.tall ? entry->tall : entry->items;
}

bool items_known(const char *name, items_way way) {
  return find_function(name, way) != NULL;
}

static size_t type_bytes(daedalus_type type) {
  static const size_t bytes[] = {1, 1, 2, 2, 4, 4};
  return bytes[type];
}

static size_t item_bytes(const daedalus_buffer_desc *b) {
  return b->item_stride * type_bytes(b->type);
}

/* A plane's offset in the meta of an item. */
static int64_t offset_of(const daedalus_kernel_desc *kernel, size_t b, const uint8_t *meta,
                         size_t item) {
  uint32_t offset;
  memcpy(&offset, meta + item * kernel->meta_size + kernel->buffers[b].meta_offset, sizeof offset);
  return offset;
}

static bool same_params(const daedalus_kernel_desc *kernel, const uint8_t *meta, size_t a,
                        size_t b) {
  for (size_t p = 0; p < kernel->n_params; p++) {
    const daedalus_param_desc *param = &kernel->params[p];
    const size_t size = type_bytes(param->type) * (param->count == 0 ? 1 : param->count);
    if (memcmp(meta + a * kernel->meta_size + param->meta_offset,
               meta + b * kernel->meta_size + param->meta_offset, size) != 0) {
      return false;
    }
  }
  return true;
}

typedef struct job_view {
  const daedalus_kernel_desc *kernel;
  const image *images;
  const uint8_t *meta;
  ptrdiff_t steps[MAX_BUFFERS];
} job_view;

/* What lies between two items, from the first two; others must lie alike. */
static void find_steps(job_view *job, size_t n_items) {
  for (size_t b = 0; b < job->kernel->n_buffers; b++) {
    job->steps[b] = 0;
    if (!job->kernel->buffers[b].is_plane || n_items < 2) {
      continue;
    }
    const int64_t first = offset_of(job->kernel, b, job->meta, 0);
    const int64_t step = offset_of(job->kernel, b, job->meta, 1) - first;
    for (size_t k = 2; k < n_items; k++) {
      if (offset_of(job->kernel, b, job->meta, k) != first + (int64_t)k * step) {
        die("the items of a run by a function for many are not laid out regularly", "");
      }
    }
    job->steps[b] = (ptrdiff_t)step;
  }
}

static void call(const job_view *job, daedalus_items_fn *fn, bool one, size_t first, size_t n) {
  const daedalus_kernel_desc *kernel = job->kernel;
  daedalus_buffer buffers[MAX_BUFFERS];
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    const daedalus_buffer_desc *desc = &kernel->buffers[b];
    const int64_t at = desc->is_plane ? offset_of(kernel, b, job->meta, first)
                                      : (int64_t)(first * item_bytes(desc));
    const image *i = &job->images[b];
    buffers[b] = (daedalus_buffer){i->bytes + i->origin + at, i->stride};
  }
  /* A copy, so that offsets are not there, nor, for one struct, those that follow. */
  const size_t copied = one ? 1 : n;
  uint8_t *meta = allocate(copied * kernel->meta_size);
  memcpy(meta, job->meta + first * kernel->meta_size, copied * kernel->meta_size);
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    for (size_t k = 0; kernel->buffers[b].is_plane && k < copied; k++) {
      memset(meta + k * kernel->meta_size + kernel->buffers[b].meta_offset, 0xa5, 4);
    }
  }
  fn(buffers, job->steps, kernel->n_params == 0 ? NULL : meta, one ? 0 : 1, n);
  free(meta);
}

bool items_clears(items_way way, const char *name) {
  const size_t length = strlen(name);
  const char *names = way.cleared != NULL ? way.cleared : "";
  for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
    const bool begins = at == names || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

/* Blocks of items that were done are zero, or each byte is zero or as it was; those of others are
 * as they were. */
static bool is_cleared(const image *i, size_t bytes, size_t n_items, const bool *done,
                       bool in_part) {
  for (size_t item = 0; item < n_items; item++) {
    const uint8_t *now = i->bytes + i->origin + item * bytes;
    const uint8_t *before = i->initial + i->origin + item * bytes;
    for (size_t k = 0; k < bytes; k++) {
      const bool zero = done[item] && now[k] == 0;
      const bool same = (!done[item] || in_part) && now[k] == before[k];
      if (!zero && !same) {
        return false;
      }
    }
  }
  return true;
}

uint64_t items_run(const daedalus_kernel_desc *kernel, const char *name, items_way way,
                   const image *images, const uint8_t *meta, size_t n_items, const uint32_t *items,
                   size_t n) {
  daedalus_items_fn *fn = find_function(name, way);
  job_view job = {.kernel = kernel, .images = images, .meta = meta};
  find_steps(&job, n_items);
  bool *done = allocate(n_items * sizeof *done);
  memset(done, 0, n_items * sizeof *done);
  for (size_t k = 0; k < n;) {
    size_t length = 1;
    while (k + length < n && items[k + length] == items[k] + length &&
           (!way.one || same_params(kernel, meta, items[k], items[k + length]))) {
      length++;
    }
    const size_t some = length - length / 2;
    call(&job, fn, way.one, items[k], some);
    /* Of one item the rest is none, of which there need be no struct. */
    call(&job, fn, way.one, items[k] + (some < length ? some : 0), length - some);
    memset(done + items[k], 1, length * sizeof *done);
    k += length;
  }
  bool good = true;
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    const daedalus_buffer_desc *desc = &kernel->buffers[b];
    if (items_clears(way, desc->name)) {
      good = good && is_cleared(&images[b], item_bytes(desc), n_items, done, way.in_part);
    }
  }
  free(done);
  return good ? DONE : NOT_CLEARED;
}
