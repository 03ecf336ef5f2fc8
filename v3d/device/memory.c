/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Below it nothing is handed out, so that small numbers taken for addresses are found out. */
enum { LOWEST_ADDRESS = 1 << 20 };

int dev_memory_init(struct dev_memory *memory, uint64_t limit) {
  *memory = (struct dev_memory){.fd = -1, .limit = limit, .cursor = LOWEST_ADDRESS};
  const long page = sysconf(_SC_PAGESIZE);
  memory->page = page > 4096 ? (uint64_t)page : 4096;
  memory->fd = memfd_create("v3d", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory->fd < 0)
    return -errno;
  /* A client that cut the file would end the server by SIGBUS. */
  if (ftruncate(memory->fd, (off_t)DEV_ADDRESS_SPACE) != 0 ||
      fcntl(memory->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return -errno;
  void *base = mmap(NULL, DEV_ADDRESS_SPACE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                    memory->fd, 0);
  if (base == MAP_FAILED)
    return -errno;
  memory->base = base;
  return 0;
}

void dev_memory_destroy(struct dev_memory *memory) {
  if (memory->base != NULL)
    munmap(memory->base, DEV_ADDRESS_SPACE);
  if (memory->scratch != NULL)
    munmap(memory->scratch, DEV_ADDRESS_SPACE);
  if (memory->fd >= 0)
    close(memory->fd);
  free(memory->live);
}

uint8_t *dev_memory_scratch(struct dev_memory *memory) {
  if (memory->scratch == NULL) {
    void *scratch = mmap(NULL, DEV_ADDRESS_SPACE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_NORESERVE, memory->fd, 0);
    memory->scratch = scratch == MAP_FAILED ? NULL : scratch;
  }
  return memory->scratch;
}

void dev_memory_drop_scratch(struct dev_memory *memory) {
  madvise(memory->scratch, DEV_ADDRESS_SPACE, MADV_DONTNEED);
}

static uint64_t end_of(const struct dev_memory *memory, size_t i) {
  return (uint64_t)memory->live[i].address + memory->live[i].bytes;
}

/* The first range that ends after address. */
static size_t first_after(const struct dev_memory *memory, uint64_t address) {
  size_t low = 0, high = memory->n_live;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (end_of(memory, middle) > address)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Looks in [from, to) for bytes with a page free on both sides; *index is where they belong. */
static uint64_t find_gap(const struct dev_memory *memory, uint64_t bytes, uint64_t from,
                         uint64_t to, size_t *index) {
  size_t i = first_after(memory, from);
  uint64_t at = from;
  if (i > 0 && end_of(memory, i - 1) + memory->page > at)
    at = end_of(memory, i - 1) + memory->page;
  for (;; i++) {
    const uint64_t limit = i < memory->n_live ? memory->live[i].address : DEV_ADDRESS_SPACE;
    if (at >= to)
      return 0;
    if (at + bytes + memory->page <= limit) {
      *index = i;
      return at;
    }
    if (i == memory->n_live)
      return 0;
    at = end_of(memory, i) + memory->page;
  }
}

static void punch(const struct dev_memory *memory, struct dev_range range) {
  if (fallocate(memory->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)range.address,
                (off_t)range.bytes) != 0)
    memset(memory->base + range.address, 0, range.bytes);
}

int dev_memory_take(struct dev_memory *memory, uint64_t bytes, struct dev_range *range) {
  if (bytes == 0)
    return -EINVAL;
  bytes = (bytes + memory->page - 1) / memory->page * memory->page;
  if (bytes > memory->limit || memory->used > memory->limit - bytes)
    return -ENOMEM;
  if (memory->n_live == memory->room) {
    const size_t room = memory->room ? memory->room * 2 : 64;
    struct dev_range *live = realloc(memory->live, room * sizeof *live);
    if (live == NULL)
      return -ENOMEM;
    memory->live = live;
    memory->room = room;
  }
  size_t index = 0;
  uint64_t at = find_gap(memory, bytes, memory->cursor, DEV_ADDRESS_SPACE, &index);
  if (at == 0)
    at = find_gap(memory, bytes, LOWEST_ADDRESS, memory->cursor, &index);
  if (at == 0)
    return -ENOSPC;
  *range = (struct dev_range){.address = (uint32_t)at, .bytes = (uint32_t)bytes};
  memmove(memory->live + index + 1, memory->live + index,
          (memory->n_live - index) * sizeof *memory->live);
  memory->live[index] = *range;
  memory->n_live++;
  memory->used += bytes;
  memory->cursor = at + bytes + memory->page;
  /* Once more: a client may have written through a mapping that it kept of what was freed. */
  punch(memory, *range);
  return 0;
}

void dev_memory_give(struct dev_memory *memory, struct dev_range range) {
  const size_t i = first_after(memory, range.address);
  memmove(memory->live + i, memory->live + i + 1, (memory->n_live - i - 1) * sizeof *memory->live);
  memory->n_live--;
  memory->used -= range.bytes;
  punch(memory, range);
}
