/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "text/assembler.h"

static size_t hash(daedalus_v3d_token name) {
  uint64_t value = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < name.length; i++)
    value = (value ^ (unsigned char)name.start[i]) * 1099511628211u;
  return (size_t)(value ^ value >> 32);
}

/* The place where name is, or would go: there always is one, as the table is never full. */
static daedalus_v3d_symbol *place_of(const daedalus_v3d_symbols *symbols, daedalus_v3d_token name) {
  size_t i = hash(name) & (symbols->n_places - 1);
  for (;; i = (i + 1) & (symbols->n_places - 1)) {
    daedalus_v3d_symbol *place = &symbols->places[i];
    if (place->name.start == NULL || (place->name.length == name.length &&
                                      memcmp(place->name.start, name.start, name.length) == 0))
      return place;
  }
}

const daedalus_v3d_symbol *daedalus_v3d_symbols_find(const daedalus_v3d_symbols *symbols,
                                                     daedalus_v3d_token name) {
  if (symbols->n_places == 0)
    return NULL;
  const daedalus_v3d_symbol *place = place_of(symbols, name);
  return place->name.start == NULL ? NULL : place;
}

bool daedalus_v3d_symbols_add(daedalus_v3d_symbols *symbols, daedalus_v3d_symbol symbol) {
  if (2 * (symbols->n_symbols + 1) > symbols->n_places) {
    daedalus_v3d_symbols grown = {.n_places = symbols->n_places == 0 ? 64 : 2 * symbols->n_places};
    grown.places = calloc(grown.n_places, sizeof *grown.places);
    if (grown.places == NULL)
      return false;
    grown.n_symbols = symbols->n_symbols;
    for (size_t i = 0; i < symbols->n_places; i++)
      if (symbols->places[i].name.start != NULL)
        *place_of(&grown, symbols->places[i].name) = symbols->places[i];
    free(symbols->places);
    *symbols = grown;
  }
  *place_of(symbols, symbol.name) = symbol;
  symbols->n_symbols++;
  return true;
}

void daedalus_v3d_symbols_free(daedalus_v3d_symbols *symbols) {
  free(symbols->places);
  *symbols = (daedalus_v3d_symbols){0};
}
