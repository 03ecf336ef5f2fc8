/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - calls one function, for tracing what a call executes, or two, for measuring how long
 * they take.
 *
 *   count trace TIMES PICTURE SHAPE FUNCTION [PARAMETER...]
 *   count measure ROUNDS PICTURE SHAPE FUNCTION SHAPE FUNCTION [PARAMETER...]
 *
 * trace writes to stdout, each 64 bits with the low byte first, the addresses of the function and
 * of `mark`; then the pixels that the last piece of work left, ROWS rows of STRIDE bytes.  `mark`
 * is called before each piece of work.  A piece of work may be several calls.  It must be compiled
 * without sibling calls: what follows a call is told by the address after it.
 *
 * measure writes what measure.h says, of that many rounds; the second function is theirs.
 *
 * functions.h is written by the count verb: FUNCTION(symbol) for everything that is compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "measure.h"

#define FUNCTION(symbol) void symbol(void);
#include "functions.h"
#undef FUNCTION

void mark(void);
__attribute__((noinline)) void mark(void) {
  __asm__ volatile("");
}

static const struct {
  const char *name;
  any_fn *fn;
} functions[] = {
#define FUNCTION(symbol) {#symbol, symbol},
#include "functions.h"
#undef FUNCTION
    {NULL, NULL},
};

work start;
long parameters[8];
static work now;

/* Neighbours differ by a few steps, across both directions: filters neither stop early nor find
 * everything flat. */
static int steps(int y, int x) {
  return 100 + (x * 3 + y * 2) % 7 * 2;
}

/* Neighbours differ by one at most, and do. */
static int flat(int y, int x) {
  return 100 + (x * 3 + y * 2) % 5 % 2;
}

/* Of the eight positions along an edge through MIDDLE, in either direction, four are flat. */
static int half_flat(int y, int x) {
  const int row = y - ORIGIN, column = x - ORIGIN;
  const int horizontal = row < 4 && column >= 0 && column < 4;
  const int vertical = column < 4 && row >= 0 && row < 4;
  return horizontal || vertical ? flat(y, x) : steps(y, x);
}

/* Neighbours differ much. */
static int steep(int y, int x) {
  return 10 + (x * 3 + y * 2) % 7 * 35;
}

static const struct {
  const char *name;
  int (*pixel)(int y, int x);
} pictures[] = {{"steps", steps}, {"flat", flat}, {"half flat", half_flat}, {"steep", steep}};

/* Draws the picture around MIDDLE, in samples of 8 bits or, of two bytes each, of 10. */
static int draw(const char *picture, int pixel_bytes) {
  for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
    if (strcmp(pictures[i].name, picture) == 0) {
      for (int k = 0; k < SIZE; k += pixel_bytes) {
        const int x = ORIGIN + (k % STRIDE - ORIGIN) / pixel_bytes;
        const int pixel = pictures[i].pixel(k / STRIDE, x);
        if (pixel_bytes == 1) {
          start.pixels[k] = (uint8_t)pixel;
        } else {
          const uint16_t word = (uint16_t)(pixel << 2);
          memcpy(start.pixels + k, &word, sizeof(word));
        }
      }
      return 1;
    }
  }
  return 0;
}

static any_fn *find_function(const char *name) {
  for (size_t i = 0; functions[i].name != NULL; i++) {
    if (strcmp(functions[i].name, name) == 0) {
      return functions[i].fn;
    }
  }
  return function_of_table(name);
}

static const shape *find_shape(const char *name) {
  for (const shape *s = shapes; s->name; s++) {
    if (strcmp(s->name, name) == 0) {
      return s;
    }
  }
  return NULL;
}

static void write_address(uintptr_t address) {
  for (int i = 0; i < 8; i++) {
    putchar((int)((uint64_t)address >> 8 * i & 255));
  }
}

static int trace(const shape *form, any_fn *fn, long times) {
  write_address((uintptr_t)fn);
  write_address((uintptr_t)mark);
  for (long n = 0; n < times; n++) {
    now = start;
    mark();
    form->call(fn, &now);
    if (form->verify) {
      form->verify();
    }
  }
  if (fwrite(now.pixels, 1, SIZE, stdout) != SIZE || fflush(stdout) != 0) {
    perror("count: stdout");
    return 2;
  }
  return 0;
}

/* The function and its shape, of two words, for a picture; what is not known ends the program. */
static contender find_contender(char **words, const char *picture) {
  const contender found = {find_shape(words[0]), find_function(words[1])};
  if (found.form == NULL || found.fn == NULL) {
    fprintf(stderr, "count: no such shape or function: %s, %s\n", words[0], words[1]);
    exit(2);
  }
  if (!draw(picture, found.form->pixel_bytes)) {
    fprintf(stderr, "count: no such picture: %s\n", picture);
    exit(2);
  }
  if (found.form->prepare) {
    found.form->prepare();
  }
  return found;
}

int main(int argc, char **argv) {
  const int traced = argc > 1 && strcmp(argv[1], "trace") == 0;
  const int before = traced ? 6 : 8; /* words in front of parameters */
  const int most = before + (int)(sizeof(parameters) / sizeof(parameters[0]));
  if (argc < before || argc > most || (!traced && strcmp(argv[1], "measure") != 0)) {
    fprintf(stderr,
            "usage: count trace TIMES PICTURE SHAPE FUNCTION [PARAMETER...]\n"
            "       count measure ROUNDS PICTURE SHAPE FUNCTION SHAPE FUNCTION"
            " [PARAMETER...]\n");
    return 2;
  }
  for (int i = before; i < argc; i++) {
    parameters[i - before] = strtol(argv[i], NULL, 10);
  }
  const long times = strtol(argv[2], NULL, 10);
  if (times <= 0) {
    fprintf(stderr, "count: not a number of times: %s\n", argv[2]);
    return 2;
  }
  const contender ours = find_contender(&argv[4], argv[3]);
  if (traced) {
    return trace(ours.form, ours.fn, times);
  }
  const contender theirs = find_contender(&argv[6], argv[3]);
  return measure(&ours, &theirs, times);
}
