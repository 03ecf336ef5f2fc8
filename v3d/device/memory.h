/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device's memory: one sparse file of 4 GiB, in which a file offset is the address that the
 * GPU uses.  Clients map the file; the server has all of it mapped.
 */
#ifndef DAEDALUS_V3D_DEVICE_MEMORY_H
#define DAEDALUS_V3D_DEVICE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

#define DEV_ADDRESS_SPACE WIRE_MEMORY_BYTES

struct dev_range {
  uint32_t address;
  uint32_t bytes;
};

struct dev_memory {
  int fd;
  uint8_t *base;          /* all of the address space */
  uint8_t *scratch;       /* the same, private; NULL until it was asked for */
  uint64_t page;          /* bytes; addresses and sizes are multiples */
  uint64_t limit;         /* bytes that may be handed out at once */
  uint64_t used;          /* bytes handed out */
  struct dev_range *live; /* sorted by address, never adjacent: a page between any two */
  size_t n_live, room;
  uint64_t cursor; /* where the next search begins, so that addresses are reused late */
};

/* Returns 0 or a negative errno. */
int dev_memory_init(struct dev_memory *memory, uint64_t limit);
void dev_memory_destroy(struct dev_memory *memory);

/**
 * Hands out bytes (rounded up to pages) of zeroed memory; never address 0.
 * -EINVAL: 0 bytes; -ENOMEM: over the limit; -ENOSPC: no such gap in the address space.
 */
int dev_memory_take(struct dev_memory *memory, uint64_t bytes, struct dev_range *range);

/**
 * All of the address space once more: it shows what memory holds, but for what was written there,
 * which nobody else sees. NULL: it cannot be mapped. One thread may use it.
 */
uint8_t *dev_memory_scratch(struct dev_memory *memory);
/* Forgets what was written there. */
void dev_memory_drop_scratch(struct dev_memory *memory);

/* Takes back what dev_memory_take gave: its pages go back to the system. */
void dev_memory_give(struct dev_memory *memory, struct dev_range range);

#endif
