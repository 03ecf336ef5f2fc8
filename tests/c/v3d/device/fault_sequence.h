/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that submits 20 jobs of all queues to a device which may have a fault, and knows what
 * each of them is to leave: 16 words in a buffer of its own.
 */
#ifndef DAEDALUS_TESTS_V3D_FAULT_SEQUENCE_H
#define DAEDALUS_TESTS_V3D_FAULT_SEQUENCE_H

#include <stdbool.h>

#include "drm_client.h"

enum { SEQUENCE_JOBS = 20, SEQUENCE_WORDS = 16 };

/* What a job of the sequence does instead of its work, for compute jobs. */
enum sequence_program { SEQUENCE_GOOD, SEQUENCE_ENDLESS, SEQUENCE_ASTRAY, SEQUENCE_PROGRAMS };

struct sequence {
  int fd;
  uint32_t first;          /* value of job 0; job j has first + j * 0x01010101 */
  struct drm_buffer tools; /* code, uniforms, group counts, command lists */
  struct drm_buffer out[SEQUENCE_JOBS];
  uint32_t done[SEQUENCE_JOBS];           /* syncobjs */
  uint32_t program_at[SEQUENCE_PROGRAMS]; /* bytes in tools */
  uint32_t last;                          /* syncobj of the last job that was submitted; 0: none */
};

/* All return 0 or a negative errno. */

/* Opens the node and makes a buffer with the programs. Creates 1 buffer and no syncobj. */
int sequence_open(struct sequence *sequence, uint32_t first);
/* Buffer and syncobj of job j, each where it is not there yet. */
int sequence_prepare(struct sequence *sequence, int j);
/* Submits job j, to run after the one that was submitted before. */
int sequence_submit(struct sequence *sequence, int j, enum sequence_program program);
/* Waits for job j; ns < 0: for ever. */
int sequence_wait(struct sequence *sequence, int j, int64_t ns);
void sequence_close(struct sequence *sequence);

/* Whether job j is a compute job; a command list. The others are indirect dispatches. */
bool sequence_is_compute(int j);
bool sequence_is_list(int j);

/* Bits by which the result of job j differs from what it is to be; from nothing at all. */
int sequence_wrong_bits(const struct sequence *sequence, int j);
bool sequence_is_untouched(const struct sequence *sequence, int j);
/* Each word is as it is to be, or untouched. */
bool sequence_is_partial(const struct sequence *sequence, int j);

#endif
