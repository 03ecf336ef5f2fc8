/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - runs a file of items through a function of a decoder, or through ours.
 *
 *   oracle c|asm|ours ENTRY IN OUT
 *
 * "c" forbids every processor extension, "asm" allows what the processor has,
 * "ours" takes the decoder entry of daedalus in that function's place.
 * Files are in the byte order of the machine, which is little-endian.
 * IN: the 8 bytes "DDLITEMS", then uint32: items, planes, block elements,
 * parameters, assembly (0: there may be some, 1: "asm" is another function than
 * "c", 2: it is the same);
 * for each plane uint32: rows and bytes a row (of the region that is stored),
 * row and byte of the item's origin in it; then for each item the regions of
 * the planes, the block (int16) and the parameters (int32).
 * OUT: uint32 number of items that were written outside their regions; then
 * for each item the regions and the block afterwards.
 * Exit status: 0; 2 bad arguments or file; 4 the decoder is not the one this
 * program knows, or has not the assembly that the file says.
 */
#include "oracle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  EXIT_INPUT = 2,
  EXIT_DECODER = 4,
  MARGIN = 64,      /* bytes left and right of a region, at least */
  MARGIN_ROWS = 16, /* rows above and below it */
  MAX_BYTES = 320,
  MAX_ROWS = 64,
  STRIDE = MAX_BYTES + 3 * MARGIN,
  PLANE_ROWS = MAX_ROWS + 2 * MARGIN_ROWS,
  MAX_BLOCK = 4096
};

_Static_assert((int)STRIDE < (int)ORACLE_MAX_STRIDE, "what oracle.h promises");

typedef struct shape {
  uint32_t rows, bytes, origin_row, origin_byte;
} shape;

typedef struct header {
  char magic[8];
  uint32_t items, planes, block, params, assembly;
} header;

_Static_assert(sizeof(header) == 28 && sizeof(shape) == 16, "no gaps");

/* What surrounds a region, and must still be there afterwards. */
static uint8_t pattern[PLANE_ROWS][STRIDE];

typedef uint8_t plane_memory[PLANE_ROWS][STRIDE];

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

static header get_header(FILE *file, shape *shapes) {
  header h;
  get(file, &h, sizeof(h));
  bool good = memcmp(h.magic, "DDLITEMS", 8) == 0 && h.planes <= ORACLE_MAX_PLANES &&
              h.block <= MAX_BLOCK && h.params <= ORACLE_MAX_PARAMETERS;
  for (uint32_t p = 0; good && p < h.planes; p++) {
    const shape *s = &shapes[p];
    get(file, &shapes[p], sizeof(shapes[p]));
    good = s->rows <= MAX_ROWS && s->bytes <= MAX_BYTES && s->origin_row <= s->rows &&
           s->origin_byte <= s->bytes;
  }
  if (!good) {
    fail(EXIT_INPUT, "input", "no file of items, or one that is too large");
  }
  return h;
}

static void make_pattern(void) {
  for (int y = 0; y < PLANE_ROWS; y++) {
    for (int x = 0; x < STRIDE; x++) {
      pattern[y][x] = (uint8_t)(y * 31 + x * 7 + 5);
    }
  }
}

/* Where a region begins in its rows: the item's origin lies as assembly may demand. */
static size_t first_byte(const shape *s) {
  return MARGIN + (MARGIN - s->origin_byte % MARGIN) % MARGIN;
}

/* Whether nothing but the region of a plane was written. */
static bool surroundings_intact(const plane_memory *plane, const shape *s) {
  const size_t begin = first_byte(s), end = begin + s->bytes;
  for (uint32_t y = 0; y < s->rows + 2 * MARGIN_ROWS; y++) {
    const uint8_t *row = (*plane)[y];
    const bool crosses = y >= MARGIN_ROWS && y < MARGIN_ROWS + s->rows;
    if (crosses ? memcmp(row, pattern[y], begin) != 0 ||
                      memcmp(row + end, pattern[y] + end, STRIDE - end) != 0
                : memcmp(row, pattern[y], STRIDE) != 0) {
      return false;
    }
  }
  return true;
}

static uint32_t run(const header *h, const shape *shapes, const oracle_entry *entry, bool ours,
                    FILE *in, FILE *out) {
  static _Alignas(64) plane_memory planes[ORACLE_MAX_PLANES];
  static _Alignas(64) int16_t block[MAX_BLOCK];
  int32_t params[ORACLE_MAX_PARAMETERS] = {0};
  oracle_target *const own[ORACLE_MAX_TARGETS] = {entry->ours, entry->ours, entry->ours,
                                                  entry->ours};
  oracle_item item = {{NULL}, STRIDE, h->block ? block : NULL, params};
  uint32_t strayed = 0;
  for (uint32_t p = 0; p < h->planes; p++) {
    item.plane[p] = &planes[p][MARGIN_ROWS + shapes[p].origin_row]
                           [first_byte(&shapes[p]) + shapes[p].origin_byte];
  }
  for (uint32_t i = 0; i < h->items; i++) {
    bool intact = true;
    for (uint32_t p = 0; p < h->planes; p++) {
      memcpy(planes[p], pattern, (shapes[p].rows + 2 * MARGIN_ROWS) * STRIDE);
      for (uint32_t y = 0; y < shapes[p].rows; y++) {
        get(in, &planes[p][MARGIN_ROWS + y][first_byte(&shapes[p])], shapes[p].bytes);
      }
    }
    get(in, block, h->block * sizeof(block[0]));
    get(in, params, h->params * sizeof(params[0]));
    entry->fn(ours ? own : entry->theirs, &item, 1);
    for (uint32_t p = 0; p < h->planes; p++) {
      intact &= surroundings_intact((const plane_memory *)&planes[p], &shapes[p]);
      for (uint32_t y = 0; y < shapes[p].rows; y++) {
        put(out, &planes[p][MARGIN_ROWS + y][first_byte(&shapes[p])], shapes[p].bytes);
      }
    }
    put(out, block, h->block * sizeof(block[0]));
    strayed += !intact;
  }
  return strayed;
}

/* The entry of that name, as the decoder chooses it in this mode. */
static oracle_entry find(const char *name, oracle_mode mode) {
  const char *wrong = "";
  const oracle_entry *entry = oracle_entries(mode, &wrong);
  if (!entry) {
    fail(EXIT_DECODER, "decoder", wrong);
  }
  for (; entry->name; entry++) {
    if (strcmp(entry->name, name) == 0) {
      return *entry;
    }
  }
  fail(EXIT_INPUT, "no such entry", name);
}

int main(int argc, char **argv) {
  const char *modes[] = {"c", "asm", "ours"};
  int chosen = 0;
  while (argc == 5 && chosen < 3 && strcmp(argv[1], modes[chosen]) != 0) {
    chosen++;
  }
  if (argc != 5 || chosen == 3) {
    fail(EXIT_INPUT, "usage", "oracle c|asm|ours ENTRY IN OUT");
  }
  const oracle_mode mode = chosen == 1 ? ORACLE_ASM : ORACLE_C;
  const bool ours = chosen == 2;
  FILE *in = fopen(argv[3], "rb");
  FILE *out = fopen(argv[4], "wb");
  if (!in || !out) {
    fail(EXIT_INPUT, in ? argv[4] : argv[3], strerror(errno));
  }
  shape shapes[ORACLE_MAX_PLANES];
  const header h = get_header(in, shapes);
  oracle_entry entry;
  if (h.assembly == 0) {
    entry = find(argv[2], mode);
  } else {
    /* The mode that is wanted comes last: the tables stay as it says. */
    const oracle_entry other = find(argv[2], mode == ORACLE_C ? ORACLE_ASM : ORACLE_C);
    entry = find(argv[2], mode);
    const bool same = entry.theirs[0] == other.theirs[0];
    if (same != (h.assembly == 2)) {
      fail(EXIT_DECODER, argv[2],
           same ? "c and asm are the same function on this processor"
                : "it has assembly on this processor, and its description says that it has none");
    }
  }
  if (ours && !entry.ours) {
    fail(EXIT_INPUT, argv[2], "daedalus has no decoder entry for it");
  }
  make_pattern();
  uint32_t strayed = 0;
  put(out, &strayed, sizeof(strayed));
  strayed = run(&h, shapes, &entry, ours, in, out);
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
