/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator/timing/cache.h"

#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/timing.h>

bool daedalus_v3d_cache_create(v3d_cache *cache, uint32_t bytes, bool spreads_strides) {
  uint32_t sets = bytes / (DAEDALUS_V3D_CACHE_LINE * V3D_CACHE_WAYS);
  *cache = (v3d_cache){.spreads_strides = spreads_strides};
  if (!sets)
    return true;
  while (sets & (sets - 1))
    sets &= sets - 1;
  cache->lines = calloc((size_t)sets * V3D_CACHE_WAYS, sizeof *cache->lines);
  cache->n_sets = cache->lines ? sets : 0;
  return cache->lines != NULL;
}

void daedalus_v3d_cache_free(v3d_cache *cache) {
  free(cache->lines);
  *cache = (v3d_cache){0};
}

void daedalus_v3d_cache_clear(v3d_cache *cache) {
  if (cache->accesses)
    memset(cache->lines, 0, (size_t)cache->n_sets * V3D_CACHE_WAYS * sizeof *cache->lines);
  cache->accesses = 0;
}

/* How hardware spreads lines over sets is not known: a setting of the profile. */
static uint32_t set_of(const v3d_cache *cache, uint32_t line) {
  const uint32_t spread = cache->spreads_strides ? line >> 7 ^ line >> 14 : 0;
  return (line ^ spread) & (cache->n_sets - 1);
}

v3d_cache_line *daedalus_v3d_cache_access(v3d_cache *cache, uint32_t line, bool *hit,
                                          bool *evicted) {
  *hit = *evicted = false;
  if (!cache->n_sets)
    return NULL;
  v3d_cache_line *set = &cache->lines[set_of(cache, line) * V3D_CACHE_WAYS], *victim = set;
  const uint64_t now = ++cache->accesses;
  for (unsigned way = 0; way < V3D_CACHE_WAYS; way++) {
    if (set[way].tag == line + 1) {
      set[way].used = now;
      *hit = true;
      return &set[way];
    }
    if (set[way].used < victim->used)
      victim = &set[way];
  }
  *evicted = victim->dirty;
  *victim = (v3d_cache_line){.tag = line + 1, .used = now};
  return victim;
}

uint64_t daedalus_v3d_cache_dirty(const v3d_cache *cache) {
  uint64_t n = 0;
  if (!cache->accesses)
    return 0;
  for (uint32_t i = 0; i < cache->n_sets * V3D_CACHE_WAYS; i++)
    n += cache->lines[i].dirty;
  return n;
}
