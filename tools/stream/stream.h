/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.h - what the stream program and its decoders have in common.
 *
 * main.c decodes a file frame by frame; one further file a codec (vp9.c, ...)
 * replaces entries of that decoder's DSP table by daedalus' functions, counts
 * their calls, and can spoil their output on purpose.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STREAM_MAX_CLASSES = 4 };

/* A kernel that has taken the place of a decoder's function. */
typedef struct stream_kernel {
  const char *id;
  const char *classes[STREAM_MAX_CLASSES]; /* names, NULL-terminated where fewer */
  uint64_t calls[STREAM_MAX_CLASSES];      /* how often called, by class */
  uint64_t fault_every;                    /* spoil each such call's output; 0: never */
} stream_kernel;

/* Defined by the decoder's file. */
extern stream_kernel stream_kernels[];
extern const size_t stream_n_kernels;
struct AVCodec;
const struct AVCodec *stream_decoder(void);

/* Set by main.c before decoding: whether the kernels replace the stock functions. */
extern bool stream_replace;

/* How many of the decoder's entry tables were found as expected, and how many were not. */
extern unsigned stream_slots_good;
extern unsigned stream_slots_bad;

/* Counts a call; returns whether its output is to be spoiled. */
static inline bool stream_count(stream_kernel *kernel, int class_index) {
  uint64_t calls = 0;
  kernel->calls[class_index]++;
  if (kernel->fault_every == 0) {
    return false;
  }
  for (int c = 0; c < STREAM_MAX_CLASSES; c++) {
    calls += kernel->calls[c];
  }
  return calls % kernel->fault_every == 0;
}

#endif /* STREAM_H */
