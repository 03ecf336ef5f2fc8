/* SPDX-License-Identifier: BSD-2-Clause */
/* The two programs: their text, what they are started with, and how they are dispatched. */
#ifndef SGEMM_KERNELS_H
#define SGEMM_KERNELS_H

#include "device.h"
#include "matrices.h"

/** Rows of a panel, k of a block, columns of a thread's tile: as pack.qpu and product.qpu have
 * them. */
enum { PANEL_ROWS = 24, BLOCK = 16, TILE_COLUMNS = 32 };

/** Bytes of packed A: panels, and behind them what the product looks ahead to. */
uint32_t packed_bytes(const shape *shape);

/** Device addresses of the matrices. */
typedef struct addresses {
  uint32_t a, b, c, packed;
} addresses;

/**
 * Assembles <folder>/pack.qpu or <folder>/product.qpu, validates it strictly, puts it and its
 * uniforms into a new buffer of the device, and fills in the words of its dispatch.  False:
 * complained on stderr, with file and line.
 */
bool prepare_pack(const device *device, const char *folder, const shape *shape, const addresses *at,
                  uint32_t cfg[7]);
bool prepare_product(const device *device, const char *folder, const shape *shape,
                     const addresses *at, uint32_t cfg[7]);

#endif
