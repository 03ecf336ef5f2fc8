/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads in the order of time.  Of the QPUs the one whose time is least runs, until it is about to
 * do something that concerns others and is later than another one's time.  Between its threads a
 * QPU changes at thread switches, and after 65,536 instructions without one (as untimed jobs do,
 * for threads that wait in a loop for each other): to the next one that can go on, or that can
 * first.
 */
#include "simulator/timing/model.h"

static uint64_t later(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static v3d_thread *thread_of(const v3d_timing *timing, unsigned qpu, unsigned number) {
  return &timing->machine->threads[qpu + number * timing->machine->n_qpus];
}

/* Thread has become ready at `at`. */
static void make_ready(v3d_thread *thread, uint64_t at) {
  v3d_qpu_time *qpu = daedalus_v3d_qpu_of(thread);
  daedalus_v3d_time_of(thread)->ready_at = at;
  if (!qpu->running && later(at, qpu->time) < qpu->due)
    qpu->due = later(at, qpu->time);
}

/* When the QPU wants to run next, no thread of it being chosen. */
static uint64_t due_of(const v3d_timing *timing, unsigned number) {
  uint64_t due = UINT64_MAX;
  for (unsigned i = 0; i < timing->machine->mode.threads; i++) {
    const v3d_thread *thread = thread_of(timing, number, i);
    if (thread->status != V3D_READY)
      continue;
    const uint64_t at = later(daedalus_v3d_time_of(thread)->ready_at, timing->qpus[number].time);
    due = at < due ? at : due;
  }
  return due;
}

/* A batch has started or ended. */
static void note_progress(v3d_timing *timing, uint64_t now) {
  if (now <= timing->progress)
    return;
  if (now - timing->progress > timing->times.longest_pause)
    timing->times.longest_pause = now - timing->progress;
  timing->progress = now;
}

/* The QPU had no batch until `at`. */
static void end_idleness(v3d_qpu_time *qpu, uint64_t at) {
  if (at <= qpu->time)
    return;
  qpu->idle += at - qpu->time;
  qpu->time = at;
}

static bool has_batch(const v3d_timing *timing, unsigned qpu) {
  return timing->machine->batches_of[qpu] != 0;
}

/* Starts batches on free slots, breadth first, from `now` on. */
static void dispatch(v3d_timing *timing, uint64_t now) {
  struct daedalus_v3d_machine *machine = timing->machine;
  const daedalus_v3d_profile *profile = &machine->profile;
  for (unsigned slot = 0; slot < machine->n_slots; slot++) {
    v3d_thread *thread = &machine->threads[slot];
    if (thread->status != V3D_IDLE)
      continue;
    const bool was_idle = !has_batch(timing, thread->qpu);
    const bool first = machine->next_batch % machine->dispatch.batches_per_supergroup == 0;
    if (!daedalus_v3d_start_batch(machine, thread))
      return;
    timing->dispatcher_free = later(timing->dispatcher_free, now) + profile->batch_clocks +
                              (first ? profile->supergroup_clocks : 0);
    timing->threads[slot].writes_done = 0;
    timing->threads[slot].pending = 0; /* of the batch before */
    if (was_idle)
      end_idleness(&timing->qpus[thread->qpu], timing->dispatcher_free);
    make_ready(thread, timing->dispatcher_free);
    note_progress(timing, timing->dispatcher_free);
  }
}

/* Threads whose barrier or other object has let them go. */
static void wake(v3d_timing *timing, uint64_t now) {
  struct daedalus_v3d_machine *machine = timing->machine;
  timing->synced = false;
  for (unsigned slot = 0; slot < machine->n_slots; slot++) {
    v3d_thread *thread = &machine->threads[slot];
    if (thread->status != V3D_WAITING || !daedalus_v3d_wait_is_over(thread))
      continue;
    thread->status = V3D_READY;
    make_ready(thread, now + machine->profile.barrier_clocks);
  }
}

/* The QPU whose turn it is, and until when: the time of the next one. UINT_MAX: none. */
static unsigned choose_qpu(v3d_timing *timing) {
  unsigned chosen = UINT32_MAX;
  uint64_t least = UINT64_MAX, second = UINT64_MAX;
  for (unsigned i = 0; i < timing->machine->n_qpus; i++) {
    const uint64_t due = timing->qpus[i].due;
    if (due < least) {
      second = least;
      least = due;
      chosen = i;
    } else if (due < second) {
      second = due;
    }
  }
  timing->bound = second;
  return chosen;
}

/* The QPU had nothing to run for that many clocks until thread could go on. */
static void count_waiting(v3d_timing *timing, const v3d_thread *thread, uint64_t clocks) {
  daedalus_v3d_qpu_of(thread)->waiting += clocks;
  if (!timing->trace)
    return;
  const uint32_t pc = thread->next ? thread->next->address : timing->machine->dispatch.code;
  daedalus_v3d_trace_line *line = daedalus_v3d_trace_line_of(timing->trace, pc);
  if (line)
    line->waiting += clocks;
}

/* The QPU's next thread: in turn, of those that can go on when the first one can. */
static v3d_thread *choose_thread(v3d_timing *timing, unsigned number) {
  v3d_qpu_time *qpu = &timing->qpus[number];
  const unsigned n = timing->machine->mode.threads;
  for (unsigned i = 1; i <= n; i++) {
    const unsigned which = (qpu->last + i) % n;
    v3d_thread *thread = thread_of(timing, number, which);
    if (thread->status != V3D_READY || daedalus_v3d_time_of(thread)->ready_at > qpu->due)
      continue;
    qpu->last = which;
    count_waiting(timing, thread, qpu->due - qpu->time);
    qpu->time = qpu->due;
    return thread;
  }
  return NULL;
}

/* Thread has switched: when it can go on. */
static void after_switch(v3d_thread *thread, uint64_t now) {
  v3d_thread_time *time = daedalus_v3d_time_of(thread);
  time->ready_at = thread->tmu.n_results ? later(now, time->results[thread->tmu.first]) : now;
}

/* The kernel would reset the GPU. */
static bool report_pause(v3d_timing *timing, const v3d_thread *thread) {
  daedalus_v3d_end_job(timing->machine, DAEDALUS_V3D_ENDLESS,
                       "QPU %u thread %u (batch %lu) before 0x%08lx: for %lu ms of modelled time "
                       "no batch has started or ended (reset_ms of the profile)",
                       thread->qpu, thread->number, (unsigned long)thread->batch,
                       (unsigned long)thread->next->address,
                       (unsigned long)timing->machine->profile.reset_ms);
  return false;
}

static bool run_qpu(v3d_timing *timing, unsigned number) {
  v3d_qpu_time *qpu = &timing->qpus[number];
  if (!qpu->running)
    qpu->running = choose_thread(timing, number);
  v3d_thread *thread = qpu->running;
  const v3d_turn turn = daedalus_v3d_run_turn(thread);
  if (turn == V3D_TURN_STOPPED)
    return false;
  if (turn != V3D_TURN_YIELDED)
    qpu->running = NULL;
  if (turn == V3D_TURN_SWITCHED)
    after_switch(thread, qpu->time);
  qpu->due = qpu->running ? qpu->time : due_of(timing, number);
  if (timing->synced)
    wake(timing, qpu->time);
  if (turn == V3D_TURN_ENDED) {
    note_progress(timing, qpu->time);
    dispatch(timing, qpu->time);
  } else if (qpu->time > timing->progress && qpu->time - timing->progress > timing->most_pause) {
    return report_pause(timing, thread);
  }
  return true;
}

void daedalus_v3d_end_threads(v3d_timing *timing, uint64_t clocks) {
  for (unsigned i = 0; i < timing->machine->n_qpus; i++) {
    v3d_qpu_time *qpu = &timing->qpus[i];
    *(has_batch(timing, i) ? &qpu->waiting : &qpu->idle) += clocks - qpu->time;
  }
}

void daedalus_v3d_run_threads_timed(struct daedalus_v3d_machine *machine) {
  v3d_timing *timing = machine->timing;
  for (unsigned i = 0; i < machine->n_qpus; i++)
    timing->qpus[i].due = UINT64_MAX;
  dispatch(timing, 0);
  for (;;) {
    const unsigned number = choose_qpu(timing);
    if (number == UINT32_MAX)
      break;
    if (!run_qpu(timing, number))
      return;
  }
  bool waiting = machine->next_batch != machine->dispatch.n_batches;
  for (unsigned slot = 0; slot < machine->n_slots; slot++)
    waiting |= machine->threads[slot].status != V3D_IDLE;
  if (waiting)
    daedalus_v3d_report_deadlock(machine);
}
