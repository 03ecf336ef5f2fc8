/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job: one kernel's buffers as images, the items' meta, and what follows these.
 *
 * All numbers are little-endian 64-bit integers, names are 128 bytes padded with zeros.
 *   "DAEDCHK1"  kernel  align(0 end, 1 start)  n_buffers  meta_bytes  n_items  n_runs
 *   per buffer: image_bytes origin stride, then the image
 *   the meta (meta_bytes * n_items)
 *   per run: name n, then n item numbers
 * Who reads one sets program_name before, and includes the folder runtime/.
 */
#ifndef CHECK_JOB_H
#define CHECK_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <daedalus/table.h>

#include "tune/base.h"

/* How a run ended, as main.c says. */
enum { DONE, CHANGED_INPUT, UNKNOWN, FAULT, REFUSED, GPU_FAILED, NOT_CLEARED };

typedef struct image {
  uint8_t *initial; /* as the job gave it */
  uint8_t *bytes;   /* the copy that is worked on */
  size_t size, origin;
  ptrdiff_t stride;
} image;

typedef struct job {
  char kernel[NAME_BYTES];
  size_t n_buffers, meta_size, n_items, n_runs;
  image images[MAX_BUFFERS];
  uint8_t *meta;
} job;

typedef struct job_run {
  char name[NAME_BYTES];
  size_t n;
  uint32_t *items;
} job_run;

/* Of a file that is too short, they end the program. */
void read_bytes(FILE *from, void *to, size_t n);
uint64_t read_number(FILE *from);

/* Memory of so many bytes for an image whose element 0 is at `origin`; `at_start`: as the job says.
 */
typedef uint8_t *image_memory(size_t size, size_t origin, bool at_start);
/* With pages right behind it, or before it, that cannot be touched. */
image_memory guarded;

/* Reads all but the runs; ends the program where it cannot.  Images' bytes are not yet filled. */
void read_job(FILE *from, job *to, image_memory *memory);
job_run read_run(FILE *from);
/* Not the images' bytes. */
void free_job(job *j);

/* Fills the images' bytes as they were given. */
void restore_images(const job *j);
/* The buffers for a call. */
void job_buffers(const job *j, daedalus_buffer *buffers);

/* Does the first half of the items by one call, and the others one by one: a variant for several
 * items a vector has other code for one that is left over. */
void call_in_halves(daedalus_cpu_fn *fn, const daedalus_buffer *buffers, const void *meta,
                    const uint32_t *items, size_t n);

/*
 * The file of results.  From open_result() on a fault between begin_run() and end_run() is written
 * as the run's outcome and ends the program with status 3; elsewhere it ends it with status 2.
 */
void open_result(FILE *to);
void write_result(const void *from, size_t n);
void begin_run(void);
void end_run(void);
void close_result(void);

#endif
