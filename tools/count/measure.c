/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * measure.c - how long pieces of work take.
 *
 * Cycles of the processor where the system lets a program count its own (perf_event_open); else
 * nanoseconds, of a clock that may tick every 20 only: rounds are as long then as makes that small.
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

/* Of nanoseconds, that the pieces of a round take at least. */
enum { LONG_ENOUGH = 20000, MOST_TIMES = 1 << 20 };

static work slots[SLOTS];
static long times = 1; /* that a round does the work of all slots */
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

/* Bytes from `from` on. */
typedef struct part {
  size_t from, bytes;
} part;

/* What a contender leaves, at first, what it changes, and how long a round takes. */
typedef struct state {
  const contender *who;
  work first;
  part pixels, block;
  uint64_t taken, empty;
} state;

/* From the first byte that differs to the last one. */
static part changed(const void *before, const void *after, size_t bytes) {
  const uint8_t *a = before, *b = after;
  size_t from = 0;
  while (from < bytes && a[from] == b[from]) {
    from++;
  }
  while (bytes > from && a[bytes - 1] == b[bytes - 1]) {
    bytes--;
  }
  return (part){from, bytes - from};
}

/* What the first piece changed; where a later one changes more, the comparison after the round
 * tells.
 */
static void put_back(const state *s) {
  for (int k = 0; k < SLOTS; k++) {
    memcpy(slots[k].pixels + s->pixels.from, start.pixels + s->pixels.from, s->pixels.bytes);
    memcpy((uint8_t *)slots[k].block + s->block.from, (const uint8_t *)start.block + s->block.from,
           s->block.bytes);
  }
}

static uint64_t round_of(const state *s, any_fn *fn) {
  for (int k = 0; k < SLOTS; k++) {
    slots[k] = start;
  }
  const uint64_t before = ticks();
  for (long n = 0; n < times; n++) {
    if (n > 0) {
      put_back(s);
    }
    for (int k = 0; k < SLOTS; k++) {
      s->who->form->call(fn, &slots[k]);
    }
  }
  return ticks() - before;
}

static void nothing(void) {
  __asm__ volatile("");
}

static void verify(const contender *who) {
  if (who->form->verify) {
    who->form->verify();
  }
}

static int begin(state *s, const contender *who) {
  s->who = who;
  s->first = start;
  who->form->call(who->fn, &s->first);
  verify(who);
  s->pixels = changed(start.pixels, s->first.pixels, SIZE);
  s->block = changed(start.block, s->first.block, sizeof(start.block));
  return fwrite(s->first.pixels, 1, SIZE, stdout) == SIZE;
}

/* Returns whether all pieces left what the first one did. */
static int go_on(state *s) {
  s->taken = round_of(s, s->who->fn);
  verify(s->who);
  for (int k = 0; k < SLOTS; k++) {
    if (memcmp(slots[k].pixels, s->first.pixels, SIZE) != 0) {
      return 0;
    }
  }
  s->empty = round_of(s, nothing);
  return 1;
}

/* Makes rounds as long as the clock asks for.  Returns whether all pieces left the same. */
static int settle(state *both) {
  for (times = 1; counter < 0 && times < MOST_TIMES; times *= 2) {
    if (!go_on(&both[0]) || !go_on(&both[1])) {
      return 0;
    }
    if (both[0].taken >= LONG_ENOUGH && both[1].taken >= LONG_ENOUGH) {
      break;
    }
  }
  return 1;
}

static int drifted(void) {
  fprintf(stderr, "count: a call left other pixels than the first one\n");
  return 1;
}

int measure(const contender *ours, const contender *theirs, long rounds) {
  static state both[2];
  open_counter();
  if (!begin(&both[0], ours) || !begin(&both[1], theirs)) {
    perror("count: stdout");
    return 2;
  }
  if (!settle(both)) {
    return drifted();
  }
  printf("%s %ld\n", counter >= 0 ? "cycles" : "ns", SLOTS * times);
  for (long n = -WARM_UP; n < rounds; n++) {
    if (!go_on(&both[0]) || !go_on(&both[1])) {
      return drifted();
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
