/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * theirs.c - a decoder's functions, as its own init functions choose them, called item by item as
 * it does: by the calls of tools/oracle, in place where it works so.
 */
#include "bench.h"

#include <string.h>

static void run_theirs(const contender *c, const bench *b) {
  c->theirs.fn(c->theirs.theirs, b->items, b->job.n_items);
}

static void prepare_in_place(const contender *c, const bench *b) {
  c->theirs.prepare(b->items, b->job.n_items);
}

/*
 * Works in the memory of a plane that is read, where the interpreter's result stands in dst. What
 * is above and below an item it reads there, which no item here overlaps.
 */
static void run_in_place(const contender *c, const bench *b) {
  c->theirs.in_place(c->theirs.theirs, b->items, b->job.n_items);
}

static bool is_right_in_place(const contender *c, const bench *b) {
  const uint8_t *dst = b->job.images[0].bytes;
  for (size_t i = 0; i < b->job.n_items; i++) {
    const oracle_item *item = &b->items[i];
    for (int y = 0; y < c->theirs.rows; y++) {
      if (memcmp(b->after[0] + (item->plane[0] - dst) + y * item->stride,
                 item->plane[c->theirs.source] + y * item->stride, (size_t)c->theirs.bytes) != 0) {
        return false;
      }
    }
  }
  return true;
}

bool find_theirs(oracle_mode mode, const char *name, const bench *b, contender *found) {
  const char *wrong = "";
  const oracle_entry *entry = oracle_entries(mode, &wrong);
  if (entry == NULL) {
    die("the decoder", wrong);
  }
  while (entry->name != NULL && strcmp(entry->name, name) != 0) {
    entry++;
  }
  *found = (contender){.run = run_theirs, .theirs = *entry, .right = is_right};
  if (entry->in_place) {
    if (b->job.n_items > entry->most) {
      die("the job", "has too many items");
    }
    found->run = run_in_place;
    found->prepare = prepare_in_place;
    found->right = is_right_in_place;
  }
  return entry->name != NULL;
}
