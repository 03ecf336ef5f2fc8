/* SPDX-License-Identifier: BSD-2-Clause */
/* The tuner as a whole: points, journal, resume. */
#ifndef DAEDALUS_TUNE_ENGINE_H
#define DAEDALUS_TUNE_ENGINE_H

#include "tune/fingerprint.h"
#include "tune/journal.h"
#include "tune/measure.h"
#include "tune/options.h"

typedef struct tune_engine {
  tune_options options;
  tune_setup setup;
  const char *compiler; /* of CPU points: "gcc" or "clang" */
  tune_devices devices;
  tune_fingerprint fingerprint;
  journal journal;
  char *progress;     /* path of the file of samples without a result */
  double began;       /* of the monotonic clock, ns */
  size_t points;      /* that were asked for */
  size_t measured;    /* of them, by this run */
  size_t bad;         /* of these, wrong, failed, lost or timed out */
  bool echo;          /* lines of the journal go to standard output as well */
  bool cannot_record; /* the journal cannot be written: the end */
} tune_engine;

/*
 * The program.
 * @return 0; 1 some point was wrong, failed, lost or timed out; 2 bad arguments or files; 3 what is
 *         needed is not there; 130 interrupted
 */
int tune_main(int argc, char **argv, const tune_world *world);

/* "m2 items=N" or "m3 items=N". */
void engine_scenario(const tune_engine *engine, const tune_point *point, char text[NAME_BYTES]);
/* The variant's hash of the manifest; "-" where this program does not know it. */
const char *engine_hash(const tune_engine *engine, const daedalus_variant *variant);
/* Of a point's result: of its text, the scenario and the hash. */
void engine_key(const tune_engine *engine, const tune_point *point, char key[ID_BYTES]);
/* Name of a verdict, as lines have it. */
const char *engine_verdict(tune_verdict verdict);
/* A point's line, closed. */
json_line engine_result_line(const tune_engine *engine, const tune_point *point,
                             const tune_outcome *outcome);
/* The last line of a run, closed. */
json_line engine_run_line(const tune_engine *engine, const char *ended);
/* Appends a closed line, the fingerprint's before the first, and frees it.  @return false: failed
 */
bool engine_append(tune_engine *engine, json_line *line);

/* Whether the journal has the key; then its line is told again to who drives this. */
bool engine_has(tune_engine *engine, const char *key);
/* Whether the budget is spent. */
bool engine_over_budget(const tune_engine *engine);

/* Scenario M4.  @return as tune_main(), 0 for "go on" */
int engine_mixed(tune_engine *engine);

#endif
