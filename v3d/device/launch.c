/* SPDX-License-Identifier: BSD-2-Clause */
/* Serves a program that it starts, or any program until a signal comes. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_jobs.h"
#include "main.h"
#include "server.h"
#include "timed.h"

enum {
  EXIT_WRONG = 1,
  EXIT_NO_DEVICE = 3,
  EXIT_NOT_RUN = 126,
  EXIT_NOT_FOUND = 127,
  EXIT_SIGNAL = 128
};

struct launch {
  pid_t child; /* 0: none */
  int status;  /* exit code for when the loop has ended */
};

static void on_child(struct dev_server *server, struct launch *launch) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != launch->child)
      continue;
    launch->child = 0;
    launch->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
    server->stop = true;
  }
}

static void on_signal(struct dev_server *server) {
  struct launch *launch = server->self;
  struct signalfd_siginfo info;
  while (read(server->event_fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) {
      on_child(server, launch);
    } else if (launch->child != 0) {
      /* What the terminal sends, it has sent to the program as well. */
      if (info.ssi_code != SI_KERNEL)
        kill(launch->child, (int)info.ssi_signo);
    } else {
      server->stop = true;
    }
  }
}

static void signal_set(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGCHLD);
  sigaddset(set, SIGINT);
  sigaddset(set, SIGTERM);
  sigaddset(set, SIGHUP);
  sigaddset(set, SIGQUIT);
}

/* LD_PRELOAD with the library before what is there. */
static bool set_preload(const char *library) {
  const char *before = getenv("LD_PRELOAD");
  if (before == NULL || *before == 0)
    return setenv("LD_PRELOAD", library, 1) == 0;
  char value[2 * PATH_MAX];
  const int length = snprintf(value, sizeof value, "%s:%s", library, before);
  return length > 0 && (size_t)length < sizeof value && setenv("LD_PRELOAD", value, 1) == 0;
}

/* Runs the program, if need be by an emulator. Returns errno when that cannot be started. */
static int run_program(const struct dev_options *options) {
  char **program = options->program;
  if (options->qemu == NULL) {
    if (options->preload != NULL && !set_preload(options->preload))
      return ENOMEM;
    execvp(program[0], program);
    return errno;
  }
  enum { FIRST = 5 }; /* words before the program */
  char setting[PATH_MAX + 16];
  size_t n = 0;
  while (program[n] != NULL)
    n++;
  char **words = calloc(FIRST + n + 1, sizeof(char *));
  if (words == NULL)
    return ENOMEM;
  size_t at = 0;
  words[at++] = (char *)(uintptr_t)options->qemu;
  words[at++] = (char *)(uintptr_t)"-L";
  words[at++] = (char *)(uintptr_t)options->sysroot;
  if (options->preload != NULL) {
    snprintf(setting, sizeof setting, "LD_PRELOAD=%s", options->preload);
    words[at++] = (char *)(uintptr_t)"-E";
    words[at++] = setting;
  }
  memcpy(words + at, program, n * sizeof(char *));
  execvp(words[0], words);
  free(words);
  return errno;
}

/* In the child. Does not return. */
static void start_program(const struct dev_options *options, const char *path,
                          const sigset_t *mask) {
  int error = setenv("DAEDALUS_V3D_SOCKET", path, 1) != 0 ? ENOMEM : 0;
  char page[24];
  snprintf(page, sizeof page, "%llu", (unsigned long long)options->page);
  if (error == 0 && options->page != 0)
    error = setenv("DAEDALUS_V3D_PAGE_SIZE", page, 1) != 0 ? ENOMEM : 0;
  if (error == 0) {
    sigprocmask(SIG_SETMASK, mask, NULL);
    error = run_program(options);
  }
  fprintf(stderr, "daedalus-v3d-device: %s: %s\n",
          options->qemu != NULL ? options->qemu : options->program[0], strerror(error));
  _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

/* Says what went wrong. Returns whether all is well: no job failed, and every fault struck. */
static bool print_summary(struct dev_device *device) {
  const uint64_t n_idle = dev_faults_report(device);
  const bool well = device->n_failed == 0 && n_idle == 0;
  if (device->quiet)
    return well;
  if (device->n_failed != 0)
    fprintf(stderr, "daedalus-v3d-device: %llu of %llu jobs failed\n",
            (unsigned long long)device->n_failed, (unsigned long long)device->n_jobs);
  if (device->n_refused != 0)
    fprintf(stderr, "daedalus-v3d-device: requests refused: %llu\n",
            (unsigned long long)device->n_refused);
  return well;
}

/* What is the server's alone, not the program's, which has been started. */
static void prepare_to_serve(void) {
  struct rlimit limit;
  signal(SIGPIPE, SIG_IGN); /* reports that nobody reads are no reason to end */
  /* As many descriptors as there may be: each thread of a client takes one. */
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/* Signals are blocked and read from server->event_fd by now. */
static int serve(struct dev_options *options, const daedalus_v3d_executor *executor,
                 const char *path, const sigset_t *mask) {
  struct dev_server server;
  struct launch launch = {0};
  const char *what;
  int result = dev_server_init(&server, path, executor, &options->profile, options->memory, &what);
  if (result == 0) {
    sigset_t set;
    signal_set(&set);
    what = "signalfd";
    server.event_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    result = server.event_fd < 0 ? -errno : 0;
  }
  server.self = &launch;
  server.on_event = on_signal;
  if (result == 0 && options->page > server.device.memory.page)
    server.device.memory.page = options->page;
  server.device.log = options->log;
  server.device.jobs = options->jobs;
  server.device.quiet = options->quiet;
  server.device.strict = options->strict;
  server.device.timed = options->timed || options->trace != NULL;
  server.device.intervals = options->intervals;
  server.device.stretches = dev_is_timed(&server.device) && !options->no_stretch;
  server.device.faults = options->faults;
  options->faults = (struct dev_faults){0};
  if (result == 0 && options->program != NULL) {
    what = "fork";
    fflush(NULL);
    launch.child = fork();
    if (launch.child == 0)
      start_program(options, path, mask);
    result = launch.child < 0 ? -errno : 0;
  }
  if (result == 0) {
    prepare_to_serve();
    what = "server";
    result = dev_server_loop(&server);
  }
  if (result != 0) {
    fprintf(stderr, "daedalus-v3d-device: %s: %s\n", what, strerror(-result));
    if (launch.child > 0)
      kill(launch.child, SIGTERM);
    launch.status = EXIT_NO_DEVICE;
  }
  dev_server_destroy(&server);
  /* With the job that was stopped just now. */
  if (!print_summary(&server.device) && options->check_jobs && launch.status == 0)
    launch.status = EXIT_WRONG;
  dev_faults_free(&server.device.faults);
  if (server.event_fd >= 0)
    close(server.event_fd);
  return launch.status;
}

int dev_launch(struct dev_options *options, const daedalus_v3d_executor *executor) {
  char directory[PATH_MAX], path[PATH_MAX + 8];
  sigset_t set, mask;
  signal_set(&set);
  signal(SIGCHLD, SIG_DFL);            /* who ignores it is never told that the program has ended */
  sigprocmask(SIG_BLOCK, &set, &mask); /* before the workers are started, which inherit it */
  if (options->socket != NULL) {
    const int status = serve(options, executor, options->socket, &mask);
    if (status == 0 || status == EXIT_WRONG)
      unlink(options->socket);
    return status;
  }
  const char *tmp = getenv("TMPDIR");
  /* A socket's path is short; a relative one would be lost with the program's first chdir. */
  if (tmp == NULL || tmp[0] != '/' || strlen(tmp) > 60)
    tmp = "/tmp";
  snprintf(directory, sizeof directory, "%s/daedalus-v3d-XXXXXX", tmp);
  if (mkdtemp(directory) == NULL) {
    fprintf(stderr, "daedalus-v3d-device: %s: %s\n", directory, strerror(errno));
    return EXIT_NO_DEVICE;
  }
  snprintf(path, sizeof path, "%s/device", directory);
  const int status = serve(options, executor, path, &mask);
  unlink(path);
  rmdir(directory);
  return status;
}
