/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.c - reads the items, puts them back, and compares.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

_Noreturn void die(const char *what, const char *detail) {
  fprintf(stderr, "native_bench: %s: %s\n", what, detail);
  exit(2);
}

static void read_bytes(FILE *file, void *to, size_t n) {
  if (n != 0 && fread(to, 1, n, file) != n) {
    die("the job", "too short");
  }
}

static uint64_t read_number(FILE *file) {
  uint64_t n;
  read_bytes(file, &n, sizeof(n));
  return n;
}

/* Memory that begins `origin` bytes before an aligned address, so that the pointer is aligned. */
static uint8_t *allocate(size_t size, size_t origin) {
  const size_t lead = (ALIGNMENT - origin % ALIGNMENT) % ALIGNMENT;
  const size_t all = (lead + size + 2 * ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  uint8_t *p = aligned_alloc(ALIGNMENT, all);
  if (!p) {
    die("memory", "there is not enough");
  }
  memset(p, 0, all);
  return p + lead;
}

/*
 * As tools/check/main.c says, with no runs; then for each buffer a number, 1 where its image as it
 * must be afterwards follows; then the number of the buffer whose blocks are to be zeroed, and the
 * bytes of an item's, or 0.
 */
void read_job(const char *path, job *to) {
  FILE *file = fopen(path, "rb");
  char magic[8];
  if (!file) {
    die(path, "cannot be opened");
  }
  read_bytes(file, magic, sizeof(magic));
  if (memcmp(magic, "DAEDCHK1", sizeof(magic)) != 0) {
    die(path, "is no job");
  }
  read_bytes(file, to->kernel, NAME_BYTES);
  to->kernel[NAME_BYTES - 1] = '\0';
  (void)read_number(file);
  to->n_buffers = (size_t)read_number(file);
  to->meta_size = (size_t)read_number(file);
  to->n_items = (size_t)read_number(file);
  (void)read_number(file);
  if (to->n_buffers > MAX_BUFFERS) {
    die(path, "has too many buffers");
  }
  for (size_t b = 0; b < to->n_buffers; b++) {
    image *m = &to->images[b];
    m->size = (size_t)read_number(file);
    m->origin = (size_t)read_number(file);
    m->stride = (ptrdiff_t)read_number(file);
    m->before = allocate(m->size, m->origin);
    m->work = allocate(m->size, m->origin);
    read_bytes(file, m->before, m->size);
  }
  to->meta = allocate(to->meta_size * to->n_items, 0);
  read_bytes(file, to->meta, to->meta_size * to->n_items);
  for (size_t b = 0; b < to->n_buffers; b++) {
    image *m = &to->images[b];
    m->after = NULL;
    if (read_number(file) != 0) {
      m->after = allocate(m->size, m->origin);
      read_bytes(file, m->after, m->size);
    }
  }
  to->block = (size_t)read_number(file);
  to->block_bytes = (size_t)read_number(file);
  fclose(file);
  to->items = (uint32_t *)(void *)allocate(to->n_items * sizeof(uint32_t), 0);
  for (size_t i = 0; i < to->n_items; i++) {
    to->items[i] = (uint32_t)i;
  }
}

void restore(const job *j) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    memcpy(j->images[b].work, j->images[b].before, j->images[b].size);
  }
}

int is_right(const job *j) {
  for (size_t b = 0; b < j->n_buffers; b++) {
    const image *m = &j->images[b];
    if (m->after && memcmp(m->work, m->after, m->size) != 0) {
      return 0;
    }
  }
  const uint8_t *blocks = j->images[j->block].work;
  for (size_t i = 0; i < j->block_bytes * j->n_items; i++) {
    if (blocks[i] != 0) {
      return 0;
    }
  }
  return 1;
}
