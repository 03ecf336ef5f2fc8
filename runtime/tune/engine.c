/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "tune/engine.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tune/child.h"
#include "tune/group.h"
#include "tune/progress.h"
#include "tune/samples.h"

enum { STATUS_BAD = 1, STATUS_ARGUMENTS = 2, STATUS_MISSING = 3, STATUS_INTERRUPTED = 130 };

/* ---------------------------------------------------------------------------- measuring */

static bool record(void *user, const tune_point *point, const tune_outcome *outcome) {
  tune_engine *engine = user;
  const tune_verdict v = outcome->verdict;
  json_line line = engine_result_line(engine, point, outcome);
  engine->measured++;
  engine->bad += v == TUNE_WRONG || v == TUNE_FAILED || v == TUNE_LOST || v == TUNE_TIMEOUT;
  if (!engine->echo && v == TUNE_OK) {
    printf("%s: %.3f ns [%.3f, %.3f] of %u\n", point->text, outcome->median, outcome->low,
           outcome->high, outcome->samples);
  } else if (!engine->echo) {
    printf("%s: %s: %s\n", point->text, engine_verdict(v), outcome->why);
  }
  fflush(stdout);
  return engine_append(engine, &line);
}

bool engine_over_budget(const tune_engine *engine) {
  const double budget = engine->options.budget;
  return budget > 0 && now_ns() - engine->began > 1e9 * budget;
}

bool engine_has(tune_engine *engine, const char *key) {
  const journal_entry *entry = journal_find(&engine->journal, key);
  if (entry != NULL && engine->echo) {
    printf("%.*s\n", (int)entry->size, entry->line);
    fflush(stdout);
  }
  return entry != NULL;
}

static bool done_before(tune_engine *engine, const tune_point *point) {
  char key[ID_BYTES];
  engine_key(engine, point, key);
  return engine_has(engine, key);
}

static bool together(const tune_point *a, const tune_point *b) {
  return a->kernel == b->kernel && a->class_index == b->class_index &&
         strcmp(a->route, b->route) == 0;
}

/* The core that is used last of those that are allowed. */
static int last_core(void) {
  cpu_set_t set;
  int last = -1;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; core++) {
      last = CPU_ISSET(core, &set) ? core : last;
    }
  }
  return last;
}

static bool run_group(tune_engine *engine, const tune_point *const *group, size_t n) {
  char keys[GROUP_MOST][ID_BYTES];
  const char *route = group[0]->route;
  const bool vulkan = strcmp(route, "vulkan") == 0, drm = strcmp(route, "drm") == 0;
  tune_setup setup = engine->setup;
  setup.core = engine->options.core;
  if (setup.core < 0 && !vulkan && !drm) {
    setup.core = last_core();
  }
  const bool there = (vulkan && engine->devices.place.vulkan) || (drm && engine->devices.place.drm);
  for (size_t i = 0; i < n; i++) {
    engine_key(engine, group[i], keys[i]);
  }
  const char(*known)[ID_BYTES] = (const char(*)[ID_BYTES])keys;
  const bool going = group_run(&setup, group, known, n, there, record, engine);
  if (going) {
    progress_forget(engine->progress, &engine->journal, known, n);
  }
  return going;
}

/* Of a text that is no point here: tells whoever drives this; no line of the journal. */
static void refuse_point(const char *text, const char *why) {
  json_line line = json_open("refused");
  json_text(&line, "point", text);
  json_text(&line, "reason", why);
  json_close(&line);
  printf("%s\n", line.text);
  fflush(stdout);
  json_free(&line);
}

/* Whether every data file has items for it; told where not, as that says nothing of the point. */
static bool has_data(const tune_engine *engine, const tune_point *point) {
  for (size_t f = 0; f < engine->setup.n_files; f++) {
    const sample_items *items = samples_of(&engine->setup.files[f], point->kernel);
    if (items != NULL && samples_have(items, point->class_index)) {
      continue;
    }
    char why[WHY_BYTES];
    snprintf(why, sizeof(why), "%.300s has no items of its kernel and class",
             engine->options.data[f]);
    if (engine->echo) {
      refuse_point(point->text, why);
    } else {
      fprintf(stderr, "%s: %s: not measured: %s\n", program_name, point->text, why);
    }
    return false;
  }
  return true;
}

/* Whether the point is on the list before that place, too. */
static bool repeated(const tune_points *points, size_t place) {
  for (size_t i = 0; i < place; i++) {
    if (strcmp(points->list[i].text, points->list[place].text) == 0) {
      return true;
    }
  }
  return false;
}

/* @return whether to go on */
static bool run_points(tune_engine *engine, const tune_points *points) {
  bool *taken = allocate_zeroed(points->n * sizeof(*taken));
  bool going = true;
  engine->points += points->n;
  for (size_t i = 0; i < points->n; i++) {
    taken[i] = repeated(points, i) || done_before(engine, &points->list[i]) ||
               !has_data(engine, &points->list[i]);
  }
  for (size_t i = 0; i < points->n && going; i++) {
    const tune_point *group[GROUP_MOST];
    size_t n = 0;
    for (size_t k = i; !taken[i] && k < points->n && n < engine->options.group; k++) {
      if (!taken[k] && together(&points->list[i], &points->list[k])) {
        group[n++] = &points->list[k];
      }
    }
    for (size_t k = 0; k < n; k++) {
      taken[group[k] - points->list] = true;
    }
    going = !child_interrupted() &&
            (n == 0 || (!engine_over_budget(engine) && run_group(engine, group, n)));
  }
  free(taken);
  return going && !child_interrupted();
}

/* -------------------------------------------------------------------------------- points */

static bool of_scenario(const tune_engine *engine, const tune_point *point) {
  const tune_scenario s = engine->options.scenario;
  return s == SCENARIO_ANY || (s == SCENARIO_M3) == (point->variant->cpu != NULL);
}

static void all_points(const tune_engine *engine, tune_points *points) {
  tune_points all = {0};
  points_of_table(engine->setup.world->table, engine->options.kernel, engine->compiler,
                  &engine->devices.place, &all);
  for (size_t i = 0; i < all.n; i++) {
    if (of_scenario(engine, &all.list[i])) {
      points_add(points, &all.list[i]);
    }
  }
  points_free(&all);
}

/* Adds the points of a line.  @return how many texts are none */
static size_t parse_line(const tune_engine *engine, char *line, const char *where,
                         tune_points *points) {
  size_t bad = 0;
  for (char *text = strtok(line, " \t\r\n"); text != NULL; text = strtok(NULL, " \t\r\n")) {
    char why[WHY_BYTES] = "it is not of the scenario";
    tune_point point;
    if (point_parse(engine->setup.world->table, engine->compiler, text, &point, why) &&
        of_scenario(engine, &point)) {
      points_add(points, &point);
      continue;
    }
    bad++;
    if (engine->echo) {
      refuse_point(text, why);
    } else {
      fprintf(stderr, "%s: %s: %s: %s\n", program_name, where, text, why);
    }
  }
  return bad;
}

static int run_file(tune_engine *engine) {
  const char *path = engine->options.points, *why;
  FILE *file = daedalus_rt_open_regular(path, &why);
  char *line = NULL, where[1024];
  size_t capacity = 0, bad = 0, number = 0;
  tune_points points = {0};
  if (file == NULL) {
    fprintf(stderr, "%s: %s: %s\n", program_name, path, why);
    return STATUS_ARGUMENTS;
  }
  while (getline(&line, &capacity, file) >= 0) {
    snprintf(where, sizeof(where), "%s:%zu", path, ++number);
    bad += parse_line(engine, line, where, &points);
  }
  fclose(file);
  free(line);
  if (bad == 0) {
    (void)run_points(engine, &points);
  }
  points_free(&points);
  return bad == 0 ? 0 : STATUS_ARGUMENTS;
}

/* A line of standard input at a time, each answered before the next is read. */
static int run_driven(tune_engine *engine) {
  char *line = NULL;
  size_t capacity = 0;
  bool going = true;
  setvbuf(stdin, NULL, _IONBF, 0); /* what it had read ahead nobody could wait for */
  while (going && child_await_input(STDIN_FILENO) && getline(&line, &capacity, stdin) >= 0) {
    tune_points points = {0};
    (void)parse_line(engine, line, "standard input", &points);
    going = run_points(engine, &points);
    points_free(&points);
  }
  free(line);
  return 0;
}

static int run_all(tune_engine *engine) {
  tune_points points = {0};
  all_points(engine, &points);
  if (points.n == 0) {
    fprintf(stderr, "%s: no point of that kernel and scenario can be measured here; --list\n",
            program_name);
    return STATUS_MISSING;
  }
  (void)run_points(engine, &points);
  points_free(&points);
  return 0;
}

/* --------------------------------------------------------------------------------- setup */

static void set_up(tune_engine *engine, const tune_world *world) {
  const tune_options *o = &engine->options;
  engine->setup = (tune_setup){.world = world,
                               .items = o->items,
                               .samples = o->samples,
                               .precision = o->precision,
                               .point_seconds = o->point_seconds,
                               .timeout = o->timeout,
                               .cool_down = o->cool_down,
                               .core = o->core,
                               .sysfs = o->sysfs};
  engine->compiler = point_own_compiler();
  if (o->compiler != NULL) {
    engine->compiler = strncmp(o->compiler, "clang", 5) == 0 ? "clang"
                       : strncmp(o->compiler, "gcc", 3) == 0 ? "gcc"
                                                             : NULL;
  }
  if (engine->compiler == NULL) {
    die("--compiler begins with gcc or clang", o->compiler);
  }
}

static void read_data(tune_engine *engine) {
  const size_t n = engine->options.n_data;
  sample_file *files = allocate_zeroed(n * sizeof(*files));
  engine->setup.seeds = allocate_zeroed(n * sizeof(*engine->setup.seeds));
  for (size_t i = 0; i < n; i++) {
    files[i] = read_samples(engine->options.data[i], engine->setup.world->table);
    engine->setup.seeds[i] = files[i].seed;
  }
  engine->setup.files = files;
  engine->setup.n_files = n;
}

/* A file for the samples, one a fingerprint, as two programs of two compilers share a journal. */
static void keep_progress(tune_engine *engine) {
  const size_t size = strlen(engine->options.journal) + 2 * (size_t)ID_BYTES;
  engine->progress = allocate(size);
  snprintf(engine->progress, size, "%s.%s.samples", engine->options.journal,
           engine->fingerprint.id);
  engine->setup.progress = engine->progress;
}

static void free_all(tune_engine *engine) {
  sample_file *files = (sample_file *)(uintptr_t)engine->setup.files;
  for (size_t i = 0; i < engine->setup.n_files; i++) {
    free_samples(&files[i]);
  }
  free(files);
  free(engine->setup.seeds);
  free(engine->progress);
  journal_close(&engine->journal);
}

static int list(const tune_engine *engine) {
  tune_points points = {0};
  all_points(engine, &points);
  for (size_t i = 0; i < points.n; i++) {
    puts(points.list[i].text);
  }
  points_free(&points);
  return 0;
}

/* Measures, and says in the journal how it ended. */
static int run(tune_engine *engine) {
  const char *points = engine->options.points;
  int status;
  if (engine->options.scenario == SCENARIO_M4) {
    status = engine_mixed(engine);
  } else if (points == NULL) {
    status = run_all(engine);
  } else {
    engine->echo = strcmp(points, "-") == 0;
    status = engine->echo ? run_driven(engine) : run_file(engine);
  }
  if (status == STATUS_ARGUMENTS || engine->cannot_record) {
    return STATUS_ARGUMENTS;
  }
  const char *ended = child_interrupted()          ? "interrupted"
                      : status != 0                ? "failed"
                      : engine_over_budget(engine) ? "budget"
                                                   : "done";
  engine->echo = false;
  json_line line = engine_run_line(engine, ended);
  if (!engine_append(engine, &line)) {
    return STATUS_ARGUMENTS;
  }
  return child_interrupted() ? STATUS_INTERRUPTED
         : status != 0       ? status
         : engine->bad != 0  ? STATUS_BAD
                             : 0;
}

/* Said once: a governor that lets the clock follow the load. */
static void note_governor(const tune_engine *engine) {
  const char *clocks = engine->fingerprint.clocks;
  if (strcmp(clocks, "-") != 0 && strncmp(clocks, "performance ", 12) != 0) {
    fprintf(stderr,
            "%s: the governor lets clocks follow the load (%s): under \"performance\" "
            "times are steadier\n",
            program_name, clocks);
  }
}

int tune_main(int argc, char **argv, const tune_world *world) {
  tune_engine engine = {.began = now_ns()};
  program_name = "daedalus-tune";
  options_parse(&engine.options, argc, argv);
  child_catch_interrupts();
  set_up(&engine, world);
  engine.devices = fingerprint_devices(&engine.setup);
  if (engine.options.list) {
    return list(&engine);
  }
  read_data(&engine);
  engine.fingerprint = fingerprint_take(&engine.setup, engine.devices.driver,
                                        engine.options.compiler, engine.options.generator);
  note_governor(&engine);
  keep_progress(&engine);
  int status = STATUS_ARGUMENTS;
  const journal_terms terms = {engine.options.samples, engine.options.precision,
                               engine.options.point_seconds};
  if (journal_open(&engine.journal, engine.options.journal, engine.fingerprint.id, &terms)) {
    status = run(&engine);
  }
  free_all(&engine);
  return status;
}
