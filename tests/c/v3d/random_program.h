/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs, for the tests that compare the validator with runs. */
#ifndef DAEDALUS_TESTS_RANDOM_PROGRAM_H
#define DAEDALUS_TESTS_RANDOM_PROGRAM_H

#include "hazards/hazards.h"

enum { MAX_WORDS = 40, N_UNIFORMS = 24 };

/** A program and what it is started with. It begins with lanes' addresses put into rf8. */
typedef struct program {
  uint64_t words[MAX_WORDS];
  unsigned n;
  uint32_t uniforms[N_UNIFORMS]; /**< the first is the address of 512 bytes. */
  daedalus_v3d_program_mode mode;
  daedalus_v3d_rules found[MAX_WORDS]; /**< by the validator. */
} program;

/** Every draw depends on this alone. */
extern uint64_t random_state;

uint32_t random_word(void);
/** 0 to bound - 1. */
unsigned random_below(unsigned bound);

/**
 * A program of instructions that rules are about, most of which it breaks; with branches or
 * without.  address is its first uniform.
 */
void random_program(program *program, bool branches, uint32_t address);

/** Validates into program->found. False when the validator contradicts itself. */
bool validate_program(program *program);

/** As random_program(), of instructions that break no rule; most are accepted. Sets found. */
void random_valid_program(program *program, bool branches, uint32_t address);

/** No rule is in program->found. */
bool is_accepted(const program *program);

/** Prints the program, and rules of a word of it. */
void print_program(const program *program, size_t word, daedalus_v3d_rules rules, const char *what);

#endif
