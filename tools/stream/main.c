/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - decodes a file and prints the MD5 of every frame.
 *
 *   stream [--ours|--bare|--portable] [--fault FUNCTION:N] [--frames N]
 *          [--keep FIELD] [--reorder N] [--threads N] [--slices] [--quiet] [--go-on] FILE
 *
 * --ours puts daedalus' functions into the decoder; --bare does so as any
 * program that links them would, and counts nothing; --portable puts the
 * decoder's own portable functions there, and with --bare in front of ours;
 * with it, --keep FIELD leaves these in a field of the tables.  --threads N decodes by so many
 * threads, frames side by side or, with --slices, parts of one.  --quiet
 * prints no frames.  --go-on tells what the decoder refuses, and goes on
 * behind it.  --fault spoils one pixel
 * of every Nth call's output of one of them.  Output, a fact a line:
 *   frame INDEX MD5      of the cropped planes, as FFmpeg's framemd5 computes it
 *   error NAME           with --go-on: what the decoder said
 *   spent NANOSECONDS    of the processor, by decoding
 *   slots GOOD           entries of the decoder's tables found where expected
 *   calls FUNCTION N CLASS
 *   through FUNCTION N WAY
 *   watched N, stock ADDRESS WHERE   functions of the decoder whose places are
 *                        all ours, and those of them that were executed
 * Exit status: 0; 2 bad arguments or file; 3 decoding failed; 4 the decoder is
 * not the one this program knows; 5 the GPU (qpu.h) failed.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime() */

#include "stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool stream_replace, stream_bare, stream_portable, stream_quiet, stream_goes_on, stream_in_slices;
const char *stream_kept;
int stream_threads = 1;

enum { MOST_THREADS = 1024 };

typedef struct options {
  const char *path;
  long frames;
  int reorder;
} options;

_Noreturn void stream_fail(int status, const char *what, const char *detail) {
  fflush(stdout);
  fprintf(stderr, "%s%s%s\n", what, *detail ? ": " : "", detail);
  exit(status);
}

static void set_fault(const char *text) {
  const char *colon = strchr(text, ':');
  for (size_t i = 0; colon && i < stream_n_functions; i++) {
    const char *id = stream_functions[i].id;
    if (strlen(id) == (size_t)(colon - text) && strncmp(id, text, strlen(id)) == 0) {
      stream_functions[i].fault_every = strtoull(colon + 1, NULL, 10);
      return;
    }
  }
  stream_fail(EXIT_INPUT, "--fault takes FUNCTION:N", text);
}

static int threads(const char *text) {
  char *end;
  const long n = strtol(text, &end, 10);
  if (end == text || *end || n < 1 || n > MOST_THREADS) {
    stream_fail(EXIT_INPUT, "--threads takes a number of threads", text);
  }
  return (int)n;
}

static bool is_ours(const char *field) {
  for (size_t i = 0; stream_fields[i]; i++) {
    if (strcmp(stream_fields[i], field) == 0) {
      return true;
    }
  }
  return false;
}

/* Refuses options that others leave without effect. */
static void check_ways(void) {
  if (stream_replace && stream_bare) {
    stream_fail(EXIT_INPUT, "--ours and --bare are two ways", "");
  }
  if (stream_kept && !stream_bare && !stream_replace) {
    stream_fail(EXIT_INPUT, "--keep is for --ours and --bare", stream_kept);
  }
  if (stream_kept && !is_ours(stream_kept)) {
    stream_fail(EXIT_INPUT, "no field of the tables with functions of ours", stream_kept);
  }
}

static options parse(int argc, char **argv) {
  options o = {.path = NULL, .frames = -1, .reorder = -1};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--ours") == 0) {
      stream_replace = true;
    } else if (strcmp(argv[i], "--bare") == 0) {
      stream_bare = true;
    } else if (strcmp(argv[i], "--portable") == 0) {
      stream_portable = true;
    } else if (strcmp(argv[i], "--keep") == 0 && i + 1 < argc) {
      stream_kept = argv[++i];
    } else if (strcmp(argv[i], "--quiet") == 0) {
      stream_quiet = true;
    } else if (strcmp(argv[i], "--go-on") == 0) {
      stream_goes_on = true;
    } else if (strcmp(argv[i], "--slices") == 0) {
      stream_in_slices = true;
    } else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      stream_threads = threads(argv[++i]);
    } else if (strcmp(argv[i], "--fault") == 0 && i + 1 < argc) {
      set_fault(argv[++i]);
    } else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc) {
      o.frames = strtol(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--reorder") == 0 && i + 1 < argc) {
      o.reorder = (int)strtol(argv[++i], NULL, 10);
    } else if (argv[i][0] != '-' && !o.path) {
      o.path = argv[i];
    } else {
      stream_fail(EXIT_INPUT, "bad argument", argv[i]);
    }
  }
  if (!o.path) {
    stream_fail(EXIT_INPUT,
                "usage: stream [--ours|--bare|--portable] [--keep FIELD] [--fault FUNCTION:N]"
                " [--frames N] [--reorder N] [--threads N] [--slices] [--quiet] [--go-on] FILE",
                "");
  }
  check_ways();
  return o;
}

/* Nanoseconds of the processor that this process has had. */
static uint64_t spent(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv) {
  const options o = parse(argc, argv);
  stream_packets file = stream_open(o.path);
  const uint64_t before = spent();
  if (stream_decode(&file, o.frames, o.reorder) == 0 && !stream_goes_on) {
    stream_fail(EXIT_DECODE, o.path, "holds no frame");
  }
  printf("spent %" PRIu64 "\n", spent() - before);
  stream_close(&file);
  printf("slots %u\n", stream_slots_good);
  stream_print_trapped();
  for (size_t i = 0; i < stream_n_functions; i++) {
    const stream_function *f = &stream_functions[i];
    for (int c = 0; c < STREAM_MAX_CLASSES && f->classes[c]; c++) {
      printf("calls %s %" PRIu64 " %s\n", f->id, f->calls[c], f->classes[c]);
    }
    for (int w = 0; w < STREAM_MAX_CLASSES && f->ways[w]; w++) {
      printf("through %s %" PRIu64 " %s\n", f->id, f->through[w], f->ways[w]);
    }
  }
  return 0;
}
