/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/meta.h"

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

static const daedalus_kernel_desc *kernel_of(const daedalus_kernel_table *table, const char *id) {
  for (size_t k = 0; k < table->n_kernels; k++) {
    if (strcmp(table->kernels[k].id, id) == 0) {
      return &table->kernels[k];
    }
  }
  return NULL;
}

static void read_kernel(sample_items *s, const daedalus_kernel_table *table) {
  char name[NAME_BYTES];
  read_bytes(name, sizeof(name));
  name[NAME_BYTES - 1] = '\0';
  s->kernel = kernel_of(table, name);
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

sample_file read_samples(const char *path, const daedalus_kernel_table *table) {
  char magic[8];
  const char *why;
  file = daedalus_rt_open_regular(path, &why);
  if (file == NULL) {
    char what[128];
    snprintf(what, sizeof(what), "cannot open: %s", why);
    die(what, path);
  }
  read_bytes(magic, sizeof(magic));
  if (memcmp(magic, "DAEDBEN2", sizeof(magic)) != 0) {
    die("not a data file of this program", path);
  }
  sample_file read = {.n_kernels = (size_t)read_number()};
  if (read.n_kernels > 4096) {
    die("not a data file of this program", path);
  }
  read.seed = read_number();
  read.kernels = allocate_zeroed(read.n_kernels * sizeof(*read.kernels));
  for (size_t k = 0; k < read.n_kernels; k++) {
    read_kernel(&read.kernels[k], table);
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

const sample_items *samples_of(const sample_file *samples, const daedalus_kernel_desc *kernel) {
  for (size_t k = 0; k < samples->n_kernels; k++) {
    if (samples->kernels[k].kernel == kernel) {
      return &samples->kernels[k];
    }
  }
  return NULL;
}

/* ----------------------------------------------------------------------------- an item */

bool item_of_class(const daedalus_kernel_desc *kernel, int class_index, const uint8_t *meta) {
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

bool samples_have(const sample_items *samples, int class_index) {
  const size_t size = samples->kernel->meta_size;
  for (size_t i = 0; i < samples->n_items; i++) {
    if (item_of_class(samples->kernel, class_index, samples->metas + i * size)) {
      return true;
    }
  }
  return false;
}
