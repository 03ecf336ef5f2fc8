/* SPDX-License-Identifier: BSD-2-Clause */
/* M4's part of the tuner: which variants, which cores, and what is recorded. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cpu/cpu.h"
#include "tune/child.h"
#include "tune/engine.h"
#include "tune/mixed.h"
#include "tune/names.h"

enum { STATUS_ARGUMENTS = 2, STATUS_MISSING = 3 };
/* Where the QPU is driven from, and with how many threads at most, unless it is said. */
enum { QPU_CORE = 3, THREADS_MOST = 4 };

/* ------------------------------------------------------------------------------- choosing */

/* The class of all items. */
static uint16_t full_of(const daedalus_kernel_desc *kernel) {
  return (uint16_t)(kernel->n_classes - 1);
}

/* Whether a variant can run here, on the CPU or by a route to the GPU. */
static bool runs(const tune_engine *engine, const daedalus_variant *v, bool on_cpu) {
  if (on_cpu) {
    return v->cpu != NULL && (v->needs & ~daedalus_cpu_features) == 0;
  }
  return engine->devices.place.vulkan ? v->gpu != NULL : v->qpu != NULL;
}

/* The variant of a class that goes first by its rank; NULL: there is none. */
static const daedalus_variant *first_of(const tune_engine *engine,
                                        const daedalus_kernel_desc *kernel, uint16_t class_index,
                                        bool on_cpu) {
  const daedalus_variant *first = NULL;
  for (size_t v = 0; v < kernel->n_variants; v++) {
    const daedalus_variant *variant = &kernel->variants[v];
    if (variant->class_index == class_index && runs(engine, variant, on_cpu) &&
        (first == NULL || variant->rank < first->rank)) {
      first = variant;
    }
  }
  return first;
}

/* For items of a class, the variant that the runtime takes or, where the class has none, that for
   any items that goes first.  @return false, told: there is none */
static bool best(const tune_engine *engine, const daedalus_kernel_desc *kernel,
                 uint16_t class_index, bool on_cpu, tune_point *point) {
  const daedalus_variant *first = on_cpu ? daedalus_rt_cpu_choose(kernel, class_index)
                                         : first_of(engine, kernel, class_index, on_cpu);
  if (first == NULL) {
    first = first_of(engine, kernel, full_of(kernel), on_cpu);
  }
  if (first == NULL) {
    fprintf(stderr, "%s: %s has no variant that can run on the %s here\n", program_name, kernel->id,
            on_cpu ? "CPU" : "QPU");
    return false;
  }
  *point = point_make(kernel, first, class_index, engine->compiler,
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
  const daedalus_kernel_desc *kernel = names_kernel(engine->setup.world->table, text, why);
  if (kernel == NULL) {
    fprintf(stderr, "%s: %s\n", program_name, why);
    return STATUS_ARGUMENTS;
  }
  return best(engine, kernel, full_of(kernel), on_cpu, point) ? 0 : STATUS_MISSING;
}

/* The QPU's items on the CPU, by the option or as `best` has it.  @return a status, 0 for success
 */
static int choose_instead(const tune_engine *engine, mixed_request *r) {
  const char *text = engine->options.cpu_instead;
  if (text == NULL) {
    const bool there = best(engine, r->qpu.kernel, r->qpu.class_index, true, &r->instead);
    return there ? 0 : STATUS_MISSING;
  }
  const int status = choose(engine, text, true, &r->instead);
  if (status == 0 &&
      (r->instead.kernel != r->qpu.kernel || r->instead.class_index != r->qpu.class_index)) {
    fprintf(stderr, "%s: --cpu-instead: %s is not of the kernel and class of %s\n", program_name,
            r->instead.text, r->qpu.text);
    return STATUS_ARGUMENTS;
  }
  return status;
}

/* Cores that are allowed, the QPU's last.  @return how many; 0, told: not that one */
static unsigned cores_of(int qpu_core, int cores[MIXED_THREADS_MOST], int *driven_from) {
  cpu_set_t set;
  unsigned n = 0;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    CPU_ZERO(&set);
  }
  int last = QPU_CORE;
  for (int core = 0; qpu_core < 0 && !CPU_ISSET(QPU_CORE, &set) && core < CPU_SETSIZE; core++) {
    last = CPU_ISSET(core, &set) ? core : last;
  }
  *driven_from = qpu_core < 0 ? last : qpu_core;
  if (!CPU_ISSET(*driven_from, &set)) {
    fprintf(stderr, "%s: --qpu-core: this process cannot run on core %d\n", program_name,
            *driven_from);
    return 0;
  }
  for (int core = 0; core < CPU_SETSIZE && n + 1 < MIXED_THREADS_MOST; core++) {
    if (CPU_ISSET(core, &set) && core != *driven_from) {
      cores[n++] = core;
    }
  }
  cores[n++] = *driven_from;
  return n;
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
  json_text(&line, "instead_point", r->instead.text);
  json_text(&line, "cpu_hash", engine_hash(engine, r->cpu.variant));
  json_text(&line, "qpu_hash", engine_hash(engine, r->qpu.variant));
  json_text(&line, "instead_hash", engine_hash(engine, r->instead.variant));
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
    snprintf(o->why, sizeof(o->why), "a run was not done in %g s", r->setup->timeout);
  } else if (child_lacked_memory(end, o->why, sizeof(o->why))) {
    o->verdict = TUNE_UNAVAILABLE;
  } else if (end->kind == CHILD_STUCK) {
    snprintf(o->why, sizeof(o->why), "its process had closed all, and did not end in %d s",
             CHILD_ENDING);
  } else if (end->kind == CHILD_KILLED) {
    snprintf(o->why, sizeof(o->why), "it was killed by %s", child_signal_name(end->status));
  } else {
    snprintf(o->why, sizeof(o->why), "it ended the process with status %d", end->status);
  }
}

static bool measure_and_record(tune_engine *engine, mixed_request *r, const char *scenario,
                               const char *key) {
  r->shared = child_memory(sizeof(*r->shared));
  const child_end end = child_run(mixed_measure, r, &r->shared->watch,
                                  engine->setup.timeout + engine->setup.cool_down, NULL);
  bool going = end.kind != CHILD_INTERRUPT;
  if (going) {
    if (!atomic_load(&r->shared->done)) {
      judge(r, &end);
    }
    const tune_verdict v = r->shared->outcome.verdict;
    json_line line = line_of(engine, r, scenario, key);
    engine->measured++;
    engine->bad += v == TUNE_WRONG || v == TUNE_FAILED || v == TUNE_LOST || v == TUNE_TIMEOUT;
    tell(r, scenario);
    going = engine_append(engine, &line);
  }
  child_memory_free(r->shared, sizeof(*r->shared));
  return going;
}

/* With so many threads, unless the journal has it.  @return whether to go on */
static bool run_threads(tune_engine *engine, mixed_request *r, unsigned threads) {
  char scenario[2 * NAME_BYTES + 128], key[ID_BYTES];
  r->threads = threads;
  snprintf(scenario, sizeof(scenario),
           "m4 cpu=%s qpu=%s threads=%u core=%d items=%zu samples=%u seconds=%g", r->cpu.kernel->id,
           r->qpu.kernel->id, threads, r->qpu_core, r->setup->items, r->setup->samples, r->seconds);
  const char *const parts[] = {r->cpu.text,
                               "|",
                               r->qpu.text,
                               "|",
                               scenario,
                               "|",
                               r->instead.text,
                               "|",
                               engine_hash(engine, r->cpu.variant),
                               "|",
                               engine_hash(engine, r->qpu.variant),
                               "|",
                               engine_hash(engine, r->instead.variant),
                               NULL};
  journal_hash(key, parts);
  engine->points++;
  return engine_has(engine, key) ||
         (!engine_over_budget(engine) && measure_and_record(engine, r, scenario, key));
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

/* What is asked for; @return a status, 0 for success */
static int request(const tune_engine *engine, mixed_request *r, unsigned *n_cores) {
  const tune_options *o = &engine->options;
  if (!engine->devices.place.vulkan && !engine->devices.place.drm) {
    fprintf(stderr, "%s: m4 needs a GPU, and none is there\n", program_name);
    return STATUS_MISSING;
  }
  int status = choose(engine, o->cpu_kernel, true, &r->cpu);
  status = status != 0 ? status : choose(engine, o->qpu_kernel, false, &r->qpu);
  status = status != 0 ? status : choose_instead(engine, r);
  if (status != 0) {
    return status;
  }
  *n_cores = cores_of(o->qpu_core, r->cores, &r->qpu_core);
  if (*n_cores != 0 && o->threads > *n_cores) {
    fprintf(stderr, "%s: --neon-threads: there are %u cores\n", program_name, *n_cores);
    return STATUS_ARGUMENTS;
  }
  return *n_cores != 0 && has_data(engine, &r->cpu) && has_data(engine, &r->qpu) ? 0
                                                                                 : STATUS_ARGUMENTS;
}

int engine_mixed(tune_engine *engine) {
  const tune_options *o = &engine->options;
  mixed_request r = {.setup = &engine->setup, .seconds = o->duration};
  unsigned n_cores;
  const int status = request(engine, &r, &n_cores);
  if (status != 0) {
    return status;
  }
  const unsigned most = n_cores < THREADS_MOST ? n_cores : THREADS_MOST;
  const unsigned first = o->threads != 0 ? o->threads : 1;
  const unsigned last = o->threads != 0 ? o->threads : most;
  for (unsigned t = first; t <= last && !child_interrupted(); t++) {
    if (!run_threads(engine, &r, t)) {
      break;
    }
  }
  return 0;
}
