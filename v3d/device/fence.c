/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fences, of jobs and of several others.  A merged fence watches its parts; signals and frees go
 * along chains of them by lists, not by calls, as chains may be long.
 */
#include <stdlib.h>

#include "device.h"

struct dev_fence *dev_fence_create(bool signaled) {
  struct dev_fence *fence = calloc(1, sizeof *fence);
  if (fence != NULL) {
    fence->refs = 1;
    fence->name = "stub";
    fence->signaled = signaled;
    fence->signaled_ns = signaled ? dev_now_ns() : 0;
  }
  return fence;
}

/* A merged fence is signaled when the last of its parts is, by the clock of waits as well. */
static void take_clock(struct dev_fence *whole, const struct dev_fence *part) {
  if (part->clock_ns > whole->clock_ns)
    whole->clock_ns = part->clock_ns;
}

static void watch(struct dev_fence_link *link, struct dev_fence *part, struct dev_fence *whole) {
  link->part = dev_fence_ref(part);
  link->whole = whole;
  if (part->signaled) {
    take_clock(whole, part);
    return;
  }
  whole->n_open++;
  link->next = part->watchers;
  link->slot = &part->watchers;
  if (link->next != NULL)
    link->next->slot = &link->next;
  part->watchers = link;
}

static void unwatch(struct dev_fence_link *link) {
  if (link->slot == NULL)
    return;
  *link->slot = link->next;
  if (link->next != NULL)
    link->next->slot = link->slot;
  link->slot = NULL;
}

struct dev_fence *dev_fence_merge(struct dev_fence *const *parts, size_t n) {
  struct dev_fence *whole = dev_fence_create(false);
  if (whole == NULL)
    return NULL;
  whole->parts = calloc(n + 1, sizeof *whole->parts);
  if (whole->parts == NULL) {
    dev_fence_unref(whole);
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    watch(&whole->parts[whole->n_parts++], parts[i], whole);
  if (whole->n_open == 0)
    dev_fence_signal(whole);
  return whole;
}

void dev_fence_signal(struct dev_fence *fence) {
  struct dev_fence *todo = fence;
  const uint64_t now = dev_now_ns();
  if (fence->signaled)
    return;
  fence->signaled = true;
  fence->next = NULL;
  while (todo != NULL) {
    struct dev_fence *done = todo;
    todo = done->next;
    done->signaled_ns = now;
    while (done->watchers != NULL) {
      struct dev_fence *whole = done->watchers->whole;
      unwatch(done->watchers);
      take_clock(whole, done);
      if (--whole->n_open > 0)
        continue;
      whole->signaled = true;
      whole->next = todo;
      todo = whole;
    }
  }
}

struct dev_fence *dev_fence_ref(struct dev_fence *fence) {
  if (fence != NULL)
    fence->refs++;
  return fence;
}

void dev_fence_unref(struct dev_fence *fence) {
  struct dev_fence *dead = NULL;
  if (fence == NULL || --fence->refs > 0)
    return;
  fence->next = NULL;
  dead = fence;
  while (dead != NULL) {
    struct dev_fence *gone = dead;
    dead = gone->next;
    for (size_t i = 0; i < gone->n_parts; i++) {
      struct dev_fence *part = gone->parts[i].part;
      unwatch(&gone->parts[i]);
      if (--part->refs > 0)
        continue;
      part->next = dead;
      dead = part;
    }
    free(gone->parts);
    free(gone);
  }
}

void dev_fence_replace(struct dev_fence **slot, struct dev_fence *fence) {
  struct dev_fence *before = *slot;
  *slot = dev_fence_ref(fence);
  dev_fence_unref(before);
}

void dev_syncobj_unref(struct dev_syncobj *syncobj) {
  if (syncobj == NULL || --syncobj->refs > 0)
    return;
  dev_fence_unref(syncobj->fence);
  free(syncobj);
}
