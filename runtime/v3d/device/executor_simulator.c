/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs jobs on the functional simulator. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/trace.h>

#include "main.h"

struct simulator {
  daedalus_v3d_machine *machine;
  const char *folder; /* of --trace; NULL: no traces */
  unsigned n_jobs;
};

typedef void print_fn(const daedalus_v3d_trace *, const daedalus_v3d_job *,
                      const daedalus_v3d_report *, FILE *);

static void write_trace(const struct simulator *s, const char *suffix, print_fn *print,
                        const daedalus_v3d_job *job, const daedalus_v3d_report *report) {
  char path[4096];
  snprintf(path, sizeof path, "%s/job-%06u.%s", s->folder, s->n_jobs, suffix);
  FILE *file = fopen(path, "we");
  if (file != NULL)
    print(job->trace, job, report, file);
  if (file == NULL || fclose(file) != 0)
    fprintf(stderr, "daedalus-v3d-device: %s: %s\n", path, strerror(errno));
}

static daedalus_v3d_outcome run_traced(struct simulator *s, const daedalus_v3d_job *job,
                                       daedalus_v3d_report *report) {
  daedalus_v3d_trace trace = {0};
  daedalus_v3d_job traced = *job;
  traced.trace = &trace;
  daedalus_v3d_machine_run(s->machine, &traced, report);
  s->n_jobs++;
  write_trace(s, "txt", daedalus_v3d_trace_print, &traced, report);
  write_trace(s, "json", daedalus_v3d_trace_print_json, &traced, report);
  daedalus_v3d_trace_free(&trace);
  return report->outcome;
}

static int run_csd(void *self, const daedalus_v3d_job *job, daedalus_v3d_counts *counts,
                   char *message, size_t message_size) {
  struct simulator *s = self;
  daedalus_v3d_report report;
  const daedalus_v3d_outcome outcome = s->folder != NULL
                                           ? run_traced(s, job, &report)
                                           : daedalus_v3d_machine_run(s->machine, job, &report);
  *counts = report.counts;
  snprintf(message, message_size, "%s", report.message);
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
  *executor = (daedalus_v3d_executor){
      .self = s, .run_csd = run_csd, .stop = stop, .resume = resume, .destroy = destroy};
  return 0;
}
