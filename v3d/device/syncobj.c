/* SPDX-License-Identifier: BSD-2-Clause */
/* Syncobjs: boxes that hold a fence or none, or a timeline of fences. */
#include <errno.h>
#include <stdlib.h>

#include "device.h"

static void drop_points(struct dev_syncobj *syncobj) {
  for (size_t i = 0; i < syncobj->n_points; i++)
    dev_fence_unref(syncobj->points[i].fence);
  syncobj->n_points = 0;
  syncobj->reached = 0;
}

void dev_syncobj_unref(struct dev_syncobj *syncobj) {
  if (syncobj == NULL || --syncobj->refs > 0)
    return;
  drop_points(syncobj);
  free(syncobj->points);
  dev_fence_unref(syncobj->fence);
  free(syncobj);
}

void dev_syncobj_replace(struct dev_syncobj *syncobj, struct dev_fence *fence) {
  dev_fence_replace(&syncobj->fence, fence);
  drop_points(syncobj);
}

void dev_syncobj_advance(struct dev_syncobj *syncobj) {
  size_t n = 0;
  while (n < syncobj->n_points && syncobj->points[n].fence->signaled)
    syncobj->reached = syncobj->points[n++].value;
  if (n > 0 && n == syncobj->n_points)
    n--; /* the last says how far the timeline goes */
  for (size_t i = 0; i < n; i++)
    dev_fence_unref(syncobj->points[i].fence);
  for (size_t i = n; n > 0 && i < syncobj->n_points; i++)
    syncobj->points[i - n] = syncobj->points[i];
  syncobj->n_points -= n;
}

int dev_syncobj_add_point(struct dev_syncobj *syncobj, struct dev_fence *fence, uint64_t value) {
  dev_syncobj_advance(syncobj);
  if (syncobj->n_points == syncobj->points_room) {
    const size_t room = syncobj->points_room ? syncobj->points_room * 2 : 4;
    struct dev_point *points = realloc(syncobj->points, room * sizeof *points);
    if (points == NULL)
      return -ENOMEM;
    syncobj->points = points;
    syncobj->points_room = room;
  }
  /* What was there before counts as well, a binary fence too. */
  struct dev_fence *parts[2] = {fence, syncobj->fence};
  const bool alone = syncobj->fence == NULL || syncobj->fence->signaled;
  struct dev_fence *whole = alone ? dev_fence_ref(fence) : dev_fence_merge(parts, 2);
  if (whole == NULL)
    return -ENOMEM;
  whole->is_point |= !alone;
  /* Values never fall: one out of order is that of the point before. */
  if (syncobj->n_points > 0 && syncobj->points[syncobj->n_points - 1].value > value)
    value = syncobj->points[syncobj->n_points - 1].value;
  syncobj->points[syncobj->n_points++] = (struct dev_point){value, whole};
  dev_fence_replace(&syncobj->fence, whole);
  return 0;
}

int dev_syncobj_find(struct dev_syncobj *syncobj, uint64_t point, struct dev_fence **fence) {
  if (syncobj->fence == NULL)
    return -EINVAL;
  if (point == 0) {
    *fence = dev_fence_ref(syncobj->fence);
    return 0;
  }
  dev_syncobj_advance(syncobj);
  if (syncobj->n_points > 0 && point <= syncobj->reached) {
    *fence = dev_fence_create(true);
    return *fence == NULL ? -ENOMEM : 0;
  }
  for (size_t i = 0; i < syncobj->n_points; i++)
    if (syncobj->points[i].value >= point) {
      *fence = dev_fence_ref(syncobj->points[i].fence);
      return 0;
    }
  return -EINVAL;
}
