/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs programs given as text, for the tests of the simulator. */
#ifndef DAEDALUS_TESTS_SIMULATION_H
#define DAEDALUS_TESTS_SIMULATION_H

#include <daedalus/v3d/simulate.h>

/** Device addresses of what a test uses. */
enum { CODE = 0x00010000, UNIFORMS = 0x00020000, DATA = 0x00100000, OUT = 0x00200000 };
enum { CODE_BYTES = 4096, UNIFORM_BYTES = 1024, DATA_BYTES = 16384, OUT_BYTES = 65536 };

/** What follows a program's work: the last thread switch, and the end. */
#define END             \
  "nop ; nop ; thrsw\n" \
  "nop ; nop ; thrsw\n" \
  "nop ; nop\n"         \
  "nop ; nop\n"         \
  "nop ; nop ; thrsw\n" \
  "nop ; nop\n"         \
  "nop ; nop\n"

/**
 * What a program that uses STORE begins with: rf60 is the address of out[lane], rf61 the 64 bytes
 * to the next row. Takes two uniforms.
 */
#define BEGIN                            \
  "eidx rf60 ; nop ; ldunif\n"           \
  ".uniform 0x00200000\n.uniform 64\n"   \
  "shl rf60, rf60, 2 ; nop\n"            \
  "add rf60, rf60, rf0 ; nop ; ldunif\n" \
  "mov rf61, rf0 ; nop\n"

/** Register r, as text, goes to the next row of out: the first to out[0..15], and so on. */
#define STORE(r)                 \
  "mov tmud, " r                 \
  " ; nop\n"                     \
  "mov tmua, rf60 ; nop\n"       \
  "add rf60, rf60, rf61 ; nop\n" \
  "tmuwt - ; nop\n"

/** A machine with its memory: code, uniforms, and two buffers. */
typedef struct simulation {
  daedalus_v3d_machine *machine;
  daedalus_v3d_job job; /**< 1 batch of 16 invocations to begin with. */
  daedalus_v3d_report report;
  daedalus_v3d_buffer buffers[4];
  uint64_t code[CODE_BYTES / 8];
  uint32_t uniforms[UNIFORM_BYTES / 4];
  uint32_t data[DATA_BYTES / 4];
  uint32_t out[OUT_BYTES / 4];
} simulation;

/** A machine by *profile (NULL: the default), memory zeroed. Ends the test program on failure. */
simulation *simulation_create(const daedalus_v3d_profile *profile);
void simulation_destroy(simulation *s);

/** Assembles text, and puts code and its `.uniform` words in place. Ends the program on mistakes.
 */
void simulation_load(simulation *s, const char *text);

/** n groups of size invocations; cfg[3] and cfg[4] as Mesa fills them in, per groups together. */
void simulation_shape(simulation *s, unsigned n, unsigned size, unsigned per);

/** Runs the job; prints the report where the outcome is not expected. */
daedalus_v3d_outcome simulation_run(simulation *s, daedalus_v3d_outcome expected);

/** The row of out that the STORE number n (from 0) wrote, by lane. */
const uint32_t *simulation_row(const simulation *s, unsigned n);

/** Whether row n of out holds `expected`, which may speak of `lane`, in each; with check.h. */
#define CHECK_ROW(s, n, expected)                            \
  do {                                                       \
    for (uint32_t lane = 0; lane < 16; lane++)               \
      CHECK_INT(simulation_row((s), (n))[lane], (expected)); \
  } while (0)

/** simulation_load() and simulation_run() to a good end. */
void simulation_do(simulation *s, const char *text);

#endif
