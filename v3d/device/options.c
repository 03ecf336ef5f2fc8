/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "main.h"
#include "memory.h"

enum { EXIT_USAGE = 2, EXIT_MISSING = 3 };

static const char usage[] =
    "usage: daedalus-v3d-device [options] --run -- program [arguments]\n"
    "       daedalus-v3d-device [options] --socket PATH\n"
    "\n"
    "A simulated Raspberry Pi 5 GPU (V3D 7.1): --run runs a program on it, --socket serves\n"
    "programs that are started by other means, until it gets SIGTERM or SIGINT.\n"
    "\n"
    "  --preload PATH  library for the program (default: libdaedalus-v3d-preload.so beside this)\n"
    "  --no-preload    the program preloads it itself\n"
    "  --qemu PATH     run the program by this qemu-aarch64; --preload is then one for arm64\n"
    "  --sysroot DIR   where its libraries lie (qemu's -L)\n"
    "  --memory MIB    memory of the device (default 4096)\n"
    "  --page-size KIB  pages of the device, and what sysconf() tells the program (4, 16 or 64)\n"
    "  --profile FILE  what is assumed of the board (default: that of a Raspberry Pi 5)\n"
    "  --strict        jobs that break a rule of the instruction set fail\n"
    "  --timed         time jobs by the timing model; timestamps show modelled time\n"
    "  --intervals     the same, with the least and the most by the settings that are open\n"
    "  --no-stretch    with these, waits give up by the host's clock, not by modelled time\n"
    "  --trace DIR     --timed, and write what each job did to DIR/job-NNNNNN.txt and .json\n"
    "  --log FILE      append reports of failed jobs to FILE as well\n"
    "  --quiet         reports go to the log alone\n"
    "  --jobs FILE     append a line of JSON to FILE for each job: what it did and took\n"
    "  --fault FAULT   have a fault, KIND@WHEN[:NAME=VALUE,...]; may be given again\n"
    "                  (those in DAEDALUS_V3D_FAULTS, separated by semicolons, come first)\n"
    "  --check-jobs    exit status 1 when the program's is 0 and a job failed, other than by a\n"
    "                  fault, or a fault never struck\n"
    "\n"
    "WHEN: the number of a submission, N-M, * or 1/P (one in P at random, seed=S). KIND:\n"
    "  no-memory  ENOMEM: of=buffer (default) counts CREATE_BO, of=syncobj SYNCOBJ_CREATE,\n"
    "             of=submit submissions\n"
    "  hang       a job makes no progress for ms=T (default: reset_ms of the profile), after\n"
    "             batches=N (default 0) of its batches\n"
    "  lost       ENODEV from then on: of=device (default; reopen=yes) or of=client\n"
    "  slow       a job takes ms=T longer, or factor=F times as long\n"
    "  flip       bits=N (default 1) of what a job wrote are other ones (seed=S)\n";

static int bad(const char *what, const char *value) {
  fprintf(stderr, "daedalus-v3d-device: %s%s%s\n%s", what, value == NULL ? "" : ": ",
          value == NULL ? "" : value, usage);
  return EXIT_USAGE;
}

static int read_profile(const char *path, daedalus_v3d_profile *profile) {
  char text[1 << 16], message[256];
  /* A FIFO that nobody writes to would keep a plain open() for ever. */
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  if (file == NULL) {
    fprintf(stderr, "daedalus-v3d-device: %s: %s\n", path, strerror(errno));
    return EXIT_USAGE;
  }
  struct stat status;
  const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const size_t length = regular ? fread(text, 1, sizeof text, file) : 0;
  const bool failed = !regular || ferror(file) || length == sizeof text;
  fclose(file);
  if (failed) {
    fprintf(stderr, "daedalus-v3d-device: %s: cannot be read as a profile\n", path);
    return EXIT_USAGE;
  }
  const unsigned line = daedalus_v3d_profile_parse(text, length, profile, message, sizeof message);
  if (line == 0)
    return 0;
  fprintf(stderr, "daedalus-v3d-device: %s:%u: %s\n", path, line, message);
  return EXIT_USAGE;
}

static int read_memory(const char *text, uint64_t *bytes) {
  char *end;
  errno = 0;
  const unsigned long mib = strtoul(text, &end, 10);
  if (errno != 0 || end == text || *end != 0 || mib == 0 || mib > DEV_ADDRESS_SPACE >> 20)
    return bad("--memory takes 1 to 4096", text);
  *bytes = (uint64_t)mib << 20;
  return 0;
}

static int read_page(const char *text, uint64_t *bytes) {
  static const char *const sizes[] = {"4", "16", "64"};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (strcmp(text, sizes[i]) == 0) {
      *bytes = UINT64_C(4096) << 2 * i;
      return 0;
    }
  }
  return bad("--page-size takes 4, 16 or 64", text);
}

/* The library beside this program. False: where that is cannot be told. */
static bool find_preload(char path[PATH_MAX]) {
  static const char name[] = "libdaedalus-v3d-preload.so";
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof name - 1);
  if (length <= 0)
    return false;
  path[length] = 0;
  char *slash = strrchr(path, '/');
  if (slash == NULL)
    return false;
  strcpy(slash + 1, name);
  return true;
}

static int open_file(const char *path, FILE **file) {
  /* A FIFO that nobody reads would keep a plain open() for ever; this one fails. */
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) != 0)
    return bad(strerror(errno), path);
  *file = fdopen(fd, "a");
  return *file == NULL ? bad(strerror(errno), path) : 0;
}

static int add_faults(const char *text, bool list, struct dev_options *options) {
  char message[200];
  const int result = list ? dev_faults_add_list(&options->faults, text, message, sizeof message)
                          : dev_faults_add(&options->faults, text, message, sizeof message);
  if (result == 0)
    return 0;
  fprintf(stderr, "daedalus-v3d-device: fault '%s': %s (--help lists faults)\n", text, message);
  return EXIT_USAGE;
}

static int set_value(int letter, const char *value, struct dev_options *options) {
  switch (letter) {
    case 's':
      options->socket = value;
      return 0;
    case 'p':
      options->preload = value;
      return 0;
    case 'q':
      options->qemu = value;
      return 0;
    case 'r':
      options->sysroot = value;
      return 0;
    case 'm':
      return read_memory(value, &options->memory);
    case 'k':
      return read_page(value, &options->page);
    case 'b':
      return read_profile(value, &options->profile);
    case 't':
      options->trace = value;
      return access(value, W_OK | X_OK) == 0 ? 0 : bad(strerror(errno), value);
    case 'l':
      return open_file(value, &options->log);
    case 'j':
      return open_file(value, &options->jobs);
    case 'f':
      return add_faults(value, false, options);
    default: /* h */
      fputs(usage, stdout);
      exit(0);
  }
}

static int read_options(int argc, char **argv, struct dev_options *options, int *run) {
  int no_preload = 0;
  const struct option longs[] = {
      {"run", no_argument, run, 1},
      {"socket", required_argument, NULL, 's'},
      {"preload", required_argument, NULL, 'p'},
      {"no-preload", no_argument, &no_preload, 1},
      {"qemu", required_argument, NULL, 'q'},
      {"sysroot", required_argument, NULL, 'r'},
      {"memory", required_argument, NULL, 'm'},
      {"page-size", required_argument, NULL, 'k'},
      {"profile", required_argument, NULL, 'b'},
      {"strict", no_argument, &options->strict, 1},
      {"timed", no_argument, &options->timed, 1},
      {"intervals", no_argument, &options->intervals, 1},
      {"no-stretch", no_argument, &options->no_stretch, 1},
      {"trace", required_argument, NULL, 't'},
      {"log", required_argument, NULL, 'l'},
      {"quiet", no_argument, &options->quiet, 1},
      {"jobs", required_argument, NULL, 'j'},
      {"fault", required_argument, NULL, 'f'},
      {"check-jobs", no_argument, &options->check_jobs, 1},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  int result = 0;
  opterr = 0;
  for (int c; result == 0 && (c = getopt_long(argc, argv, "+", longs, NULL)) != -1;) {
    if (c == '?')
      result = bad("unknown option, or one without its value", argv[optind - 1]);
    else if (c != 0)
      result = set_value(c, optarg, options);
  }
  if (no_preload)
    options->preload = NULL;
  options->timed |= options->intervals;
  return result;
}

static int serve_options(int argc, char **argv, dev_executor_fn make_executor,
                         struct dev_options *options) {
  char beside[PATH_MAX];
  int run = 0;
  options->preload = find_preload(beside) ? beside : NULL;
  const char *from_environment = getenv("DAEDALUS_V3D_FAULTS");
  int result = from_environment == NULL ? 0 : add_faults(from_environment, true, options);
  if (result == 0)
    result = read_options(argc, argv, options, &run);
  if (result != 0)
    return result;
  if (run == (options->socket != NULL))
    return bad("one of --run and --socket is needed", NULL);
  if (run && optind == argc)
    return bad("--run needs a program", NULL);
  if (!run && optind != argc)
    return bad("--socket takes no program", argv[optind]);
  if ((options->qemu != NULL) != (options->sysroot != NULL) || (options->qemu != NULL && !run))
    return bad("--qemu, --sysroot and --run go together", NULL);
  if (run)
    options->program = argv + optind;
  /* Programs change their folder. */
  char library[PATH_MAX], sysroot[PATH_MAX];
  if (options->preload != NULL && realpath(options->preload, library) != NULL)
    options->preload = library;
  if (options->sysroot != NULL && realpath(options->sysroot, sysroot) != NULL)
    options->sysroot = sysroot;
  if (run && options->preload != NULL && access(options->preload, R_OK) != 0) {
    fprintf(stderr, "daedalus-v3d-device: %s: %s (--preload names another)\n", options->preload,
            strerror(errno));
    return EXIT_MISSING;
  }
  daedalus_v3d_executor executor;
  if (make_executor(options, &executor) != 0)
    return EXIT_MISSING;
  result = dev_launch(options, &executor);
  if (executor.destroy != NULL)
    executor.destroy(executor.self);
  if (options->log != NULL)
    fclose(options->log);
  if (options->jobs != NULL)
    fclose(options->jobs);
  return result;
}

int dev_main(int argc, char **argv, dev_executor_fn make_executor) {
  struct dev_options options = {.memory = DEV_ADDRESS_SPACE,
                                .profile = daedalus_v3d_profile_default()};
  const int result = serve_options(argc, argv, make_executor, &options);
  dev_faults_free(&options.faults); /* those that no device has taken over */
  return result;
}
