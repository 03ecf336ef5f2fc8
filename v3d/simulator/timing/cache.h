/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines a cache holds, and since when: set-associative, the least recently used goes. */
#ifndef DAEDALUS_V3D_TIMING_CACHE_H
#define DAEDALUS_V3D_TIMING_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum { V3D_CACHE_WAYS = 4 };

typedef struct v3d_cache_line {
  uint32_t tag; /**< number of the line plus 1; 0: empty. */
  bool dirty;
  uint64_t ready; /**< when its contents are there. */
  uint64_t used;  /**< counts up with the accesses. */
} v3d_cache_line;

typedef struct v3d_cache {
  v3d_cache_line *lines; /**< sets of V3D_CACHE_WAYS. */
  uint32_t n_sets;       /**< a power of two; 0: there is no cache. */
  bool spreads_strides;  /**< lines that are powers of two apart lie in different sets. */
  uint64_t accesses;
} v3d_cache;

/** A cache of at most bytes. False: no memory. */
bool daedalus_v3d_cache_create(v3d_cache *cache, uint32_t bytes, bool spreads_strides);
void daedalus_v3d_cache_free(v3d_cache *cache);

/** Empties it. */
void daedalus_v3d_cache_clear(v3d_cache *cache);

/**
 * Looks the line up, and takes it in where it is not there.  Returns the line, to be filled in
 * when *hit is false; *evicted says whether a dirty one had to go.  NULL: there is no cache.
 */
v3d_cache_line *daedalus_v3d_cache_access(v3d_cache *cache, uint32_t line, bool *hit,
                                          bool *evicted);

/** The number of dirty lines. */
uint64_t daedalus_v3d_cache_dirty(const v3d_cache *cache);

#endif
