/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * theirs.c - a decoder's functions, as its own init functions choose them, called item by item as
 * it does: by tools/oracle, but CDEF, which the decoder does in place.
 */
#include "bench.h"

#include <string.h>

typedef void cdef_fn(uint8_t *dst, ptrdiff_t stride, const uint8_t (*left)[2], const uint8_t *top,
                     const uint8_t *bottom, int pri, int sec, int dir, int damping, int edges);

static void run_theirs(const contender *c, const bench *b) {
  c->theirs.fn(c->theirs.theirs, b->items, b->job.n_items);
}

/*
 * CDEF works in the memory of src, where the interpreter's result stands in dst. What is left of a
 * block it takes from an array that its decoder keeps; above and below it reads what src has there,
 * which no block here overlaps.
 */
enum { MAX_ITEMS = 1024 };
static uint8_t left[MAX_ITEMS][8][2];

static void prepare_cdef(const bench *b) {
  for (size_t i = 0; i < b->job.n_items; i++) {
    for (int y = 0; y < 8; y++) {
      memcpy(left[i][y], b->items[i].plane[1] + y * b->items[i].stride - 2, 2);
    }
  }
}

static void run_cdef(const contender *c, const bench *b) {
  cdef_fn *fn = (cdef_fn *)c->theirs.theirs[0];
  for (size_t i = 0; i < b->job.n_items; i++) {
    const oracle_item *item = &b->items[i];
    const int32_t *p = item->params; /* pri, sec, damping, dir, edges */
    uint8_t *block = item->plane[1];
    fn(block, item->stride, (const uint8_t(*)[2])left[i], block - 2 * item->stride,
       block + 8 * item->stride, p[0], p[1], p[3], p[2], p[4]);
  }
}

static bool cdef_right(const bench *b) {
  const uint8_t *dst = b->job.images[0].bytes;
  for (size_t i = 0; i < b->job.n_items; i++) {
    const oracle_item *item = &b->items[i];
    for (int y = 0; y < 8; y++) {
      if (memcmp(b->after[0] + (item->plane[0] - dst) + y * item->stride,
                 item->plane[1] + y * item->stride, 8) != 0) {
        return false;
      }
    }
  }
  return true;
}

bool find_theirs(oracle_mode mode, const char *name, const bench *b, contender *found) {
  const oracle_entry *entry = oracle_entries(mode);
  if (entry == NULL) {
    die("the decoder", "a function table is not as declared");
  }
  while (entry->name != NULL && strcmp(entry->name, name) != 0) {
    entry++;
  }
  *found = (contender){.run = run_theirs, .theirs = *entry, .right = is_right};
  if (strcmp(name, "av1_cdef8") == 0) {
    if (b->job.n_items > MAX_ITEMS) {
      die("the job", "has too many items");
    }
    found->run = run_cdef;
    found->prepare = prepare_cdef;
    found->right = cdef_right;
  }
  return entry->name != NULL;
}
