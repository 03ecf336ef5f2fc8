/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - calls one function many times, for counting what a call executes.
 *
 *   count SHAPE FUNCTION CALLS [PARAMETER...]
 *   count SHAPE FUNCTION OTHER [PARAMETER...]
 *
 * The second form calls both functions once; exit status 1 when they leave
 * different pixels.
 *
 * Whoever counts runs it with different numbers of calls: what differs is the
 * calls.  The function `nothing` returns at once, so that what the loop itself
 * executes can be told too.  functions.h is written by the count verb:
 * FUNCTION(symbol) for everything that is compared.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void any_fn(void);
typedef void itxfm_fn(uint8_t *dst, ptrdiff_t stride, int16_t *block, int eob);
typedef void filter_fn(uint8_t *dst, ptrdiff_t stride, int E, int I, int H);

#define FUNCTION(symbol) void symbol(void);
#include "functions.h"
#undef FUNCTION

void nothing(void);
__attribute__((noinline)) void nothing(void) {
  __asm__ volatile("");
}

static const struct {
  const char *name;
  any_fn *fn;
} functions[] = {
    {"nothing", nothing},
#define FUNCTION(symbol) {#symbol, symbol},
#include "functions.h"
#undef FUNCTION
};

enum { STRIDE = 64, ROWS = 64, SIZE = STRIDE * ROWS, ORIGIN = 16 };
enum { MIDDLE = ORIGIN * STRIDE + ORIGIN };
static uint8_t start[SIZE];
static uint8_t pixels[SIZE];
static long parameters[3];

/* An inverse transform of 8x8 that clears its coefficients; parameter: eob. */
static void call_itxfm8(any_fn *fn, long calls) {
  static int16_t coefficients[64];
  static int16_t block[64];
  const int eob = (int)parameters[0];
  const int edge = eob == 1 ? 1 : eob <= 12 ? 2 : 8;
  for (int i = 0; i < 64; i++) {
    if (i % 8 < edge && i / 8 < edge) {
      coefficients[i] = (int16_t)(eob == 1 ? 100 : (i * 37) % 61 - 30);
    }
  }
  for (long n = 0; n < calls; n++) {
    memcpy(pixels, start, sizeof(pixels));
    memcpy(block, coefficients, sizeof(block));
    ((itxfm_fn *)fn)(pixels + MIDDLE, STRIDE, block, eob);
  }
}

/* A loop filter on an edge of 8; parameters: blimit, limit, thresh. */
static void call_filter8(any_fn *fn, long calls) {
  for (long n = 0; n < calls; n++) {
    memcpy(pixels, start, sizeof(pixels));
    ((filter_fn *)fn)(pixels + MIDDLE, STRIDE, (int)parameters[0], (int)parameters[1],
                      (int)parameters[2]);
  }
}

static const struct {
  const char *name;
  void (*call)(any_fn *fn, long calls);
} shapes[] = {
    {"itxfm8", call_itxfm8},
    {"filter8", call_filter8},
};

static any_fn *find(const char *name) {
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    if (strcmp(functions[i].name, name) == 0) {
      return functions[i].fn;
    }
  }
  return NULL;
}

static int compare(void (*call)(any_fn *fn, long calls), any_fn *fn, any_fn *other) {
  static uint8_t result[SIZE];
  call(fn, 1);
  memcpy(result, pixels, sizeof(result));
  call(other, 1);
  for (int i = 0; i < SIZE; i++) {
    if (result[i] != pixels[i]) {
      printf("row %d, column %d: %d and %d\n", i / STRIDE - ORIGIN, i % STRIDE - ORIGIN, result[i],
             pixels[i]);
      return 1;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4 || argc > 7) {
    fprintf(stderr, "usage: count SHAPE FUNCTION CALLS|OTHER [PARAMETER...]\n");
    return 2;
  }
  for (int i = 4; i < argc; i++) {
    parameters[i - 4] = strtol(argv[i], NULL, 10);
  }
  /* Neighbours differ by a few steps across both directions: filters neither stop early nor find
   * everything flat. */
  for (int i = 0; i < SIZE; i++) {
    start[i] = (uint8_t)(100 + (i % STRIDE * 3 + i / STRIDE * 2) % 7 * 2);
  }
  any_fn *fn = find(argv[2]);
  any_fn *other = find(argv[3]);
  const long calls = strtol(argv[3], NULL, 10);
  for (size_t i = 0; fn && (other || calls > 0) && i < sizeof(shapes) / sizeof(shapes[0]); i++) {
    if (strcmp(shapes[i].name, argv[1]) == 0) {
      if (other) {
        return compare(shapes[i].call, fn, other);
      }
      shapes[i].call(fn, calls);
      return 0;
    }
  }
  fprintf(stderr, "no such shape or function: %s %s %s\n", argv[1], argv[2], argv[3]);
  return 2;
}
