/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * point.c - runs one variant, linked in as `point_function`, on given memory: to compare what it
 * leaves there, or to trace what a call of it executes.
 *
 *   point JOB RESULT OUTPUTS
 *   point JOB trace OUTPUTS TIMES
 *
 * JOB and RESULT are as in tools/check, where the kernel's table says what OUTPUTS says
 * here: a letter a buffer, w for one that the kernel writes, r for one that it only reads.  Runs
 * name no variant: there is only one.
 *
 * To trace, the first run's items are done in one call, TIMES times, each on fresh memory and after
 * a call of `mark`; to stdout go, 64 bits each, the addresses of the function and of `mark`, then
 * the images of the outputs as the last call left them.  Compiled without sibling calls, as what
 * follows a call is told by the address after it.
 *
 * Exit status: 0 done; 2 the job cannot be read or the result not written; 3 a fault.
 */
#include <stdlib.h>
#include <string.h>

#include "../check/job.h"

daedalus_cpu_fn point_function;
void mark(void);
__attribute__((noinline)) void mark(void) {
  __asm__ volatile("");
}

static void write_outputs(const job *j, const char *outputs) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    if (outputs[b] == 'w') {
      write_result(j->images[b].bytes, j->images[b].size);
    }
  }
}

static void check(const job *j, const char *outputs, const job_run *r) {
  daedalus_buffer buffers[MAX_BUFFERS];
  restore_images(j);
  job_buffers(j, buffers);
  begin_run();
  call_in_halves(point_function, buffers, j->meta, r->items, r->n);
  end_run();
  uint64_t outcome = DONE;
  for (size_t b = 0; b < j->n_buffers; b++) {
    const image *i = &j->images[b];
    if (outputs[b] != 'w' && memcmp(i->bytes, i->initial, i->size) != 0) {
      outcome = CHANGED_INPUT;
    }
  }
  write_result(&outcome, sizeof outcome);
  write_outputs(j, outputs);
}

static void trace(const job *j, const char *outputs, const job_run *r, long times) {
  daedalus_buffer buffers[MAX_BUFFERS];
  const uint64_t addresses[2] = {(uint64_t)(uintptr_t)point_function, (uint64_t)(uintptr_t)mark};
  write_result(addresses, sizeof addresses);
  job_buffers(j, buffers);
  for (long n = 0; n < times; n++) {
    restore_images(j);
    mark();
    point_function(buffers, j->meta, r->items, r->n);
  }
  write_outputs(j, outputs);
}

int main(int argc, char **argv) {
  const bool traced = argc == 5 && strcmp(argv[2], "trace") == 0;
  program_name = "point";
  if (argc != 4 && !traced) {
    die("usage: point JOB RESULT OUTPUTS, or point JOB trace OUTPUTS TIMES", "");
  }
  FILE *file = fopen(argv[1], "rb"), *result = traced ? stdout : fopen(argv[2], "wb");
  if (file == NULL || result == NULL) {
    die("cannot open the files", "");
  }
  open_result(result);
  job j;
  read_job(file, &j, guarded);
  if (j.n_buffers != strlen(argv[3])) {
    die("OUTPUTS has a letter a buffer", "");
  }
  for (size_t k = 0; k < (traced ? 1 : j.n_runs); k++) {
    job_run r = read_run(file);
    if (traced) {
      trace(&j, argv[3], &r, strtol(argv[4], NULL, 10));
    } else {
      check(&j, argv[3], &r);
    }
    free(r.items);
  }
  free_job(&j);
  fclose(file);
  close_result();
  return 0;
}
