/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap, lseek and fstat of libc, for exported buffers: a program sees a file that begins with the
 * buffer and ends with it, as a dma-buf does.  Exported syncobjs and heaps cannot be mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

/* Straight to the kernel: the loader and allocators map memory before dlsym can be used. */
static void *real_mmap(void *hint, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return (void *)syscall(SYS_mmap, hint, bytes, protection, flags, fd, offset); /* NOLINT */
}

static void *map(void *hint, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (fd >= 0 && !(flags & MAP_ANONYMOUS)) {
    const struct wire_position object = preload_object_of(fd);
    const uint64_t at = (uint64_t)offset;
    if (object.object == WIRE_SYNCOBJ || object.object == WIRE_HEAP) {
      errno = ENODEV;
      return MAP_FAILED;
    }
    if (object.object == WIRE_BUFFER) {
      if (at > object.bytes || bytes > object.bytes - at) {
        errno = EINVAL;
        return MAP_FAILED;
      }
      offset += (off_t)object.number;
    }
    const bool own = object.object == WIRE_BUFFER || object.object == WIRE_NODE;
    if (own && preload_page() > 0 && at % (uint64_t)preload_page() != 0) {
      errno = EINVAL;
      return MAP_FAILED;
    }
  }
  return real_mmap(hint, bytes, protection, flags, fd, offset);
}

/* A buffer's position is not the program's to move: only its two ends can be asked for. */
static off_t seek(int fd, off_t offset, int whence) {
  const struct wire_position object = preload_object_of(fd);
  if (object.object == WIRE_BUFFER) {
    if (offset == 0 && whence == SEEK_SET)
      return 0;
    if (offset == 0 && whence == SEEK_END)
      return (off_t)object.bytes;
    errno = EINVAL;
    return -1;
  }
  if (object.object == WIRE_SYNCOBJ || object.object == WIRE_HEAP) {
    errno = ESPIPE;
    return -1;
  }
  if (object.object == WIRE_NODE)
    return 0; /* has no position */
  return preload_real_lseek(fd, offset, whence);
}

/* The two structures are one on 64-bit machines. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "struct stat64");

static int status_of(int fd, struct stat *status) {
  if (fstatat(fd, "", status, AT_EMPTY_PATH) != 0)
    return -1;
  if (!S_ISREG(status->st_mode) || (uint64_t)status->st_size != WIRE_MEMORY_BYTES)
    return 0; /* nearly all files, for which once to the kernel is enough */
  const struct wire_position object = preload_object_of(fd);
  if (object.object == WIRE_BUFFER) {
    status->st_size = (off_t)object.bytes;
    status->st_blocks = (blkcnt_t)(object.bytes / 512);
    status->st_ino = object.number >> 12; /* one a buffer */
  }
  return 0;
}

#define INTERPOSE(type, name, parameters, ...) \
  PRELOAD_INTERPOSED type name parameters;     \
  type name parameters {                       \
    return __VA_ARGS__;                        \
  }

#define MAP_PARAMETERS (void *hint, size_t bytes, int protection, int flags, int fd, off_t offset)

INTERPOSE(void *, mmap, MAP_PARAMETERS, map(hint, bytes, protection, flags, fd, offset))
INTERPOSE(void *, mmap64, MAP_PARAMETERS, map(hint, bytes, protection, flags, fd, offset))
INTERPOSE(off_t, lseek, (int fd, off_t offset, int whence), seek(fd, offset, whence))
INTERPOSE(off_t, lseek64, (int fd, off_t offset, int whence), seek(fd, offset, whence))
INTERPOSE(int, fstat, (int fd, struct stat *status), status_of(fd, status))
INTERPOSE(int, fstat64, (int fd, struct stat64 *status), status_of(fd, (struct stat *)status))
