/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sums.c - counts the instructions that a program executes under qemu-user, function by function,
 *          and call by call of those that are asked for.
 *
 *   qemu-aarch64 -plugin ./sums.so,starts=FILE,out=FILE program ...
 *
 * All numbers in the files have 64 bits, ordered as this machine orders bytes.  `starts` has two
 * for each function: the address where it begins, in rising order, and its kind.  Each ends where
 * the next one begins; what lies in front of the first is not counted.
 *
 * `out` gets a number for each function: instructions executed in it.  Behind these it gets three
 * for each way in which functions of kind ASKED were called from others: the function that was
 * called, the instructions until it was left, those of functions ASKED that it called included, and
 * how many calls executed as many.  Functions of kind NEUTRAL, as memset() and the linker's stub on
 * the way to it, neither end a call nor count in one.  Of one thread alone: several would lose
 * counts.
 */
#define _POSIX_C_SOURCE 200809L /* strdup() */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu.h"

enum kind { OTHER = 0, ASKED = 1, NEUTRAL = 2 };

struct function {
  uint64_t start, kind;
};

/* Instructions in a row, all of one function. */
struct run {
  size_t function;
  uint64_t n;
};

/* So many calls of a function executed so many instructions. */
struct way {
  uint64_t function, executed, calls;
};

static struct function *functions;
static uint64_t *counts;
static size_t n_functions;
static const char *out;

static struct way *ways; /* a hash table; calls is 0 where nothing is */
static size_t n_ways, room;
static struct way now; /* the call that goes on; calls is 0 where none does */

/* The function that an address is in; n_functions in front of all. */
static size_t function_at(uint64_t address) {
  size_t low = 0, high = n_functions;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (functions[middle].start <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? n_functions : low - 1;
}

/* Memory of zeros; qemu ends where there is none. */
static void *zeros(size_t count, size_t size) {
  void *got = calloc(count, size);
  if (!got) {
    perror("sums.so");
    exit(1);
  }
  return got;
}

/* Adds calls to the way in a table of so much room, a power of two, that has a free place. */
static void add(struct way *table, size_t size, const struct way *way) {
  size_t at =
      (size_t)((way->function * 0x9e3779b97f4a7c15u) ^ (way->executed * 0xff51afd7ed558ccdu));
  for (at ^= at >> 29;; at++) {
    struct way *place = &table[at & (size - 1)];
    if (place->calls == 0) {
      *place = *way;
      n_ways++;
      return;
    }
    if (place->function == way->function && place->executed == way->executed) {
      place->calls += way->calls;
      return;
    }
  }
}

static void called(void) {
  if (2 * n_ways >= room) {
    const size_t size = room ? 2 * room : 1024;
    struct way *larger = zeros(size, sizeof(*larger));
    n_ways = 0;
    for (size_t i = 0; i < room; i++) {
      if (ways[i].calls) {
        add(larger, size, &ways[i]);
      }
    }
    free(ways);
    ways = larger;
    room = size;
  }
  add(ways, room, &now);
  now.calls = 0;
}

static void executed(unsigned int cpu, void *user) {
  (void)cpu;
  const struct run *run = user;
  counts[run->function] += run->n;
  const uint64_t kind = functions[run->function].kind;
  if (kind == ASKED) {
    if (!now.calls) {
      now = (struct way){run->function, 0, 1};
    }
    now.executed += run->n;
  } else if (kind == OTHER && now.calls) {
    called();
  }
}

static void translated(plugin_id id, qemu_plugin_tb *block) {
  (void)id;
  const size_t n = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < n;) {
    qemu_plugin_insn *first = qemu_plugin_tb_get_insn(block, i);
    const size_t function = function_at(qemu_plugin_insn_vaddr(first));
    size_t end = i + 1;
    while (end < n &&
           function_at(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, end))) == function) {
      end++;
    }
    if (function < n_functions) {
      struct run *run = zeros(1, sizeof(*run)); /* for as long as the block may be executed */
      *run = (struct run){function, end - i};
      qemu_plugin_register_vcpu_insn_exec_cb(first, executed, READS_NO_REGISTERS, run);
    }
    i = end;
  }
}

static void finished(plugin_id id, void *user) {
  (void)id;
  (void)user;
  if (now.calls) {
    called();
  }
  FILE *file = fopen(out, "wb");
  int good = file && fwrite(counts, sizeof(*counts), n_functions, file) == n_functions;
  for (size_t i = 0; good && i < room; i++) {
    good = !ways[i].calls || fwrite(&ways[i], sizeof(ways[i]), 1, file) == 1;
  }
  if (file && fclose(file) != 0) {
    good = 0;
  }
  if (!good) {
    perror(out);
    remove(out); /* who reads it sees that there is none */
  }
}

/* Reads `starts`; returns whether it is one. */
static int read_starts(const char *path) {
  FILE *file = fopen(path, "rb");
  long size = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) {
    size = ftell(file);
    rewind(file);
  }
  if (size <= 0 || size % (long)sizeof(*functions) != 0) {
    return 0;
  }
  n_functions = (size_t)size / sizeof(*functions);
  functions = zeros(n_functions, sizeof(*functions));
  counts = zeros(n_functions, sizeof(*counts));
  const int good = fread(functions, sizeof(*functions), n_functions, file) == n_functions;
  fclose(file);
  return good;
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  if (argc != 2 || strncmp(argv[0], "starts=", 7) != 0 || strncmp(argv[1], "out=", 4) != 0) {
    fprintf(stderr, "sums.so: starts=FILE,out=FILE is missing\n");
    return -1;
  }
  out = strdup(argv[1] + 4);
  if (!out || !read_starts(argv[0] + 7)) {
    fprintf(stderr, "sums.so: %s has no functions\n", argv[0] + 7);
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
