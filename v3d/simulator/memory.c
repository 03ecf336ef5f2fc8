/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator/memory.h"

#include <stdlib.h>
#include <string.h>

/** Kept lines beyond which their memory is given back when a job begins: 64 MiB. */
enum { MOST_LINES = 1 << 16 };

static void forget(v3d_memory *memory) {
  memory->n_saved = 0;
  if (memory->capacity <= MOST_LINES)
    return;
  free(memory->saved);
  free(memory->copies);
  memory->saved = NULL;
  memory->copies = NULL;
  memory->capacity = 0;
}

const char *daedalus_v3d_memory_begin(v3d_memory *memory, const daedalus_v3d_buffer *buffers,
                                      size_t n_buffers, bool keep, bool live) {
  uint64_t end = 0;
  memory->buffers = buffers;
  memory->n_buffers = 0;
  memory->keep = keep;
  memory->live = live;
  forget(memory);
  if (n_buffers > UINT32_MAX || (n_buffers && !buffers))
    return "the buffers are missing";
  for (size_t i = 0; i < n_buffers; i++) {
    if (buffers[i].address < end)
      return "the buffers are not sorted by address, or overlap";
    end = (uint64_t)buffers[i].address + buffers[i].size;
    if (end > (uint64_t)1 << 32)
      return "a buffer exceeds the address space";
    if (buffers[i].size && !buffers[i].data)
      return "a buffer has no memory behind it";
  }
  memory->n_buffers = n_buffers;
  return NULL;
}

void daedalus_v3d_memory_free(v3d_memory *memory) {
  free(memory->where);
  free(memory->saved);
  free(memory->copies);
  *memory = (v3d_memory){0};
}

size_t daedalus_v3d_memory_search(const v3d_memory *memory, uint32_t address) {
  size_t low = 0, high = memory->n_buffers;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const daedalus_v3d_buffer *buffer = &memory->buffers[middle];
    if ((uint64_t)buffer->address + buffer->size <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool grow(v3d_memory *memory) {
  if (!memory->where) {
    memory->where = calloc((size_t)1 << (32 - V3D_LINE_BITS), sizeof *memory->where);
    if (!memory->where)
      return false;
  }
  if (memory->n_saved < memory->capacity)
    return true;
  size_t capacity = memory->capacity ? 2 * memory->capacity : 64;
  uint32_t *saved = realloc(memory->saved, capacity * sizeof *saved);
  if (!saved)
    return false;
  memory->saved = saved;
  uint8_t *copies = realloc(memory->copies, capacity * V3D_LINE_BYTES);
  if (!copies)
    return false;
  memory->copies = copies;
  memory->capacity = capacity;
  return true;
}

/* Copies what of a line lies in buffers, to copy or back; the rest of copy is never looked at. */
static void copy_line(const v3d_memory *memory, uint32_t line, uint8_t *copy, bool back) {
  uint32_t address = line << V3D_LINE_BITS;
  uint64_t end = (uint64_t)address + V3D_LINE_BYTES;
  for (size_t i = daedalus_v3d_memory_search(memory, address); i < memory->n_buffers; i++) {
    const daedalus_v3d_buffer *buffer = &memory->buffers[i];
    if (buffer->address >= end)
      break;
    uint32_t from = buffer->address > address ? buffer->address : address;
    uint64_t to = (uint64_t)buffer->address + buffer->size;
    if (to > end)
      to = end;
    uint8_t *here = (uint8_t *)buffer->data + (from - buffer->address);
    uint8_t *there = copy + (from - address);
    memcpy(back ? here : there, back ? there : here, (size_t)(to - from));
  }
}

void daedalus_v3d_memory_restore(v3d_memory *memory) {
  for (size_t i = 0; i < memory->n_saved; i++)
    copy_line(memory, memory->saved[i], memory->copies + i * V3D_LINE_BYTES, true);
  memory->n_saved = 0;
}

bool daedalus_v3d_memory_save(v3d_memory *memory, uint32_t address, uint32_t size) {
  uint32_t last = (uint32_t)(((uint64_t)address + size - 1) >> V3D_LINE_BITS);
  for (uint32_t line = address >> V3D_LINE_BITS; line <= last; line++) {
    if (daedalus_v3d_memory_is_saved(memory, line))
      continue;
    if (!grow(memory))
      return false;
    copy_line(memory, line, memory->copies + memory->n_saved * V3D_LINE_BYTES, false);
    memory->saved[memory->n_saved] = line;
    memory->where[line] = (uint32_t)memory->n_saved++;
  }
  return true;
}
