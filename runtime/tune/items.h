/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of kernels with their expected results, from a file.
 *
 * The file is what `./daedalus bench --write-data FILE` writes: all numbers little-endian of 64
 * bits, names of 128 bytes padded with zeros.
 *   "DAEDBEN2"  n_kernels  seed
 *   per kernel: name  meta_bytes  n_items  n_buffers, the metas (plane offsets 0)
 *     per buffer: rows  row_bytes  first_row  first_column_bytes  is_output
 *                 the items' windows as they are given, and for an output as they are to be left
 * Of a block buffer a window is one row.  Every item is conformant.
 */
#ifndef DAEDALUS_TUNE_ITEMS_H
#define DAEDALUS_TUNE_ITEMS_H

#include <daedalus/table.h>
#include <stdbool.h>
#include <stdint.h>

#include "tune/base.h"

typedef struct window {
  uint64_t rows, row_bytes;
  int64_t first_row, first_column; /* the latter in bytes */
  bool output;
  uint8_t *given, *expected;
} window;

/* Of one kernel, as the file has it. */
typedef struct sample_items {
  const daedalus_kernel_desc *kernel;
  size_t n_items;
  uint8_t *metas;
  window windows[MAX_BUFFERS];
} sample_items;

typedef struct sample_file {
  sample_items *kernels;
  size_t n_kernels;
  uint64_t seed; /* that its items were drawn with */
} sample_file;

/* Kernels are those of the table.  Ends the program where the file is not one of them. */
sample_file read_samples(const char *path, const daedalus_kernel_table *table);
void free_samples(sample_file *file);
/* NULL where the file has none of the kernel. */
const sample_items *samples_of(const sample_file *file, const daedalus_kernel_desc *kernel);

/* Whether there is an item of the class. */
bool samples_have(const sample_items *samples, int class_index);

/* Whether an item meets what a class asks for; a negative number means any item. */
bool item_of_class(const daedalus_kernel_desc *kernel, int class_index, const uint8_t *meta);
/* Bytes that an item reads and writes, by the kernel's rectangles. */
uint64_t item_bytes(const daedalus_kernel_desc *kernel, const uint8_t *meta);

#endif
