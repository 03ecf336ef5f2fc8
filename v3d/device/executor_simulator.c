/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs jobs on the functional simulator. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/trace.h>

#include "files/replace.h"
#include "main.h"

struct simulator {
  daedalus_v3d_machine *machine;
  const char *folder; /* of --trace; NULL: no traces */
  unsigned n_jobs;
};

typedef void print_fn(const daedalus_v3d_trace *, const daedalus_v3d_job *,
                      const daedalus_v3d_report *, const daedalus_v3d_timing *, FILE *);

static void write_trace(const struct simulator *s, const char *suffix, print_fn *print,
                        const daedalus_v3d_job *job, const daedalus_v3d_report *report,
                        const daedalus_v3d_timing *timing) {
  char path[4096], *text = NULL;
  size_t size;
  snprintf(path, sizeof path, "%s/job-%06u.%s", s->folder, s->n_jobs, suffix);
  const char *wrong = "no memory";
  FILE *stream = open_memstream(&text, &size);
  if (stream != NULL) {
    print(job->trace, job, report, timing, stream);
    const bool failed = ferror(stream) != 0;
    if (fclose(stream) == 0 && !failed)
      wrong = daedalus_v3d_replace_file(
          path, &(const struct iovec){.iov_base = text, .iov_len = size}, 1);
  }
  if (wrong != NULL)
    fprintf(stderr, "daedalus-v3d-device: %s: %s\n", path, wrong);
  free(text);
}

static int error_of(daedalus_v3d_outcome outcome) {
  switch (outcome) {
    case DAEDALUS_V3D_DONE:
      return 0;
    case DAEDALUS_V3D_ENDLESS:
    case DAEDALUS_V3D_DEADLOCK:
      return -ETIMEDOUT;
    case DAEDALUS_V3D_STOPPED:
      return -ECANCELED;
    case DAEDALUS_V3D_NO_MEMORY:
      return -ENOMEM;
    default:
      return -EFAULT;
  }
}

static int run_csd(void *self, const daedalus_v3d_job *job, daedalus_v3d_counts *counts,
                   char *message, size_t message_size) {
  struct simulator *s = self;
  daedalus_v3d_report report;
  const daedalus_v3d_outcome outcome = daedalus_v3d_machine_run(s->machine, job, &report);
  *counts = report.counts;
  snprintf(message, message_size, "%s", report.message);
  return error_of(outcome);
}

static int run_timed(void *self, const daedalus_v3d_job *job, const daedalus_v3d_buffer *scratch,
                     daedalus_v3d_report *report, daedalus_v3d_timing *timing) {
  struct simulator *s = self;
  daedalus_v3d_trace trace = {0};
  daedalus_v3d_job timed = *job;
  timed.timed = true;
  if (scratch != NULL) { /* first, on memory as the job finds it; a failure shows again below */
    timed.buffers = scratch;
    daedalus_v3d_machine_estimate(s->machine, &timed, timing, report);
    timed.buffers = job->buffers;
  }
  timed.trace = s->folder != NULL ? &trace : NULL;
  const daedalus_v3d_outcome outcome = daedalus_v3d_machine_run(s->machine, &timed, report);
  s->n_jobs++;
  if (s->folder != NULL) {
    write_trace(s, "txt", daedalus_v3d_trace_print, &timed, report, timing);
    write_trace(s, "json", daedalus_v3d_trace_print_json, &timed, report, timing);
  }
  daedalus_v3d_trace_free(&trace);
  return error_of(outcome);
}

static void stop(void *self) {
  struct simulator *s = self;
  daedalus_v3d_machine_stop(s->machine);
}

static void resume(void *self) {
  struct simulator *s = self;
  daedalus_v3d_machine_resume(s->machine);
}

static void destroy(void *self) {
  struct simulator *s = self;
  daedalus_v3d_machine_destroy(s->machine);
  free(s);
}

int dev_make_simulator(const struct dev_options *options, daedalus_v3d_executor *executor) {
  struct simulator *s = calloc(1, sizeof *s);
  if (s != NULL) {
    s->folder = options->trace;
    s->machine = daedalus_v3d_machine_create(&options->profile);
  }
  if (s == NULL || s->machine == NULL) {
    free(s);
    fprintf(stderr, "daedalus-v3d-device: no memory for the simulator\n");
    return -ENOMEM;
  }
  *executor = (daedalus_v3d_executor){.self = s,
                                      .run_csd = run_csd,
                                      .run_timed = run_timed,
                                      .stop = stop,
                                      .resume = resume,
                                      .destroy = destroy};
  return 0;
}
