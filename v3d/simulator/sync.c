/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator/sync.h"

#include <stdio.h>

#include "simulator/engine.h"

static const char *const names[V3D_N_SYNC_OPERATIONS] = {
#define ROW(id, text) text,
    V3D_SYNC_OPERATIONS(ROW)
#undef ROW
};

static void free_all(v3d_sync_object *object) {
  object->waiters = 0;
  object->frees++;
}

static void wait_for(v3d_thread *thread, v3d_wait what, uint32_t number) {
  thread->wait = what;
  thread->wait_object = number;
  thread->wait_frees = thread->machine->objects[number].frees;
}

/* Waits, unless that makes the quorum: then everybody is freed. */
static void wait_or_free(v3d_thread *thread, uint32_t number) {
  v3d_sync_object *object = &thread->machine->objects[number];
  if (object->waiters == object->quorum)
    free_all(object);
  else
    wait_for(thread, V3D_WAITS_FREE, number);
}

static void perform(v3d_thread *thread, uint32_t operation, uint32_t number, uint32_t quorum) {
  v3d_sync_object *object = &thread->machine->objects[number];
  switch (operation) {
    case V3D_SYNC_SET_QUORUM:
      object->quorum = quorum;
      break;
    case V3D_SYNC_INC_WAITERS:
      object->waiters++;
      break;
    case V3D_SYNC_DEC_WAITERS:
      object->waiters--;
      break;
    case V3D_SYNC_INC_QUORUM:
      object->quorum++;
      break;
    case V3D_SYNC_DEC_QUORUM:
      object->quorum--;
      break;
    case V3D_SYNC_SET_QUORUM_FREE_ALL:
      object->quorum = quorum;
      free_all(object);
      break;
    case V3D_SYNC_FREE_ALL:
      free_all(object);
      break;
    case V3D_SYNC_RELEASE:
      object->locked = false;
      break;
    case V3D_SYNC_ACQUIRE:
      wait_for(thread, V3D_WAITS_MUTEX, number);
      break;
    case V3D_SYNC_INC_SEM:
      object->semaphore++;
      break;
    case V3D_SYNC_DEC_SEM:
      wait_for(thread, V3D_WAITS_SEM, number);
      break;
    case V3D_SYNC_WAIT:
      wait_for(thread, V3D_WAITS_FREE, number);
      break;
    case V3D_SYNC_WAIT_INC:
      object->waiters++;
      wait_for(thread, V3D_WAITS_FREE, number);
      break;
    case V3D_SYNC_WAIT_CHECK:
      wait_or_free(thread, number);
      break;
    case V3D_SYNC_SET_QUORUM_WAIT_INC_CHECK:
      object->quorum = quorum;
      object->waiters++;
      wait_or_free(thread, number);
      break;
    default: /* V3D_SYNC_WAIT_INC_CHECK */
      object->waiters++;
      wait_or_free(thread, number);
      break;
  }
}

unsigned daedalus_v3d_sync(v3d_thread *thread, v3d_op *op, const uint32_t *config) {
  const uint32_t quorum = config[V3D_SYNC_QUORUM], number = config[V3D_SYNC_OBJECT];
  const uint32_t operation = config[V3D_SYNC_OPERATION];
  if (operation >= V3D_N_SYNC_OPERATIONS || operation == V3D_SYNC_WAIT_CV)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "operation %lu (%s) of the thread synchroniser (lane 3): nobody "
                              "knows what it does",
                              (unsigned long)operation,
                              operation < V3D_N_SYNC_OPERATIONS ? names[operation] : "no name");
  if (number >= V3D_SYNC_OBJECTS)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "object %lu of the thread synchroniser (lane 2): there are %u",
                              (unsigned long)number, (unsigned)V3D_SYNC_OBJECTS);
  if (thread->wait)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "%s of the thread synchroniser while the thread is to wait already: "
                              "switch threads in between",
                              names[operation]);
  perform(thread, operation, number, quorum);
  return 0;
}

bool daedalus_v3d_wait_is_over(v3d_thread *thread) {
  v3d_sync_object *object = &thread->machine->objects[thread->wait_object];
  switch (thread->wait) {
    case V3D_WAITS_FREE:
      if (object->frees == thread->wait_frees)
        return false;
      break;
    case V3D_WAITS_MUTEX:
      if (object->locked)
        return false;
      object->locked = true;
      break;
    case V3D_WAITS_SEM:
      if (!object->semaphore)
        return false;
      object->semaphore--;
      break;
    default:
      break;
  }
  thread->wait = V3D_WAITS_NOT;
  return true;
}

void daedalus_v3d_describe_wait(const v3d_thread *thread, char *text, size_t size) {
  const v3d_supergroup *group = thread->supergroup;
  const v3d_sync_object *object = &thread->machine->objects[thread->wait_object];
  const unsigned long number = (unsigned long)thread->wait_object;
  switch (thread->wait) {
    case V3D_WAITS_FREE:
      if (thread->wait_object == group->slot)
        snprintf(text, size,
                 "the barrier of supergroup %llu: %lu of %lu batches are there, %lu have ended, "
                 "%lu have not begun",
                 (unsigned long long)group->index, (unsigned long)object->waiters,
                 (unsigned long)object->quorum, (unsigned long)group->n_ended,
                 (unsigned long)(group->n_batches - group->n_started));
      else
        snprintf(text, size, "object %lu to free its waiters: %lu of %lu are there", number,
                 (unsigned long)object->waiters, (unsigned long)object->quorum);
      break;
    case V3D_WAITS_MUTEX:
      snprintf(text, size, "the mutex of object %lu", number);
      break;
    case V3D_WAITS_SEM:
      snprintf(text, size, "the semaphore of object %lu", number);
      break;
    default:
      snprintf(text, size, "nothing");
      break;
  }
}
