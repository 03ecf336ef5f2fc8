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

/* ms between looks at what no file descriptor tells of: a signal that came just before, an end. */
enum { LOOK = 250 };
/* Seconds for a child to end by itself once it said it would, and to be gone once it was killed. */
enum { ENDING = CHILD_ENDING, KILLED = 5, KILLED_IN_HASTE = 1 };

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
    struct sigaction before, action = {.sa_handler = interrupt}; /* no SA_RESTART: waiting ends */
    sigemptyset(&action.sa_mask);
    /* What was ignored from the start, by nohup or a shell's "&", stays so. */
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
      sigaction(numbers[i], &action, NULL);
    }
  }
}

bool child_interrupted(void) {
  return interrupted != 0;
}

bool child_await_input(int fd) {
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  while (!interrupted) {
    if (poll(&wait, 1, LOOK) > 0) {
      return true;
    }
  }
  return false;
}

bool child_lacked_memory(const child_end *how, char *why, size_t size) {
  const bool by_system = how->kind == CHILD_KILLED && how->status == SIGKILL;
  if (by_system) {
    snprintf(why, size, "it was killed by SIGKILL, as a system that has no memory left does");
  } else if (how->kind == CHILD_EXITED && how->status == CHILD_NO_MEMORY) {
    snprintf(why, size, "out of memory");
  }
  return by_system || (how->kind == CHILD_EXITED && how->status == CHILD_NO_MEMORY);
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
  out_of_memory_status = CHILD_NO_MEMORY;
  const int status = work(context);
  fflush(stderr);
  _exit(status);
}

/* @return whether it has ended; then how */
static bool has_ended(pid_t pid, child_end *how) {
  int status;
  const pid_t found = waitpid(pid, &status, WNOHANG);
  if (found < 0 && errno != EINTR) {
    die("a child process was lost", strerror(errno));
  }
  if (found != pid) {
    return false;
  }
  *how = WIFSIGNALED(status) ? (child_end){CHILD_KILLED, WTERMSIG(status)}
                             : (child_end){CHILD_EXITED, WEXITSTATUS(status)};
  return true;
}

/* Waits for its end, at most so long.  @return whether it has ended; then how */
static bool await_end(pid_t pid, int seconds, bool in_haste, child_end *how) {
  const double until = now_ns() + 1e9 * seconds;
  const struct timespec pause = {.tv_nsec = 5000000};
  while (!has_ended(pid, how)) {
    if (now_ns() > until || (in_haste && interrupted)) {
      return false;
    }
    nanosleep(&pause, NULL);
  }
  return true;
}

/*
 * Ends a child.  One that hangs in the kernel stays behind: after a while nobody waits for it.
 */
static void end(pid_t pid) {
  child_end how;
  kill(pid, SIGKILL);
  if (!await_end(pid, interrupted ? KILLED_IN_HASTE : KILLED, false, &how)) {
    fprintf(stderr, "%s: process %ld cannot be ended; going on without it\n", program_name,
            (long)pid);
  }
}

/* Of a child that has nothing more to say: one that does not end is killed. */
static child_end reap(pid_t pid) {
  child_end how;
  if (await_end(pid, ENDING, true, &how)) {
    return how;
  }
  if (!interrupted) {
    fprintf(stderr, "%s: process %ld has finished, but did not end in %d s: it is killed\n",
            program_name, (long)pid, ENDING);
  }
  end(pid);
  return (child_end){interrupted ? CHILD_INTERRUPT : CHILD_STUCK, 0};
}

/* Milliseconds until the step at hand has taken too long, or it is time to look; 0: it has. */
static int left(const child_watch *watch, double seconds) {
  const double ms = ((double)atomic_load(&watch->began_ns) + 1e9 * seconds - now_ns()) / 1e6;
  return ms <= 0 ? 0 : ms > LOOK ? LOOK : (int)ms + 1;
}

static child_end watch_over(pid_t pid, int fd, child_watch *watch, double seconds,
                            void (*notice)(void *), void *context) {
  child_end how;
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
    if (ready <= 0) {
      if (has_ended(pid, &how)) { /* and something that it began holds its end of the pipe */
        return how;
      }
      continue;
    }
    char bytes[64];
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
