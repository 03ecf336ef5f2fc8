/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work for a kernel: items with their expected results from a file, laid out as often as wanted.
 *
 * The file is what `./daedalus bench --write-data FILE` writes: all numbers little-endian of 64
 * bits, names of 128 bytes padded with zeros.
 *   "DAEDBEN1"  n_kernels
 *   per kernel: name  meta_bytes  n_items  n_buffers, the metas (plane offsets 0)
 *     per buffer: rows  row_bytes  first_row  first_column_bytes  is_output
 *                 the items' windows as they are given, and for an output as they are to be left
 * Of a block buffer a window is one row.  Every item is conformant.
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "bench.h"

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
} sample_file;

sample_file read_samples(const char *path);
void free_samples(sample_file *file);

/* A batch's memory. */
typedef struct workload {
  const daedalus_kernel_desc *kernel;
  size_t n_items;
  uint8_t *meta;
  uint64_t unique_bytes; /* that its items read, and write; each is one item's */
  struct {
    size_t bytes, origin;
    ptrdiff_t stride;
    bool output;
    uint8_t *given, *expected; /* the latter of outputs */
    daedalus_memory *memory;   /* NULL: caller memory */
    uint8_t *data;
  } buffers[MAX_BUFFERS];
} workload;

/* How many items it takes that work_make() lays out to have at least so many unique bytes. */
size_t work_items_for(const sample_items *samples, int class_index, uint64_t bytes);
/*
 * Lays `n_items` out, those of the file in turn that are of the class (by number; negative: all).
 * @return false where the file has none of the class
 */
bool work_make(workload *w, const sample_items *samples, int class_index, size_t n_items);
/* Gives it memory, of the device or of the caller.  @return false where there is not enough */
bool work_place(workload *w, daedalus_ctx *ctx, bool on_device);
/* The buffers for an append. */
void work_buffers(const workload *w, daedalus_buffer *buffers);
/* The inputs as they were; those of the device are flushed.  All buffers, or outputs alone. */
void work_reset(workload *w, bool outputs_only);
/* Whether all outputs are as expected, guards included. */
bool work_right(workload *w);
void work_free(workload *w);

/* Bytes that an item reads and writes, by the kernel's rectangles. */
uint64_t item_bytes(const daedalus_kernel_desc *kernel, const uint8_t *meta);

#endif
