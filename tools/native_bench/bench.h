/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - one kernel's items in memory, and the functions that may do them all.
 */
#ifndef NATIVE_BENCH_H
#define NATIVE_BENCH_H

#include "../check/job.h"
#include "../oracle/oracle.h"

/*
 * Items as ours and theirs take them.
 *   after        the image of each buffer as it must be afterwards; NULL where it is only read
 *   numbers      of the items, for a batch function
 *   block        the buffer of which a decoder wants `block_bytes` of each item zeroed; these are 0
 *                where it wants nothing
 */
typedef struct bench {
  job job;
  uint8_t *after[MAX_BUFFERS];
  uint32_t *numbers;
  size_t block, block_bytes;
  oracle_item *items;
} bench;

/* One of the functions that are measured: it does all items. */
typedef struct contender {
  const char *label;
  void (*run)(const struct contender *c, const bench *b);
  daedalus_cpu_fn *batch;                                     /* ours */
  oracle_entry theirs;                                        /* a decoder's */
  void (*prepare)(const struct contender *c, const bench *b); /* not timed; may be NULL */
  bool (*right)(const struct contender *c, const bench *b);
} contender;

/* Whether all that is written holds what the interpreter says, and blocks are zero. */
bool is_right(const contender *c, const bench *b);

/* A decoder's function of that name; false where there is none. */
bool find_theirs(oracle_mode mode, const char *name, const bench *b, contender *found);

#endif /* NATIVE_BENCH_H */
