/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs jobs on the functional simulator. */
#include <errno.h>
#include <stdio.h>

#include "main.h"

static int run_csd(void *self, const daedalus_v3d_job *job, daedalus_v3d_counts *counts,
                   char *message, size_t message_size) {
  daedalus_v3d_report report;
  const daedalus_v3d_outcome outcome = daedalus_v3d_machine_run(self, job, &report);
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
  daedalus_v3d_machine_stop(self);
}

static void destroy(void *self) {
  daedalus_v3d_machine_destroy(self);
}

static int make_simulator(const struct dev_options *options, daedalus_v3d_executor *executor) {
  daedalus_v3d_machine *machine = daedalus_v3d_machine_create(&options->profile);
  if (machine == NULL) {
    fprintf(stderr, "daedalus-v3d-device: no memory for the simulator\n");
    return -ENOMEM;
  }
  *executor = (daedalus_v3d_executor){
      .self = machine, .run_csd = run_csd, .stop = stop, .destroy = destroy};
  return 0;
}

int main(int argc, char **argv) {
  return dev_main(argc, argv, make_simulator);
}
