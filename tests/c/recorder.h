/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel whose variants write down which items they were given, and a logger
 * and an allocator that write down what they were asked.  For the tests that
 * look at how the runtime drives a kernel, whatever it computes.
 */
#ifndef DAEDALUS_TESTS_RECORDER_H
#define DAEDALUS_TESTS_RECORDER_H

#include <daedalus/table.h>

#include "batch/context.h"

typedef struct recorder_meta {
  uint32_t dst_off;
  int32_t value; /* -100..100, decides the class */
  uint32_t tag;  /* what is recorded of the item */
} recorder_meta;

/* Which variant ran which item. */
typedef struct recorder_entry {
  const char *variant;
  uint32_t tag;
} recorder_entry;

enum { RECORDER_SIZE = 4096 };
extern recorder_entry recorder[RECORDER_SIZE];
extern size_t recorder_n;

/*
 * Classes "one" (value 1..1), "few" (0..10) and "full"; of class "one" the
 * variant with the lowest rank cannot run on the CPU.  A copy may be changed.
 */
enum {
  RECORDER_BEST,
  RECORDER_ONE,
  RECORDER_ONE_WORSE,
  RECORDER_FEW,
  RECORDER_FULL,
  RECORDER_NEEDY,
  RECORDER_N
};
extern const daedalus_variant recorder_variants[RECORDER_N];
extern const daedalus_kernel_desc recorder_kernel;

/* One buffer of one byte an item, big enough for dst_off below RECORDER_SIZE. */
extern const daedalus_buffer recorder_buffer;

/* Receives messages; user is a logged. */
typedef struct logged {
  int n;
  daedalus_log_level level;
  char message[512];
} logged;
void logged_fn(void *user, daedalus_log_level level, const char *message);

/* Fails the `fail_at`th allocation, counted from 0; -1 fails none. */
typedef struct counting {
  long n_allocations;
  long n_live;
  long fail_at;
} counting;
daedalus_allocator counting_allocator(counting *state);

/* A file of this process's own with that content, in the current folder.  @return its path */
const char *written(const char *content, size_t size);
const char *written_path(void);

#endif /* DAEDALUS_TESTS_RECORDER_H */
