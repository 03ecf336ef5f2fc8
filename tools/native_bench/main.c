/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - times functions that do the same items, one after the other, round by round.
 *
 *   native_bench JOB ROUNDS CONTENDER...
 *
 * JOB: as in tools/check/job.h, with no runs; then for each buffer a number, 1 where its image as
 * it must be afterwards follows; then the number of the buffer whose blocks are to be zeroed, and
 * the bytes of an item's, or 0; then, for theirs, how many planes it takes, their buffers' numbers,
 * how many parameters, and those of all items, of 32 bits.  A contender is LABEL=LIBRARY:FUNCTION,
 * a batch function in a shared library, or LABEL=c:NAME or LABEL=asm:NAME, an entry of
 * tools/oracle. In every round each contender does all items of the job once, from the same memory,
 * in an order that changes from round to round.  What is timed is the call alone, with the zeroing
 * of coefficient blocks where a decoder's function does that: after ours it is done by memset, item
 * by item.  After every timed call the memory is compared with what the interpreter says.
 *
 * Writes for each contender a line: label, "right", "wrong" or "absent", then the median and the
 * median absolute deviation of nanoseconds an item, separated by tabs.  Times are those of a
 * contender all of whose calls were right.  Exit status: 0; 2 the job cannot be read, or bad
 * arguments.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tune/samples.h"

enum { MAX_CONTENDERS = 32, WARM_UP = 20, ALIGNMENT = 64 };

/* ------------------------------------------------------------------------------ the job */

/* Memory that begins `origin` bytes before an aligned address, so that the pointer is aligned. */
static uint8_t *aligned(size_t size, size_t origin, bool at_start) {
  const size_t lead = (ALIGNMENT - origin % ALIGNMENT) % ALIGNMENT;
  uint8_t *p = aligned_alloc(ALIGNMENT, (lead + size + 2 * ALIGNMENT) / ALIGNMENT * ALIGNMENT);
  (void)at_start;
  if (!p) {
    die("memory", "there is not enough");
  }
  return p + lead;
}

/* Items as theirs takes them: see oracle.h. */
static void read_items(FILE *file, bench *b) {
  const daedalus_kernel_desc *kernel = daedalus_find_kernel(b->job.kernel);
  size_t planes[ORACLE_MAX_PLANES];
  const size_t n_planes = (size_t)read_number(file);
  if (kernel == NULL || n_planes > ORACLE_MAX_PLANES) {
    die("the job", "has another kernel than the library");
  }
  for (size_t p = 0; p < n_planes; p++) {
    planes[p] = (size_t)read_number(file);
  }
  const size_t n_params = (size_t)read_number(file);
  int32_t *params = allocate(b->job.n_items * n_params * sizeof(*params));
  read_bytes(file, params, b->job.n_items * n_params * sizeof(*params));
  b->items = allocate_zeroed(b->job.n_items * sizeof(*b->items));
  b->numbers = allocate(b->job.n_items * sizeof(*b->numbers));
  for (size_t i = 0; i < b->job.n_items; i++) {
    oracle_item *item = &b->items[i];
    for (size_t p = 0; p < n_planes; p++) {
      const image *m = &b->job.images[planes[p]];
      uint32_t offset;
      memcpy(&offset, b->job.meta + i * b->job.meta_size + kernel->buffers[planes[p]].meta_offset,
             sizeof(offset));
      item->plane[p] = m->bytes + m->origin + offset;
      item->stride = m->stride;
    }
    item->block = (int16_t *)(void *)(b->job.images[b->block].bytes + i * b->block_bytes);
    item->params = params + i * n_params;
    b->numbers[i] = (uint32_t)i;
  }
}

static void read_all(const char *path, bench *b) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    die(path, "cannot be opened");
  }
  read_job(file, &b->job, aligned);
  for (size_t k = 0; k < b->job.n_buffers; k++) {
    b->after[k] = read_number(file) != 0 ? allocate(b->job.images[k].size) : NULL;
    read_bytes(file, b->after[k], b->after[k] ? b->job.images[k].size : 0);
  }
  b->block = (size_t)read_number(file);
  b->block_bytes = (size_t)read_number(file);
  read_items(file, b);
  fclose(file);
}

bool is_right(const contender *c, const bench *b) {
  (void)c;
  for (size_t k = 0; k < b->job.n_buffers; k++) {
    const image *m = &b->job.images[k];
    if (b->after[k] && memcmp(m->bytes, b->after[k], m->size) != 0) {
      return false;
    }
  }
  const uint8_t *blocks = b->job.images[b->block].bytes;
  for (size_t i = 0; i < b->block_bytes * b->job.n_items; i++) {
    if (blocks[i] != 0) {
      return false;
    }
  }
  return true;
}

/* --------------------------------------------------------------------------- contenders */

static void run_ours(const contender *c, const bench *b) {
  daedalus_buffer buffers[MAX_BUFFERS];
  job_buffers(&b->job, buffers);
  c->batch(buffers, b->job.meta, b->numbers, b->job.n_items);
  uint8_t *block = b->job.images[b->block].bytes;
  for (size_t i = 0; b->block_bytes != 0 && i < b->job.n_items; i++, block += b->block_bytes) {
    memset(block, 0, b->block_bytes);
  }
}

/* Of "LABEL=where:name"; the text is cut up.  Whether it is there. */
static bool find(char *text, const bench *b, contender *found) {
  char *where = strchr(text, '='), *name = where ? strchr(where, ':') : NULL;
  if (!name) {
    die("no contender", text);
  }
  *where++ = *name++ = '\0';
  bool there;
  if (strcmp(where, "c") == 0 || strcmp(where, "asm") == 0) {
    there = find_theirs(*where == 'c' ? ORACLE_C : ORACLE_ASM, name, b, found);
  } else {
    void *library = dlopen(where, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      die("library", dlerror());
    }
    void *symbol = dlsym(library, name);
    *found = (contender){.run = run_ours, .right = is_right};
    memcpy(&found->batch, &symbol, sizeof(symbol));
    there = symbol != NULL;
  }
  found->label = text;
  return there;
}

typedef struct contest {
  bench bench;
  contender list[MAX_CONTENDERS];
  size_t n;
} contest;

static double call(void *user, size_t which, bool counts) {
  const contest *all = user;
  const contender *c = &all->list[which];
  (void)counts;
  restore_images(&all->bench.job);
  if (c->prepare) {
    c->prepare(c, &all->bench);
  }
  const double start = now_ns();
  c->run(c, &all->bench);
  const double end = now_ns();
  return c->right(c, &all->bench) ? (end - start) / (double)all->bench.job.n_items : -1;
}

int main(int argc, char **argv) {
  static contest all;
  static samples taken[MAX_CONTENDERS];
  program_name = "native_bench";
  if (argc < 4 || argc - 3 > MAX_CONTENDERS) {
    die("usage", "native_bench JOB ROUNDS CONTENDER...");
  }
  const size_t rounds = strtoul(argv[2], NULL, 10);
  if (rounds == 0) {
    die("rounds", argv[2]);
  }
  read_all(argv[1], &all.bench);
  for (int k = 3; k < argc; k++) {
    if (find(argv[k], &all.bench, &all.list[all.n])) {
      all.n++;
    } else {
      printf("%s\tabsent\t0\t0\n", argv[k]);
    }
  }
  samples_in_turns(all.n, WARM_UP, rounds, call, &all, taken);
  for (size_t k = 0; k < all.n; k++) {
    samples *s = &taken[k];
    printf("%s\t%s\t%.4f\t%.4f\n", all.list[k].label, s->refused != 0 ? "wrong" : "right",
           samples_quantile(s, 0.5), samples_mad(s));
  }
  return 0;
}
