/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef BENCH_THROUGHPUT_H
#define BENCH_THROUGHPUT_H

#include "bench.h"
#include "tune/execute.h"

typedef struct throughput_request {
  size_t items;            /* of a batch, where bytes is 0 */
  uint64_t bytes;          /* unique bytes of a batch at least */
  int rounds;              /* samples; one more run warms up */
  bool workgroups;         /* every size of workgroups, not the variants' own alone */
  bool once;               /* one run without warming up, where time is modelled */
  const char *class_name;  /* items of this class alone, which variants of all items do as well */
  const char *variant;     /* this variant alone; class_name and variant may be NULL */
  uint32_t workgroup;      /* this size of workgroups alone; 0: as `workgroups` says */
  double copy_ns_per_byte; /* of a copy of the device's, read and written bytes counted; 0: none */
} throughput_request;

/*
 * With `bytes`, variants of narrow classes are left out: how much of its rectangles such an item
 * touches is not in the table.
 *
 * Measures every GPU variant of a kernel on batches of items of its class, in memory of the device,
 * and prints a JSON object each.  A sample counts only if that run's output was right to the last
 * byte and the runtime logged no error.
 */
void throughput(tune_runner *runner, const daedalus_device_info *device, const sample_items *items,
                const throughput_request *request, bool *first);

#endif
