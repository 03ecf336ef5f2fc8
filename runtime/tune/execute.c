/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "tune/execute.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/context.h"
#include "gpu/selftest.h"
#include "tune/samples.h"
#include "tune/spills.h"

bool runner_pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* ----------------------------------------------------------------------------- the runner */

void runner_log(void *user, daedalus_log_level level, const char *message) {
  tune_runner *runner = user;
  if (level == DAEDALUS_LOG_ERROR) {
    runner->errors++;
    snprintf(runner->said, sizeof(runner->said), "%s", message);
  }
}

static void *resize(void *user, void *memory, size_t size) {
  (void)user;
  return realloc(memory, size);
}

static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

bool runner_open(tune_runner *runner, const tune_setup *setup, const char *route,
                 daedalus_device_info *info, char why[WHY_BYTES]) {
  const daedalus_allocator allocator = {resize, release, NULL};
  *runner = (tune_runner){.setup = setup};
  if (strcmp(route, "-") == 0) {
    return true;
  }
  /* Half of what a step may take: that the GPU hangs is told by the runtime. */
  const daedalus_config config = {
      .size = sizeof(config),
      .log = runner_log,
      .log_user = runner,
      .get_instance_proc_addr = spills_loader(setup->world->get_instance_proc_addr),
      .timeout_ms = setup->timeout > 20 ? 0 : (uint32_t)(500 * setup->timeout) + 1,
      .route = route};
  daedalus_device_info own = {.size = sizeof(own)};
  runner->ctx = daedalus_rt_ctx_create(&config, setup->world->table, &allocator);
  if (runner->ctx == NULL) {
    snprintf(why, WHY_BYTES, "no context: %s", strerror(errno));
    return false;
  }
  const bool found = daedalus_ctx_device(runner->ctx, &own) == 0;
  if (!found || strcmp(own.route, route) != 0) {
    snprintf(why, WHY_BYTES, "there is no GPU by the route %s%s%.300s", route,
             runner->said[0] != '\0' ? ": " : "", runner->said);
    runner_close(runner);
    return false;
  }
  if (info != NULL) {
    *info = own;
  }
  return true;
}

void runner_close(tune_runner *runner) {
  daedalus_ctx_destroy(runner->ctx);
  free(runner->indices);
  *runner = (tune_runner){0};
}

static bool is_lost(const tune_runner *runner) {
  daedalus_device_info info = {.size = sizeof(info)};
  return runner->ctx != NULL && (daedalus_ctx_device(runner->ctx, &info) != 0 || info.lost);
}

bool runner_place(tune_runner *runner, workload *work, const sample_items *samples, int class_index,
                  size_t n_items, char why[WHY_BYTES]) {
  if (!work_make(work, samples, class_index, n_items)) {
    snprintf(why, WHY_BYTES, "the data file has no items of class %s of %s",
             samples->kernel->classes[class_index].name, samples->kernel->id);
    return false;
  }
  work->margin = EXECUTE_MARGIN;
  if (!work_place(work, runner->ctx, runner->ctx != NULL)) {
    snprintf(why, WHY_BYTES, "no memory for %zu items of %s%s%.300s", n_items, samples->kernel->id,
             runner->said[0] != '\0' ? ": " : "", runner->said);
    work_free(work);
    return false;
  }
  if (runner->n_indices < n_items) {
    runner->indices = enlarge(runner->indices, n_items * sizeof(*runner->indices));
    for (size_t i = runner->n_indices; i < n_items; i++) {
      runner->indices[i] = (uint32_t)i;
    }
    runner->n_indices = n_items;
  }
  return true;
}

/* --------------------------------------------------------------------------------- a run */

static tune_verdict run_cpu(const tune_runner *runner, const workload *work,
                            const daedalus_variant *variant, tune_times *times,
                            char why[WHY_BYTES]) {
  daedalus_buffer buffers[MAX_BUFFERS];
  work_buffers(work, buffers);
  if ((variant->needs & ~daedalus_cpu_features) != 0) {
    snprintf(why, WHY_BYTES, "it needs instructions that this processor has not");
    return TUNE_REFUSED;
  }
  const double cpu = thread_ns(), begin = now_ns();
  variant->cpu(buffers, work->meta, runner->indices, work->n_items);
  const double end = now_ns();
  *times = (tune_times){.wall = end - begin, .cpu = thread_ns() - cpu, .gpu = -1};
  return TUNE_OK;
}

/* Whether what the runtime said tells of something that another time may be there. */
static bool is_passing(const char *said) {
  const char *const texts[] = {DAEDALUS_GPU_UNTESTED_WHY,
                               daedalus_strerror(-ENOMEM),
                               strerror(ENOMEM),
                               "VK_ERROR_OUT_OF_HOST_MEMORY",
                               "VK_ERROR_OUT_OF_POOL_MEMORY",
                               "VK_ERROR_OUT_OF_DEVICE_MEMORY"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    if (strstr(said, texts[i]) != NULL) {
      return true;
    }
  }
  return false;
}

/* What an error of the runtime's means. */
static tune_verdict verdict_of(const tune_runner *runner, int error, char why[WHY_BYTES]) {
  if (is_lost(runner)) {
    snprintf(why, WHY_BYTES, "the GPU was lost: %.400s", runner->said);
    return TUNE_LOST;
  }
  if (runner->said[0] != '\0') {
    snprintf(why, WHY_BYTES, "%s", runner->said);
  } else {
    snprintf(why, WHY_BYTES, "%s", daedalus_strerror(error));
  }
  if (is_passing(why)) {
    return TUNE_UNAVAILABLE;
  }
  return error == -ENODEV ? TUNE_REFUSED : TUNE_FAILED;
}

/* The batch, which is destroyed by whoever began it. */
static int run_batch(daedalus_batch *batch, const workload *work, const daedalus_variant *variant,
                     uint32_t workgroup, tune_times *times) {
  daedalus_buffer buffers[MAX_BUFFERS];
  uint64_t gpu_ns = 0;
  work_buffers(work, buffers);
  int error = daedalus_batch_set_flags(batch, DAEDALUS_BATCH_NO_SHADOW | DAEDALUS_BATCH_TIMESTAMPS);
  const double cpu = thread_ns();
  if (error == 0) {
    error = daedalus_append_variant(batch, work->kernel, variant, workgroup, buffers, work->n_items,
                                    work->meta);
  }
  const double begin = now_ns();
  if (error == 0) {
    error = daedalus_batch_submit(batch);
  }
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1);
  }
  const double end = now_ns();
  *times = (tune_times){.wall = end - begin, .cpu = thread_ns() - cpu, .gpu = -1};
  if (error == 0 && daedalus_batch_gpu_time(batch, &gpu_ns) == 0 && gpu_ns != 0) {
    times->gpu = (double)gpu_ns;
  }
  return error;
}

static tune_verdict run_gpu(tune_runner *runner, const workload *work,
                            const daedalus_variant *variant, uint32_t workgroup, tune_times *times,
                            char why[WHY_BYTES]) {
  daedalus_batch *batch = NULL;
  const unsigned errors = runner->errors;
  char spilled[WHY_BYTES / 2];
  runner->said[0] = '\0';
  spills_forget();
  int error = daedalus_batch_begin(runner->ctx, &batch);
  if (error == 0) {
    error = run_batch(batch, work, variant, workgroup, times);
  }
  daedalus_batch_destroy(batch);
  /* An error that was logged: the CPU has done it, and rightly, but it was not the variant. */
  if (error != 0 || errors != runner->errors) {
    return verdict_of(runner, error, why);
  }
  if (spills_seen(spilled, sizeof(spilled))) { /* in the run that compiled it, its first */
    snprintf(why, WHY_BYTES, "the driver's compiler spilled: %s", spilled);
    return TUNE_SPILLS;
  }
  return TUNE_OK;
}

tune_verdict runner_run(tune_runner *runner, const workload *work, const daedalus_variant *variant,
                        uint32_t workgroup, tune_times *times, char why[WHY_BYTES]) {
  return runner->ctx == NULL ? run_cpu(runner, work, variant, times, why)
                             : run_gpu(runner, work, variant, workgroup, times, why);
}

void runner_call(const tune_runner *runner, const workload *work, const daedalus_variant *variant,
                 size_t first, size_t n) {
  daedalus_buffer buffers[MAX_BUFFERS];
  work_buffers(work, buffers);
  variant->cpu(buffers, work->meta, runner->indices + first, n);
}

tune_verdict runner_execute(tune_runner *runner, workload *work, const daedalus_variant *variant,
                            uint32_t workgroup, tune_times *times, char why[WHY_BYTES]) {
  work_reset(work, true);
  tune_verdict verdict = runner_run(runner, work, variant, workgroup, times, why);
  if (verdict == TUNE_OK && !work_intact(work, why, WHY_BYTES)) {
    verdict = TUNE_WRONG;
  }
  if (verdict != TUNE_OK) {
    work_reset(work, false); /* of what it may have spoilt, others are not to blame */
  }
  return verdict;
}

double runner_empty_call(const workload *work, const daedalus_variant *variant) {
  daedalus_buffer buffers[MAX_BUFFERS];
  work_buffers(work, buffers);
  const double begin = now_ns();
  variant->cpu(buffers, work->meta, NULL, 0);
  return now_ns() - begin;
}
