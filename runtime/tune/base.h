/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the measuring programs, daedalus-tune and tools/bench, have in common. */
#ifndef DAEDALUS_TUNE_BASE_H
#define DAEDALUS_TUNE_BASE_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_BUFFERS = 16, NAME_BYTES = 128 };

/* What messages begin with; set by main() before all else. */
extern const char *program_name;

/* Prints "<program>: what: detail" and ends the program with status 2. */
_Noreturn void die(const char *what, const char *detail);
/* Status with which a program ends that has no memory left; 2 unless it is set. */
extern int out_of_memory_status;
/* Never NULL; ends the program without memory. */
void *allocate(size_t n);
/* As allocate(), of `n` bytes that are zero. */
void *allocate_zeroed(size_t n);
/* As allocate(), of what was allocated before, which may be NULL. */
void *enlarge(void *memory, size_t n);

/* FNV-1a of 64 bits. */
#define FNV64_EMPTY UINT64_C(0xcbf29ce484222325)
uint64_t fnv64(uint64_t so_far, const void *bytes, size_t n);

#endif
