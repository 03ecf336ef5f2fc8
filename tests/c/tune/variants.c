/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "variants.h"

#include <daedalus.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char fake_flags[512];
bool fake_no_memory;

static daedalus_cpu_fn *right(void) {
  const daedalus_kernel_desc *add = daedalus_find_kernel("fake_add");
  return add->variants[add->n_variants - 1].cpu;
}

/* ------------------------------------------------------------------------------- misdeeds */

#define VARIANT_FN(name)                                                                    \
  static void name(const daedalus_buffer *buffers, const void *meta, const uint32_t *items, \
                   size_t n_items)
#define DO_RIGHT() right()(buffers, meta, items, n_items)

/* Whether items are done; calls without any are measured as well. */
#define SOME (n_items != 0)

VARIANT_FN(good) {
  DO_RIGHT();
}

VARIANT_FN(wrong) {
  DO_RIGHT();
  if (SOME) {
    *(uint8_t *)buffers[0].data ^= 1;
  }
}

/* Takes another time each call, up to some 10 us: its median has an interval, however fine many
   samples make that. */
VARIANT_FN(uneven) {
  static uint32_t calls;
  DO_RIGHT();
  if (SOME) {
    const uint32_t spins = (++calls * 2654435761U) >> 18;
    for (volatile uint32_t i = 0; i < spins; i++) {
    }
  }
}

/* Right when it is verified, wrong when it is timed. */
VARIANT_FN(later) {
  static int calls;
  DO_RIGHT();
  if (SOME && ++calls > RIGHT_CALLS) {
    *(uint8_t *)buffers[0].data ^= 1;
  }
}

/* Does nothing, and so takes no time. */
VARIANT_FN(idle) {
  (void)buffers;
  (void)meta;
  (void)items;
  (void)n_items;
}

/* Right, but for a byte before the buffer. */
VARIANT_FN(stray) {
  DO_RIGHT();
  if (SOME) {
    ((uint8_t *)buffers[1].data)[-1] = 0;
  }
}

VARIANT_FN(spoils) {
  DO_RIGHT();
  if (SOME) {
    *(int16_t *)buffers[1].data ^= 1;
  }
}

VARIANT_FN(crash) {
  DO_RIGHT();
  if (SOME) {
    raise(SIGSEGV);
  }
}

/* Crashes only after it was verified. */
VARIANT_FN(crash_later) {
  static int calls;
  DO_RIGHT();
  if (SOME && ++calls > RIGHT_CALLS) {
    raise(SIGILL);
  }
}

VARIANT_FN(leaves) {
  DO_RIGHT();
  if (SOME) {
    _exit(7);
  }
}

/* Ends without closing the pipe: something that it began holds it. */
VARIANT_FN(forks) {
  DO_RIGHT();
  if (SOME) {
    if (fork() == 0) {
      sleep(3);
      _exit(0);
    }
    _exit(7);
  }
}

/* Closes all, and does not end. */
VARIANT_FN(stuck) {
  DO_RIGHT();
  for (int fd = 3; SOME && fd < 64; fd++) {
    close(fd);
  }
  while (SOME) {
    pause();
  }
}

VARIANT_FN(killed) {
  static int calls;
  DO_RIGHT();
  if (SOME && fake_no_memory && ++calls > CALLS_BEFORE_KILL) {
    raise(SIGKILL);
  }
}

VARIANT_FN(slow) {
  const struct timespec moment = {.tv_nsec = 1000000L * SLOW_MS};
  DO_RIGHT();
  if (SOME) {
    nanosleep(&moment, NULL);
  }
}

VARIANT_FN(hang) {
  DO_RIGHT();
  while (SOME) {
    pause();
  }
}

static void set_flags(const char *text) {
  FILE *file = fopen(fake_flags, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
    abort();
  }
}

/* The machine is throttled, and the variant slow, in some of the calls. */
VARIANT_FN(throttled) {
  static int calls;
  DO_RIGHT();
  if (!SOME) {
    return;
  }
  calls++;
  if (calls >= THROTTLED_FIRST && calls <= THROTTLED_LAST) {
    const struct timespec slow = {.tv_nsec = 20000000};
    nanosleep(&slow, NULL);
    set_flags("4\n");
  } else {
    set_flags("0\n");
  }
}

/* ---------------------------------------------------------------------------------- table */

static const struct {
  const char *name;
  daedalus_cpu_fn *fn;
} misdeeds[] = {{"wrong", wrong},         {"later", later},   {"idle", idle},
                {"stray", stray},         {"spoils", spoils}, {"crash", crash},
                {"leaves", leaves},       {"hang", hang},     {"crash_later", crash_later},
                {"throttled", throttled}, {"forks", forks},   {"stuck", stuck},
                {"killed", killed},       {"uneven", uneven}, {"slow_0", slow},
                {"slow_1", slow},         {"slow_2", slow},   {"slow_3", slow},
                {"slow_4", slow},         {"slow_5", slow},   {"slow_6", slow},
                {"slow_7", slow}};
enum { N_MISDEEDS = sizeof(misdeeds) / sizeof(misdeeds[0]), N = GOOD_VARIANTS + N_MISDEEDS };

static char names[N][64], hashes_of[N][20];
static daedalus_variant variants[N];
static daedalus_kernel_desc kernel;
static daedalus_kernel_table table;
static tune_hash hashes[N + 1];
static tune_world world;

const tune_world *fake_world(void) {
  const daedalus_kernel_desc *add = daedalus_find_kernel("fake_add");
  for (size_t i = 0; i < N; i++) {
    const bool is_good = i < GOOD_VARIANTS;
    snprintf(hashes_of[i], sizeof(hashes_of[i]), "%016zx", i);
    if (is_good) {
      snprintf(names[i], sizeof(names[i]), "daedalus_fake_add__c_good_%02zu", i);
    } else {
      snprintf(names[i], sizeof(names[i]), "daedalus_fake_add__c_%s",
               misdeeds[i - GOOD_VARIANTS].name);
    }
    variants[i] = (daedalus_variant){.name = names[i],
                                     .target = "c",
                                     .class_index = 1,
                                     .rank = (uint16_t)i,
                                     .reason = "for tests",
                                     .cpu = is_good ? good : misdeeds[i - GOOD_VARIANTS].fn};
    hashes[i] = (tune_hash){names[i], hashes_of[i]};
  }
  kernel = *add;
  kernel.variants = variants;
  kernel.n_variants = N;
  table = (daedalus_kernel_table){.version = DAEDALUS_TABLE_VERSION,
                                  .generator = "0123456789abcdef",
                                  .kernels = &kernel,
                                  .n_kernels = 1};
  world = (tune_world){.table = &table, .hashes = hashes};
  return &world;
}

const char *fake_point(const char *name) {
  static char texts[64][POINT_BYTES];
  static size_t next;
  char *text = texts[next++ % 64];
  snprintf(text, POINT_BYTES, "fake_add/full/daedalus_fake_add__c_%s/%s/-/0", name,
           point_own_compiler());
  return text;
}
