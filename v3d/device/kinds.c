/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of jobs, as their queues see them. */
#include <errno.h>

#include "cl.h"
#include "timed.h"

static bool always(const struct dev_job *job) {
  (void)job;
  return true;
}

static bool never(const struct dev_job *job) {
  (void)job;
  return false;
}

/* A list that moves little is run at once: waking a thread takes longer. */
static bool moves_little(const struct dev_job *job) {
  enum { LITTLE = 64 << 10 };
  return job->moves <= LITTLE;
}

static int run_cl(struct dev_job *job) {
  int result = job->bcl_start == job->bcl_end
                   ? 0
                   : dev_cl_check_binning(job->view, job->bcl_start, job->bcl_end, job->message,
                                          sizeof job->message);
  if (result == 0)
    result = dev_cl_run(job->view, job->rcl_start, job->rcl_end, true, NULL, job->message,
                        sizeof job->message);
  job->refused = result == -EOPNOTSUPP; /* the list has changed since it was submitted */
  return result;
}

static int run_csd(struct dev_job *job) {
  daedalus_v3d_job csd = {.buffers = job->view->buffers, .n_buffers = job->view->n};
  for (size_t i = 0; i < 7; i++)
    csd.cfg[i] = job->cfg[i];
  csd.strict = job->device->strict;
  const daedalus_v3d_executor *executor = &job->device->executor;
  return dev_is_timed(job->device) ? dev_timed_run(job, &csd)
                                   : executor->run_csd(executor->self, &csd, &job->counts,
                                                       job->message, sizeof job->message);
}

const struct dev_kind dev_kinds[DEV_N_QUEUES] = {
    [DEV_QUEUE_CL] = {"command list", "v3d_render", true, false, moves_little, run_cl},
    [DEV_QUEUE_TFU] = {"texture formatting", "v3d_tfu", false, false, always, NULL},
    [DEV_QUEUE_CSD] = {"compute", "v3d_csd", true, true, never, run_csd},
    [DEV_QUEUE_CPU] = {"CPU", "v3d_cpu", false, false, always, dev_cpu_run},
};
