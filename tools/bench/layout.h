/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What throughput() has in memory, as files: for programs that run it without the runtime.
 *
 * Of each class of a kernel two files.  <kernel>.<class>.json:
 *   {"kernel": ..., "class": ..., "items": ..., "unique_bytes": ..., "meta_size": ...,
 *    "buffers": [{"name": ..., "bytes": ..., "origin": ..., "stride": ..., "output": ...}, ...]}
 * with `origin` the byte of element 0 of the caller's buffer; and <kernel>.<class>.bin: the metas,
 * then of each buffer its bytes as given, and of an output as they are to be left.
 */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include "bench.h"
#include "tune/work.h"

/* Writes both files of each class that the samples have items of.  Ends the program where it cannot
 * write. */
void layout_write(const sample_items *samples, size_t n_items, const char *folder);

#endif
