/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <daedalus/v3d/simulate.h>

#include "device.h"

/* Buffers follow each other from FIRST on, each on a page of its own with a gap behind it, so that
 * what runs past one is found. */
enum { FIRST = 1 << 20, PAGE = 65536 };

typedef struct simulator {
  daedalus_v3d_machine *machine;
  daedalus_v3d_buffer buffers[MOST_BUFFERS];
  size_t n_buffers;
  uint32_t next;
  bool times;
} simulator;

static bool allocate(void *state, uint32_t size, device_buffer *buffer) {
  simulator *s = state;
  void *data = calloc(1, size);
  if (s->n_buffers == MOST_BUFFERS || size > UINT32_MAX - 2 * PAGE - s->next || data == NULL) {
    fprintf(stderr, "sgemm: no memory for a buffer of %u bytes\n", size);
    free(data);
    return false;
  }
  *buffer = (device_buffer){data, s->next, size};
  s->buffers[s->n_buffers++] = (daedalus_v3d_buffer){s->next, size, data};
  s->next += (size + PAGE - 1) / PAGE * PAGE + PAGE;
  return true;
}

static bool run(void *state, const uint32_t cfg[7], device_time *time) {
  simulator *s = state;
  daedalus_v3d_job job = {.buffers = s->buffers, .n_buffers = s->n_buffers, .strict = true};
  for (int i = 0; i < 7; i++)
    job.cfg[i] = cfg[i];
  daedalus_v3d_report report = {0};
  daedalus_v3d_outcome outcome = DAEDALUS_V3D_DONE;
  *time = (device_time){.modelled = s->times};
  /* An estimate leaves memory as it was: the job itself is still to be run. */
  if (s->times) {
    job.strict = false;
    outcome = daedalus_v3d_machine_estimate(s->machine, &job, &time->timing, &report);
    job.strict = true;
  }
  if (outcome == DAEDALUS_V3D_DONE)
    outcome = daedalus_v3d_machine_run(s->machine, &job, &report);
  if (outcome != DAEDALUS_V3D_DONE)
    fprintf(stderr, "sgemm: the simulator: %s\n", report.message);
  return outcome == DAEDALUS_V3D_DONE;
}

static void close_simulator(void *state) {
  simulator *s = state;
  for (size_t i = 0; i < s->n_buffers; i++)
    free(s->buffers[i].data);
  daedalus_v3d_machine_destroy(s->machine);
  free(s);
}

bool open_simulator(bool times, device *opened) {
  simulator *s = calloc(1, sizeof *s);
  if (s != NULL)
    s->machine = daedalus_v3d_machine_create(NULL);
  if (s == NULL || s->machine == NULL) {
    fprintf(stderr, "sgemm: no memory for the simulator\n");
    free(s);
    return false;
  }
  s->next = FIRST;
  s->times = times;
  *opened = (device){s, allocate, run, close_simulator};
  return true;
}
