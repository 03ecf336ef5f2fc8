/* SPDX-License-Identifier: BSD-2-Clause */
#include "handles.h"

#include <stdlib.h>
#include <string.h>

/* More objects than this are taken for a leak of the client. */
enum { MAX_HANDLES = 1 << 20 };

uint32_t dev_handles_add(struct dev_handles *handles, void *item) {
  size_t i = handles->lowest;
  while (i < handles->room && handles->items[i] != NULL)
    i++;
  if (i == handles->room) {
    const size_t room = handles->room ? handles->room * 2 : 32;
    if (room > MAX_HANDLES)
      return 0;
    void **items = realloc(handles->items, room * sizeof *items);
    if (items == NULL)
      return 0;
    memset(items + handles->room, 0, (room - handles->room) * sizeof *items);
    handles->items = items;
    handles->room = room;
  }
  handles->items[i] = item;
  handles->lowest = i + 1;
  return (uint32_t)i + 1;
}

void *dev_handles_get(const struct dev_handles *handles, uint32_t handle) {
  return handle == 0 || handle > handles->room ? NULL : handles->items[handle - 1];
}

void *dev_handles_remove(struct dev_handles *handles, uint32_t handle) {
  void *item = dev_handles_get(handles, handle);
  if (item == NULL)
    return NULL;
  handles->items[handle - 1] = NULL;
  if (handle - 1 < handles->lowest)
    handles->lowest = handle - 1;
  return item;
}
