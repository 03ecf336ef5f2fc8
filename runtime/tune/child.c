/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "tune/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tune/base.h"
#include "tune/samples.h"

static int notify_fd = -1;
static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

void child_catch_interrupts(void) {
  interrupted = 0;
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    struct sigaction action = {.sa_handler = interrupt}; /* no SA_RESTART: waiting ends */
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], &action, NULL);
  }
}

bool child_interrupted(void) {
  return interrupted != 0;
}

const char *child_signal_name(int number) {
  static char other[32];
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    case SIGABRT:
      return "SIGABRT";
    case SIGKILL:
      return "SIGKILL";
    case SIGTRAP:
      return "SIGTRAP";
    default:
      snprintf(other, sizeof(other), "signal %d", number);
      return other;
  }
}

void *child_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    die("out of memory", "");
  }
  return memory;
}

void child_memory_free(void *memory, size_t size) {
  munmap(memory, size);
}

void child_step(child_watch *watch, int step) {
  atomic_store(&watch->step, step);
  atomic_store(&watch->began_ns, (int64_t)now_ns());
}

void child_notify(void) {
  const char byte = 0;
  if (notify_fd >= 0 && write(notify_fd, &byte, 1) < 0) {
    _exit(1); /* nobody is there to tell */
  }
}

/* The child's own part: it dies with its parent, by the signal that it would die of. */
static _Noreturn void run(int (*work)(void *), void *context, pid_t parent) {
  static const int plain[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  const struct rlimit none = {0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  signal(SIGINT, SIG_IGN); /* the parent decides */
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
    signal(plain[i], SIG_DFL);
  }
  setrlimit(RLIMIT_CORE, &none);
  const int status = work(context);
  fflush(stderr);
  _exit(status);
}

static child_end reap(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      die("a child process was lost", strerror(errno));
    }
  }
  return WIFSIGNALED(status) ? (child_end){CHILD_KILLED, WTERMSIG(status)}
                             : (child_end){CHILD_EXITED, WEXITSTATUS(status)};
}

/*
 * Ends a child.  One that hangs in the kernel stays behind: after a while nobody waits for it.
 */
static void end(pid_t pid) {
  kill(pid, SIGKILL);
  for (int i = 0; i < 500; i++) {
    const struct timespec pause = {.tv_nsec = 10000000};
    if (waitpid(pid, NULL, WNOHANG) != 0) {
      return;
    }
    nanosleep(&pause, NULL);
  }
  fprintf(stderr, "%s: process %ld cannot be ended; going on without it\n", program_name,
          (long)pid);
}

/* Milliseconds until the step at hand has taken too long; 0: it has. */
static int left(const child_watch *watch, double seconds) {
  const double ms = ((double)atomic_load(&watch->began_ns) + 1e9 * seconds - now_ns()) / 1e6;
  return ms <= 0 ? 0 : ms > 60000 ? 60000 : (int)ms + 1;
}

static child_end watch_over(pid_t pid, int fd, child_watch *watch, double seconds,
                            void (*notice)(void *), void *context) {
  for (;;) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    const int ready = interrupted ? 0 : poll(&wait, 1, left(watch, seconds));
    if (interrupted) {
      end(pid);
      return (child_end){CHILD_INTERRUPT, 0};
    }
    if (ready == 0 && left(watch, seconds) == 0) {
      end(pid);
      return (child_end){CHILD_TIMEOUT, 0};
    }
    char bytes[64];
    if (ready <= 0) {
      continue;
    }
    const ssize_t n = read(fd, bytes, sizeof(bytes));
    if (n > 0 && notice != NULL) {
      notice(context);
    }
    if (n == 0) {
      return reap(pid);
    }
  }
}

child_end child_run(int (*work)(void *context), void *context, child_watch *watch, double seconds,
                    void (*notice)(void *context)) {
  int ends[2];
  child_step(watch, -1);
  fflush(NULL); /* what is buffered is printed once */
  const pid_t parent = getpid();
  if (pipe(ends) != 0) {
    die("no pipe", strerror(errno));
  }
  const pid_t pid = fork();
  if (pid < 0) {
    die("no child process", strerror(errno));
  }
  if (pid == 0) {
    close(ends[0]);
    notify_fd = ends[1];
    run(work, context, parent);
  }
  close(ends[1]);
  const child_end how = watch_over(pid, ends[0], watch, seconds, notice, context);
  close(ends[0]);
  if (notice != NULL) {
    notice(context);
  }
  return how;
}
