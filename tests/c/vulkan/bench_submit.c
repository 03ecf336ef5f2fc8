/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_submit ROUNDS [LIMIT_US] - the caller's time of append and submit of a batch of one kernel.
 *
 * On the stub driver, whose own share (looking handles up in a list) is in it.  Memory is the
 * device's, so nothing is copied, and copied; the CPU's time, not the wall's.  Exit status 1 where
 * the median is above the limit.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"

static double cpu_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static add_work work;

/*
 * Median of a batch of `n` items; with `shift` every other batch begins so many bytes later, and is
 * recorded anew.  Negative where something fails.
 */
static double median(fixture *f, uint8_t *plane, size_t n, size_t shift, int rounds) {
  double *times = malloc(sizeof(*times) * (size_t)rounds);
  daedalus_batch *batch = NULL;
  daedalus_buffer buffers[2];
  int error = daedalus_batch_begin(f->ctx, &batch);
  if (times == NULL) {
    abort();
  }
  for (int i = -10; error == 0 && i < rounds; i++) {
    add_buffers(&work, plane + (i & 1 ? shift : 0), 0, buffers);
    const double begin = cpu_us();
    error = daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, n, work.meta);
    if (error == 0) {
      error = daedalus_batch_submit(batch);
    }
    if (i >= 0) {
      times[i] = cpu_us() - begin;
    }
    if (error == 0) {
      error = daedalus_batch_wait(batch, -1);
    }
    if (error == 0) {
      error = daedalus_batch_reset(batch);
    }
  }
  qsort(times, (size_t)rounds, sizeof(*times), ascending);
  const double found = error == 0 ? times[rounds / 2] : -1;
  daedalus_batch_destroy(batch);
  free(times);
  return found;
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  const double limit = argc > 2 ? atof(argv[2]) : 1e9;
  fixture f;
  daedalus_memory *memory = NULL;
  stub_reset();
  fixture_open(&f, NULL);
  add_fill(&work, 1);
  if (rounds < 1 || add_run(f.ctx, &work) != 0 ||
      daedalus_memory_create(f.ctx, sizeof(work.plane), &memory) != 0) {
    return 2;
  }
  daedalus_buffer odd[2]; /* so that its variant, too, has passed its self-test */
  add_buffers(&work, work.plane + 1, 0, odd);
  if (daedalus_dispatch(f.ctx, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, odd, 1, work.meta) != 0) {
    return 2;
  }
  stub.execute = NULL; /* the time is that of the caller alone */
  memcpy(daedalus_memory_data(memory), work.plane, sizeof(work.plane));
  const double one = median(&f, daedalus_memory_data(memory), 1, 0, rounds);
  const double anew = median(&f, daedalus_memory_data(memory), 1, 1, rounds);
  const double copied = median(&f, work.plane, 1, 0, rounds);
  const double many = median(&f, work.plane, N_BLOCKS, 0, rounds);
  printf(
      "append and submit, median of %d, CPU us: one item in place %.2f, recorded anew %.2f, "
      "one copied %.2f, %d copied %.2f\n",
      rounds, one, anew, copied, (int)N_BLOCKS, many);
  daedalus_memory_destroy(memory);
  const int wrong = fixture_close(&f);
  const double worst = one > anew ? one : anew;
  return one < 0 || anew < 0 || copied < 0 || many < 0 || wrong != 0 || worst > limit ? 1 : 0;
}
