/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.h - what the parts of a stream program have in common.
 *
 * A program decodes one codec:
 *   main.c                 arguments and output
 *   packets.c, frames.c    the file's packets; a frame's MD5
 *   libav.c or dav1d.c     drives the decoder
 *   a generated file       exchanges entries of the decoder's DSP tables for
 *                          daedalus' functions, counts their calls, and can
 *                          spoil their output on purpose (stream.c.j2)
 *   traps.c                which of the decoder's own functions are executed
 *   slots.c                whether such a table is laid out as declared here
 *   registry.c, nohardware.c   what libavcodec needs to be linked alone
 *   qpu.c                  with --substrate qpu: our functions by the GPU
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit status. */
enum { EXIT_INPUT = 2, EXIT_DECODE = 3, EXIT_DECODER = 4, EXIT_GPU = 5 };

_Noreturn void stream_fail(int status, const char *what, const char *detail);

/* ---------------------------------------------------------------- functions exchanged */

enum { STREAM_MAX_CLASSES = 8 };

/* A decoder entry of daedalus that has taken the place of a decoder's function. */
typedef struct stream_function {
  const char *id;                          /* its name without daedalus_<decoder>_ */
  const char *classes[STREAM_MAX_CLASSES]; /* names, NULL-terminated where fewer */
  const char *ways[STREAM_MAX_CLASSES];    /* the decoder's pointers it is called through */
  uint64_t calls[STREAM_MAX_CLASSES];      /* how often called, by class */
  uint64_t through[STREAM_MAX_CLASSES];    /* and by way */
  uint64_t fault_every;                    /* spoil each such call's output; 0: never */
} stream_function;

/* Defined by the generated file. */
extern stream_function stream_functions[];
extern const size_t stream_n_functions;
extern const char
    *const stream_fields[]; /* of the tables, where functions are ours; ends by NULL */

/* Set by main.c before decoding: what fills the tables, if not the decoder alone: our functions,
 * each call counted; ours as any program puts them there; the decoder's own portable functions. */
extern bool stream_replace, stream_bare, stream_portable;

/* A field of the tables whose pointers stay the decoder's beside ours; NULL: none. */
extern const char *stream_kept;

/* No digests of frames; errors are told, and decoding goes on. */
extern bool stream_quiet, stream_goes_on;

/* Threads that decode, 1 by default: frames side by side, or parts of one. */
extern int stream_threads;
extern bool stream_in_slices;

/* Counts a call; returns whether its output is to be spoiled. */
static inline bool stream_count(stream_function *function, int class_index, int way) {
  uint64_t calls = 0;
  function->calls[class_index]++;
  function->through[way]++;
  if (function->fault_every == 0) {
    return false;
  }
  for (int c = 0; c < STREAM_MAX_CLASSES; c++) {
    calls += function->calls[c];
  }
  return calls % function->fault_every == 0;
}

/* ------------------------------------------------------------------- decoders' tables */

typedef void stream_any_fn(void);

/* A function that may stand in a slot; which one of several depends on the processor. */
typedef struct stream_occupant {
  size_t slot; /* byte offset in the table */
  stream_any_fn *fn;
} stream_occupant;

/*
 * Has it told whether a function of the decoder is executed from now on. `where`,
 * which has to stay, names a pointer that leads to it. stream_print_trapped()
 * prints which were executed, and of how many it would be told.
 */
void stream_trap(stream_any_fn *fn, const char *where);
void stream_print_trapped(void);

/* Bytes behind a table that is tried, and what they hold: so that a larger table shows. */
enum { STREAM_GUARD = 256, STREAM_PATTERN = 0xa5 };

/*
 * Ends the program unless every slot that is named holds one of its functions
 * and the STREAM_GUARD bytes behind `size` are still STREAM_PATTERN.
 */
void stream_check_table(const char *name, const void *table, size_t size,
                        const stream_occupant *occupants, size_t n_occupants);

/* How many slots were found as expected. */
extern unsigned stream_slots_good;

/* ---------------------------------------------------------------------- files, frames */

/* The packets of a file: of an IVF file, or the access units of an H.264 byte stream. */
typedef struct stream_packets {
  uint8_t *data;
  size_t size;
  size_t at;
  bool ivf;
} stream_packets;

/* Reads a file; ends the program when it is of neither kind. */
stream_packets stream_open(const char *path);
/* The next packet, which lies in the file's data; false at the end. */
bool stream_next(stream_packets *file, const uint8_t **data, size_t *size);
void stream_close(stream_packets *file);

typedef struct stream_plane {
  const uint8_t *data;
  ptrdiff_t stride; /* in bytes, as is the width */
  int width, rows;
} stream_plane;

/* Prints a frame's line: the MD5 of its planes' bytes, one plane after the other. */
void stream_print_frame(long index, const stream_plane *planes, int n_planes);

/*
 * Decodes a file on one thread, so that calls are counted exactly, and prints
 * its frames.
 *   limit    stop after so many; negative: all
 *   reorder  how many frames the container says are held back for reordering;
 *            negative: unknown
 * Returns the number of frames.
 */
long stream_decode(stream_packets *file, long limit, int reorder);

#endif /* STREAM_H */
