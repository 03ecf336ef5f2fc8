/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of byte strings of one size, in the order in which they came: the states of a search, each
 * taken in once, and the queue of those to go on from.
 */
#ifndef DAEDALUS_V3D_STATE_SET_H
#define DAEDALUS_V3D_STATE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zeroed but for size when new. */
typedef struct daedalus_v3d_state_set {
  size_t size; /**< bytes of a state. */
  size_t n;
  unsigned char *states; /**< n of them, in order. */
  size_t capacity;       /**< states that there is room for. */
  uint32_t *slots;       /**< hash table: index + 1 of a state, or 0. */
  size_t n_slots;        /**< a power of two. */
} daedalus_v3d_state_set;

/** Takes in *state if it is new. Returns false when there is no memory. */
bool daedalus_v3d_state_set_add(daedalus_v3d_state_set *set, const void *state);

void daedalus_v3d_state_set_free(daedalus_v3d_state_set *set);

#endif
