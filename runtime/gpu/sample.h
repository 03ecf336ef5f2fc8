/* SPDX-License-Identifier: BSD-2-Clause */
/* Items to test a variant with, drawn from what the table says of its kernel. */
#ifndef DAEDALUS_GPU_SAMPLE_H
#define DAEDALUS_GPU_SAMPLE_H

#include "gpu/extent.h"

enum { DAEDALUS_GPU_SAMPLE_BUFFERS = 15 };

/** Items and the buffers that they work on; all memory is in one piece. */
typedef struct daedalus_gpu_sample {
  const daedalus_kernel_desc *kernel;
  size_t n_items;
  unsigned char *meta;
  uint32_t *items; /* 0, 1, 2... */
  daedalus_buffer buffers[DAEDALUS_GPU_SAMPLE_BUFFERS];
  size_t sizes[DAEDALUS_GPU_SAMPLE_BUFFERS]; /* bytes */
  unsigned char *data[DAEDALUS_GPU_SAMPLE_BUFFERS];
  void *all;
} daedalus_gpu_sample;

/**
 * Draws items that meet the class's conditions, in planes and blocks whose
 * places are multiples of `align`.  Every item has a place of its own.
 * Data of blocks with a sign, such as coefficients, is small and mostly zero,
 * so that nothing overflows; all else takes the whole of its range.
 * @return 0 or -ENOMEM
 */
int daedalus_rt_gpu_sample_make(daedalus_gpu_sample *sample, const daedalus_allocator *allocator,
                                const daedalus_kernel_desc *kernel, uint16_t class_index,
                                const uint8_t *align, size_t n_items);
void daedalus_rt_gpu_sample_free(daedalus_gpu_sample *sample, const daedalus_allocator *allocator);

/** The same items and data again, elsewhere.  @return 0 or -ENOMEM */
int daedalus_rt_gpu_sample_copy(daedalus_gpu_sample *copy, const daedalus_gpu_sample *sample,
                                const daedalus_allocator *allocator);

/** Leaves of an item's signed blocks only the first element. */
void daedalus_rt_gpu_sample_simplify(daedalus_gpu_sample *sample, size_t item);

/** Runs a CPU variant on all items. */
void daedalus_rt_gpu_sample_run(daedalus_gpu_sample *sample, const daedalus_variant *variant);

/** Whether what was written for an item is the same in both. */
bool daedalus_rt_gpu_sample_equal(const daedalus_gpu_sample *a, const daedalus_gpu_sample *b,
                                  size_t item);

#endif /* DAEDALUS_GPU_SAMPLE_H */
