/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors that stand for objects, and the objects that they keep alive.
 *
 * Nobody tells the server of a close.  It asks when that may matter: a client has hung up, a node
 * is opened, memory runs out, or many objects are exported.  The answer is exact, as the kernel
 * drops the lock with the last reference to the description, mappings of it included.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"

static struct flock lock_of(struct wire_position position, short type) {
  return (struct flock){
      .l_type = type, .l_whence = SEEK_SET, .l_start = wire_position_pack(position), .l_len = 1};
}

int dev_descriptor_open(const struct dev_device *device, struct wire_position position, int mode) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", device->memory.fd);
  mode &= O_ACCMODE;
  const int fd = open(path, (mode == O_ACCMODE ? O_RDWR : mode) | O_CLOEXEC);
  if (fd < 0)
    return -errno;
  /* Shared, as an object may have several; only writers may lock otherwise. */
  struct flock lock = lock_of(position, mode == O_WRONLY ? F_WRLCK : F_RDLCK);
  const int64_t at = wire_position_pack(position);
  if (lseek(fd, at, SEEK_SET) == at && fcntl(fd, F_OFD_SETLK, &lock) == 0)
    return fd;
  const int error = errno;
  close(fd);
  return -error;
}

bool dev_descriptor_held(const struct dev_device *device, struct wire_position position) {
  struct flock lock = lock_of(position, F_WRLCK);
  /* When in doubt it is: nothing is freed under a client. */
  return fcntl(device->memory.fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

int dev_descriptors_check(const struct dev_device *device) {
  const struct wire_position some = {.object = WIRE_HEAP};
  const int fd = dev_descriptor_open(device, some, O_RDWR);
  if (fd < 0)
    return fd;
  const bool while_open = dev_descriptor_held(device, some);
  close(fd);
  return while_open && !dev_descriptor_held(device, some) ? 0 : -ENOLCK;
}

struct wire_position dev_descriptor_object(const struct dev_device *device, int fd) {
  struct stat memory, status;
  if (fstat(fd, &status) != 0 || fstat(device->memory.fd, &memory) != 0 ||
      status.st_ino != memory.st_ino || status.st_dev != memory.st_dev)
    return (struct wire_position){.object = WIRE_NOTHING};
  return wire_position_unpack(lseek(fd, 0, SEEK_CUR));
}

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
  dev_sweep_if_many(device);
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

void dev_sweep(struct dev_device *device) {
  dev_clients_sweep(device);
  dev_sync_files_sweep(device);
  struct dev_export **slot = &device->exports;
  while (*slot != NULL) {
    if (dev_descriptor_held(device, (*slot)->position))
      slot = &(*slot)->next;
    else
      drop(device, slot);
  }
}

void dev_sweep_if_many(struct dev_device *device) {
  enum { LEAST = 64 };
  if (device->n_exports + device->n_sync_files < device->sweep_at)
    return;
  dev_sweep(device);
  device->sweep_at = 2 * (device->n_exports + device->n_sync_files) + LEAST;
}

void dev_exports_destroy(struct dev_device *device) {
  while (device->exports != NULL)
    drop(device, &device->exports);
}
