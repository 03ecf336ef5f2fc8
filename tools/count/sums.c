/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sums.c - counts the instructions that a program executes under qemu-user, function by function.
 *
 *   qemu-aarch64 -plugin ./sums.so,starts=FILE,out=FILE program ...
 *
 * `starts` has the addresses where functions begin, in rising order, 64 bits each as this machine
 * orders bytes; each ends where the next one begins.  `out` gets as many numbers, of the
 * instructions executed in each; those in front of the first are not counted.  Of one thread alone:
 * several would lose counts.
 */
#define _POSIX_C_SOURCE 200809L /* strdup() */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu.h"

static uint64_t *starts, *counts;
static size_t n_functions;
static const char *out;

/* The function that an address is in; n_functions in front of all. */
static size_t function_at(uint64_t address) {
  size_t low = 0, high = n_functions;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (starts[middle] <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? n_functions : low - 1;
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
    qemu_plugin_register_vcpu_insn_exec_inline(first, ADD_U64, &counts[function], end - i);
    i = end;
  }
}

static void finished(plugin_id id, void *user) {
  (void)id;
  (void)user;
  FILE *file = fopen(out, "wb");
  if (!file || fwrite(counts, sizeof(*counts), n_functions, file) != n_functions ||
      fclose(file) != 0) {
    perror(out);
    remove(out); /* what is there is not all */
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
  if (size <= 0 || size % (long)sizeof(*starts) != 0) {
    return 0;
  }
  n_functions = (size_t)size / sizeof(*starts);
  starts = malloc((size_t)size);
  counts = calloc(n_functions + 1, sizeof(*counts));
  const int good =
      starts && counts && fread(starts, sizeof(*starts), n_functions, file) == n_functions;
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
    fprintf(stderr, "sums.so: %s has no addresses\n", argv[0] + 7);
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
