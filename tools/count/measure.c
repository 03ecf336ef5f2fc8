/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.c - how long pieces of work take.
 *
 * Cycles of the processor where the system lets a program count its own (perf_event_open); else
 * nanoseconds, and nothing is made of them.
 */
#define _DEFAULT_SOURCE /* syscall */
#include "measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* As many as the cache of first level holds. */
enum { SLOTS = 8, WARM_UP = 20 };

static work slots[SLOTS];
static int counter = -1;

static void open_counter(void) {
#ifdef __linux__
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  uint64_t now;
  if (counter >= 0 && read(counter, &now, sizeof(now)) != sizeof(now)) {
    close(counter);
    counter = -1;
  }
#endif
}

static uint64_t ticks(void) {
#ifdef __linux__
  uint64_t now;
  if (counter >= 0 && read(counter, &now, sizeof(now)) == sizeof(now)) {
    return now;
  }
#endif
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t round_of(const shape *form, any_fn *fn) {
  for (int k = 0; k < SLOTS; k++) {
    slots[k] = start;
  }
  const uint64_t before = ticks();
  for (int k = 0; k < SLOTS; k++) {
    form->call(fn, &slots[k]);
  }
  return ticks() - before;
}

static void nothing(void) {
  __asm__ volatile("");
}

/* What a contender leaves, at first, and how long a round takes. */
typedef struct state {
  const contender *who;
  work first;
  uint64_t taken, empty;
} state;

static int begin(state *s, const contender *who) {
  s->who = who;
  s->first = start;
  who->form->call(who->fn, &s->first);
  return fwrite(s->first.pixels, 1, SIZE, stdout) == SIZE;
}

/* Returns whether all pieces left what the first one did. */
static int go_on(state *s) {
  s->taken = round_of(s->who->form, s->who->fn);
  for (int k = 0; k < SLOTS; k++) {
    if (memcmp(slots[k].pixels, s->first.pixels, SIZE) != 0) {
      return 0;
    }
  }
  /* After it: a shape may compare what its function left elsewhere. */
  s->empty = round_of(s->who->form, nothing);
  return 1;
}

int measure(const contender *ours, const contender *theirs, long rounds) {
  static state both[2];
  open_counter();
  if (!begin(&both[0], ours) || !begin(&both[1], theirs)) {
    perror("count: stdout");
    return 2;
  }
  printf("%s %d\n", counter >= 0 ? "cycles" : "ns", SLOTS);
  for (long n = -WARM_UP; n < rounds; n++) {
    if (!go_on(&both[0]) || !go_on(&both[1])) {
      fprintf(stderr, "count: a call left other pixels than the first one\n");
      return 1;
    }
    if (n >= 0) {
      printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", both[0].taken, both[0].empty,
             both[1].taken, both[1].empty);
    }
  }
  if (fflush(stdout) != 0) {
    perror("count: stdout");
    return 2;
  }
  return 0;
}
