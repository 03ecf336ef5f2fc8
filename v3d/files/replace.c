/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = PATH_MAX + 64 };

/* A new file beside the target, with the mode that the umask leaves. Returns as open(). */
static int create_beside(const char *target, char fresh[NAME_ROOM]) {
  enum { TRIES = 1000 };
  const char *slash = strrchr(target, '/');
  const int folder = slash == NULL ? 0 : (int)(slash + 1 - target);
  int fd = -1;
  if (folder >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  for (unsigned i = 0; i < TRIES; i++) { /* threads write at once; ended processes left files */
    snprintf(fresh, NAME_ROOM, "%.*s.daedalus-v3d-%ld-%u", folder, target, (long)getpid(), i);
    fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST)
      break;
  }
  return fd;
}

static bool write_all(int fd, const struct iovec *part) {
  const char *at = part->iov_base;
  size_t left = part->iov_len;
  while (left > 0) {
    const ssize_t n = write(fd, at, left);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    at += n;
    left -= (size_t)n;
  }
  return true;
}

/* mode: what the file gets; NULL: it is a new one. Returns NULL, or what is wrong. */
static const char *replace(const char *target, const mode_t *mode, const struct iovec *parts,
                           size_t n) {
  char fresh[NAME_ROOM];
  const int fd = create_beside(target, fresh);
  bool good = fd >= 0;
  if (fd < 0 && errno == EEXIST) { /* which is not said of the target */
    static _Thread_local char wrong[NAME_ROOM + 64];
    snprintf(wrong, sizeof wrong, "%s and all before it: %s", fresh, strerror(errno));
    return wrong;
  }
  for (size_t i = 0; good && i < n; i++)
    good = write_all(fd, &parts[i]);
  good = good && (mode == NULL || fchmod(fd, *mode) == 0);
  if (fd >= 0)
    good = close(fd) == 0 && good;
  good = good && rename(fresh, target) == 0;
  const int why = errno;
  if (!good && fd >= 0)
    unlink(fresh);
  return good ? NULL : strerror(why);
}

const char *daedalus_v3d_replace_file(const char *path, const struct iovec *parts, size_t n) {
  char target[PATH_MAX];
  struct stat status;
  if (realpath(path, target) != NULL && stat(target, &status) == 0) {
    const mode_t mode = status.st_mode & 07777;
    if (!S_ISREG(status.st_mode))
      return "no regular file";
    return replace(target, &mode, parts, n);
  }
  if (errno == ENOENT && lstat(path, &status) != 0)
    return replace(path, NULL, parts, n);
  return strerror(errno); /* there is no folder to be in, or a symlink leads nowhere */
}
