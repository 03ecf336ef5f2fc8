/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of a variant on a workload, timed and compared; in a child process. */
#ifndef DAEDALUS_TUNE_EXECUTE_H
#define DAEDALUS_TUNE_EXECUTE_H

#include "tune/setup.h"
#include "tune/work.h"

/* Bytes of guards around each buffer. */
enum { EXECUTE_MARGIN = 4096 };

typedef struct tune_times {
  double wall, cpu; /* ns; of the caller's thread */
  double gpu;       /* ns by the device's own clock; negative: it has none */
} tune_times;

/* Where variants of one route run. */
typedef struct tune_runner {
  const tune_setup *setup;
  daedalus_ctx *ctx;    /* NULL: the CPU */
  unsigned errors;      /* that the runtime logged */
  char said[WHY_BYTES]; /* the last of them */
  uint32_t *indices;    /* 0, 1, 2, ..., for CPU variants */
  size_t n_indices;
} tune_runner;

/*
 * Opens the route, "-" for the CPU.
 * @param[out] info  of the device, NULL: unwanted; valid until the runner is closed
 * @return false with `why` where it is not there
 */
bool runner_open(tune_runner *runner, const tune_setup *setup, const char *route,
                 daedalus_device_info *info, char why[WHY_BYTES]);
void runner_close(tune_runner *runner);

/* For the log of a context that a runner is given: counts errors and keeps the last one's text. */
void runner_log(void *runner, daedalus_log_level level, const char *message);

/* Lays items of a class out, with guards, in memory of the runner's.  @return false with `why` */
bool runner_place(tune_runner *runner, workload *work, const sample_items *samples, int class_index,
                  size_t n_items, char why[WHY_BYTES]);

/*
 * Runs the variant once on memory as it was given, and compares all of it.
 *
 * The wall's time is that of the variant's function, or of submit and wait; the caller's of these
 * and of append.
 * @param[out] why  of what is not TUNE_OK: TUNE_WRONG, TUNE_FAILED, TUNE_SPILLS,
 *                  TUNE_REFUSED, TUNE_UNAVAILABLE or TUNE_LOST
 */
tune_verdict runner_execute(tune_runner *runner, workload *work, const daedalus_variant *variant,
                            uint32_t workgroup, tune_times *times, char why[WHY_BYTES]);

/* The run alone, on memory as it is, with nothing compared: TUNE_WRONG cannot come of it. */
tune_verdict runner_run(tune_runner *runner, const workload *work, const daedalus_variant *variant,
                        uint32_t workgroup, tune_times *times, char why[WHY_BYTES]);
/* A call of a CPU variant, which runner_run() has found fit, with `n` items from `first` on. */
void runner_call(const tune_runner *runner, const workload *work, const daedalus_variant *variant,
                 size_t first, size_t n);

/* ns of a call of the CPU variant with no items. */
double runner_empty_call(const workload *work, const daedalus_variant *variant);

/* Keeps the calling thread on a core.  @return false where that cannot be */
bool runner_pin(int core);

#endif
