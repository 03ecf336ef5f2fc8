/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several threads and processes at once; forks; signals.  Argument: how many jobs each of the
 * threads submits (default 100).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "drm_client.h"

enum { SECOND = 1000000000, THREADS = 4 };

static int rounds = 100;

/* Adds 1 to a word of its own, `rounds` times, each job waited for. */
static void *count(void *argument) {
  const int fd = *(const int *)argument;
  struct drm_buffer own;
  const uint32_t done = drm_syncobj(fd, 0);
  if (drm_create(fd, 8192, &own) != 0) {
    CHECK(!"created");
    return NULL;
  }
  const struct fake_shader inc = {FAKE_ADD, own.address, own.address, 1, 1};
  for (int i = 0; i < rounds; i++) {
    CHECK_INT(drm_submit(fd, &own, 64, &inc, &own.handle, 1, 0, done), 0);
    CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, 10 * (int64_t)SECOND, NULL), 0);
    CHECK_INT(own.map[0], i + 1);
  }
  drm_destroy(fd, &own);
  return NULL;
}

static void run_threads(int fd) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, count, &fd);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void threads(void) {
  const int fd = drm_open();
  CHECK(fd >= 0);
  run_threads(fd);
  close(fd);
}

static int wait_for(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void processes(void) {
  pid_t children[4];
  fflush(NULL);
  for (int i = 0; i < 4; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      threads();
      exit(check_failures != 0);
    }
  }
  for (int i = 0; i < 4; i++)
    CHECK_INT(wait_for(children[i]), 0);
}

/* A forked child shares the client; memory and handles are those of both. */
static void forked(void) {
  const int fd = drm_open();
  struct drm_buffer shared;
  CHECK_INT(drm_create(fd, 4096, &shared), 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const struct fake_shader inc = {FAKE_ADD, shared.address + 256, shared.address, 1, 1};
    shared.map[0] = 41;
    CHECK_INT(drm_submit(fd, &shared, 16, &inc, &shared.handle, 1, 0, 0), 0);
    CHECK_INT(drm_wait_bo(fd, shared.handle, SECOND), 0);
    exit(check_failures != 0);
  }
  CHECK_INT(wait_for(child), 0);
  CHECK_INT(shared.map[64], 42);
  CHECK_INT(drm_wait_bo(fd, shared.handle, SECOND), 0);
  drm_destroy(fd, &shared);
  close(fd);
}

/* A child outlives its parent, and keeps using the node that it was born with. */
static void orphan(void) {
  const int fd = drm_open();
  int result[2];
  CHECK_INT(pipe(result), 0);
  fflush(NULL);
  const pid_t middle = fork();
  if (middle == 0) {
    const int own = drm_open();
    struct drm_buffer a;
    if (drm_create(own, 4096, &a) != 0)
      _exit(1);
    if (fork() != 0)
      _exit(0);
    usleep(50000); /* its parent has gone */
    struct abi_get_bo_offset get = {.handle = a.handle};
    const int answer = DRM_CALL(own, ABI_V3D_GET_BO_OFFSET, &get);
    _exit(write(result[1], &answer, sizeof answer) != sizeof answer);
  }
  close(result[1]);
  CHECK_INT(wait_for(middle), 0);
  int answer = 1;
  CHECK_INT(read(result[0], &answer, sizeof answer), sizeof answer);
  CHECK_INT(answer, 0);
  close(result[0]);
  close(fd);
}

/* Memory of a process that died comes back. */
static void dead_processes(void) {
  for (int i = 0; i < 12; i++) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      const int fd = drm_open();
      struct abi_create_bo create = {.size = 1 << 30};
      int result = DRM_CALL(fd, ABI_V3D_CREATE_BO, &create);
      for (int tries = 0; result == -ENOSPC && tries < 100; tries++) {
        usleep(10000); /* the one before is just being noticed */
        result = DRM_CALL(fd, ABI_V3D_CREATE_BO, &create);
      }
      if (result != 0)
        _exit(2);
      raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
}

/* A child that closes all that it has inherited, as daemons do, opens the node anew. */
static void daemonized(void) {
  const int fd = drm_open();
  struct drm_buffer a;
  CHECK_INT(drm_create(fd, 4096, &a), 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    for (int number = 3; number < 2048; number++)
      close(number);
    const int own = drm_open();
    struct drm_buffer b;
    CHECK_INT(drm_create(own, 4096, &b), 0);
    CHECK(b.address != a.address);
    /* Once more, with all that was connected in between. */
    for (int number = 3; number < 2048; number++)
      close(number);
    CHECK_INT(drm_create(drm_open(), 4096, &b), 0);
    exit(check_failures != 0);
  }
  CHECK_INT(wait_for(child), 0);
  struct abi_get_bo_offset get = {.handle = a.handle};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_BO_OFFSET, &get), 0);
  drm_destroy(fd, &a);
  close(fd);
}

static void nothing(int number) {
  (void)number;
}

/* A signal without SA_RESTART ends a wait; the connection is of use afterwards. */
static void interrupted(void) {
  const int fd = drm_open();
  const uint32_t never = drm_syncobj(fd, 0);
  struct sigaction action = {.sa_handler = nothing};
  const struct itimerval timer = {.it_value = {.tv_usec = 30000}}, off = {.it_value = {0}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  CHECK_INT(drm_syncobj_wait(fd, &never, 1, 3, -1, NULL), -EINTR);
  setitimer(ITIMER_REAL, &off, NULL);
  CHECK_INT(drm_syncobj_wait(fd, &never, 1, 3, 0, NULL), -ETIME);
  close(fd);
}

/* A node that a program inherits is the same client there, without any call of its own. */
static int inherited(const char *number, const char *handle) {
  struct abi_get_bo_offset get = {.handle = (uint32_t)atoi(handle)};
  const int result = DRM_CALL(atoi(number), ABI_V3D_GET_BO_OFFSET, &get);
  return result == 0 ? 0 : 1;
}

static const char *self;

__attribute__((unused)) static void executed(void) {
  const int fd = open("/dev/dri/card0", O_RDWR);
  struct drm_buffer a;
  CHECK_INT(drm_create(fd, 4096, &a), 0);
  char number[16], handle[16];
  snprintf(number, sizeof number, "%d", fd);
  snprintf(handle, sizeof handle, "%u", a.handle);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, number, handle, (char *)NULL);
    _exit(99);
  }
  CHECK_INT(wait_for(child), 0);
  drm_destroy(fd, &a);
  close(fd);
}

int main(int argc, char **argv) {
  if (argc == 3)
    return inherited(argv[1], argv[2]);
  if (argc == 2)
    rounds = atoi(argv[1]);
  self = argv[0];
  RUN(threads);
  RUN(processes);
  RUN(forked);
  RUN(orphan);
  RUN(dead_processes);
  RUN(daemonized);
  RUN(interrupted);
#ifdef __aarch64__
  printf("left   executed: under an emulator, a child would be started without it\n");
#else
  RUN(executed);
#endif
  return CHECK_RESULT();
}
