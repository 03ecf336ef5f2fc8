/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.h - what main.c and the files of shapes share; static memory only.
 */
#ifndef DAEDALUS_COUNT_H
#define DAEDALUS_COUNT_H

#include <stddef.h>
#include <stdint.h>

typedef void any_fn(void);

enum { STRIDE = 64, ROWS = 64, SIZE = STRIDE * ROWS, ORIGIN = 16 };
enum { MIDDLE = ORIGIN * STRIDE + ORIGIN };

/* The picture that every call begins with, and the one that calls change, from MIDDLE on. */
extern uint8_t start[SIZE];
extern uint8_t pixels[SIZE];

/* The kernel's parameters, in the order of the case. */
extern long parameters[8];

/* A way to call functions: a signature, and what is prepared for it. */
typedef struct shape {
  const char *name;
  void (*call)(any_fn *fn, long calls);
} shape;

/* The shapes of the file that is linked, with a nameless one at the end. */
extern const shape shapes[];

/* A function that no symbol names, only a table of the decoder; NULL where it has none such. */
any_fn *function_of_table(const char *name);

/* Puts the first picture back. */
void restore(void);

#endif /* DAEDALUS_COUNT_H */
