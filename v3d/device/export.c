/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects that descriptors keep alive. */
#include <errno.h>
#include <stdlib.h>

#include "device.h"

static bool same(struct wire_position a, struct wire_position b) {
  return wire_position_pack(a) == wire_position_pack(b);
}

const struct dev_export *dev_export_find(const struct dev_device *device,
                                         struct wire_position position) {
  const struct dev_export *export = device->exports;
  while (export != NULL && !same(export->position, position))
    export = export->next;
  return export;
}

static void drop(struct dev_device *device, struct dev_export **slot) {
  struct dev_export *export = *slot;
  *slot = export->next;
  device->n_exports--;
  if (export->bo != NULL)
    export->bo->exported = false;
  dev_bo_unref(export->bo);
  if (export->syncobj != NULL)
    export->syncobj->number = 0;
  dev_syncobj_unref(export->syncobj);
  free(export);
}

static struct dev_export *add(struct dev_device *device, struct wire_position position) {
  struct dev_export *export = calloc(1, sizeof *export);
  if (export == NULL)
    return NULL;
  export->position = position;
  export->next = device->exports;
  device->exports = export;
  device->n_exports++;
  return export;
}

int dev_export_bo(struct dev_bo *bo) {
  if (bo->exported)
    return 0;
  struct dev_export *export =
      add(bo->device, (struct wire_position){WIRE_BUFFER, bo->range.address, bo->range.bytes});
  if (export == NULL)
    return -ENOMEM;
  bo->exported = true;
  bo->refs++;
  export->bo = bo;
  return 0;
}

int dev_export_syncobj(struct dev_device *device, struct dev_syncobj *syncobj) {
  if (syncobj->number != 0)
    return 0;
  struct wire_position position = {.object = WIRE_SYNCOBJ};
  do {
    position.number = device->next_export = device->next_export % INT32_MAX + 1;
  } while (dev_export_find(device, position) != NULL);
  struct dev_export *export = add(device, position);
  if (export == NULL)
    return -ENOMEM;
  syncobj->number = position.number;
  syncobj->refs++;
  export->syncobj = syncobj;
  return 0;
}

void dev_exports_sweep(struct dev_device *device) {
  struct dev_export **slot = &device->exports;
  while (*slot != NULL) {
    if (dev_descriptor_held(device, (*slot)->position))
      slot = &(*slot)->next;
    else
      drop(device, slot);
  }
}

void dev_exports_destroy(struct dev_device *device) {
  while (device->exports != NULL)
    drop(device, &device->exports);
}
