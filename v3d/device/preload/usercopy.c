/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies through a pipe: the kernel answers EFAULT for memory that is not there, as it does for
 * ioctls of a real device, where a memcpy would end the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "preload.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2] = {-1, -1};

static void drop(void) {
  for (int i = 0; i < 2; i++) {
    if (ends[i] >= 0)
      close(ends[i]);
    ends[i] = -1;
  }
}

void preload_usercopy_before_fork(void) {
  pthread_mutex_lock(&lock);
}

void preload_usercopy_after_fork(bool in_child) {
  if (in_child)
    drop(); /* the pipe is the parent's */
  pthread_mutex_unlock(&lock);
}

void preload_usercopy_forget(void) {
  pthread_mutex_lock(&lock);
  ends[0] = ends[1] = -1;
  pthread_mutex_unlock(&lock);
}

static void renew(void) {
  drop();
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    ends[0] = ends[1] = -1;
  for (int i = 0; i < 2 && ends[i] >= 0; i++)
    ends[i] = preload_move_up(ends[i]);
}

/* At most PIPE_BUF bytes, which go whole or not at all. */
static bool copy_piece(void *to, const void *from, size_t bytes) {
  for (int attempt = 0; attempt < 2; attempt++) {
    if (ends[0] < 0)
      renew();
    const ssize_t written = write(ends[1], from, bytes);
    if (written < 0 && errno == EFAULT)
      return false;
    if (written == (ssize_t)bytes) {
      const ssize_t got = read(ends[0], to, bytes);
      if (got == (ssize_t)bytes)
        return true;
      renew(); /* something is left in it */
      return false;
    }
    renew(); /* the program has closed it, or it holds a part */
  }
  return false;
}

static bool copy(uint8_t *to, const uint8_t *from, size_t bytes) {
  const int before = errno;
  bool done = true;
  pthread_mutex_lock(&lock);
  for (size_t at = 0; done && at < bytes;) {
    const size_t piece = bytes - at < PIPE_BUF ? bytes - at : PIPE_BUF;
    done = copy_piece(to + at, from + at, piece);
    at += piece;
  }
  pthread_mutex_unlock(&lock);
  errno = before;
  return done;
}

bool preload_copy_in(void *to, uint64_t user_address, size_t bytes) {
  return copy(to, (const uint8_t *)(uintptr_t)user_address, bytes);
}

bool preload_copy_out(uint64_t user_address, const void *from, size_t bytes) {
  return copy((uint8_t *)(uintptr_t)user_address, from, bytes);
}
