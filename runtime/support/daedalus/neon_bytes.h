/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/neon_bytes.h - beside daedalus/neon.h: memory that is looked up in registers. What has
 * none does not include it.
 */
#ifndef DAEDALUS_NEON_BYTES_H
#define DAEDALUS_NEON_BYTES_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* So many bytes, at most 16, of those that begin at a place; zeros behind them. */
static inline uint8x16_t daedalus_bytes(const void *begin, size_t from, size_t count) {
  uint8_t bytes[16] = {0};
  memcpy(bytes, (const uint8_t *)begin + from, count);
  return vld1q_u8(bytes);
}

#endif /* DAEDALUS_NEON_BYTES_H */
