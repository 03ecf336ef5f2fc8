/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - times functions that do the same items, one after the other, round by round.
 *
 *   native_bench JOB ROUNDS CONTENDER...
 *
 * JOB: job.c.  A contender is LABEL=LIBRARY:FUNCTION, a batch function in a shared library, or
 * LABEL=ffmpeg-c, ffmpeg-asm, dav1d-c or dav1d-asm: theirs.c.  In every round each contender does
 * all items of the job once, from the same memory, in an order that changes from round to round.
 * What is timed is the call alone, with the zeroing of coefficient blocks where a decoder's
 * function does that: after ours it is done by memset, item by item.  After every timed call the
 * memory is compared with what the interpreter says.
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
#include <time.h>

#include "bench.h"

enum { MAX_CONTENDERS = 32, WARM_UP = 20 };

static void run_ours(const contender *c, const job *j) {
  daedalus_buffer buffers[MAX_BUFFERS];
  for (size_t b = 0; b < j->n_buffers; b++) {
    buffers[b] = (daedalus_buffer){j->images[b].work + j->images[b].origin, j->images[b].stride};
  }
  c->batch(buffers, j->meta, j->items, j->n_items);
  uint8_t *block = j->images[j->block].work;
  for (size_t i = 0; j->block_bytes != 0 && i < j->n_items; i++, block += j->block_bytes) {
    memset(block, 0, j->block_bytes);
  }
}

/* Of "LABEL=what"; the text is cut up. 0, or -1 where it is not there. */
static int find(char *text, const job *j, contender *found) {
  char *what = strchr(text, '=');
  if (!what) {
    die("no contender", text);
  }
  *what++ = '\0';
  char *name = strchr(what, ':');
  int error = 0;
  if (!name) {
    error = find_theirs(what, j, found);
  } else {
    *name++ = '\0';
    void *library = dlopen(what, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      die("library", dlerror());
    }
    void *symbol = dlsym(library, name);
    *found = (contender){.run = run_ours, .right = is_right};
    memcpy(&found->batch, &symbol, sizeof(symbol));
    error = symbol ? 0 : -1;
  }
  found->label = text;
  return error;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
  qsort(values, n, sizeof(values[0]), by_value);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void report(const contender *c, const char *state, double *times, size_t n) {
  const double middle = median(times, n);
  for (size_t k = 0; k < n; k++) {
    times[k] = times[k] > middle ? times[k] - middle : middle - times[k];
  }
  printf("%s\t%s\t%.4f\t%.4f\n", c->label, state, middle, median(times, n));
}

int main(int argc, char **argv) {
  if (argc < 4 || argc - 3 > MAX_CONTENDERS) {
    die("usage", "native_bench JOB ROUNDS CONTENDER...");
  }
  job j = {0};
  read_job(argv[1], &j);
  const size_t rounds = strtoul(argv[2], NULL, 10), n = (size_t)argc - 3;
  contender contenders[MAX_CONTENDERS];
  int absent[MAX_CONTENDERS], wrong[MAX_CONTENDERS] = {0};
  if (rounds == 0) {
    die("rounds", argv[2]);
  }
  for (size_t k = 0; k < n; k++) {
    absent[k] = find(argv[3 + k], &j, &contenders[k]) != 0;
  }
  double *times = malloc(n * rounds * sizeof(*times));
  if (!times) {
    die("memory", "there is not enough");
  }
  for (size_t r = 0; r < rounds + WARM_UP; r++) {
    for (size_t k = 0; k < n; k++) {
      const size_t at = (k + r) % n;
      const contender *c = &contenders[at];
      if (absent[at]) {
        continue;
      }
      restore(&j);
      if (c->prepare) {
        c->prepare(&j);
      }
      const double start = now();
      c->run(c, &j);
      const double end = now();
      wrong[at] |= !c->right(&j);
      if (r >= WARM_UP) {
        times[at * rounds + r - WARM_UP] = (end - start) / (double)j.n_items;
      }
    }
  }
  for (size_t k = 0; k < n; k++) {
    if (absent[k] || wrong[k]) {
      printf("%s\t%s\t0\t0\n", contenders[k].label, absent[k] ? "absent" : "wrong");
    } else {
      report(&contenders[k], "right", &times[k * rounds], rounds);
    }
  }
  free(times);
  return 0;
}
