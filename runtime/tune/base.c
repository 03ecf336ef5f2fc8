/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *program_name = "daedalus";
int out_of_memory_status = 2;

_Noreturn void die(const char *what, const char *detail) {
  fflush(stdout);
  fprintf(stderr, "%s: %s%s%s\n", program_name, what, *detail != '\0' ? ": " : "", detail);
  exit(2);
}

void *enlarge(void *memory, size_t n) {
  void *p = realloc(memory, n != 0 ? n : 1);
  if (p == NULL) {
    fflush(stdout);
    fprintf(stderr, "%s: out of memory\n", program_name);
    exit(out_of_memory_status);
  }
  return p;
}

void *allocate(size_t n) {
  return enlarge(NULL, n);
}

void *allocate_zeroed(size_t n) {
  return memset(allocate(n), 0, n);
}

uint64_t fnv64(uint64_t so_far, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++) {
    so_far = (so_far ^ at[i]) * UINT64_C(0x100000001b3);
  }
  return so_far;
}
