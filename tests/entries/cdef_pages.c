/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cdef_pages.c - dav1d's CDEF entry touches nothing that `edges` does not allow.
 *
 * Every row of the block and of the lines above and below it lies in a page of its own, between
 * pages that cannot be touched, once at the page's beginning and once at its end; what is not there
 * is a pointer into an untouchable page. The result must be that of a call in ordinary memory, and
 * everything else in the pages must be as it was.
 * Exit status: 0; 1 a difference; a signal where something untouchable was touched.
 */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <daedalus/dav1d.h>

enum { LEFT = 1, RIGHT = 2, TOP = 4, BOTTOM = 8, SIDE = 8, AROUND = 2, WHOLE = SIDE + 2 * AROUND };
enum { WIDE = 64, FILL = 0x5a };

typedef uint8_t picture[WHOLE][WIDE]; /* the block at row and column AROUND */

static size_t page;

static _Noreturn void fail(const char *what, int edges, int at_end) {
  fprintf(stderr, "edges %d, at the %s of its pages: %s\n", edges, at_end ? "end" : "beginning",
          what);
  exit(1);
}

/* `rows` pages, each between two that cannot be touched; they are 2 * page apart. */
static uint8_t *make_rows(int rows) {
  const size_t size = (2 * (size_t)rows + 1) * page;
  uint8_t *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(2);
  }
  for (int y = 0; y < rows; y++) {
    uint8_t *row = memory + (2 * (size_t)y + 1) * page;
    if (mprotect(row, page, PROT_READ | PROT_WRITE) != 0) {
      perror("mprotect");
      exit(2);
    }
  }
  return memory + page;
}

/* Where in its page column 0 stands, with `before` and `after` columns beside the 8. */
static size_t place(int at_end, int before, int after) {
  return at_end ? page - SIDE - (size_t)after : (size_t)before;
}

static void fill_rows(uint8_t *rows, int n, size_t at, int before, int after, picture p,
                      int first) {
  for (int y = 0; y < n; y++) {
    uint8_t *row = rows + 2 * (size_t)y * page;
    memset(row, FILL, page);
    memcpy(row + at - before, &p[first + y][AROUND - before], (size_t)(SIDE + before + after));
  }
}

static void check(picture p, int edges, int at_end, const int strengths[4]) {
  static uint8_t *block, *above, *below, *packed;
  if (!block) {
    block = make_rows(SIDE);
    above = make_rows(AROUND);
    below = make_rows(AROUND);
    packed = make_rows(1);
  }
  const ptrdiff_t stride = 2 * (ptrdiff_t)page;
  const int l = edges & LEFT ? AROUND : 0, r = edges & RIGHT ? AROUND : 0;
  const size_t at = place(at_end, 0, r), beside = place(at_end, l, r);
  uint8_t *untouchable = block - page;

  picture expected;
  memcpy(expected, p, sizeof(expected));
  uint8_t near_left[SIDE][2];
  for (int y = 0; y < SIDE; y++) {
    memcpy(near_left[y], &p[AROUND + y][0], 2);
  }
  daedalus_dav1d_av1_cdef8(&expected[AROUND][AROUND], WIDE, (const uint8_t(*)[2])near_left,
                           &p[0][AROUND], &p[AROUND + SIDE][AROUND], strengths[0], strengths[1],
                           strengths[2], strengths[3], edges);

  fill_rows(block, SIDE, at, 0, r, p, AROUND);
  fill_rows(above, AROUND, beside, l, r, p, 0);
  fill_rows(below, AROUND, beside, l, r, p, AROUND + SIDE);
  uint8_t *left = packed + (at_end ? page - sizeof(near_left) : 0);
  memset(packed, FILL, page);
  memcpy(left, near_left, sizeof(near_left));
  daedalus_dav1d_av1_cdef8(
      block + at, stride, (const uint8_t(*)[2])(edges & LEFT ? left : untouchable),
      edges & TOP ? above + beside : untouchable, edges & BOTTOM ? below + beside : untouchable,
      strengths[0], strengths[1], strengths[2], strengths[3], edges);
  for (int y = 0; y < SIDE; y++) {
    uint8_t *row = block + y * stride;
    if (memcmp(row + at, &expected[AROUND + y][AROUND], SIDE) != 0) {
      fail("another result than in ordinary memory", edges, at_end);
    }
    memcpy(row + at, &p[AROUND + y][AROUND], SIDE);
    for (size_t x = 0; x < page; x++) {
      const int mine = x >= at && x < at + SIDE + (size_t)r;
      if (row[x] != (mine ? p[AROUND + y][AROUND + x - at] : FILL)) {
        fail("written outside the block", edges, at_end);
      }
    }
  }
}

int main(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  uint32_t state = 1;
  int filtered = 0;
  for (int round = 0; round < 8 * 3 * 16 * 2; round++) {
    const int edges = round / 2 % 16, kind = round / 32 % 3, dir = round / 96;
    picture p;
    for (int y = 0; y < WHOLE; y++) {
      for (int x = 0; x < WIDE; x++) {
        state = state * 1664525u + 1013904223u;
        p[y][x] = (uint8_t)(100 + (state >> 24) % 40);
      }
    }
    const int strengths[4] = {kind == 0 ? 0 : 9, kind == 1 ? 0 : 4, dir, 6};
    check(p, edges, round % 2, strengths);
    filtered++;
  }
  printf("%d calls\n", filtered);
  return 0;
}
