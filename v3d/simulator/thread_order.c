/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order in which threads run.  In rounds: each slot in turn starts a batch if it is free, and
 * runs to its next thread switch, its end, or until its turn is over.  So the order depends on the
 * job alone, and a program that waits for another thread in a loop gets what it waits for.
 */
#include <stdio.h>

#include "simulator/engine.h"
#include "simulator/timing/model.h"

/** Instructions of one turn, for programs that do not switch. */
enum { TURN = 1 << 16 };

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* The byte that configures the lookup of op, for the rules. */
static unsigned lookup_config(const v3d_thread *thread, const daedalus_v3d_effects *effects) {
  uint32_t word, hint = thread->uniform_hint;
  bool stale;
  if (!(effects->kinds & DAEDALUS_V3D_EFFECT_UNIFORM_CONFIG))
    return thread->tmu.config & 0xff;
  return daedalus_v3d_memory_image(&thread->machine->memory, thread->uniforms, 4, &hint, &word,
                                   &stale)
             ? word & 0xff
             : DAEDALUS_V3D_CONFIG_UNKNOWN;
}

unsigned daedalus_v3d_check_rules(v3d_thread *thread, v3d_op *op) {
  if (op->run == daedalus_v3d_run_chunk_end || op->run == daedalus_v3d_run_absent || op->reason)
    return 0;
  const daedalus_v3d_effects *effects = daedalus_v3d_effects_of_op(op);
  const unsigned config = effects->kinds & DAEDALUS_V3D_EFFECT_LOOKUP
                              ? lookup_config(thread, effects)
                              : DAEDALUS_V3D_CONFIG_UNKNOWN;
  const daedalus_v3d_rules broken = daedalus_v3d_hazards_step(&thread->hazards, effects, config);
  if (!broken)
    return 0;
  unsigned rule = 0;
  while (!(broken >> rule & 1))
    rule++;
  thread->machine->report->rule = (daedalus_v3d_rule)rule;
  return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BROKEN_RULE, "%s: %s",
                            daedalus_v3d_rule_name((daedalus_v3d_rule)rule),
                            daedalus_v3d_rule_text((daedalus_v3d_rule)rule));
}

/* Runs instructions until one has an event or *left of them ran. */
static unsigned run_some(v3d_thread *thread, v3d_op **next, uint64_t *left) {
  v3d_op *op = *next;
  uint64_t n = *left;
  unsigned event;
  do {
    event = op->run(thread, op);
    op++;
  } while (!event && --n);
  *next = op;
  *left = n;
  return event;
}

static unsigned run_some_strictly(v3d_thread *thread, v3d_op **next, uint64_t *left) {
  v3d_op *op = *next;
  uint64_t n = *left;
  unsigned event;
  do {
    event = daedalus_v3d_check_rules(thread, op);
    if (!event)
      event = op->run(thread, op);
    op++;
  } while (!event && --n);
  *next = op;
  *left = n;
  return event;
}

/* The instruction at count `at` (from 0) carried thrsw. */
static void take_thrsw(v3d_thread *thread, uint64_t at) {
  if (at == thread->last_thrsw + 1) {
    /* The second of a pair only marks that the next one is the last. */
    thread->in_last_segment = true;
    return;
  }
  thread->last_thrsw = at;
  thread->switch_at = at + 3; /* after this instruction and two slots */
  thread->ends_at_switch = thread->in_last_segment;
}

/* The switch happens, after the instruction op. */
static v3d_turn switch_thread(v3d_thread *thread, const v3d_op *op, bool ends) {
  thread->machine->report->counts.thread_switches++;
  if (ends)
    return daedalus_v3d_end_batch(thread, op) ? V3D_TURN_STOPPED : V3D_TURN_ENDED;
  if (!thread->machine->profile.flags_stay) {
    thread->state.flag_a = (daedalus_v3d_lanes)~thread->state.flag_a;
    thread->state.flag_b = (daedalus_v3d_lanes)~thread->state.flag_b;
  }
  if (!daedalus_v3d_wait_is_over(thread))
    thread->status = V3D_WAITING;
  return V3D_TURN_SWITCHED;
}

/* Instructions that may run before something has to be looked at; 0: an endless program. */
static uint64_t budget(const v3d_thread *thread, uint64_t turn_end) {
  const struct daedalus_v3d_machine *machine = thread->machine;
  uint64_t until = least(least(thread->branch_at, thread->switch_at), turn_end);
  until = least(until, machine->profile.max_slots);
  return least(until - thread->executed, least(machine->slots_left, machine->reset_left));
}

/* The instruction that op stands for: where a chunk ends, the first of the next one. */
static const v3d_op *instruction_of(struct daedalus_v3d_machine *machine, v3d_op *op) {
  v3d_op *after =
      op->run == daedalus_v3d_run_chunk_end ? daedalus_v3d_following_op(machine, op) : op;
  return after ? after : op;
}

static v3d_turn out_of_slots(v3d_thread *thread, v3d_op *next) {
  const daedalus_v3d_profile *profile = &thread->machine->profile;
  const v3d_op *op = instruction_of(thread->machine, next);
  if (thread->executed >= profile->max_slots)
    daedalus_v3d_fault(thread, op, DAEDALUS_V3D_ENDLESS,
                       "the thread has executed %lu instructions (max_slots of the profile)",
                       (unsigned long)thread->executed);
  else if (!thread->machine->reset_left)
    daedalus_v3d_fault(thread, op, DAEDALUS_V3D_ENDLESS,
                       "no batch has started or ended while %u QPUs executed what takes them at "
                       "least %lu ms (reset_ms of the profile)",
                       thread->machine->n_busy, (unsigned long)profile->reset_ms);
  else
    daedalus_v3d_fault(
        thread, op, DAEDALUS_V3D_ENDLESS,
        "all threads together have executed %llu instructions in %llu batches, each "
        "of which counts for 16 more: %lu are allowed (max_job_slots of the profile)",
        (unsigned long long)thread->machine->report->counts.instructions,
        (unsigned long long)thread->machine->report->counts.batches,
        (unsigned long)profile->max_job_slots);
  return V3D_TURN_STOPPED;
}

static v3d_turn no_memory(v3d_thread *thread) {
  daedalus_v3d_end_job(
      thread->machine, DAEDALUS_V3D_NO_MEMORY,
      "there is no memory for decoded instructions, of which a job may execute 4 MiB");
  return V3D_TURN_STOPPED;
}

static v3d_turn stop(v3d_thread *thread, v3d_op *next) {
  struct daedalus_v3d_machine *machine = thread->machine;
  daedalus_v3d_fault(thread, instruction_of(machine, next), DAEDALUS_V3D_STOPPED,
                     "the job was stopped from outside, after %llu instructions in %llu batches",
                     (unsigned long long)machine->report->counts.instructions,
                     (unsigned long long)machine->report->counts.batches);
  return V3D_TURN_STOPPED;
}

v3d_turn daedalus_v3d_run_turn(v3d_thread *thread) {
  struct daedalus_v3d_machine *machine = thread->machine;
  const uint64_t turn_end = thread->executed + TURN;
  v3d_op *op = thread->next;
  if (!op && !(op = daedalus_v3d_op_at(machine, machine->dispatch.code)))
    return no_memory(thread);
  if (atomic_load_explicit(&machine->stopped, memory_order_relaxed))
    return stop(thread, op);
  for (;;) {
    const uint64_t allowed = budget(thread, turn_end);
    if (!allowed)
      return out_of_slots(thread, op);
    uint64_t left = allowed;
    unsigned event = machine->timing   ? daedalus_v3d_run_some_timed(thread, &op, &left)
                     : machine->strict ? run_some_strictly(thread, &op, &left)
                                       : run_some(thread, &op, &left);
    /* An instruction with an event has run, but was not counted; a chunk's end is none. */
    const uint64_t ran = allowed - left + (event && !(event & (V3D_EVENT_CHUNK | V3D_EVENT_YIELD)));
    thread->executed += ran;
    machine->slots_left -= ran;
    machine->reset_left -= ran;
    machine->report->counts.instructions += ran;
    if (event & V3D_EVENT_FAULT)
      return V3D_TURN_STOPPED;
    if (event & V3D_EVENT_CHUNK) {
      if (!(op = daedalus_v3d_following_op(machine, op - 1)))
        return no_memory(thread);
      continue;
    }
    if (event & V3D_EVENT_YIELD) {
      thread->next = op;
      return V3D_TURN_YIELDED;
    }
    const v3d_op *const last = op - 1;
    const bool switches = thread->executed == thread->switch_at, ends = thread->ends_at_switch;
    if (switches)
      thread->switch_at = UINT64_MAX;
    if (event & V3D_EVENT_THRSW)
      take_thrsw(thread, thread->executed - 1);
    if (event & V3D_EVENT_BRANCH)
      thread->branch_at = thread->executed + 3;
    if (thread->executed == thread->branch_at) {
      thread->branch_at = UINT64_MAX;
      if (!(op = daedalus_v3d_op_from(machine, op - 1, thread->branch_target)))
        return no_memory(thread);
    }
    thread->next = op;
    if (switches)
      return switch_thread(thread, last, ends);
    if (thread->executed == turn_end)
      return V3D_TURN_SWITCHED;
  }
}

/* Whether the thread may take its turn. */
static bool may_run(v3d_thread *thread) {
  if (thread->status == V3D_IDLE && !daedalus_v3d_start_batch(thread->machine, thread))
    return false;
  if (thread->status == V3D_WAITING && daedalus_v3d_wait_is_over(thread))
    thread->status = V3D_READY;
  return thread->status == V3D_READY;
}

void daedalus_v3d_report_deadlock(struct daedalus_v3d_machine *machine) {
  daedalus_v3d_report *report = machine->report;
  char *text = report->message;
  v3d_thread *first = NULL;
  size_t used = 0, size = sizeof report->message;
  report->outcome = DAEDALUS_V3D_DEADLOCK;
  used += (size_t)snprintf(text, size, "no thread can go on");
  for (unsigned slot = 0; slot < machine->n_slots && used < size; slot++) {
    v3d_thread *thread = &machine->threads[slot];
    char what[160];
    if (thread->status != V3D_WAITING)
      continue;
    if (!first)
      first = thread;
    daedalus_v3d_describe_wait(thread, what, sizeof what);
    used += (size_t)snprintf(text + used, size - used,
                             "; QPU %u thread %u (batch %lu) before 0x%08lx waits for %s",
                             thread->qpu, thread->number, (unsigned long)thread->batch,
                             (unsigned long)thread->next->address, what);
  }
  if (!first)
    return;
  report->qpu = first->qpu;
  report->thread = first->number;
  report->batch = first->batch;
  report->pc = first->next->address;
  report->word = instruction_of(machine, first->next)->word;
}

void daedalus_v3d_run_threads(struct daedalus_v3d_machine *machine) {
  if (machine->timing) {
    daedalus_v3d_run_threads_timed(machine);
    return;
  }
  for (;;) {
    bool progress = false, waiting = false;
    for (unsigned slot = 0; slot < machine->n_slots; slot++) {
      v3d_thread *thread = &machine->threads[slot];
      if (!may_run(thread)) {
        waiting |= thread->status != V3D_IDLE;
        continue;
      }
      progress = true;
      if (daedalus_v3d_run_turn(thread) == V3D_TURN_STOPPED)
        return;
    }
    if (progress)
      continue;
    if (waiting || machine->next_batch != machine->dispatch.n_batches)
      daedalus_v3d_report_deadlock(machine);
    return;
  }
}
