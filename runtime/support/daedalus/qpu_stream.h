/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 * Short names for the words of a program's uniform stream (daedalus_qpu_uniform), of which
 * generated files hold thousands.  For these files alone; not installed.
 */
#ifndef DAEDALUS_QPU_STREAM_H
#define DAEDALUS_QPU_STREAM_H

#include <daedalus/table.h>

#define CONSTANT(value) {DAEDALUS_QPU_CONSTANT, 0, value}
#define RECORDS {DAEDALUS_QPU_RECORDS, 0, 0}
#define ITEMS {DAEDALUS_QPU_ITEMS, 0, 0}
#define THREADS {DAEDALUS_QPU_THREADS, 0, 0}
#define BASE(buffer) {DAEDALUS_QPU_BASE, buffer, 0}
#define STRIDE(buffer) {DAEDALUS_QPU_STRIDE, buffer, 0}
#define SCRATCH {DAEDALUS_QPU_SCRATCH, 0, 0}
#define TABLE(offset) {DAEDALUS_QPU_TABLE, 0, offset}

#endif /* DAEDALUS_QPU_STREAM_H */
