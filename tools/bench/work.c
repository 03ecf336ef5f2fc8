/* SPDX-License-Identifier: BSD-2-Clause */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/meta.h"

enum { UNIT = 16, ROW_BYTES = 2048, GUARD_ROWS = 1, GUARD = 0x6b };

/* ----------------------------------------------------------------------------- the file */

static FILE *file;

static void read_bytes(void *to, size_t n) {
  if (n != 0 && fread(to, 1, n, file) != n) {
    die("the data file is too short", "");
  }
}

static uint64_t read_number(void) {
  uint64_t n;
  read_bytes(&n, sizeof(n));
  return n;
}

static uint8_t *read_block(uint64_t n) {
  if (n > UINT32_MAX) {
    die("the data file is not one of this program", "");
  }
  uint8_t *block = allocate((size_t)n);
  read_bytes(block, (size_t)n);
  return block;
}

static void read_kernel(sample_items *s) {
  char name[NAME_BYTES];
  read_bytes(name, sizeof(name));
  name[NAME_BYTES - 1] = '\0';
  s->kernel = daedalus_find_kernel(name);
  const uint64_t meta_bytes = read_number();
  s->n_items = (size_t)read_number();
  const uint64_t n_buffers = read_number();
  if (s->kernel == NULL || s->kernel->meta_size != meta_bytes ||
      s->kernel->n_buffers != n_buffers || n_buffers > MAX_BUFFERS || s->n_items == 0) {
    die("the data file and the library disagree about a kernel; write it anew", name);
  }
  s->metas = read_block(meta_bytes * s->n_items);
  for (uint64_t b = 0; b < n_buffers; b++) {
    window *w = &s->windows[b];
    w->rows = read_number();
    w->row_bytes = read_number();
    w->first_row = (int64_t)read_number();
    w->first_column = (int64_t)read_number();
    w->output = read_number() != 0;
    w->given = read_block(w->rows * w->row_bytes * s->n_items);
    w->expected = w->output ? read_block(w->rows * w->row_bytes * s->n_items) : NULL;
  }
}

sample_file read_samples(const char *path) {
  char magic[8];
  file = fopen(path, "rb");
  if (file == NULL) {
    die("cannot open", path);
  }
  read_bytes(magic, sizeof(magic));
  if (memcmp(magic, "DAEDBEN1", sizeof(magic)) != 0) {
    die("not a data file of this program", path);
  }
  sample_file read = {.n_kernels = (size_t)read_number()};
  if (read.n_kernels > 4096) {
    die("not a data file of this program", path);
  }
  read.kernels = allocate(read.n_kernels * sizeof(*read.kernels));
  memset(read.kernels, 0, read.n_kernels * sizeof(*read.kernels));
  for (size_t k = 0; k < read.n_kernels; k++) {
    read_kernel(&read.kernels[k]);
  }
  fclose(file);
  return read;
}

void free_samples(sample_file *samples) {
  for (size_t k = 0; k < samples->n_kernels; k++) {
    free(samples->kernels[k].metas);
    for (size_t b = 0; b < MAX_BUFFERS; b++) {
      free(samples->kernels[k].windows[b].given);
      free(samples->kernels[k].windows[b].expected);
    }
  }
  free(samples->kernels);
}

/* ----------------------------------------------------------------------------- layout */

static bool of_class(const daedalus_kernel_desc *kernel, int class_index, const uint8_t *meta) {
  if (class_index < 0) {
    return true;
  }
  const daedalus_class_desc *c = &kernel->classes[class_index];
  for (size_t i = 0; i < c->n_conditions; i++) {
    const int64_t value = daedalus_meta_param(&kernel->params[c->conditions[i].param], meta);
    if (value < c->conditions[i].lo || value > c->conditions[i].hi) {
      return false;
    }
  }
  return true;
}

static uint64_t area(const daedalus_rect *rect, int64_t fewer_rows) {
  const int64_t rows = (int64_t)rect->row_end - rect->row_begin - fewer_rows;
  const int64_t columns = (int64_t)rect->col_end - rect->col_begin;
  return rows > 0 && columns > 0 ? (uint64_t)(rows * columns) : 0;
}

uint64_t item_bytes(const daedalus_kernel_desc *kernel, const uint8_t *meta) {
  uint64_t bytes = 0;
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    const daedalus_buffer_desc *desc = &kernel->buffers[b];
    int64_t fewer = 0;
    if (desc->rows_param != 0) {
      const daedalus_param_desc *rows = &kernel->params[desc->rows_param - 1];
      fewer = rows->hi - daedalus_meta_param(rows, meta);
    }
    bytes +=
        (area(&desc->reads, fewer) + area(&desc->writes, fewer)) * daedalus_type_size(desc->type);
  }
  return bytes;
}

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
    if (of_class(kernel, class_index, meta)) {
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
    if (of_class(kernel, class_index, meta)) {
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
    if (of_class(kernel, class_index, samples->metas + i * kernel->meta_size)) {
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

bool work_place(workload *w, daedalus_ctx *ctx, bool on_device) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (on_device) {
      if (daedalus_memory_create(ctx, w->buffers[b].bytes, &w->buffers[b].memory) != 0) {
        return false;
      }
      w->buffers[b].data = daedalus_memory_data(w->buffers[b].memory);
    } else {
      w->buffers[b].data = allocate(w->buffers[b].bytes);
    }
  }
  work_reset(w, false);
  return true;
}

void work_buffers(const workload *w, daedalus_buffer *buffers) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    buffers[b] = (daedalus_buffer){w->buffers[b].data + w->buffers[b].origin, w->buffers[b].stride};
  }
}

void work_reset(workload *w, bool outputs_only) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (outputs_only && !w->buffers[b].output) {
      continue;
    }
    memcpy(w->buffers[b].data, w->buffers[b].given, w->buffers[b].bytes);
    if (w->buffers[b].memory != NULL) {
      (void)daedalus_memory_flush(w->buffers[b].memory, 0, w->buffers[b].bytes);
    }
  }
}

bool work_right(workload *w) {
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (!w->buffers[b].output) {
      continue;
    }
    if (w->buffers[b].memory != NULL &&
        daedalus_memory_invalidate(w->buffers[b].memory, 0, w->buffers[b].bytes) != 0) {
      return false;
    }
    if (memcmp(w->buffers[b].data, w->buffers[b].expected, w->buffers[b].bytes) != 0) {
      return false;
    }
  }
  return true;
}

void work_free(workload *w) {
  for (size_t b = 0; w->kernel != NULL && b < w->kernel->n_buffers; b++) {
    if (w->buffers[b].memory != NULL) {
      daedalus_memory_destroy(w->buffers[b].memory);
    } else {
      free(w->buffers[b].data);
    }
    free(w->buffers[b].given);
    free(w->buffers[b].expected);
  }
  free(w->meta);
  memset(w, 0, sizeof(*w));
}
