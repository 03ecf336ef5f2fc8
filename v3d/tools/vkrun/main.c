/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vkrun [OPTION]... PLAN... - runs the cases of plans on a Vulkan device.
 *
 * Output, one line each: `device ...`, then per case `case NAME`; `statistics ...` when asked for;
 * and one of
 *   ok NAME MICROSECONDS    after `buffer NAME BUFFER BYTES FNV1A-64` for each buffer
 *   failed NAME path:line: what the device refused
 *   unsupported NAME path:line: what the device lacks
 * Exit code: 0 all cases ran, 1 one failed, 2 bad input, 3 no device, or a case is unsupported.
 */
#define _GNU_SOURCE
#include "files/replace.h"
#include "vkrun.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct options {
  const char *device, *out;
  unsigned timeout_s;
  bool statistics, list, announce;
} options;

static const char usage[] =
    "usage: vkrun [option]... PLAN...   (- is standard input)\n"
    "  --device TEXT    the device whose name or driver's name contains TEXT; else the first\n"
    "  --out FOLDER     write the buffers of each case, in order, to FOLDER/CASE.bin\n"
    "  --timeout SEC    how long a fence may take (60)\n"
    "  --statistics     print what the driver says of each compiled pipeline\n"
    "  --announce       say on standard error, too, which case begins: a driver's messages follow\n"
    "  --list           print the devices and end\n";

void *need(size_t n, size_t size) {
  void *memory = calloc(n != 0 ? n : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "vkrun: out of memory\n");
    exit(EXIT_FAILED);
  }
  return memory;
}

uint8_t *read_file(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    return NULL;
  }
  uint8_t *data = NULL;
  size_t room = 0;
  *bytes = 0;
  for (size_t n = 1; n != 0; *bytes += n) {
    if (*bytes == room) {
      room = room != 0 ? 2 * room : 65536;
      uint8_t *more = realloc(data, room);
      if (more == NULL) {
        break;
      }
      data = more;
    }
    n = fread(data + *bytes, 1, room - *bytes, f);
  }
  bool good = feof(f) && !ferror(f);
  int why = good ? 0 : errno;
  fclose(f);
  if (!good) {
    free(data);
    errno = why;
    return NULL;
  }
  return data;
}

static uint64_t fnv1a(const uint8_t *data, uint64_t bytes) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (uint64_t i = 0; i < bytes; ++i) {
    hash = (hash ^ data[i]) * 0x100000001b3U;
  }
  return hash;
}

/* Why the device cannot run a case; NULL when it can. */
static const char *lacks(const gpu *g, const case_plan *c, int *line) {
  *line = c->line;
  if (c->needs_subgroup != 0 && c->needs_subgroup != g->subgroup) {
    return "its subgroups have another size";
  }
  for (size_t i = 0; i < c->n_pipelines; ++i) {
    uint32_t size = c->pipelines[i].subgroup;
    *line = c->pipelines[i].line;
    if (size != 0 && size != g->subgroup &&
        (!g->subgroup_control || size < g->subgroup_min || size > g->subgroup_max)) {
      return "it cannot make subgroups of that size";
    }
  }
  return NULL;
}

static bool write_buffers(const work *w, const char *folder) {
  size_t room = strlen(folder) + strlen(w->c->name) + 6;
  char *path = need(room, 1);
  snprintf(path, room, "%s/%s.bin", folder, w->c->name);
  struct iovec *parts = need(w->c->n_buffers + 1, sizeof *parts);
  for (size_t i = 0; i < w->c->n_buffers; ++i) {
    parts[i] = (struct iovec){.iov_base = w->mapped[i], .iov_len = w->c->buffers[i].bytes};
  }
  const char *wrong = daedalus_v3d_replace_file(path, parts, w->c->n_buffers);
  if (wrong != NULL) {
    fprintf(stderr, "vkrun: %s: %s\n", path, wrong);
  }
  free(parts);
  free(path);
  return wrong == NULL;
}

static int64_t microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static int run_case(gpu *g, const plan *in, const case_plan *c, const options *o, bool *lost) {
  printf("case %s\n", c->name);
  int line;
  const char *lack = lacks(g, c, &line);
  if (lack != NULL) {
    printf("unsupported %s %s:%d: %s\n", c->name, in->path, line, lack);
    return EXIT_ABSENT;
  }
  fflush(stdout); /* a driver may end the program */
  if (o->announce) {
    fprintf(stderr, "vkrun: case %s\n", c->name);
  }
  work w = {.g = g, .in = in, .c = c};
  int64_t start = 0;
  bool good = work_make(&w, o->statistics);
  if (good) {
    start = microseconds();
    good = work_run(&w, o->timeout_s, lost);
  }
  int64_t took = microseconds() - start;
  int code = good ? EXIT_OK : EXIT_FAILED;
  if (good && o->out != NULL && !write_buffers(&w, o->out)) {
    printf("failed %s %s:%d: its buffers could not be written\n", c->name, in->path, c->line);
    code = EXIT_BAD_INPUT;
  }
  for (size_t i = 0; code == EXIT_OK && i < c->n_buffers; ++i) {
    uint64_t bytes = c->buffers[i].bytes;
    printf("buffer %s %s %" PRIu64 " %016" PRIx64 "\n", c->name, c->buffers[i].name, bytes,
           fnv1a(w.mapped[i], bytes));
  }
  if (code == EXIT_OK) {
    printf("ok %s %" PRId64 "\n", c->name, took);
  }
  if (!*lost) {
    work_free(&w);
  }
  fflush(stdout);
  return code;
}

static bool read_options(int argc, char **argv, options *o) {
  static const struct option known[] = {
      {"device", required_argument, NULL, 'd'},
      {"out", required_argument, NULL, 'o'},
      {"timeout", required_argument, NULL, 't'},
      {"statistics", no_argument, NULL, 's'},
      {"list", no_argument, NULL, 'l'},
      {"announce", no_argument, NULL, 'a'},
      {NULL, 0, NULL, 0},
  };
  *o = (options){.timeout_s = 60};
  char *end = "";
  for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (c) {
      case 'd':
        o->device = optarg;
        break;
      case 'o':
        o->out = optarg;
        break;
      case 't':
        o->timeout_s = (unsigned)strtoul(optarg, &end, 10);
        break;
      case 's':
        o->statistics = true;
        break;
      case 'l':
        o->list = true;
        break;
      case 'a':
        o->announce = true;
        break;
      default:
        return false;
    }
  }
  return *end == '\0' && o->timeout_s != 0 && o->timeout_s <= 86400 && (o->list || optind < argc);
}

int main(int argc, char **argv) {
  options o;
  if (!read_options(argc, argv, &o)) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  size_t n = (size_t)(argc - optind);
  plan *plans = need(n, sizeof *plans);
  for (size_t i = 0; i < n; ++i) {
    if (!plan_read(argv[optind + (int)i], &plans[i])) {
      return EXIT_BAD_INPUT;
    }
  }
  gpu g;
  int code = gpu_open(&g, o.device, o.list);
  bool lost = false;
  bool failed = false, bad = false, unsupported = false;
  for (size_t i = 0; code == EXIT_OK && !o.list && i < n; ++i) {
    for (size_t k = 0; !lost && k < plans[i].n_cases; ++k) {
      int outcome = run_case(&g, &plans[i], &plans[i].cases[k], &o, &lost);
      failed |= outcome == EXIT_FAILED;
      bad |= outcome == EXIT_BAD_INPUT;
      unsupported |= outcome == EXIT_ABSENT;
    }
  }
  if (lost) {
    fprintf(stderr, "vkrun: the device is lost; cases after that were not run\n");
    return EXIT_FAILED;
  }
  gpu_close(&g);
  if (code != EXIT_OK) {
    return code;
  }
  return failed ? EXIT_FAILED : bad ? EXIT_BAD_INPUT : unsupported ? EXIT_ABSENT : EXIT_OK;
}
