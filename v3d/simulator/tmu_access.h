/* SPDX-License-Identifier: BSD-2-Clause */
/* Data movement of TMU lookups. */
#ifndef DAEDALUS_V3D_TMU_ACCESS_H
#define DAEDALUS_V3D_TMU_ACCESS_H

#include "simulator/engine.h"

/** Operations with data, by their code; those without an operand follow. */
enum {
  V3D_ATOMIC_ADD = 0,
  V3D_ATOMIC_SUB,
  V3D_ATOMIC_XCHG,
  V3D_ATOMIC_CMPXCHG,
  V3D_ATOMIC_UMIN,
  V3D_ATOMIC_UMAX,
  V3D_ATOMIC_SMIN,
  V3D_ATOMIC_SMAX,
  V3D_ATOMIC_AND,
  V3D_ATOMIC_OR,
  V3D_ATOMIC_XOR,
  V3D_ATOMIC_INCREMENT,
  V3D_ATOMIC_DECREMENT,
  V3D_ATOMIC_NOT
};

/** Operations that are no atomics: reading and writing, and, without data, those of the caches. */
enum { V3D_LOOKUP_PREFETCH = 0, V3D_LOOKUP_REGULAR = 15 };

typedef struct v3d_lookup {
  const uint32_t *addresses; /**< of each lane. */
  daedalus_v3d_lanes lanes;  /**< that take part. */
  unsigned operation;
  unsigned words; /**< 1 to 4 a lane. */
  unsigned bytes; /**< a word: 1, 2, 4. */
  bool is_signed; /**< type i8 or i16. */
  /** All lanes take part, each step bytes above the one before, and all in one buffer. */
  bool is_even;
  uint32_t step;
  uint32_t *results[4];
} v3d_lookup;

/* Each returns V3D_EVENT_* bits. The data are thread->tmu.data. */
unsigned daedalus_v3d_tmu_load(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup);
unsigned daedalus_v3d_tmu_store(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup);
unsigned daedalus_v3d_tmu_atomic(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup);

#endif
