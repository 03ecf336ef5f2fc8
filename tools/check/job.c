/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD_PAGES = 64 };

static FILE *result;
static volatile sig_atomic_t in_run;

/* ------------------------------------------------------------------------------ reading */

void read_bytes(FILE *from, void *to, size_t n) {
  if (n != 0 && fread(to, 1, n, from) != n) {
    die("the job is too short", "");
  }
}

uint64_t read_number(FILE *from) {
  uint64_t n;
  read_bytes(from, &n, sizeof n);
  return n;
}

static void read_name(FILE *from, char name[NAME_BYTES]) {
  read_bytes(from, name, NAME_BYTES);
  name[NAME_BYTES - 1] = '\0';
}

uint8_t *guarded(size_t size, size_t origin, bool at_start) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), guard = GUARD_PAGES * page;
  const size_t inner = (size + page - 1) / page * page;
  (void)origin;
  uint8_t *base = mmap(NULL, inner + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    die("out of memory", "");
  }
  if (inner != 0 && mprotect(base + guard, inner, PROT_READ | PROT_WRITE) != 0) {
    die("cannot unprotect memory", "");
  }
  return base + guard + (at_start ? 0 : inner - size);
}

void read_job(FILE *from, job *to, image_memory *memory) {
  char magic[8];
  read_bytes(from, magic, sizeof magic);
  if (memcmp(magic, "DAEDCHK1", sizeof magic) != 0) {
    die("not a job", "");
  }
  read_name(from, to->kernel);
  const bool at_start = read_number(from) != 0;
  to->n_buffers = (size_t)read_number(from);
  to->meta_size = (size_t)read_number(from);
  to->n_items = (size_t)read_number(from);
  to->n_runs = (size_t)read_number(from);
  if (to->n_buffers > MAX_BUFFERS) {
    die("the job has too many buffers", "");
  }
  for (size_t b = 0; b < to->n_buffers; b++) {
    image *i = &to->images[b];
    i->size = (size_t)read_number(from);
    i->origin = (size_t)read_number(from);
    i->stride = (ptrdiff_t)read_number(from);
    i->initial = allocate(i->size);
    i->bytes = memory(i->size, i->origin, at_start);
    read_bytes(from, i->initial, i->size);
  }
  to->meta = allocate(to->meta_size * to->n_items);
  read_bytes(from, to->meta, to->meta_size * to->n_items);
}

job_run read_run(FILE *from) {
  job_run run;
  read_name(from, run.name);
  run.n = (size_t)read_number(from);
  run.items = allocate(run.n * sizeof *run.items);
  for (size_t k = 0; k < run.n; k++) {
    run.items[k] = (uint32_t)read_number(from);
  }
  return run;
}

void free_job(job *j) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    free(j->images[b].initial);
  }
  free(j->meta);
}

/* ------------------------------------------------------------------------------ running */

void restore_images(const job *j) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    memcpy(j->images[b].bytes, j->images[b].initial, j->images[b].size);
  }
}

void job_buffers(const job *j, daedalus_buffer *buffers) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    buffers[b] = (daedalus_buffer){j->images[b].bytes + j->images[b].origin, j->images[b].stride};
  }
}

void call_in_halves(daedalus_cpu_fn *fn, const daedalus_buffer *buffers, const void *meta,
                    const uint32_t *items, size_t n) {
  const size_t together = n - n / 2;
  fn(buffers, meta, items, together);
  for (size_t k = together; k < n; k++) {
    fn(buffers, meta, items + k, 1);
  }
}

/* ------------------------------------------------------------------------------- result */

/* The file's own buffer was flushed before the run began, so write() is in order. */
static void on_fault(int sig) {
  static const uint64_t outcome = FAULT;
  (void)sig;
  if (in_run) {
    const ssize_t written = write(fileno(result), &outcome, sizeof outcome);
    (void)written;
    _exit(3);
  }
  _exit(2);
}

void open_result(FILE *to) {
  const struct sigaction action = {.sa_handler = on_fault};
  result = to;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}

void write_result(const void *from, size_t n) {
  if (n != 0 && fwrite(from, 1, n, result) != n) {
    die("cannot write the result", "");
  }
}

void begin_run(void) {
  fflush(result);
  in_run = 1;
}

void end_run(void) {
  in_run = 0;
}

void close_result(void) {
  if (fclose(result) != 0) {
    die("cannot write the result", "");
  }
}
