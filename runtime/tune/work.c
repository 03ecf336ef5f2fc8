/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 16, ROW_BYTES = 2048, GUARD_ROWS = 1, GUARD = 0x6b };

/* ----------------------------------------------------------------------------- layout */

/*
 * Where windows stand in a plane: side by side in lines of about ROW_BYTES, whose ends are
 * multiples of UNIT, with a line of guards around all.
 */
typedef struct grid {
  uint64_t across, cell_bytes, cell_rows;
} grid;

static grid make_grid(const window *w, bool is_plane, size_t n_items) {
  grid g = {.cell_rows = w->rows, .cell_bytes = w->row_bytes};
  if (!is_plane) {
    return (grid){.across = n_items, .cell_bytes = w->row_bytes, .cell_rows = 1};
  }
  if (g.cell_bytes % 4 != 0) {
    g.cell_bytes += 4 - g.cell_bytes % 4;
  }
  g.across = ROW_BYTES / g.cell_bytes != 0 ? ROW_BYTES / g.cell_bytes : 1;
  return g;
}

static void lay_out(workload *w, size_t b, const sample_items *samples, const size_t *chosen) {
  const window *from = &samples->windows[b];
  const daedalus_buffer_desc *desc = &w->kernel->buffers[b];
  const grid g = make_grid(from, desc->is_plane, w->n_items);
  const uint64_t lines = (w->n_items + g.across - 1) / g.across * g.cell_rows;
  uint64_t pitch = g.across * g.cell_bytes;
  if (desc->is_plane) {
    pitch = (pitch + UNIT - 1) / UNIT * UNIT + UNIT;
  }
  const uint64_t guards = desc->is_plane ? GUARD_ROWS * pitch : 0;
  w->buffers[b].bytes = (size_t)(lines * pitch + 2 * guards);
  w->buffers[b].stride = desc->is_plane ? (ptrdiff_t)pitch : 0;
  w->buffers[b].output = from->output;
  /* Element 0,0 of the first window; others lie behind it, so that no offset is negative. */
  const int64_t lead = -(from->first_row * (int64_t)pitch + from->first_column);
  const int64_t rest = desc->is_plane ? ((lead % 4) + 4) % 4 : 0; /* keeps origins aligned */
  const uint64_t shift = guards + (uint64_t)(rest != 0 ? 4 - rest : 0);
  w->buffers[b].origin = desc->is_plane ? (size_t)((int64_t)shift + lead) : 0;
  w->buffers[b].given = allocate(w->buffers[b].bytes);
  memset(w->buffers[b].given, GUARD, w->buffers[b].bytes);
  w->buffers[b].expected = from->output ? allocate(w->buffers[b].bytes) : NULL;
  if (from->output) {
    memset(w->buffers[b].expected, GUARD, w->buffers[b].bytes);
  }
  const size_t size = (size_t)(from->rows * from->row_bytes);
  for (size_t i = 0; i < w->n_items; i++) {
    const uint64_t at = i / g.across * g.cell_rows * pitch + i % g.across * g.cell_bytes;
    for (uint64_t row = 0; row < from->rows; row++) {
      const size_t to = (size_t)(shift * desc->is_plane + at + row * pitch);
      const size_t of = chosen[i] * size + (size_t)(row * from->row_bytes);
      memcpy(w->buffers[b].given + to, from->given + of, (size_t)from->row_bytes);
      if (from->output) {
        memcpy(w->buffers[b].expected + to, from->expected + of, (size_t)from->row_bytes);
      }
    }
    if (desc->is_plane) {
      const uint32_t offset = (uint32_t)at;
      memcpy(w->meta + i * w->kernel->meta_size + desc->meta_offset, &offset, sizeof(offset));
    }
  }
}

size_t work_items_for(const sample_items *samples, int class_index, uint64_t bytes) {
  const daedalus_kernel_desc *kernel = samples->kernel;
  uint64_t all = 0;
  size_t n_mine = 0;
  for (size_t i = 0; i < samples->n_items; i++) {
    const uint8_t *meta = samples->metas + i * kernel->meta_size;
    if (item_of_class(kernel, class_index, meta)) {
      all += item_bytes(kernel, meta);
      n_mine++;
    }
  }
  if (all == 0) {
    return 0;
  }
  uint64_t have = bytes / all * all;
  size_t n = (size_t)(bytes / all) * n_mine;
  for (size_t i = 0; have < bytes; i++) {
    const uint8_t *meta = samples->metas + i * kernel->meta_size;
    if (item_of_class(kernel, class_index, meta)) {
      have += item_bytes(kernel, meta);
      n++;
    }
  }
  return n;
}

bool work_make(workload *w, const sample_items *samples, int class_index, size_t n_items) {
  const daedalus_kernel_desc *kernel = samples->kernel;
  size_t *mine = allocate(samples->n_items * sizeof(*mine));
  size_t n_mine = 0;
  for (size_t i = 0; i < samples->n_items; i++) {
    if (item_of_class(kernel, class_index, samples->metas + i * kernel->meta_size)) {
      mine[n_mine++] = i;
    }
  }
  memset(w, 0, sizeof(*w));
  w->kernel = kernel;
  w->n_items = n_items;
  if (n_mine != 0) {
    size_t *chosen = allocate(n_items * sizeof(*chosen));
    w->meta = allocate(n_items * kernel->meta_size);
    for (size_t i = 0; i < n_items; i++) {
      chosen[i] = mine[i % n_mine];
      const uint8_t *meta = samples->metas + chosen[i] * kernel->meta_size;
      memcpy(w->meta + i * kernel->meta_size, meta, kernel->meta_size);
      w->unique_bytes += item_bytes(kernel, meta);
    }
    for (size_t b = 0; b < kernel->n_buffers; b++) {
      lay_out(w, b, samples, chosen);
    }
    free(chosen);
  }
  free(mine);
  return n_mine != 0;
}

/* ----------------------------------------------------------------------------- memory */

/* Whether a buffer's memory is its own. */
static bool owns(const workload *w, size_t b) {
  return !w->twin || w->buffers[b].output;
}

bool work_place(workload *w, daedalus_ctx *ctx, bool on_device) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (!owns(w, b)) {
      continue;
    }
    const size_t bytes = w->buffers[b].bytes + 2 * w->margin;
    uint8_t *all;
    if (on_device) {
      if (daedalus_memory_create(ctx, bytes, &w->buffers[b].memory) != 0) {
        return false;
      }
      all = daedalus_memory_data(w->buffers[b].memory);
    } else {
      all = allocate(bytes);
    }
    w->buffers[b].data = all + w->margin;
  }
  work_reset(w, false);
  return true;
}

bool work_twin(workload *w, const workload *of, daedalus_ctx *ctx, bool on_device) {
  *w = *of;
  w->twin = true;
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (owns(w, b)) {
      w->buffers[b].memory = NULL;
      w->buffers[b].data = NULL;
    }
  }
  return work_place(w, ctx, on_device);
}

size_t work_twin_bytes(const workload *w) {
  size_t bytes = 0;
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    bytes += w->buffers[b].output ? w->buffers[b].bytes + 2 * w->margin : 0;
  }
  return bytes;
}

void work_buffers(const workload *w, daedalus_buffer *buffers) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    buffers[b] = (daedalus_buffer){w->buffers[b].data + w->buffers[b].origin, w->buffers[b].stride};
  }
}

void work_reset(workload *w, bool outputs_only) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if ((outputs_only && !w->buffers[b].output) || !owns(w, b)) {
      continue;
    }
    if (!outputs_only) {
      memset(w->buffers[b].data - w->margin, GUARD, w->margin);
      memset(w->buffers[b].data + w->buffers[b].bytes, GUARD, w->margin);
    }
    memcpy(w->buffers[b].data, w->buffers[b].given, w->buffers[b].bytes);
    if (w->buffers[b].memory != NULL) {
      (void)daedalus_memory_flush(w->buffers[b].memory, 0, w->buffers[b].bytes + 2 * w->margin);
    }
  }
}

static bool invalidate(const workload *w, size_t b) {
  return w->buffers[b].memory == NULL ||
         daedalus_memory_invalidate(w->buffers[b].memory, 0, w->buffers[b].bytes + 2 * w->margin) ==
             0;
}

bool work_right(workload *w) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (!w->buffers[b].output) {
      continue;
    }
    if (!invalidate(w, b) ||
        memcmp(w->buffers[b].data, w->buffers[b].expected, w->buffers[b].bytes) != 0) {
      return false;
    }
  }
  return true;
}

static size_t first_other(const uint8_t *bytes, size_t n, uint8_t value) {
  size_t i = 0;
  while (i < n && bytes[i] == value) {
    i++;
  }
  return i;
}

/* One buffer of work_intact(). */
static bool buffer_intact(const workload *w, size_t b, char *why, size_t why_size) {
  const char *name = w->kernel->buffers[b].name;
  const uint8_t *data = w->buffers[b].data;
  const size_t n = w->buffers[b].bytes;
  const uint8_t *right = w->buffers[b].output ? w->buffers[b].expected : w->buffers[b].given;
  if (memcmp(data, right, n) != 0) {
    size_t at = 0;
    while (data[at] == right[at]) {
      at++;
    }
    snprintf(why, why_size, "%s %s: byte %zu of %zu is %u, not %u",
             w->buffers[b].output ? "output" : "input", name, at, n, (unsigned)data[at],
             (unsigned)right[at]);
    return false;
  }
  if (first_other(data - w->margin, w->margin, GUARD) != w->margin) {
    snprintf(why, why_size, "it wrote before buffer %s", name);
    return false;
  }
  const size_t behind = first_other(data + n, w->margin, GUARD);
  if (behind != w->margin) {
    snprintf(why, why_size, "it wrote %zu bytes behind the end of buffer %s", behind, name);
    return false;
  }
  return true;
}

bool work_intact(workload *w, char *why, size_t why_size) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (!invalidate(w, b)) {
      snprintf(why, why_size, "buffer %s could not be read back", w->kernel->buffers[b].name);
      return false;
    }
    if (!buffer_intact(w, b, why, why_size)) {
      return false;
    }
  }
  return true;
}

void work_free(workload *w) {
  for (size_t b = 0; w->kernel != NULL && b < w->kernel->n_buffers; b++) {
    if (owns(w, b) && w->buffers[b].memory != NULL) {
      daedalus_memory_destroy(w->buffers[b].memory);
    } else if (owns(w, b) && w->buffers[b].data != NULL) {
      free(w->buffers[b].data - w->margin);
    }
    if (!w->twin) {
      free(w->buffers[b].given);
      free(w->buffers[b].expected);
    }
  }
  if (!w->twin) {
    free(w->meta);
  }
  memset(w, 0, sizeof(*w));
}
