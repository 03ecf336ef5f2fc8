/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/engine.h"
#include "simulator/timing/model.h"

/* What of a thread stays the same for the life of the machine. */
static void init_thread(struct daedalus_v3d_machine *machine, unsigned slot) {
  v3d_thread *thread = &machine->threads[slot];
  memset(thread, 0, sizeof *thread);
  thread->machine = machine;
  thread->state.profile = &machine->profile;
  thread->qpu = slot % machine->n_qpus;
  for (unsigned i = 0; i < DAEDALUS_V3D_SMALL_IMMEDIATES; i++)
    for (unsigned lane = 0; lane < V3D_LANES; lane++)
      thread->rows[V3D_ROW_SMALL + i][lane] = daedalus_v3d_small_immediate(i);
}

static bool is_in_range(const daedalus_v3d_profile *profile) {
  /* As 64 bits, so that no comparison is always true. */
#define ROW(name, value, min, max, text) \
  &&(uint64_t)profile->name + 1 > (uint64_t)(min) && (uint64_t)profile->name <= (uint64_t)(max)
  return true DAEDALUS_V3D_SETTINGS(ROW);
#undef ROW
}

daedalus_v3d_machine *daedalus_v3d_machine_create(const daedalus_v3d_profile *profile) {
  if (profile && !is_in_range(profile))
    return NULL;
  daedalus_v3d_machine *machine = calloc(1, sizeof *machine);
  if (!machine)
    return NULL;
  machine->profile = profile ? *profile : daedalus_v3d_profile_default();
  machine->n_qpus = machine->profile.slices * machine->profile.qpus_per_slice;
  const unsigned n = machine->n_qpus * V3D_MAX_THREADS;
  machine->threads = aligned_alloc(alignof(v3d_thread), n * sizeof *machine->threads);
  if (!machine->threads) {
    free(machine);
    return NULL;
  }
  for (unsigned slot = 0; slot < n; slot++)
    init_thread(machine, slot);
  return machine;
}

void daedalus_v3d_machine_destroy(daedalus_v3d_machine *machine) {
  if (!machine)
    return;
  daedalus_v3d_programs_free(&machine->programs);
  daedalus_v3d_memory_free(&machine->memory);
  daedalus_v3d_timing_free(machine->timing_state);
  free(machine->threads);
  free(machine);
}

void daedalus_v3d_machine_stop(daedalus_v3d_machine *machine) {
  atomic_store_explicit(&machine->stopped, true, memory_order_relaxed);
}

void daedalus_v3d_machine_resume(daedalus_v3d_machine *machine) {
  atomic_store_explicit(&machine->stopped, false, memory_order_relaxed);
}

/* Returns NULL, or why the job makes no sense. */
static const char *begin(daedalus_v3d_machine *machine, const daedalus_v3d_job *job) {
  const bool live = machine->profile.uniforms_see_stores;
  const char *reason = daedalus_v3d_memory_begin(&machine->memory, job->buffers, job->n_buffers,
                                                 machine->keep_memory || !live, live);
  if (!reason)
    reason = daedalus_v3d_dispatch_of(job->cfg, &machine->dispatch);
  if (reason)
    return reason;
  daedalus_v3d_programs_begin(&machine->programs);
  if (!++machine->job_number) /* 0 stands for none */
    daedalus_v3d_programs_free(&machine->programs), machine->job_number = 1;
  machine->strict = job->strict;
  machine->mode = (daedalus_v3d_program_mode){
      .strictness = DAEDALUS_V3D_STRICT,
      .threads = machine->dispatch.four_threads ? 4 : 2,
      .single_segment = machine->dispatch.single_segment,
      .flags_lost = !machine->profile.flags_stay,
  };
  machine->next_batch = 0;
  machine->newest = NULL;
  machine->n_slots = machine->n_qpus * machine->mode.threads;
  machine->slots_left = machine->profile.max_job_slots;
  machine->reset_left = UINT64_MAX;
  machine->n_busy = 0;
  memset(machine->batches_of, 0, sizeof machine->batches_of);
  memset(machine->objects, 0, sizeof machine->objects);
  memset(machine->supergroups, 0, sizeof machine->supergroups);
  for (unsigned slot = 0; slot < machine->n_slots; slot++) {
    v3d_thread *thread = &machine->threads[slot];
    thread->status = V3D_IDLE;
    thread->number = slot / machine->n_qpus * (V3D_MAX_THREADS / machine->mode.threads);
    thread->state.tidx = thread->qpu << 2 | thread->number;
  }
  return NULL;
}

daedalus_v3d_outcome daedalus_v3d_machine_run(daedalus_v3d_machine *machine,
                                              const daedalus_v3d_job *job,
                                              daedalus_v3d_report *report) {
  memset(report, 0, offsetof(daedalus_v3d_report, message));
  memset(&report->counts, 0, sizeof report->counts);
  memset(&report->times, 0, sizeof report->times);
  report->message[0] = 0;
  machine->report = report;
  if (job->trace) /* what an earlier job left is never taken for this one's */
    daedalus_v3d_trace_free(job->trace);
  const char *reason = begin(machine, job);
  if (reason) {
    daedalus_v3d_end_job(machine, DAEDALUS_V3D_BAD_JOB, "the job makes no sense: %s", reason);
    return report->outcome;
  }
  if (!daedalus_v3d_timing_begin(machine, job)) {
    daedalus_v3d_end_job(machine, DAEDALUS_V3D_NO_MEMORY,
                         "there is no memory for the timing model");
    return report->outcome;
  }
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  daedalus_v3d_run_threads(machine);
  daedalus_v3d_float_end(modes);
  daedalus_v3d_timing_end(machine);
  if (report->outcome == DAEDALUS_V3D_DONE)
    snprintf(report->message, sizeof report->message, "done: %lu batches, %llu instructions",
             (unsigned long)report->counts.batches,
             (unsigned long long)report->counts.instructions);
  return report->outcome;
}
