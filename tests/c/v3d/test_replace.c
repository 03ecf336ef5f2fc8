/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are written beside their target: where there is no name left for that. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "files/replace.h"

enum { TRIES = 1000, ROOM = 128 };

static char folder[] = "/tmp/daedalus-v3d-XXXXXX";
static char target[ROOM], last[ROOM];

/* What an ended process of this number has left behind. */
static void leave_all(bool there) {
  for (int i = 0; i < TRIES; i++) {
    snprintf(last, sizeof last, "%s/.daedalus-v3d-%ld-%d", folder, (long)getpid(), i);
    if (there)
      close(open(last, O_WRONLY | O_CREAT | O_EXCL, 0600));
    else
      CHECK_INT(unlink(last), 0);
  }
}

static const char *write_word(void) {
  static char word[] = "word";
  return daedalus_v3d_replace_file(target, &(const struct iovec){word, 4}, 1);
}

/* The target does not exist, so that it cannot be what exists. */
static void names_the_temporary(void) {
  char expected[2 * ROOM];
  leave_all(true);
  snprintf(expected, sizeof expected, "%s and all before it: %s", last, strerror(EEXIST));
  CHECK_STR(write_word(), expected);
  CHECK_INT(access(target, F_OK), -1);
  leave_all(false);
  CHECK(write_word() == NULL);
  CHECK_INT(unlink(target), 0);
}

int main(void) {
  if (mkdtemp(folder) == NULL)
    return 2;
  snprintf(target, sizeof target, "%s/target", folder);
  RUN(names_the_temporary);
  rmdir(folder);
  return CHECK_RESULT();
}
