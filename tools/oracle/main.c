/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - runs a file of items through a function of a decoder.
 *
 *   oracle c|asm ENTRY IN OUT
 *
 * "c" forbids every processor extension, "asm" allows what the processor has.
 * Files are in the byte order of the machine, which is little-endian.
 * IN: the 8 bytes "DDLITEMS", then uint32: items, rows, cols (of the region of
 * the plane that is stored), origin row and column (of the item in the region),
 * block elements, parameters; then for each item rows * cols bytes, the block
 * (int16) and the parameters (int32).
 * OUT: uint32 number of items that were written outside their region; then for
 * each item the region and the block afterwards.
 * Exit status: 0; 2 bad arguments or file; 4 the decoder is not the one this
 * program knows, or has the same function for "c" and "asm".
 */
#include "oracle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/cpu.h>

enum {
  EXIT_INPUT = 2,
  EXIT_DECODER = 4,
  MARGIN = 16, /* bytes left and right, rows above and below a region */
  MAX_SIDE = 128,
  STRIDE = MAX_SIDE + 2 * MARGIN,
  PLANE_ROWS = MAX_SIDE + 2 * MARGIN,
  MAX_BLOCK = 4096
};

typedef struct header {
  char magic[8];
  uint32_t items, rows, cols, origin_row, origin_col, block, params;
} header;

_Static_assert(sizeof(header) == 36, "the header has no gaps");

static _Noreturn void fail(int status, const char *what, const char *detail) {
  fprintf(stderr, "%s: %s\n", what, detail);
  exit(status);
}

static void get(FILE *file, void *data, size_t size) {
  if (size != 0 && fread(data, size, 1, file) != 1) {
    fail(EXIT_INPUT, "input", "cut off");
  }
}

static void put(FILE *file, const void *data, size_t size) {
  if (size != 0 && fwrite(data, size, 1, file) != 1) {
    fail(EXIT_INPUT, "output", strerror(errno));
  }
}

static header get_header(FILE *file) {
  header h;
  get(file, &h, sizeof(h));
  if (memcmp(h.magic, "DDLITEMS", 8) != 0 || h.rows > MAX_SIDE || h.cols > MAX_SIDE ||
      h.origin_row > h.rows || h.origin_col > h.cols || h.block > MAX_BLOCK ||
      h.params > ORACLE_MAX_PARAMETERS) {
    fail(EXIT_INPUT, "input", "no file of items, or one that is too large");
  }
  return h;
}

/* What surrounds a region, and must still be there afterwards. */
static uint8_t pattern[PLANE_ROWS][STRIDE];

static void make_pattern(void) {
  for (int y = 0; y < PLANE_ROWS; y++) {
    for (int x = 0; x < STRIDE; x++) {
      pattern[y][x] = (uint8_t)(y * 31 + x * 7 + 5);
    }
  }
}

/* Whether nothing but the region of a plane was written. */
static bool surroundings_intact(const uint8_t plane[PLANE_ROWS][STRIDE], const header *h) {
  const size_t end = MARGIN + h->cols;
  for (uint32_t y = 0; y < h->rows + 2 * MARGIN; y++) {
    const bool crosses = y >= MARGIN && y < MARGIN + h->rows;
    if (crosses ? memcmp(plane[y], pattern[y], MARGIN) != 0 ||
                      memcmp(plane[y] + end, pattern[y] + end, STRIDE - end) != 0
                : memcmp(plane[y], pattern[y], STRIDE) != 0) {
      return false;
    }
  }
  return true;
}

static uint32_t run(const header *h, oracle_fn *fn, FILE *in, FILE *out) {
  static _Alignas(64) uint8_t plane[PLANE_ROWS][STRIDE];
  static _Alignas(64) int16_t block[MAX_BLOCK];
  int32_t params[ORACLE_MAX_PARAMETERS] = {0};
  uint32_t strayed = 0;
  for (uint32_t i = 0; i < h->items; i++) {
    memcpy(plane, pattern, (h->rows + 2 * MARGIN) * STRIDE);
    for (uint32_t y = 0; y < h->rows; y++) {
      get(in, &plane[MARGIN + y][MARGIN], h->cols);
    }
    get(in, block, h->block * sizeof(block[0]));
    get(in, params, h->params * sizeof(params[0]));
    fn(&plane[MARGIN + h->origin_row][MARGIN + h->origin_col], STRIDE, h->block ? block : NULL,
       params);
    strayed += !surroundings_intact((const uint8_t(*)[STRIDE])plane, h);
    for (uint32_t y = 0; y < h->rows; y++) {
      put(out, &plane[MARGIN + y][MARGIN], h->cols);
    }
    put(out, block, h->block * sizeof(block[0]));
  }
  return strayed;
}

/* The entry of that name, as the decoder chooses it under these CPU flags. */
static oracle_entry find(const char *name, int cpu_flags) {
  const oracle_entry *(*const codecs[])(int) = {oracle_vp9_entries, oracle_h264_entries};
  av_force_cpu_flags(cpu_flags);
  for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
    const oracle_entry *entry = codecs[i](cpu_flags == 0);
    if (!entry) {
      fail(EXIT_DECODER, "decoder", "a function table is not as declared");
    }
    for (; entry->name; entry++) {
      if (strcmp(entry->name, name) == 0) {
        return *entry;
      }
    }
  }
  fail(EXIT_INPUT, "no such entry", name);
}

int main(int argc, char **argv) {
  if (argc != 5 || (strcmp(argv[1], "c") != 0 && strcmp(argv[1], "asm") != 0)) {
    fail(EXIT_INPUT, "usage", "oracle c|asm ENTRY IN OUT");
  }
  /* The flags that are wanted come last: the tables stay as they say. */
  const int flags = strcmp(argv[1], "c") == 0 ? 0 : -1;
  const oracle_entry other = find(argv[2], -1 - flags);
  const oracle_entry entry = find(argv[2], flags);
  if (entry.target == other.target) {
    fail(EXIT_DECODER, argv[2], "c and asm are the same function on this processor");
  }
  FILE *in = fopen(argv[3], "rb");
  FILE *out = fopen(argv[4], "wb");
  if (!in || !out) {
    fail(EXIT_INPUT, in ? argv[4] : argv[3], strerror(errno));
  }
  const header h = get_header(in);
  make_pattern();
  uint32_t strayed = 0;
  put(out, &strayed, sizeof(strayed));
  strayed = run(&h, entry.fn, in, out);
  if (fseek(out, 0, SEEK_SET) != 0) {
    fail(EXIT_INPUT, argv[4], strerror(errno));
  }
  put(out, &strayed, sizeof(strayed));
  if (fclose(out) != 0) {
    fail(EXIT_INPUT, argv[4], strerror(errno));
  }
  fclose(in);
  return 0;
}
