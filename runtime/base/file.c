/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *daedalus_rt_open_regular(const char *path, const char **why) {
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat about;
  const bool known = fd >= 0 && fstat(fd, &about) == 0;
  if (known && S_ISREG(about.st_mode)) {
    FILE *file = fdopen(fd, "rb");
    if (file != NULL) {
      return file;
    }
  }
  const bool special = known && !S_ISREG(about.st_mode);
  const int error = special ? EINVAL : errno;
  *why = special ? "it is no regular file" : strerror(error);
  if (fd >= 0) {
    close(fd);
  }
  errno = error;
  return NULL;
}
