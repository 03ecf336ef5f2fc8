/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread synchroniser: objects with a quorum, a count of waiting threads, a mutex and a
 * semaphore.  A supergroup's barrier is one of them, of the number of its slot.
 *
 * What is known is the barrier, and the names of the other operations; they do here what their
 * names say (docs/v3d-simulator.md).
 */
#ifndef DAEDALUS_V3D_SYNC_H
#define DAEDALUS_V3D_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Lanes of the vector that is written to sync and syncb, and that barrierid delivers. */
enum { V3D_SYNC_QUORUM = 0, V3D_SYNC_OBJECT = 2, V3D_SYNC_OPERATION = 3 };

#define V3D_SYNC_OBJECTS 64

/** Operations by their code: X(ID, text). */
#define V3D_SYNC_OPERATIONS(X)                  \
  X(SET_QUORUM, "set_quorum")                   \
  X(INC_WAITERS, "inc_waiters")                 \
  X(DEC_WAITERS, "dec_waiters")                 \
  X(INC_QUORUM, "inc_quorum")                   \
  X(DEC_QUORUM, "dec_quorum")                   \
  X(FREE_ALL, "free_all")                       \
  X(RELEASE, "release")                         \
  X(ACQUIRE, "acquire")                         \
  X(WAIT, "wait")                               \
  X(WAIT_INC, "wait_inc")                       \
  X(WAIT_CHECK, "wait_check")                   \
  X(WAIT_INC_CHECK, "wait_inc_check")           \
  X(WAIT_CV, "wait_cv")                         \
  X(INC_SEM, "inc_sem")                         \
  X(DEC_SEM, "dec_sem")                         \
  X(SET_QUORUM_FREE_ALL, "set_quorum_free_all") \
  X(SET_QUORUM_WAIT_INC_CHECK, "set_quorum_wait_inc_check")

enum {
#define V3D_ENUMERATE(id, text) V3D_SYNC_##id,
  V3D_SYNC_OPERATIONS(V3D_ENUMERATE)
#undef V3D_ENUMERATE
      V3D_N_SYNC_OPERATIONS
};

typedef struct v3d_sync_object {
  uint32_t quorum, waiters;
  uint32_t frees; /**< how often all were freed. */
  uint32_t semaphore;
  bool locked;
  bool other_use;       /**< it has served as more than the barrier of its supergroup. */
  uint32_t ended_there; /**< of waiters: batches that ended at the switch at which they wait. */
} v3d_sync_object;

/** What a thread waits for from its next switch on. */
typedef enum v3d_wait {
  V3D_WAITS_NOT = 0,
  V3D_WAITS_FREE,
  V3D_WAITS_MUTEX,
  V3D_WAITS_SEM
} v3d_wait;

struct v3d_thread;
struct v3d_op;

/** Whether thread need not wait any longer; takes the mutex or the semaphore if that was it. */
bool daedalus_v3d_wait_is_over(struct v3d_thread *thread);

/**
 * The batch of thread has ended, after its instruction op; supergroup->n_ended counts it.  Frees
 * those that wait at the barrier for nobody else.  Returns V3D_EVENT_* bits.
 */
unsigned daedalus_v3d_sync_ended(struct v3d_thread *thread, const struct v3d_op *op);

/** What thread waits for, as text for a report. */
void daedalus_v3d_describe_wait(const struct v3d_thread *thread, char *text, size_t size);

#endif
