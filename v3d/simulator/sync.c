/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator/sync.h"

#include <stdio.h>

#include "simulator/engine.h"
#include "simulator/timing/model.h"

static const char *const names[V3D_N_SYNC_OPERATIONS] = {
#define ROW(id, text) text,
    V3D_SYNC_OPERATIONS(ROW)
#undef ROW
};

static void free_all(v3d_sync_object *object) {
  object->waiters = 0;
  object->ended_there = 0;
  object->frees++;
}

static void wait_for(v3d_thread *thread, v3d_wait what, uint32_t number) {
  thread->wait = what;
  thread->wait_object = number;
  thread->wait_frees = thread->machine->objects[number].frees;
}

/*
 * Batches that will not come to object any more and count as if they had: those of thread's
 * supergroup that have ended, at its barrier and nowhere else (profile.ended_batches_arrive).  They
 * count at each barrier that follows.
 */
static uint32_t missing(const v3d_thread *thread, const v3d_sync_object *object) {
  const struct daedalus_v3d_machine *machine = thread->machine;
  const v3d_supergroup *group = thread->supergroup;
  if (!machine->profile.ended_batches_arrive || object != &machine->objects[group->slot] ||
      object->other_use)
    return 0;
  return group->n_ended - object->ended_there;
}

/* Waits, unless that makes the quorum: then everybody is freed. */
static void wait_or_free(v3d_thread *thread, uint32_t number) {
  v3d_sync_object *object = &thread->machine->objects[number];
  if (object->waiters + missing(thread, object) == object->quorum)
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

static unsigned barrier_partly(v3d_thread *thread, const v3d_op *op, uint32_t ended) {
  const v3d_supergroup *group = thread->supergroup;
  thread->machine->report->rule = DAEDALUS_V3D_RULE_BARRIER_PARTLY;
  return daedalus_v3d_fault(
      thread, op, DAEDALUS_V3D_BROKEN_RULE,
      "%lu of the %lu batches of supergroup %llu have ended, and others come to a barrier: %s: %s",
      (unsigned long)ended, (unsigned long)group->n_batches, (unsigned long long)group->index,
      daedalus_v3d_rule_name(DAEDALUS_V3D_RULE_BARRIER_PARTLY),
      daedalus_v3d_rule_text(DAEDALUS_V3D_RULE_BARRIER_PARTLY));
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
  v3d_sync_object *object = &thread->machine->objects[number];
  const v3d_supergroup *group = thread->supergroup;
  if (operation != V3D_SYNC_SET_QUORUM_WAIT_INC_CHECK || number != group->slot ||
      quorum != group->n_batches)
    object->other_use = true;
  if (thread->machine->strict && missing(thread, object))
    return barrier_partly(thread, op, missing(thread, object));
  perform(thread, operation, number, quorum);
  return 0;
}

unsigned daedalus_v3d_sync_ended(v3d_thread *thread, const v3d_op *op) {
  struct daedalus_v3d_machine *machine = thread->machine;
  v3d_sync_object *object = &machine->objects[thread->supergroup->slot];
  if (!object->waiters || !missing(thread, object))
    return 0;
  /* It came to the barrier and ended at the same switch: it has been counted. */
  if (thread->wait == V3D_WAITS_FREE && thread->wait_object == thread->supergroup->slot &&
      thread->wait_frees == object->frees) {
    object->ended_there++;
    return 0;
  }
  if (machine->strict)
    return barrier_partly(thread, op, missing(thread, object));
  if (object->waiters + missing(thread, object) == object->quorum) {
    free_all(object);
    if (machine->timing)
      machine->timing->synced = true;
  }
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
