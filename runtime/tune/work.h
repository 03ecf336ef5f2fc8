/* SPDX-License-Identifier: BSD-2-Clause */
/* Work for a kernel: items of a file, laid out as often as wanted, in memory with guards around. */
#ifndef DAEDALUS_TUNE_WORK_H
#define DAEDALUS_TUNE_WORK_H

#include "tune/items.h"

/* A batch's memory. */
typedef struct workload {
  const daedalus_kernel_desc *kernel;
  size_t n_items;
  size_t margin; /* bytes of guards before and after each buffer; 0: none but a plane's own */
  uint8_t *meta;
  uint64_t unique_bytes; /* that its items read, and write; each is one item's */
  bool twin;             /* all but the outputs' memory is another's */
  struct {
    size_t bytes, origin;
    ptrdiff_t stride;
    bool output;
    uint8_t *given, *expected; /* the latter of outputs */
    daedalus_memory *memory;   /* NULL: caller memory */
    uint8_t *data;             /* behind the margin */
  } buffers[MAX_BUFFERS];
} workload;

/* How many items it takes that work_make() lays out to have at least so many unique bytes. */
size_t work_items_for(const sample_items *samples, int class_index, uint64_t bytes);
/*
 * Lays `n_items` out, those of the file in turn that are of the class (by number; negative: all).
 * `margin`, which may be set after it and before work_place(), is 0.
 * @return false where the file has none of the class
 */
bool work_make(workload *w, const sample_items *samples, int class_index, size_t n_items);
/* Gives it memory, of the device or of the caller.  @return false where there is not enough */
bool work_place(workload *w, daedalus_ctx *ctx, bool on_device);
/*
 * The same work with outputs of its own, in memory of the same kind; what it shares with `of`,
 * which has to outlive it, is only read.  @return false where there is not enough memory
 */
bool work_twin(workload *w, const workload *of, daedalus_ctx *ctx, bool on_device);
/* Bytes of memory that a twin has of its own. */
size_t work_twin_bytes(const workload *w);
/* The buffers for an append. */
void work_buffers(const workload *w, daedalus_buffer *buffers);
/* Memory as it was, flushed where it is the device's: outputs alone, or all with its margins. */
void work_reset(workload *w, bool outputs_only);
/* Whether all outputs are as expected, guards included. */
bool work_right(workload *w);
/*
 * Whether all memory is as it must be: as work_right(), and inputs and margins as they were.
 * @param[out] why  where it is not, a sentence about the first byte that is wrong
 */
bool work_intact(workload *w, char *why, size_t why_size);
void work_free(workload *w);

#endif
