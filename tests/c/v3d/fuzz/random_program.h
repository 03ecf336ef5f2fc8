/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs, for the tests that compare the validator with runs. */
#ifndef DAEDALUS_TESTS_RANDOM_PROGRAM_H
#define DAEDALUS_TESTS_RANDOM_PROGRAM_H

#include "hazards/hazards.h"

enum { MAX_WORDS = 40, N_UNIFORMS = 24, DATA_BYTES = 512 };
/* Device addresses of what a program is made for. */
enum { CODE_ADDRESS = 0x1000, UNIFORMS_ADDRESS = 0x2000, DATA_ADDRESS = 0x3000 };

/** A program and what it is started with. It begins with lanes' addresses put into rf8. */
typedef struct program {
  uint64_t words[MAX_WORDS];
  unsigned n;
  uint32_t uniforms[N_UNIFORMS]; /**< the first is DATA_ADDRESS. */
  daedalus_v3d_program_mode mode;
  daedalus_v3d_rules found[MAX_WORDS]; /**< by the validator. */
} program;

/** What a random program may have; else it is straight, of what the rules are about, and sane. */
enum {
  RANDOM_BRANCHES = 1,
  /** Every operation, modifier and destination, on any address; words that are no instructions. */
  RANDOM_WILD = 2
};

/** Every draw from now on depends on seed alone. */
void random_from_seed(uint64_t seed);
/** Draws from now on are made of the bytes (borrowed); when they are used up each gives 0. */
void random_from_bytes(const uint8_t *bytes, size_t size);
/** What random_from_seed() takes to go on from here. */
uint64_t random_seed(void);

uint32_t random_word(void);
/** 0 to bound - 1; bound is 1 to 2^16. */
unsigned random_below(unsigned bound);

/** A program most of which breaks rules. */
void random_program(program *program, unsigned kind);

/** Validates into program->found. False when the validator contradicts itself. */
bool validate_program(program *program);

/** As random_program(), of instructions that break no rule; most are accepted. Sets found. */
void random_valid_program(program *program, unsigned kind);

/** No rule is in program->found. */
bool is_accepted(const program *program);

/** Prints the program, and rules of a word of it. */
void print_program(const program *program, size_t word, daedalus_v3d_rules rules, const char *what);

#endif
