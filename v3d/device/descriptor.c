/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors that stand for objects. */
#include <errno.h>
#include <fcntl.h>
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
