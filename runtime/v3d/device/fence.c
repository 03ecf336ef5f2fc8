/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "device.h"

struct dev_fence *dev_fence_create(bool signaled) {
  struct dev_fence *fence = calloc(1, sizeof *fence);
  if (fence != NULL) {
    fence->refs = 1;
    fence->signaled = signaled;
  }
  return fence;
}

struct dev_fence *dev_fence_ref(struct dev_fence *fence) {
  if (fence != NULL)
    fence->refs++;
  return fence;
}

void dev_fence_unref(struct dev_fence *fence) {
  if (fence != NULL && --fence->refs == 0)
    free(fence);
}

void dev_fence_replace(struct dev_fence **slot, struct dev_fence *fence) {
  struct dev_fence *before = *slot;
  *slot = dev_fence_ref(fence);
  dev_fence_unref(before);
}
