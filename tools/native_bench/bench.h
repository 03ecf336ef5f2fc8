/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - one kernel's items in memory, and the functions that may do them all.
 */
#ifndef NATIVE_BENCH_H
#define NATIVE_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include <daedalus/table.h>

enum { MAX_BUFFERS = 4, NAME_BYTES = 128 };

/*
 * A buffer: the image as every call finds it, the image as it must be afterwards (NULL where it is
 * only read), and the memory that is worked in.
 */
typedef struct image {
  size_t size, origin;
  ptrdiff_t stride;
  uint8_t *before, *after, *work;
} image;

/* A batch of items of one kernel; `items` numbers them, and `block_bytes` is the size of what a
 * decoder wants zeroed of each, in the buffer `block`; 0 where it wants nothing. */
typedef struct job {
  char kernel[NAME_BYTES];
  size_t n_buffers, meta_size, n_items;
  image images[MAX_BUFFERS];
  uint8_t *meta;
  uint32_t *items;
  size_t block, block_bytes;
} job;

/* Reads the file that generator/native_bench writes; ends the program where it cannot. */
void read_job(const char *path, job *to);

/* Puts all memory back as it was. */
void restore(const job *j);

/* Whether all that is written holds what the interpreter says, and blocks are zero. */
int is_right(const job *j);

_Noreturn void die(const char *what, const char *detail);

/* One of the functions that are measured: it does all items of a job. */
typedef struct contender {
  const char *label;
  void (*run)(const struct contender *c, const job *j);
  daedalus_cpu_fn *batch;        /* ours */
  void (*theirs)(void);          /* a decoder's */
  void (*prepare)(const job *j); /* before each call, not timed; may be NULL */
  int (*right)(const job *j);
} contender;

/*
 * FFmpeg's or dav1d's function for the kernel of a job, "ffmpeg-c", "ffmpeg-asm", "dav1d-c" or
 * "dav1d-asm"; 0, or -1 where there is none.
 */
int find_theirs(const char *which, const job *j, contender *found);

#endif /* NATIVE_BENCH_H */
