/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sync files.  Clients have the reading end of a pipe, which can be polled; a byte is written when
 * the fence is signaled.  The pipe's inode says which sync file a descriptor is.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"

static void write_if_signaled(struct dev_device *device, struct dev_sync_file *file) {
  if (file->written || !file->fence->signaled)
    return;
  const char byte = 1;
  file->written = true;
  device->n_unwritten--;
  /* A pipe that is empty has room; where nobody reads, the next sweep finds out. */
  if (write(file->fd, &byte, 1) != 1 && errno != EPIPE)
    dev_report(device, "a sync file cannot be signaled: %s", strerror(errno));
}

struct dev_sync_file *dev_sync_file_of(const struct dev_device *device, int fd) {
  struct stat status, own;
  struct dev_sync_file *file = device->sync_files;
  if (file == NULL || fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode))
    return NULL;
  while (file != NULL && file->inode != status.st_ino)
    file = file->next;
  /* Named pipes have inodes of other file systems. */
  return file != NULL && fstat(file->fd, &own) == 0 && own.st_dev == status.st_dev ? file : NULL;
}

void dev_sync_files_progress(struct dev_device *device) {
  size_t left = device->n_unwritten;
  for (struct dev_sync_file *file = device->sync_files; left > 0 && file != NULL;
       file = file->next) {
    left -= !file->written;
    write_if_signaled(device, file);
  }
}

static void drop(struct dev_device *device, struct dev_sync_file **slot) {
  struct dev_sync_file *file = *slot;
  *slot = file->next;
  if (device->last_sync_file == &file->next)
    device->last_sync_file = slot;
  device->n_sync_files--;
  device->n_unwritten -= !file->written;
  dev_fence_unref(file->fence);
  close(file->fd);
  free(file);
}

void dev_sync_files_sweep(struct dev_device *device) {
  struct dev_sync_file **slot = &device->sync_files;
  while (*slot != NULL) {
    /* An error of the writing end: the last reader has gone. */
    struct pollfd end = {.fd = (*slot)->fd};
    if (poll(&end, 1, 0) == 1 && end.revents & POLLERR)
      drop(device, slot);
    else
      slot = &(*slot)->next;
  }
}

void dev_sync_files_destroy(struct dev_device *device) {
  while (device->sync_files != NULL)
    drop(device, &device->sync_files);
}
