/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions in time: what each waits for.  And the beginning and the end of a job. */
#include "simulator/timing/model.h"

#include <stdlib.h>
#include <string.h>

enum { SLOT = DAEDALUS_V3D_SLOT_CLOCKS };

uint8_t daedalus_v3d_timing_of(const daedalus_v3d_effects *effects) {
  const uint32_t shared =
      DAEDALUS_V3D_EFFECT_LOOKUP | DAEDALUS_V3D_EFFECT_SYNC | DAEDALUS_V3D_EFFECT_BARRIER;
  unsigned bits = 0;
  if ((effects->kinds & shared) || (effects->events & DAEDALUS_V3D_EVENT_THRSW))
    bits |= V3D_TIMING_SHARED;
  if (effects->kinds & DAEDALUS_V3D_EFFECT_SFU)
    bits |= V3D_TIMING_SFU;
  if (effects->kinds & DAEDALUS_V3D_EFFECT_LDTMU)
    bits |= V3D_TIMING_LDTMU;
  if (effects->kinds & DAEDALUS_V3D_EFFECT_TMUWT)
    bits |= V3D_TIMING_TMUWT;
  if (effects->kinds & (DAEDALUS_V3D_EFFECT_SYNC | DAEDALUS_V3D_EFFECT_BARRIER))
    bits |= V3D_TIMING_SYNC;
  return (uint8_t)bits;
}

static uint64_t later(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static void wait_until(v3d_qpu_time *qpu, uint64_t time, uint64_t *stall) {
  if (time <= qpu->time)
    return;
  *stall += time - qpu->time;
  qpu->time = time;
}

/* op waits for a pending result that it reads, which is one of rows. */
static void wait_for_result(v3d_qpu_time *qpu, v3d_thread_time *own, const v3d_op *op, unsigned bit,
                            uint64_t rows, uint64_t ready) {
  if (!(own->pending & bit))
    return;
  if (daedalus_v3d_effects_of_op(op)->reads & rows)
    wait_until(qpu, ready, &qpu->stall_sfu);
  if (qpu->time + SLOT >= ready)
    own->pending &= (uint8_t)~bit;
}

static void time_results(v3d_thread *thread, v3d_qpu_time *qpu, v3d_thread_time *own,
                         const v3d_op *op) {
  const daedalus_v3d_profile *profile = &thread->machine->profile;
  wait_for_result(qpu, own, op, V3D_PENDING_SFU, own->sfu_row, own->sfu_ready);
  wait_for_result(qpu, own, op, V3D_PENDING_SPREAD, 1, own->spread_ready);
  if ((op->timing & V3D_TIMING_SPREAD) && profile->rep_result_slots > 1) {
    own->spread_ready = qpu->time + (uint64_t)SLOT * profile->rep_result_slots;
    own->pending |= V3D_PENDING_SPREAD;
  }
  if (!(op->timing & V3D_TIMING_SFU))
    return;
  wait_until(qpu, qpu->sfu_free, &qpu->stall_sfu);
  /* Asked for ahead of other QPUs' time, which the calendar allows. */
  const uint64_t taken = daedalus_v3d_calendar_take(&daedalus_v3d_slice_of(thread)->sfu, qpu->time,
                                                    profile->sfu_slice_clocks);
  wait_until(qpu, taken, &qpu->stall_sfu);
  qpu->sfu_free = qpu->time + (uint64_t)SLOT * profile->sfu_issue_slots;
  own->sfu_ready = qpu->time + (uint64_t)SLOT * profile->sfu_result_slots;
  own->sfu_row = op->add.dest < DAEDALUS_V3D_REGISTERS ? UINT64_C(1) << op->add.dest : 0;
  own->pending &= (uint8_t)~V3D_PENDING_SFU;
  if (own->sfu_row && profile->sfu_result_slots > 1)
    own->pending |= V3D_PENDING_SFU;
}

/*
 * Whether the slice's SFU has been asked for so much ahead of other QPUs' time that its calendar
 * would soon forget gaps which they may still take: then the others go first.
 */
static bool is_full_of_turns(const v3d_thread *thread) {
  return thread->machine->profile.sfu_slice_clocks &&
         daedalus_v3d_slice_of(thread)->sfu.n >= V3D_CALENDAR_ENTRIES / 2;
}

/* What op, which is next, waits for. False: it has to wait for another QPU's turn. */
static bool prepare(v3d_thread *thread, v3d_qpu_time *qpu, v3d_thread_time *own, const v3d_op *op) {
  v3d_timing *timing = thread->machine->timing;
  const unsigned bits = op->timing;
  if ((bits & V3D_TIMING_LDTMU) && thread->tmu.n_results)
    wait_until(qpu, own->results[thread->tmu.first], &qpu->stall_tmu);
  if (bits & V3D_TIMING_TMUWT)
    wait_until(qpu, own->writes_done, &qpu->stall_tmu);
  if (((bits & V3D_TIMING_SHARED) || ((bits & V3D_TIMING_SFU) && is_full_of_turns(thread))) &&
      qpu->time > timing->bound)
    return false;
  /* The end of a chunk is no instruction, and has no effects: what is pending stays so over it. */
  if (op->run != daedalus_v3d_run_chunk_end &&
      (own->pending || (bits & (V3D_TIMING_SFU | V3D_TIMING_SPREAD))))
    time_results(thread, qpu, own, op);
  if (bits & V3D_TIMING_SYNC)
    timing->synced = true;
  return true;
}

/* What the trace says of op, since the QPU's stalls were as they are in *before. */
static void trace_op(daedalus_v3d_trace *trace, const v3d_op *op, const v3d_qpu_time *before,
                     const v3d_qpu_time *qpu, bool has_run) {
  daedalus_v3d_trace_line *line = daedalus_v3d_trace_line_of(trace, op->address);
  if (!line)
    return;
  line->word = op->word;
  line->executed += has_run;
  line->stall_tmu += qpu->stall_tmu - before->stall_tmu;
  line->stall_uniforms += qpu->stall_uniforms - before->stall_uniforms;
  line->stall_sfu += qpu->stall_sfu - before->stall_sfu;
}

/* One instruction, traced. */
static unsigned run_traced(v3d_thread *thread, v3d_qpu_time *qpu, v3d_thread_time *own,
                           v3d_op *op) {
  const v3d_qpu_time before = *qpu;
  unsigned event = V3D_EVENT_YIELD;
  if (!(op->timing | own->pending) || prepare(thread, qpu, own, op)) {
    event = thread->machine->strict ? daedalus_v3d_check_rules(thread, op) : 0;
    if (!event)
      event = op->run(thread, op);
  }
  if (!(event & V3D_EVENT_CHUNK))
    trace_op(thread->machine->timing->trace, op, &before, qpu, !(event & V3D_EVENT_YIELD));
  return event;
}

unsigned daedalus_v3d_run_some_timed(v3d_thread *thread, v3d_op **next, uint64_t *left) {
  v3d_qpu_time *qpu = daedalus_v3d_qpu_of(thread);
  v3d_thread_time *own = daedalus_v3d_time_of(thread);
  const bool strict = thread->machine->strict, traced = thread->machine->timing->trace;
  v3d_op *op = *next;
  uint64_t n = *left;
  unsigned event;
  do {
    if (traced) {
      event = run_traced(thread, qpu, own, op);
      if (event & V3D_EVENT_YIELD)
        break;
      qpu->time += SLOT;
      op++;
      continue;
    }
    if ((op->timing | own->pending) && !prepare(thread, qpu, own, op)) {
      event = V3D_EVENT_YIELD;
      break;
    }
    event = strict ? daedalus_v3d_check_rules(thread, op) : 0;
    if (!event)
      event = op->run(thread, op);
    qpu->time += SLOT;
    op++;
  } while (!event && --n);
  if (event & V3D_EVENT_CHUNK)
    qpu->time -= SLOT;
  const bool counts = event && !(event & (V3D_EVENT_CHUNK | V3D_EVENT_YIELD));
  qpu->active += SLOT * (*left - n + counts);
  *next = op;
  *left = n;
  return event;
}

static v3d_timing *create(struct daedalus_v3d_machine *machine) {
  const daedalus_v3d_profile *profile = &machine->profile;
  v3d_timing *timing = calloc(1, sizeof *timing);
  if (!timing)
    return NULL;
  timing->machine = machine;
  timing->memory_clocks = (uint64_t)profile->memory_ns * profile->clock_mhz / 1000;
  timing->memory_line = (uint64_t)DAEDALUS_V3D_CACHE_LINE * V3D_CLOCK_PARTS * profile->clock_mhz /
                        profile->memory_mb_per_s;
  timing->most_pause =
      profile->reset_ms ? (uint64_t)profile->reset_ms * 1000 * profile->clock_mhz : UINT64_MAX;
  const bool spread = profile->cache_spreads_strides;
  bool created = daedalus_v3d_cache_create(&timing->l2t, profile->l2t_bytes, spread);
  for (unsigned i = 0; i < profile->slices; i++) {
    v3d_slice_time *slice = &timing->slices[i];
    created &= daedalus_v3d_cache_create(&slice->tmu, profile->tmu_cache_bytes, spread) &&
               daedalus_v3d_cache_create(&slice->uniforms, profile->uniform_cache_bytes, spread);
  }
  if (created)
    return timing;
  daedalus_v3d_timing_free(timing);
  return NULL;
}

bool daedalus_v3d_timing_begin(struct daedalus_v3d_machine *machine, const daedalus_v3d_job *job) {
  if (!job->timed && !job->trace)
    return true;
  if (!machine->timing_state && !(machine->timing_state = create(machine)))
    return false;
  v3d_timing *timing = machine->timing = machine->timing_state;
  memset(timing->qpus, 0, sizeof timing->qpus);
  memset(timing->threads, 0, sizeof timing->threads);
  memset(&timing->times, 0, sizeof timing->times);
  for (unsigned i = 0; i < machine->profile.slices; i++) {
    /* The kernel has the caches cleared before each job. */
    daedalus_v3d_cache_clear(&timing->slices[i].tmu);
    daedalus_v3d_cache_clear(&timing->slices[i].uniforms);
    timing->slices[i].tmu_free = timing->slices[i].tmu_busy = timing->slices[i].last_result = 0;
    timing->slices[i].fill_free = 0;
    daedalus_v3d_calendar_clear(&timing->slices[i].sfu);
  }
  daedalus_v3d_cache_clear(&timing->l2t);
  timing->bound = timing->progress = 0;
  timing->trace = job->trace;
  timing->synced = false;
  timing->dispatcher_free = timing->last_write = 0;
  daedalus_v3d_calendar_clear(&timing->l2t_port);
  daedalus_v3d_calendar_clear(&timing->memory);
  if (!job->trace || daedalus_v3d_trace_begin(machine, job->trace))
    return true;
  machine->timing = NULL;
  return false;
}

void daedalus_v3d_timing_end(struct daedalus_v3d_machine *machine) {
  v3d_timing *timing = machine->timing;
  if (!timing)
    return;
  daedalus_v3d_times *times = &machine->report->times;
  const uint32_t mhz = machine->profile.clock_mhz;
  *times = timing->times;
  times->clocks = timing->last_write;
  for (unsigned i = 0; i < machine->n_qpus; i++)
    times->clocks = later(timing->qpus[i].time, times->clocks);
  daedalus_v3d_end_threads(timing, times->clocks);
  for (unsigned i = 0; i < machine->n_qpus; i++) {
    const v3d_qpu_time *qpu = &timing->qpus[i];
    times->active += qpu->active;
    times->most_active = later(qpu->active, times->most_active);
    times->idle += qpu->idle;
    times->stall_tmu += qpu->stall_tmu;
    times->stall_uniforms += qpu->stall_uniforms;
    times->stall_sfu += qpu->stall_sfu;
    times->waiting += qpu->waiting;
  }
  for (unsigned i = 0; i < machine->profile.slices; i++) {
    times->tmu_busy += timing->slices[i].tmu_busy;
    times->most_tmu_busy = later(timing->slices[i].tmu_busy, times->most_tmu_busy);
  }
  times->memory_busy =
      times->memory_bytes / DAEDALUS_V3D_CACHE_LINE * timing->memory_line / V3D_CLOCK_PARTS;
  times->l2t_dirty = daedalus_v3d_cache_dirty(&timing->l2t);
  times->ns = (times->clocks * 1000 + mhz - 1) / mhz;
  machine->timing = NULL;
}

void daedalus_v3d_timing_free(v3d_timing *timing) {
  if (!timing)
    return;
  daedalus_v3d_cache_free(&timing->l2t);
  for (unsigned i = 0; i < sizeof timing->slices / sizeof timing->slices[0]; i++) {
    daedalus_v3d_cache_free(&timing->slices[i].tmu);
    daedalus_v3d_cache_free(&timing->slices[i].uniforms);
  }
  free(timing);
}
