/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of GPU variants, through the runtime: on the device that the environment's
 * DAEDALUS_VULKAN_DEVICE names.
 *
 * "copy" lets the runtime copy the images; then only what the items write comes back.  "place" has
 * them in memory of the device, so that a store that goes astray shows in the image or in the
 * pattern before and behind it.  Items are done in the given order, in appends of one batch: half
 * of them together, the others in appends of 1, 2, 3, ... items.  "whole" is "place", all items in
 * one append.
 */
#ifndef CHECK_GPU_H
#define CHECK_GPU_H

#include "job.h"

typedef struct gpu_way {
  bool on_gpu;
  uint32_t workgroup; /* 0: the variant's own */
  bool in_place, one_append;
} gpu_way;

/*
 * Runs items by a variant (NULL: by those that the runtime chooses) on images[].bytes.
 * @return DONE; REFUSED, by the append; GPU_FAILED where the runtime logged an error, did not run
 *         the variant or not on the GPU, or memory around an image was written
 */
uint64_t gpu_run(const daedalus_kernel_desc *kernel, const daedalus_variant *variant, gpu_way way,
                 image *images, const void *meta, const uint32_t *items, size_t n);

/* Prints the devices. */
void gpu_list(void);

/* Gives back what gpu_run() keeps. */
void gpu_close(void);

#endif
