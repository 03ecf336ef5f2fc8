/* SPDX-License-Identifier: BSD-2-Clause */
/* Items done by the GPU, one dispatch each; for the programs of `stream --substrate qpu`. */
#ifndef STREAM_QPU_H
#define STREAM_QPU_H

#include <daedalus/table.h>

/*
 * Does one item of a kernel by DAEDALUS_SUBSTRATE_QPU; ends the program where that is not so, or
 * the runtime logs an error.  At the program's end it prints the lines
 *   device NAME
 *   dispatches N
 */
void stream_on_qpu(const char *kernel, const daedalus_buffer *buffers, const void *meta);

#endif
