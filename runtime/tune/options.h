/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of daedalus-tune; docs/tuning-engine.md describes it. */
#ifndef DAEDALUS_TUNE_OPTIONS_H
#define DAEDALUS_TUNE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { DATA_MOST = 16, COMMAND_BYTES = 2048 };
enum { SAMPLES_LEAST = 10 }; /* of fewer the interval of the median says next to nothing */

typedef enum tune_scenario {
  SCENARIO_ANY, /* m2 of GPU variants, m3 of CPU variants */
  SCENARIO_M2,
  SCENARIO_M3,
  SCENARIO_M4
} tune_scenario;

typedef struct tune_options {
  const char *data[DATA_MOST];
  size_t n_data;
  const char *journal, *points, *kernel, *compiler, *generator, *cpu_kernel, *qpu_kernel, *sysfs;
  const char *cpu_instead; /* of M4; NULL: by rank */
  tune_scenario scenario;
  bool list;
  size_t items, group;
  unsigned samples;
  unsigned threads;   /* of M4; 0: 1 to 4, as far as there are cores */
  int core, qpu_core; /* -1: not said */
  double budget;      /* seconds; 0: none */
  double precision, point_seconds, timeout, cool_down, duration;
  char command[COMMAND_BYTES]; /* the whole line */
} tune_options;

/* Ends the program with status 2 for what is no option; with 0 after --help. */
void options_parse(tune_options *o, int argc, char **argv);

#endif
