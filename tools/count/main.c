/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - calls one function many times, for counting what a call executes.
 *
 *   count SHAPE FUNCTION CALLS [PARAMETER...]
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

enum { STRIDE = 64, ROWS = 64, SIZE = STRIDE * ROWS, MIDDLE = 16 * STRIDE + 16 };
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

/* A loop filter on an edge of 8; parameters: E, I, H. */
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

int main(int argc, char **argv) {
  any_fn *fn = NULL;
  if (argc < 4 || argc > 7) {
    fprintf(stderr, "usage: count SHAPE FUNCTION CALLS [PARAMETER...]\n");
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
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    if (strcmp(functions[i].name, argv[2]) == 0) {
      fn = functions[i].fn;
    }
  }
  for (size_t i = 0; fn && i < sizeof(shapes) / sizeof(shapes[0]); i++) {
    if (strcmp(shapes[i].name, argv[1]) == 0) {
      shapes[i].call(fn, strtol(argv[3], NULL, 10));
      return 0;
    }
  }
  fprintf(stderr, "no such shape or function: %s %s\n", argv[1], argv[2]);
  return 2;
}
