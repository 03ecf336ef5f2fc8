/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * point.c - runs one variant, linked in as `point_function`, on given memory: to compare what it
 * leaves there, or to trace what a call of it executes.
 *
 *   point JOB RESULT OUTPUTS
 *   point JOB trace OUTPUTS TIMES
 *
 * JOB and RESULT are as in tools/check/main.c, where the kernel's table says what OUTPUTS says
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
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <daedalus/table.h>

enum { NAME_BYTES = 128, GUARD_PAGES = 16, MAX_BUFFERS = 8 };
enum { DONE = 0, CHANGED_INPUT = 1, FAULT = 3 };

typedef struct image {
  size_t size, origin;
  ptrdiff_t stride;
  uint8_t *initial, *bytes;
  bool written;
} image;

typedef struct job {
  size_t n_buffers, meta_bytes, n_items, n_runs;
  image images[MAX_BUFFERS];
  uint8_t *meta;
} job;

typedef struct work {
  size_t n;
  uint32_t *items;
} work;

daedalus_cpu_fn point_function;
void mark(void);
__attribute__((noinline)) void mark(void) {
  __asm__ volatile("");
}

static FILE *result;
static volatile sig_atomic_t in_variant;

static _Noreturn void die(const char *what) {
  fprintf(stderr, "point: %s\n", what);
  exit(2);
}

static void read_bytes(FILE *from, void *to, size_t n) {
  if (n != 0 && fread(to, 1, n, from) != n) {
    die("the job is too short");
  }
}

static uint64_t read_number(FILE *from) {
  uint64_t n;
  read_bytes(from, &n, sizeof n);
  return n;
}

static void write_bytes(const void *from, size_t n) {
  if (n != 0 && fwrite(from, 1, n, result) != n) {
    die("cannot write the result");
  }
}

static void *allocate(size_t n) {
  void *p = malloc(n ? n : 1);
  if (p == NULL) {
    die("out of memory");
  }
  return p;
}

/* The result's buffer was flushed before the variant was called, so write() is in order. */
static void on_fault(int sig) {
  static const uint64_t outcome = FAULT;
  (void)sig;
  if (in_variant) {
    const ssize_t written = write(fileno(result), &outcome, sizeof outcome);
    (void)written;
    _exit(3);
  }
  _exit(2);
}

/* Memory for an image, with untouchable pages right behind it (or before it). */
static uint8_t *guarded(size_t size, bool at_start) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), guard = GUARD_PAGES * page;
  const size_t inner = (size + page - 1) / page * page;
  uint8_t *base = mmap(NULL, inner + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || (inner && mprotect(base + guard, inner, PROT_READ | PROT_WRITE) != 0)) {
    die("out of memory");
  }
  return base + guard + (at_start ? 0 : inner - size);
}

static void read_job(FILE *file, const char *outputs, job *j) {
  char magic[8], name[NAME_BYTES];
  read_bytes(file, magic, sizeof magic);
  if (memcmp(magic, "DAEDCHK1", sizeof magic) != 0) {
    die("not a job");
  }
  read_bytes(file, name, sizeof name);
  const bool at_start = read_number(file) != 0;
  j->n_buffers = (size_t)read_number(file);
  j->meta_bytes = (size_t)read_number(file);
  j->n_items = (size_t)read_number(file);
  j->n_runs = (size_t)read_number(file);
  if (j->n_buffers > MAX_BUFFERS || j->n_buffers != strlen(outputs)) {
    die("OUTPUTS has a letter a buffer");
  }
  for (size_t b = 0; b < j->n_buffers; b++) {
    image *i = &j->images[b];
    i->size = (size_t)read_number(file);
    i->origin = (size_t)read_number(file);
    i->stride = (ptrdiff_t)read_number(file);
    i->initial = allocate(i->size);
    i->bytes = guarded(i->size, at_start);
    i->written = outputs[b] == 'w';
    read_bytes(file, i->initial, i->size);
  }
  j->meta = allocate(j->meta_bytes * j->n_items);
  read_bytes(file, j->meta, j->meta_bytes * j->n_items);
}

static work read_work(FILE *file) {
  char name[NAME_BYTES];
  read_bytes(file, name, sizeof name);
  work w = {.n = (size_t)read_number(file)};
  w.items = allocate(w.n * sizeof *w.items);
  for (size_t k = 0; k < w.n; k++) {
    w.items[k] = (uint32_t)read_number(file);
  }
  return w;
}

static void begin(const job *j, daedalus_buffer *buffers) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    const image *i = &j->images[b];
    memcpy(i->bytes, i->initial, i->size);
    buffers[b] = (daedalus_buffer){i->bytes + i->origin, i->stride};
  }
}

static void write_outputs(const job *j) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    if (j->images[b].written) {
      write_bytes(j->images[b].bytes, j->images[b].size);
    }
  }
}

/* Half of the items together and half one by one: a variant for several items a vector has other
 * code for one that is left over. */
static void check(const job *j, work w) {
  daedalus_buffer buffers[MAX_BUFFERS];
  begin(j, buffers);
  fflush(result);
  in_variant = 1;
  const size_t together = w.n - w.n / 2;
  point_function(buffers, j->meta, w.items, together);
  for (size_t k = together; k < w.n; k++) {
    point_function(buffers, j->meta, w.items + k, 1);
  }
  in_variant = 0;
  uint64_t outcome = DONE;
  for (size_t b = 0; b < j->n_buffers; b++) {
    const image *i = &j->images[b];
    if (!i->written && memcmp(i->bytes, i->initial, i->size) != 0) {
      outcome = CHANGED_INPUT;
    }
  }
  write_bytes(&outcome, sizeof outcome);
  write_outputs(j);
}

static void trace(const job *j, work w, long times) {
  daedalus_buffer buffers[MAX_BUFFERS];
  const uint64_t addresses[2] = {(uint64_t)(uintptr_t)point_function, (uint64_t)(uintptr_t)mark};
  write_bytes(addresses, sizeof addresses);
  for (long n = 0; n < times; n++) {
    begin(j, buffers);
    mark();
    point_function(buffers, j->meta, w.items, w.n);
  }
  write_outputs(j);
}

int main(int argc, char **argv) {
  const bool traced = argc == 5 && strcmp(argv[2], "trace") == 0;
  if (argc != 4 && !traced) {
    die("usage: point JOB RESULT OUTPUTS, or point JOB trace OUTPUTS TIMES");
  }
  FILE *file = fopen(argv[1], "rb");
  result = traced ? stdout : fopen(argv[2], "wb");
  if (file == NULL || result == NULL) {
    die("cannot open the files");
  }
  struct sigaction action = {.sa_handler = on_fault};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  job j = {0};
  read_job(file, argv[3], &j);
  for (size_t k = 0; k < (traced ? 1 : j.n_runs); k++) {
    const work w = read_work(file);
    if (traced) {
      trace(&j, w, strtol(argv[4], NULL, 10));
    } else {
      check(&j, w);
    }
    free(w.items);
  }
  for (size_t b = 0; b < j.n_buffers; b++) {
    free(j.images[b].initial);
  }
  free(j.meta);
  fclose(file);
  if (fclose(result) != 0) {
    die("cannot write the result");
  }
  return 0;
}
