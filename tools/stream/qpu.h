/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls done by the GPU, one dispatch each; for the programs of `stream --substrate qpu`. */
#ifndef STREAM_QPU_H
#define STREAM_QPU_H

#include <daedalus/table.h>

/* Blocks are at most 64 rows high, and items at least one. */
#define STREAM_MOST_ITEMS 64

/* Ends the program where a call has more items than that. */
void stream_few_items(const char *kernel, size_t n_items);

/*
 * Does items of a kernel by DAEDALUS_SUBSTRATE_QPU; ends the program where that is not so, or
 * the runtime logs an error.  At the program's end it prints the lines
 *   device NAME
 *   dispatches N
 */
void stream_on_qpu(const char *kernel, const daedalus_buffer *buffers, size_t n_items,
                   const void *meta);

#endif
