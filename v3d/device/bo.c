/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers, and views of them. */
#include <stdlib.h>

#include "device.h"

void dev_bo_unref(struct dev_bo *bo) {
  if (bo == NULL || --bo->refs > 0)
    return;
  dev_memory_give(&bo->device->memory, bo->range);
  dev_fence_unref(bo->last);
  free(bo);
}

void dev_view_unref(struct dev_view *view) {
  if (view == NULL || --view->refs > 0)
    return;
  for (size_t i = 0; i < view->n; i++)
    dev_bo_unref(view->bos[i]);
  free(view->bos);
  free(view->buffers);
  free(view);
}

uint8_t *dev_view_at(const struct dev_view *view, uint32_t address, uint64_t bytes) {
  size_t low = 0, high = view->n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (view->buffers[middle].address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return NULL;
  const daedalus_v3d_buffer *buffer = &view->buffers[low - 1];
  const uint64_t offset = address - buffer->address;
  if (offset >= buffer->size || bytes > buffer->size - offset)
    return NULL;
  return (uint8_t *)buffer->data + offset;
}
