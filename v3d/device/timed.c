/* SPDX-License-Identifier: BSD-2-Clause */
#include "timed.h"
#include "fault_jobs.h"

#include <errno.h>
#include <stdlib.h>

bool dev_is_timed(const struct dev_device *device) {
  return device->timed && device->executor.run_timed != NULL;
}

/* The buffers of csd on memory of their own; NULL: no memory. */
static daedalus_v3d_buffer *scratch_of(struct dev_device *device, const daedalus_v3d_job *csd) {
  uint8_t *base = dev_memory_scratch(&device->memory);
  daedalus_v3d_buffer *buffers =
      base == NULL ? NULL : malloc((csd->n_buffers + 1) * sizeof *buffers);
  for (size_t i = 0; buffers != NULL && i < csd->n_buffers; i++) {
    buffers[i] = csd->buffers[i];
    buffers[i].data = base + buffers[i].address;
  }
  return buffers;
}

int dev_timed_run(struct dev_job *job, const daedalus_v3d_job *csd) {
  struct dev_device *device = job->device;
  struct dev_modelled *modelled = job->modelled = calloc(1, sizeof *modelled);
  daedalus_v3d_buffer *scratch = NULL;
  if (modelled == NULL || (device->intervals && (scratch = scratch_of(device, csd)) == NULL)) {
    snprintf(job->message, sizeof job->message, "there is no memory to time the job");
    return -ENOMEM;
  }
  const daedalus_v3d_executor *executor = &device->executor;
  const int result = executor->run_timed(executor->self, csd, scratch, &modelled->report,
                                         scratch == NULL ? NULL : &modelled->timing);
  modelled->has_interval = scratch != NULL;
  job->counts = modelled->report.counts;
  if (result != 0)
    snprintf(job->message, sizeof job->message, "%s", modelled->report.message);
  if (scratch != NULL)
    dev_memory_drop_scratch(&device->memory);
  free(scratch);
  return result;
}

uint64_t dev_timed_ns(const struct dev_job *job) {
  return job->modelled == NULL
             ? 0
             : daedalus_v3d_dispatch_ns(&job->modelled->report.times, &job->device->profile);
}

void dev_timed_end(struct dev_job *job) {
  struct dev_device *device = job->device;
  struct dev_modelled *modelled = job->modelled;
  if (job->queue != DEV_QUEUE_CSD || !dev_is_timed(device))
    return;
  const uint64_t begin = device->gpu_ns;
  device->gpu_ns += dev_fault_modelled_ns(job, dev_timed_ns(job));
  if (modelled == NULL) /* it never ran */
    return;
  modelled->begin_ns = begin;
  modelled->end_ns = device->gpu_ns;
}

void dev_timed_print(const struct dev_job *job, FILE *file) {
  const struct dev_modelled *modelled = job->modelled;
  if (modelled == NULL)
    return;
  fprintf(file, ", \"modelled\": {\"begin_ns\": %llu, \"end_ns\": %llu, ",
          (unsigned long long)modelled->begin_ns, (unsigned long long)modelled->end_ns);
  daedalus_v3d_times_print_json(&modelled->report, file);
  if (modelled->has_interval) {
    fprintf(file, ", \"interval\": ");
    daedalus_v3d_timing_print_json(&modelled->timing, file);
  }
  fputc('}', file);
}

uint64_t dev_timestamp_ns(const struct dev_device *device) {
  return dev_is_timed(device) ? device->gpu_ns : dev_now_ns();
}
