/* SPDX-License-Identifier: BSD-2-Clause */
/* M4's part of the tuner: which variants, which cores, and what is recorded. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tune/child.h"
#include "tune/engine.h"
#include "tune/mixed.h"

enum { STATUS_ARGUMENTS = 2, STATUS_MISSING = 3 };

/* ------------------------------------------------------------------------------- choosing */

/* The kernel of an id, or the one whose id contains the text; else NULL, told. */
static const daedalus_kernel_desc *kernel_of(const tune_engine *engine, const char *text) {
  const daedalus_kernel_table *table = engine->setup.world->table;
  const daedalus_kernel_desc *found = NULL;
  char names[WHY_BYTES] = "";
  size_t n = 0;
  for (size_t a = 0; a < table->n_aliases; a++) {
    if (strcmp(table->aliases[a].alias, text) == 0) {
      return &table->kernels[table->aliases[a].kernel];
    }
  }
  for (size_t k = 0; k < table->n_kernels; k++) {
    const char *id = table->kernels[k].id;
    if (strcmp(id, text) == 0) {
      return &table->kernels[k];
    }
    if (strstr(id, text) != NULL) {
      found = &table->kernels[k];
      n++;
      snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s", id);
    }
  }
  if (n != 1) {
    fprintf(stderr, "%s: %s is in the ids of %zu kernels%s%s; name one\n", program_name, text, n,
            n != 0 ? ":" : "", names);
    return NULL;
  }
  return found;
}

/* Whether a variant can run here, on the CPU or by a route to the GPU. */
static bool runs(const tune_engine *engine, const daedalus_variant *v, bool on_cpu) {
  if (on_cpu) {
    return v->cpu != NULL && (v->needs & ~daedalus_cpu_features) == 0;
  }
  return engine->devices.place.vulkan ? v->gpu != NULL : v->qpu != NULL;
}

/* The variant for all items that goes first by its rank.  @return false, told: there is none */
static bool best(const tune_engine *engine, const daedalus_kernel_desc *kernel, bool on_cpu,
                 tune_point *point) {
  const uint16_t full = (uint16_t)(kernel->n_classes - 1);
  const daedalus_variant *first = NULL;
  for (size_t v = 0; v < kernel->n_variants; v++) {
    const daedalus_variant *variant = &kernel->variants[v];
    if (variant->class_index == full && runs(engine, variant, on_cpu) &&
        (first == NULL || variant->rank < first->rank)) {
      first = variant;
    }
  }
  if (first == NULL) {
    fprintf(stderr, "%s: %s has no variant that can run on the %s here\n", program_name, kernel->id,
            on_cpu ? "CPU" : "QPU");
    return false;
  }
  *point = point_make(kernel, first, full, engine->compiler,
                      first->gpu != NULL ? first->gpu->workgroup : 0);
  return true;
}

/* Of an option: a point, or a kernel.  @return a status, 0 for success */
static int choose(const tune_engine *engine, const char *text, bool on_cpu, tune_point *point) {
  char why[WHY_BYTES];
  if (strchr(text, '/') != NULL) {
    if (!point_parse(engine->setup.world->table, engine->compiler, text, point, why)) {
      fprintf(stderr, "%s: %s: %s\n", program_name, text, why);
      return STATUS_ARGUMENTS;
    }
    if ((point->variant->cpu != NULL) != on_cpu) {
      fprintf(stderr, "%s: %s: that variant is for the %s\n", program_name, text,
              on_cpu ? "QPU" : "CPU");
      return STATUS_ARGUMENTS;
    }
    return 0;
  }
  const daedalus_kernel_desc *kernel = kernel_of(engine, text);
  if (kernel == NULL) {
    return STATUS_ARGUMENTS;
  }
  return best(engine, kernel, on_cpu, point) ? 0 : STATUS_MISSING;
}

/* Cores of the threads: those that are allowed but the QPU's, and only then that one, too. */
static bool take_cores(mixed_request *r) {
  cpu_set_t set;
  int cores[CPU_SETSIZE];
  unsigned n = 0;
  if (sched_getaffinity(0, sizeof(set), &set) != 0 || !CPU_ISSET(r->qpu_core, &set)) {
    fprintf(stderr, "%s: --qpu-core: this process cannot run on core %d\n", program_name,
            r->qpu_core);
    return false;
  }
  for (int core = 0; core < CPU_SETSIZE; core++) {
    if (CPU_ISSET(core, &set) && core != r->qpu_core) {
      cores[n++] = core;
    }
  }
  cores[n++] = r->qpu_core;
  if (r->threads > n) {
    fprintf(stderr, "%s: --neon-threads: there are %u cores\n", program_name, n);
    return false;
  }
  memcpy(r->cores, cores, r->threads * sizeof(*cores));
  return true;
}

/* ------------------------------------------------------------------------------ recording */

static void add_figures(json_line *line, const mixed_outcome *o) {
  json_number(line, "cpu_alone", o->cpu_alone);
  json_number(line, "cpu_with", o->cpu_with);
  json_number(line, "qpu_alone", o->qpu_alone);
  json_number(line, "qpu_with", o->qpu_with);
  json_number(line, "cpu_time", o->cpu_time);
  json_number(line, "cpu_time_alone", o->cpu_time_alone);
}

static json_line line_of(const tune_engine *engine, const mixed_request *r, const char *scenario,
                         const char *key) {
  const mixed_outcome *o = &r->shared->outcome;
  char when[WHEN_BYTES];
  journal_now(when);
  json_line line = json_open("mixed");
  json_text(&line, "fingerprint", engine->fingerprint.id);
  json_text(&line, "key", key);
  json_text(&line, "scenario", scenario);
  json_text(&line, "cpu_point", r->cpu.text);
  json_text(&line, "qpu_point", r->qpu.text);
  json_text(&line, "verdict", engine_verdict(o->verdict));
  json_text(&line, "reason", o->why);
  json_count(&line, "threads", r->threads);
  json_count(&line, "qpu_core", (uint64_t)r->qpu_core);
  json_number(&line, "duration", r->seconds);
  if (o->verdict == TUNE_OK) {
    add_figures(&line, o);
  }
  json_count(&line, "discarded", o->discarded);
  json_count(&line, "samples", o->verdict == TUNE_OK ? o->samples : 0);
  json_text(&line, "when", when);
  json_close(&line);
  return line;
}

static void tell(const mixed_request *r, const char *scenario) {
  const mixed_outcome *o = &r->shared->outcome;
  if (o->verdict != TUNE_OK) {
    printf("%s: %s: %s\n", scenario, engine_verdict(o->verdict), o->why);
    return;
  }
  printf(
      "%s: items/s: CPU %.0f alone, %.0f with; QPU %.0f alone, %.0f with; "
      "CPU time of %zu items of each: %.6f s with the QPU, %.6f s without\n",
      scenario, o->cpu_alone, o->cpu_with, o->qpu_alone, o->qpu_with, r->setup->items, o->cpu_time,
      o->cpu_time_alone);
}

/* What the child's end says where there is no outcome. */
static void judge(mixed_request *r, const child_end *end) {
  mixed_outcome *o = &r->shared->outcome;
  *o = (mixed_outcome){.verdict = end->kind == CHILD_TIMEOUT ? TUNE_TIMEOUT : TUNE_FAILED};
  if (end->kind == CHILD_TIMEOUT) {
    snprintf(o->why, sizeof(o->why), "a part was not done %g s after its time", r->setup->timeout);
  } else if (end->kind == CHILD_KILLED) {
    snprintf(o->why, sizeof(o->why), "it was killed by %s", child_signal_name(end->status));
  } else {
    snprintf(o->why, sizeof(o->why), "it ended the process with status %d", end->status);
  }
}

static void measure_and_record(tune_engine *engine, mixed_request *r, const char *scenario,
                               const char *key) {
  r->shared = child_memory(sizeof(*r->shared));
  const child_end end =
      child_run(mixed_measure, r, &r->shared->watch,
                engine->setup.timeout + r->seconds + engine->setup.cool_down, NULL);
  if (end.kind != CHILD_INTERRUPT) {
    if (!atomic_load(&r->shared->done)) {
      judge(r, &end);
    }
    const tune_verdict v = r->shared->outcome.verdict;
    json_line line = line_of(engine, r, scenario, key);
    engine->measured++;
    engine->bad += v == TUNE_WRONG || v == TUNE_FAILED || v == TUNE_LOST || v == TUNE_TIMEOUT;
    tell(r, scenario);
    (void)engine_append(engine, &line);
  }
  child_memory_free(r->shared, sizeof(*r->shared));
}

/* -------------------------------------------------------------------------------- the whole */

static bool has_data(const tune_engine *engine, const tune_point *point) {
  for (size_t f = 0; f < engine->setup.n_files; f++) {
    const sample_items *items = samples_of(&engine->setup.files[f], point->kernel);
    if (items == NULL || !samples_have(items, point->class_index)) {
      fprintf(stderr, "%s: %s has no items of %s\n", program_name, engine->options.data[f],
              point->kernel->id);
      return false;
    }
  }
  return true;
}

int engine_mixed(tune_engine *engine) {
  const tune_options *o = &engine->options;
  mixed_request r = {.setup = &engine->setup,
                     .threads = o->threads,
                     .qpu_core = o->qpu_core,
                     .seconds = o->duration};
  char scenario[2 * NAME_BYTES + 128], key[ID_BYTES];
  if (!engine->devices.place.vulkan && !engine->devices.place.drm) {
    fprintf(stderr, "%s: m4 needs a GPU, and none is there\n", program_name);
    return STATUS_MISSING;
  }
  int status = choose(engine, o->cpu_kernel, true, &r.cpu);
  status = status != 0 ? status : choose(engine, o->qpu_kernel, false, &r.qpu);
  if (status != 0) {
    return status;
  }
  if (!best(engine, r.qpu.kernel, true, &r.instead)) {
    return STATUS_MISSING;
  }
  if (!take_cores(&r) || !has_data(engine, &r.cpu) || !has_data(engine, &r.qpu)) {
    return STATUS_ARGUMENTS;
  }
  snprintf(scenario, sizeof(scenario), "m4 cpu=%s qpu=%s threads=%u core=%d seconds=%g",
           r.cpu.kernel->id, r.qpu.kernel->id, r.threads, r.qpu_core, r.seconds);
  const char *const parts[] = {r.cpu.text, "|", r.qpu.text, "|", scenario, NULL};
  journal_hash(key, parts);
  engine->points = 1;
  if (journal_find(&engine->journal, key) == NULL) {
    measure_and_record(engine, &r, scenario, key);
  }
  return 0;
}
