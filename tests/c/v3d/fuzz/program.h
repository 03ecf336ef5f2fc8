/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs of legal words, made from the fuzzer's bytes. */
#ifndef DAEDALUS_TESTS_V3D_PROGRAM_H
#define DAEDALUS_TESTS_V3D_PROGRAM_H

#include <daedalus/v3d/instruction.h>

/** Bytes still to be used; past their end every choice is 0. */
typedef struct bytes {
  const uint8_t *data;
  size_t size;
} bytes;

/** A number below n (1 to 256). */
unsigned choose(bytes *from, unsigned n);

/** An instruction that packs; branches only where they are allowed, to one of n_words words. */
daedalus_v3d_instruction random_instruction(bytes *from, bool branches, size_t at, size_t n_words);

/** The program's end as everyone writes it: 7 words. */
enum { EPILOGUE = 7 };
void write_epilogue(uint64_t *words);

#endif
