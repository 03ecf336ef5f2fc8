/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device's address space during a job: buffers, and the old contents of what the job has
 * overwritten, which instructions and uniforms still see.
 */
#ifndef DAEDALUS_V3D_MEMORY_H
#define DAEDALUS_V3D_MEMORY_H

#include <string.h>

#include <daedalus/v3d/simulate.h>

/** Unit in which old contents are kept. */
enum { V3D_LINE_BITS = 10, V3D_LINE_BYTES = 1 << V3D_LINE_BITS };

typedef struct v3d_memory {
  const daedalus_v3d_buffer *buffers;
  size_t n_buffers;
  bool keep; /**< old contents are kept. */
  bool live; /**< daedalus_v3d_memory_image() gives what is there now. */
  /* A sparse set: line l is in it where saved[where[l]] == l and where[l] < n_saved, so that it is
   * emptied by n_saved = 0. */
  uint32_t *where; /**< of each line of the address space; NULL until a job stores. */
  uint32_t *saved; /**< their numbers. */
  uint8_t *copies; /**< their contents, V3D_LINE_BYTES each. */
  size_t n_saved, capacity;
} v3d_memory;

/** Begins a job. Returns NULL, or why the buffers make no sense. */
const char *daedalus_v3d_memory_begin(v3d_memory *memory, const daedalus_v3d_buffer *buffers,
                                      size_t n_buffers, bool keep, bool live);

/** Puts the kept contents back: memory is as it was when the job began. */
void daedalus_v3d_memory_restore(v3d_memory *memory);

void daedalus_v3d_memory_free(v3d_memory *memory);

/** The index of the buffer that holds address, or of the first one beyond it (up to n_buffers). */
size_t daedalus_v3d_memory_search(const v3d_memory *memory, uint32_t address);

/** Keeps the contents of the lines that [address, address + size) touches. False: no memory. */
bool daedalus_v3d_memory_save(v3d_memory *memory, uint32_t address, uint32_t size);

/** The buffer that holds all of [address, address + size), or NULL; *hint is tried first. */
static inline const daedalus_v3d_buffer *daedalus_v3d_memory_find(const v3d_memory *memory,
                                                                  uint32_t address, uint32_t size,
                                                                  uint32_t *hint) {
  size_t index = *hint;
  if (index >= memory->n_buffers || address < memory->buffers[index].address ||
      address - memory->buffers[index].address >= memory->buffers[index].size) {
    index = daedalus_v3d_memory_search(memory, address);
    if (index >= memory->n_buffers || address < memory->buffers[index].address)
      return NULL;
    *hint = (uint32_t)index;
  }
  const daedalus_v3d_buffer *buffer = &memory->buffers[index];
  return size <= buffer->size && address - buffer->address <= buffer->size - size ? buffer : NULL;
}

static inline bool daedalus_v3d_memory_is_saved(const v3d_memory *memory, uint32_t line) {
  return memory->n_saved && memory->where[line] < memory->n_saved &&
         memory->saved[memory->where[line]] == line;
}

/**
 * size bytes (4 or 8, aligned to that) at address as they were when the job began, into *value.
 * False when they do not lie in a buffer.  *stale says whether the job has changed them since.
 * Here, as uniforms are read all the time: size is a constant of each caller.
 */
static inline bool daedalus_v3d_memory_image(const v3d_memory *memory, uint32_t address,
                                             uint32_t size, uint32_t *hint, void *value,
                                             bool *stale) {
  const daedalus_v3d_buffer *buffer = daedalus_v3d_memory_find(memory, address, size, hint);
  *stale = false;
  if (!buffer)
    return false;
  const uint8_t *now = (const uint8_t *)buffer->data + (address - buffer->address);
  const uint32_t line = address >> V3D_LINE_BITS;
  if (memory->live || !daedalus_v3d_memory_is_saved(memory, line)) {
    memcpy(value, now, size);
    return true;
  }
  const uint8_t *then = memory->copies + (size_t)memory->where[line] * V3D_LINE_BYTES +
                        (address & (V3D_LINE_BYTES - 1));
  memcpy(value, then, size);
  *stale = memcmp(then, now, size) != 0;
  return true;
}

#endif
