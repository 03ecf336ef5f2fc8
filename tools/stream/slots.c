/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.c - whether a decoder's table of functions is laid out as declared.
 *
 * Such tables are private to the decoder; therefore one that it filled is
 * compared with the addresses of functions that must stand in it before
 * entries are exchanged.
 */
#include "stream.h"

#include <string.h>

unsigned stream_slots_good;

static bool holds_expected(const void *table, size_t slot, const stream_occupant *occupants,
                           size_t n_occupants) {
  stream_any_fn *found;
  memcpy(&found, (const char *)table + slot, sizeof(found));
  for (size_t i = 0; i < n_occupants; i++) {
    if (occupants[i].slot == slot && occupants[i].fn == found) {
      return true;
    }
  }
  return false;
}

void stream_check_table(const char *name, const void *table, size_t size,
                        const stream_occupant *occupants, size_t n_occupants) {
  const unsigned char *bytes = table;
  unsigned bad = 0;
  for (size_t i = 0; i < n_occupants; i++) {
    if (i > 0 && occupants[i].slot == occupants[i - 1].slot) {
      continue; /* another function for the same slot */
    }
    if (holds_expected(table, occupants[i].slot, occupants, n_occupants)) {
      stream_slots_good++;
    } else {
      bad++;
      fprintf(stderr, "%s: the entry at offset %zu is not the expected function\n", name,
              occupants[i].slot);
    }
  }
  for (size_t i = size; i < size + STREAM_GUARD && bad == 0; i++) {
    if (bytes[i] != STREAM_PATTERN) {
      bad++;
      fprintf(stderr, "%s: larger than %zu bytes\n", name, size);
    }
  }
  if (bad != 0) {
    stream_fail(EXIT_DECODER, "this decoder is not the one the table was declared for", "");
  }
}
