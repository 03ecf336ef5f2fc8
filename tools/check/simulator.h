/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of variants in machine code of V3D 7.1 on its simulator alone, strictly: no runtime, no
 * driver.  Built with CHECK_SIMULATOR defined to 1, it needs libdaedalus_v3d; else it has none.
 *
 * Each buffer has addresses of its own, with none around them that can be touched; pads that fill
 * an image up to whole words keep a pattern, and records and constants what they hold.  The first
 * half of the items is done by one job, the others by jobs of 1, 2, 3, ... items, so that batches
 * are cut at every place; a job has as many threads as asked for, if it has that many batches.
 */
#ifndef CHECK_SIMULATOR_H
#define CHECK_SIMULATOR_H

#include "job.h"

typedef struct simulator_way {
  uint32_t threads;
  bool other; /* settings that no public source settles are all other than the default ones */
} simulator_way;

/*
 * Runs items by a variant on images[].bytes.
 * @return DONE; GPU_FAILED where the simulator reports something, or memory around the images, or
 *         records or constants, have changed; UNKNOWN where there is no simulator
 */
uint64_t simulator_run(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                       simulator_way way, image *images, const void *meta, const uint32_t *items,
                       size_t n);

#endif
