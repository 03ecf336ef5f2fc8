/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the check program have in common. */
#ifndef CHECK_H
#define CHECK_H

#include <daedalus/table.h>

enum { MAX_BUFFERS = 16 };

/* How a run ended, as main.c says. */
enum { DONE, CHANGED_INPUT, UNKNOWN, FAULT, REFUSED, GPU_FAILED, NOT_CLEARED };

typedef struct image {
  uint8_t *initial; /* as the job gave it */
  uint8_t *bytes;   /* the copy that variants work on */
  size_t size, origin;
  ptrdiff_t stride;
} image;

_Noreturn void die(const char *what);

/* Ends the program without memory. */
void *allocate(size_t n);

#endif
