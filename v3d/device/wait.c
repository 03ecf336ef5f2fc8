/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients that wait for fences. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

static void drop_entries(struct dev_wait *wait) {
  for (size_t i = 0; i < wait->n; i++) {
    dev_fence_unref(wait->entries[i].fence);
    dev_syncobj_unref(wait->entries[i].syncobj);
  }
  free(wait->entries);
  wait->entries = NULL;
  wait->n = 0;
}

/* Whether the wait is over. A fence that was seen once stays the one that is waited for. */
static bool is_over(struct dev_wait *wait, uint32_t *first) {
  size_t n_done = 0;
  *first = 0;
  for (size_t i = 0; i < wait->n; i++) {
    struct dev_wait_entry *entry = &wait->entries[i];
    if (entry->fence == NULL && entry->syncobj != NULL)
      entry->fence = dev_fence_ref(entry->syncobj->fence);
    if (entry->fence == NULL || !entry->fence->signaled)
      continue;
    if (n_done++ == 0)
      *first = (uint32_t)i;
  }
  return wait->all ? n_done == wait->n : n_done > 0;
}

int dev_wait_for_syncobjs(struct dev_wait *wait, struct dev_call *call, const uint32_t *handles,
                          uint32_t n, bool for_submit) {
  int result = 0;
  wait->entries = calloc(n, sizeof *wait->entries);
  if (wait->entries == NULL)
    return -ENOMEM;
  while (result == 0 && wait->n < n) {
    struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handles[wait->n]);
    if (syncobj == NULL) {
      result = -ENOENT;
      break;
    }
    syncobj->refs++;
    wait->entries[wait->n++] =
        (struct dev_wait_entry){.syncobj = syncobj, .fence = dev_fence_ref(syncobj->fence)};
    if (syncobj->fence == NULL && !for_submit)
      result = -EINVAL;
  }
  if (result != 0)
    drop_entries(wait);
  return result;
}

/*
 * Whether what ended the wait came after its time, which the clock jumped over. Of several, *first
 * becomes the first that was in time.
 */
static bool is_late(const struct dev_wait *wait, uint32_t *first) {
  size_t n_late = 0, n_done = 0;
  for (size_t i = wait->n; i-- > 0;) {
    const struct dev_fence *fence = wait->entries[i].fence;
    if (fence == NULL || !fence->signaled)
      continue;
    n_done++;
    if (fence->clock_ns > wait->deadline_ns)
      n_late++;
    else
      *first = (uint32_t)i;
  }
  return wait->all ? n_late > 0 : n_late == n_done;
}

/* What the wait returns; DEV_PENDING: it is not over. */
static int result_of(struct dev_wait *wait, struct dev_device *device, uint64_t clock_ns,
                     uint32_t *first) {
  if (!is_over(wait, first))
    return wait->deadline_ns <= clock_ns ? -ETIME : DEV_PENDING;
  /* By its number: the client may be closed by now. */
  const struct dev_client *client = dev_client_of(device, wait->client);
  return client != NULL && client->unserved ? -ENODEV : 0;
}

int dev_wait_begin(struct dev_wait *begun, struct dev_call *call) {
  uint32_t first;
  const uint64_t now = dev_clock_ns(call->device);
  begun->call = call;
  begun->client = call->client == NULL ? 0 : call->client->id;
  if (call->goes_on) {
    begun->deadline_ns = call->goes_on_deadline_ns;
    begun->begun_ns = call->goes_on_begun_ns;
  }
  int reached = result_of(begun, call->device, now, &first);
  if (call->goes_on && reached == 0 &&
      is_late(begun, &first)) /* after its time, while it was away */
    reached = -ETIME;
  if (reached != DEV_PENDING) {
    const int result = begun->finish(begun, reached, first, now);
    drop_entries(begun);
    return result;
  }
  struct dev_wait *wait = malloc(sizeof *wait);
  if (wait == NULL) {
    drop_entries(begun);
    return -ENOMEM;
  }
  *wait = *begun;
  wait->next = call->device->waits;
  call->device->waits = wait;
  return DEV_PENDING;
}

bool dev_waits_progress(struct dev_device *device) {
  struct dev_wait *over = NULL, **slot = &device->waits;
  if (device->waits == NULL)
    return false;
  const uint64_t now = dev_clock_ns(device);
  /* Taken out first: an answer may bring the next call, and with it another wait. */
  while (*slot != NULL) {
    struct dev_wait *wait = *slot;
    uint32_t first;
    int reached = wait->interrupted ? DEV_PENDING : result_of(wait, device, now, &first);
    if (reached == DEV_PENDING) {
      slot = &wait->next;
      continue;
    }
    if (reached == 0 && is_late(wait, &first))
      reached = -ETIME;
    *slot = wait->next;
    wait->result = wait->finish(wait, reached, first, now);
    wait->next = over;
    over = wait;
  }
  const bool any = over != NULL;
  while (over != NULL) {
    struct dev_wait *wait = over;
    over = wait->next;
    device->answer(wait->call, wait->result);
    drop_entries(wait);
    free(wait);
  }
  return any;
}

/* Where in a job that began at stopped_ns a wait began, which may be before it. */
static uint64_t waits_from(const struct dev_wait *wait, uint64_t stopped_ns) {
  return wait->begun_ns > stopped_ns ? wait->begun_ns : stopped_ns;
}

/*
 * A job has ended while the program of a relative wait was away: what the wait has seen of it
 * before is used up. Where that is more than it had, the wait was over before the signal came, and
 * by its deadline it is found to be late.
 */
static void use_up(struct dev_wait *wait, uint64_t stopped_ns, uint64_t took_ns,
                   uint64_t modelled_ns) {
  if (wait->interrupted_ns < stopped_ns)
    return; /* it has seen nothing of the job */
  const uint64_t seen_ns = wait->interrupted_ns - waits_from(wait, stopped_ns);
  const uint64_t used_ns =
      (uint64_t)((double)seen_ns / (double)(took_ns + 1) * (double)modelled_ns);
  if (used_ns > wait->left_ns)
    wait->relative = false;
  else
    wait->left_ns -= used_ns;
}

void dev_waits_go(struct dev_device *device, uint64_t modelled_ns) {
  const uint64_t stopped = device->clock_stopped_ns, took = dev_now_ns() - stopped;
  for (struct dev_wait *wait = device->waits; wait != NULL && stopped != 0; wait = wait->next) {
    if (wait->interrupted && wait->relative) {
      use_up(wait, stopped, took, modelled_ns);
      continue;
    }
    /* Of a job before this one it has missed nothing any more. */
    if (wait->begun_ns < stopped || wait->deadline_ns == UINT64_MAX)
      continue;
    /* The job ran for so much of its time before. */
    const double share = (double)(wait->begun_ns - stopped) / (double)(took + 1);
    uint64_t missed_ns = (uint64_t)(share * (double)modelled_ns);
    if (missed_ns >= UINT64_MAX - wait->deadline_ns)
      missed_ns = 0; /* a deadline in centuries */
    if (wait->call->timeout_clock_ns == wait->deadline_ns) {
      wait->call->timeout_clock_ns += missed_ns;
      wait->call->timeout_begun_ns = 0;
    }
    wait->deadline_ns += missed_ns;
    wait->begun_ns = 0;
  }
  dev_clock_go(device, modelled_ns);
}

void dev_waits_cancel(struct dev_device *device, const struct dev_call *call) {
  struct dev_wait **slot = &device->waits;
  while (*slot != NULL) {
    struct dev_wait *wait = *slot;
    if (wait->call != call) {
      slot = &wait->next;
      continue;
    }
    *slot = wait->next;
    drop_entries(wait);
    free(wait);
  }
}

static struct dev_wait **slot_of(struct dev_call *call) {
  struct dev_wait **slot = &call->device->waits;
  while (*slot != NULL && (*slot)->call != call)
    slot = &(*slot)->next;
  return slot;
}

uint64_t dev_wait_deadline(uint64_t now_ns, uint64_t timeout_ns) {
  return timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
}

int dev_wait_interrupt(struct dev_call *call) {
  struct dev_wait *wait = *slot_of(call);
  if (wait == NULL)
    return -EINTR;
  const uint64_t now = dev_clock_ns(call->device);
  wait->interrupted = true;
  wait->interrupted_ns = dev_now_ns();
  wait->left_ns = wait->deadline_ns > now ? wait->deadline_ns - now : 0;
  drop_entries(wait);
  const int result = wait->finish(wait, -EINTR, 0, now);
  call->again_client = wait->client;
  call->again_code = call->code;
  memcpy(call->again_arg, call->arg, sizeof call->arg);
  return result;
}

/* A relative wait goes on. Of a job that it was interrupted in, it has missed its absence, too. */
static void begin_again(struct dev_wait *wait, const struct dev_device *device) {
  const uint64_t stopped = device->clock_stopped_ns;
  wait->deadline_ns = dev_wait_deadline(dev_clock_ns(device), wait->left_ns);
  wait->begun_ns = stopped != 0 && wait->interrupted_ns >= stopped
                       ? waits_from(wait, stopped) + dev_now_ns() - wait->interrupted_ns
                       : dev_clock_begun(device);
}

void dev_wait_go_on(struct dev_call *call) {
  struct dev_wait **slot = slot_of(call), *wait = *slot;
  call->goes_on = wait != NULL && call->code == call->again_code &&
                  (call->client == NULL ? 0 : call->client->id) == call->again_client &&
                  memcmp(call->arg, call->again_arg, sizeof call->arg) == 0;
  if (wait == NULL)
    return;
  if (wait->relative)
    begin_again(wait, call->device);
  call->goes_on_deadline_ns = wait->deadline_ns;
  call->goes_on_begun_ns = wait->begun_ns;
  *slot = wait->next;
  free(wait);
}

uint64_t dev_waits_deadline(const struct dev_device *device) {
  uint64_t deadline = UINT64_MAX;
  for (const struct dev_wait *wait = device->waits; wait != NULL; wait = wait->next)
    if (!wait->interrupted && wait->deadline_ns < deadline)
      deadline = wait->deadline_ns;
  return dev_clock_when(device, deadline);
}
