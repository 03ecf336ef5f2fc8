/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/neon.h - what generated NEON code needs beside <arm_neon.h>.  For
 * generated code; programs need <daedalus.h> alone.
 */
#ifndef DAEDALUS_NEON_H
#define DAEDALUS_NEON_H

#include <arm_neon.h>
#include <stdint.h>

/** Memory of any type and alignment, written a lane at a time. */
typedef uint16_t daedalus_any_u16 __attribute__((may_alias, aligned(1)));
typedef uint32_t daedalus_any_u32 __attribute__((may_alias, aligned(1)));
typedef uint64_t daedalus_any_u64 __attribute__((may_alias, aligned(1)));

#endif /* DAEDALUS_NEON_H */
