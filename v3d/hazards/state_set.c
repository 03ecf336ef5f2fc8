/* SPDX-License-Identifier: BSD-2-Clause */
#include "hazards/state_set.h"

#include <stdlib.h>
#include <string.h>

/** FNV-1a. */
static uint64_t hash(const unsigned char *bytes, size_t size) {
  uint64_t value = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++)
    value = (value ^ bytes[i]) * UINT64_C(0x100000001b3);
  return value ^ value >> 32;
}

/** The slot of *state, or the empty one where it belongs. */
static uint32_t *find(const daedalus_v3d_state_set *set, const void *state) {
  size_t slot = hash(state, set->size) & (set->n_slots - 1);
  while (set->slots[slot] &&
         memcmp(set->states + (set->slots[slot] - 1) * set->size, state, set->size) != 0)
    slot = (slot + 1) & (set->n_slots - 1);
  return &set->slots[slot];
}

/** Doubles the room; the table has twice as many slots as there may be states. */
static bool grow(daedalus_v3d_state_set *set) {
  const size_t capacity = set->capacity ? 2 * set->capacity : 64;
  unsigned char *states = realloc(set->states, capacity * set->size);
  if (states == NULL)
    return false;
  set->states = states;
  uint32_t *slots = calloc(2 * capacity, sizeof *slots);
  if (slots == NULL)
    return false;
  free(set->slots);
  set->slots = slots;
  set->n_slots = 2 * capacity;
  set->capacity = capacity;
  for (size_t i = 0; i < set->n; i++)
    *find(set, set->states + i * set->size) = (uint32_t)i + 1;
  return true;
}

bool daedalus_v3d_state_set_add(daedalus_v3d_state_set *set, const void *state) {
  if (set->n == set->capacity && !grow(set))
    return false;
  uint32_t *slot = find(set, state);
  if (*slot == 0) {
    memcpy(set->states + set->n * set->size, state, set->size);
    *slot = (uint32_t)++set->n;
  }
  return true;
}

void daedalus_v3d_state_set_free(daedalus_v3d_state_set *set) {
  free(set->states);
  free(set->slots);
  *set = (daedalus_v3d_state_set){.size = set->size};
}
