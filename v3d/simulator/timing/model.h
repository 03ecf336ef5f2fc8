/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timing model's state during a job: when each QPU, TMU, cache and the memory is free.  What
 * the functional simulator calls of it, and what the parts of it call of each other.
 *
 * Each QPU has a time of its own; what all share (lookups, synchronisation, the dispatcher) is done
 * in the order of time (thread_order.c), so that a resource is a time at which it is free again.
 */
#ifndef DAEDALUS_V3D_TIMING_MODEL_H
#define DAEDALUS_V3D_TIMING_MODEL_H

#include <daedalus/v3d/trace.h>

#include "simulator/engine.h"
#include "simulator/timing/cache.h"
#include "simulator/timing/calendar.h"
#include "simulator/timing/trace_fields.h"

struct v3d_lookup;

/** Bits of v3d_op.timing. */
enum {
  V3D_TIMING_SHARED = 1u << 0, /**< concerns other QPUs: is done in the order of time. */
  V3D_TIMING_SFU = 1u << 1,
  V3D_TIMING_LDTMU = 1u << 2,
  V3D_TIMING_TMUWT = 1u << 3,
  V3D_TIMING_SYNC = 1u << 4,
  V3D_TIMING_SPREAD = 1u << 5 /**< writes rep or quad. */
};

/** Bits of v3d_thread_time.pending. */
enum { V3D_PENDING_SFU = 1u << 0, V3D_PENDING_SPREAD = 1u << 1 };

/** Lookups of a QPU that its TMU has not begun. */
typedef struct v3d_requests {
  unsigned first, n;
  unsigned words;                   /**< of them all, addresses included. */
  uint64_t starts[V3D_TMU_ENTRIES]; /**< when the TMU begins each. */
  uint8_t sizes[V3D_TMU_ENTRIES];   /**< words. */
} v3d_requests;

typedef struct v3d_qpu_time {
  uint64_t time;       /**< when it can issue the next instruction. */
  uint64_t due;        /**< when it wants to; UINT64_MAX: it has nothing to do. */
  v3d_thread *running; /**< between thread switches; else NULL. */
  unsigned last;       /**< which of its threads ran last, 0 to 3. */
  uint64_t sfu_free;
  uint64_t active, stall_tmu, stall_uniforms, stall_sfu, waiting, idle; /**< clocks. */
  v3d_requests requests;
} v3d_qpu_time;

typedef struct v3d_thread_time {
  uint64_t ready_at;                 /**< when it can go on, of V3D_READY. */
  uint64_t results[V3D_TMU_ENTRIES]; /**< when each of v3d_tmu.results is there. */
  uint64_t writes_done;
  /* Registers are a thread's own, and so are the results that come to them late.
     One is enough: by the next but one slot it is ready (sfu_result_slots <= 2). */
  uint64_t sfu_ready, sfu_row; /**< bit r: rf<r> is the result that is ready at sfu_ready. */
  uint64_t spread_ready;       /**< when rf0, as rep or quad have written it, can be read. */
  uint8_t pending;             /**< V3D_PENDING_*: results that are not there yet. */
} v3d_thread_time;

typedef struct v3d_slice_time {
  uint64_t tmu_free, tmu_busy;
  uint64_t fill_free;   /**< when the TMU's cache can take in another line. */
  v3d_calendar sfu;     /**< the special function unit, which the QPUs share. */
  uint64_t last_result; /**< results come in the order of lookups. */
  v3d_cache tmu, uniforms;
} v3d_slice_time;

/** Times of memory are counted in these parts of a clock. */
enum { V3D_CLOCK_PARTS = 1024 };

typedef struct v3d_timing {
  struct daedalus_v3d_machine *machine;
  v3d_qpu_time qpus[V3D_MAX_SLOTS / V3D_MAX_THREADS];
  v3d_thread_time threads[V3D_MAX_SLOTS];
  v3d_slice_time slices[4];
  v3d_cache l2t;
  uint64_t bound;                /**< until when the QPU that runs may do what concerns others. */
  bool synced;                   /**< the thread synchroniser was written to, or freed waiters. */
  v3d_calendar l2t_port, memory; /**< the latter in V3D_CLOCK_PARTS. */
  uint64_t dispatcher_free;
  uint64_t progress;    /**< when a batch started or ended last. */
  uint64_t most_pause;  /**< clocks from then that end the job. */
  uint64_t last_write;  /**< when the last write has arrived. */
  uint64_t memory_line; /**< what a line costs, in V3D_CLOCK_PARTS. */
  uint64_t memory_clocks;
  daedalus_v3d_times times;  /**< what is counted as it happens. */
  daedalus_v3d_trace *trace; /**< of the job; NULL: none. */
} v3d_timing;

static inline v3d_thread_time *daedalus_v3d_time_of(const v3d_thread *thread) {
  return &thread->machine->timing->threads[thread - thread->machine->threads];
}

static inline v3d_qpu_time *daedalus_v3d_qpu_of(const v3d_thread *thread) {
  return &thread->machine->timing->qpus[thread->qpu];
}

static inline v3d_slice_time *daedalus_v3d_slice_of(const v3d_thread *thread) {
  const struct daedalus_v3d_machine *machine = thread->machine;
  return &machine->timing->slices[thread->qpu / machine->profile.qpus_per_slice];
}

/* model.c */

/** V3D_TIMING_* of an instruction. */
uint8_t daedalus_v3d_timing_of(const daedalus_v3d_effects *effects);

/** A job begins; machine->timing is set where it is timed. False: no memory. */
bool daedalus_v3d_timing_begin(struct daedalus_v3d_machine *machine, const daedalus_v3d_job *job);

/** The job has ended: the times of the report. */
void daedalus_v3d_timing_end(struct daedalus_v3d_machine *machine);

void daedalus_v3d_timing_free(v3d_timing *timing);

/** Runs instructions until one has an event or *left of them ran; those of an event count not. */
unsigned daedalus_v3d_run_some_timed(v3d_thread *thread, v3d_op **next, uint64_t *left);

/* lookup.c */

/** A lookup was issued, with n_data data words, when n_results results were outstanding. */
void daedalus_v3d_time_lookup(v3d_thread *thread, const struct v3d_lookup *lookup, unsigned n_data,
                              unsigned n_results);

/** A word was read from a uniform stream. */
void daedalus_v3d_time_uniform(v3d_thread *thread, const v3d_op *op, uint32_t address,
                               uint32_t value);

/* trace.c */

/** Makes room in *trace for the job that begins. False: no memory. */
bool daedalus_v3d_trace_begin(struct daedalus_v3d_machine *machine, daedalus_v3d_trace *trace);

/** op has read value at address. */
void daedalus_v3d_trace_read(daedalus_v3d_trace *trace, const v3d_op *op, uint32_t address,
                             uint32_t value);

/* thread_order.c */

void daedalus_v3d_run_threads_timed(struct daedalus_v3d_machine *machine);

/** The job has ended at `clocks`: what QPUs did from their times until then. */
void daedalus_v3d_end_threads(v3d_timing *timing, uint64_t clocks);

#endif
