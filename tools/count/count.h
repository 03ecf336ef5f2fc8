/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.h - what main.c and the files of shapes share; static memory only.
 */
#ifndef DAEDALUS_COUNT_H
#define DAEDALUS_COUNT_H

#include <stddef.h>
#include <stdint.h>

typedef void any_fn(void);

/* Bytes; ROWS, and of ORIGIN those above, are rows. */
enum { STRIDE = 256, ROWS = 96, SIZE = STRIDE * ROWS, ORIGIN = 16 };
enum { MIDDLE = ORIGIN * STRIDE + ORIGIN };
enum { COEFFICIENTS = 1024 };

/* What a piece of work begins with, and what it changes: a picture, from MIDDLE on, of bytes or of
 * words of 16 bits, and coefficients, of 16 or 32 bits. */
typedef struct work {
  _Alignas(64) uint8_t pixels[SIZE];
  _Alignas(64) int16_t block[2 * COEFFICIENTS];
} work;

extern work start;

/* The kernel's parameters, in the order of the case. */
extern long parameters[8];

/* A way to call functions: a signature, what is prepared for it, and a look at what calls left
 * elsewhere than in their work. */
typedef struct shape {
  const char *name;
  int pixel_bytes;       /* 1: samples of 8 bits; 2: of 10 */
  void (*prepare)(void); /* once, when start.pixels is drawn; NULL: nothing */
  void (*call)(any_fn *fn, work *w);
  /* After calls, outside of what is timed; ends the program where something is wrong. NULL: no
   * look. */
  void (*verify)(void);
} shape;

/* The shapes of the file that is linked, with a nameless one at the end. */
extern const shape shapes[];

/* A function that no symbol names, only a table of the decoder; NULL where it has none such. */
any_fn *function_of_table(const char *name);

#endif /* DAEDALUS_COUNT_H */
