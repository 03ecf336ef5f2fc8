/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoded code, found by address.  Code is what memory held when the job began.  Chunks outlive
 * their job: a later one compares their words once, and decodes again where they differ.
 */
#include <stdlib.h>
#include <string.h>

#include "simulator/engine.h"

/** Chunks beyond which everything is forgotten when a job begins: about 13 MiB. */
enum { MOST_CHUNKS = 2048, FIRST_TABLE = 64 };
/** Chunks that one job may have: 4 MiB of code, 100 MiB decoded.  More is no program. */
enum { MOST_CHUNKS_OF_JOB = 1 << 14 };

void daedalus_v3d_programs_free(v3d_programs *programs) {
  for (size_t i = 0; i < programs->n_table; i++)
    free(programs->table[i]);
  free(programs->table);
  *programs = (v3d_programs){0};
}

void daedalus_v3d_programs_begin(v3d_programs *programs) {
  if (programs->n_chunks > MOST_CHUNKS)
    daedalus_v3d_programs_free(programs);
}

/* Where the chunk at address stands or would stand. */
static v3d_chunk **entry_of(const v3d_programs *programs, uint32_t address) {
  const size_t mask = programs->n_table - 1;
  size_t i = (address / V3D_CHUNK_BYTES * 0x9e3779b1u) >> 8 & mask;
  while (programs->table[i] && programs->table[i]->address != address)
    i = (i + 1) & mask;
  return &programs->table[i];
}

static bool grow(v3d_programs *programs) {
  if (programs->n_table && programs->n_chunks < programs->n_table / 2)
    return true;
  v3d_programs larger = {.n_table = programs->n_table ? 2 * programs->n_table : FIRST_TABLE,
                         .n_chunks = programs->n_chunks};
  larger.table = calloc(larger.n_table, sizeof(v3d_chunk *));
  if (!larger.table)
    return false;
  for (size_t i = 0; i < programs->n_table; i++)
    if (programs->table[i])
      *entry_of(&larger, programs->table[i]->address) = programs->table[i];
  free(programs->table);
  *programs = larger;
  return true;
}

/* The words of the chunk at address; returns which of them lie in a buffer. */
static uint32_t fetch(const struct daedalus_v3d_machine *machine, uint32_t address,
                      uint64_t words[V3D_CHUNK_WORDS]) {
  uint32_t hint = 0, present = 0;
  bool stale;
  for (unsigned i = 0; i < V3D_CHUNK_WORDS; i++) {
    words[i] = 0;
    if (daedalus_v3d_memory_image(&machine->memory, address + 8 * i, 8, &hint, &words[i], &stale))
      present |= 1u << i;
  }
  return present;
}

/* Makes *chunk that of address in this job. */
static void refresh(struct daedalus_v3d_machine *machine, v3d_chunk *chunk, uint32_t address) {
  uint64_t words[V3D_CHUNK_WORDS];
  const bool four_threads = machine->dispatch.four_threads;
  const uint32_t present = fetch(machine, address, words);
  const bool same = chunk->job && chunk->four_threads == four_threads && chunk->present == present;
  chunk->job = machine->job_number;
  chunk->follower = NULL;
  if (same && !memcmp(chunk->words, words, sizeof words))
    return;
  chunk->address = address;
  chunk->four_threads = four_threads;
  chunk->present = present;
  memcpy(chunk->words, words, sizeof words);
  for (unsigned i = 0; i < V3D_CHUNK_WORDS; i++) {
    daedalus_v3d_decode(&chunk->ops[i], &chunk->effects[i], words[i], address + 8 * i, four_threads,
                        &machine->profile);
    if (!(present >> i & 1))
      chunk->ops[i].run = daedalus_v3d_run_absent;
  }
  chunk->ops[V3D_CHUNK_WORDS] =
      (v3d_op){.run = daedalus_v3d_run_chunk_end, .address = address + V3D_CHUNK_BYTES};
}

static v3d_chunk *chunk_at(struct daedalus_v3d_machine *machine, uint32_t address) {
  v3d_programs *programs = &machine->programs;
  if (!grow(programs))
    return NULL;
  v3d_chunk **entry = entry_of(programs, address);
  if (!*entry) {
    v3d_chunk *fresh = programs->n_chunks < MOST_CHUNKS_OF_JOB ? malloc(sizeof *fresh) : NULL;
    if (!fresh)
      return NULL;
    fresh->job = 0;
    fresh->address = address;
    *entry = fresh;
    programs->n_chunks++;
  }
  if ((*entry)->job != machine->job_number)
    refresh(machine, *entry, address);
  return *entry;
}

v3d_op *daedalus_v3d_op_at(struct daedalus_v3d_machine *machine, uint32_t address) {
  const uint32_t start = address & ~(uint32_t)(V3D_CHUNK_BYTES - 1);
  v3d_chunk *chunk = chunk_at(machine, start);
  return chunk ? &chunk->ops[(address - start) / 8] : NULL;
}

v3d_op *daedalus_v3d_following_op(struct daedalus_v3d_machine *machine, v3d_op *end) {
  v3d_chunk *chunk = (v3d_chunk *)((char *)(end - V3D_CHUNK_WORDS) - offsetof(v3d_chunk, ops));
  if (!chunk->follower)
    chunk->follower = chunk_at(machine, end->address);
  return chunk->follower ? chunk->follower->ops : NULL;
}

const daedalus_v3d_effects *daedalus_v3d_effects_of_op(const v3d_op *op) {
  const size_t index = op->address % V3D_CHUNK_BYTES / 8;
  const v3d_chunk *chunk =
      (const v3d_chunk *)((const char *)(op - index) - offsetof(v3d_chunk, ops));
  return &chunk->effects[index];
}
