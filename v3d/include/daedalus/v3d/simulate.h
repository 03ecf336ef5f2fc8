/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/simulate.h - runs compute jobs of V3D 7.1 as the hardware would: results are those
 * of the machine, the order of threads is one that it could choose, and always the same.  A timed
 * job says besides what it would take by the timing model; threads then run in the order of time.
 *
 * A machine is 12 QPUs (profile) of 2 or 4 threads each.  A job is what the kernel interface takes
 * (struct drm_v3d_submit_csd.cfg); its code, uniforms and data lie in buffers of the 32-bit
 * address space of the device.  Nothing outside the buffers is ever read or written: such an
 * access, and every other thing that a program may not do, ends the job with a report.
 *
 * Threads: a machine is used by one thread at a time, but for daedalus_v3d_machine_stop(); machines
 * are independent.
 */
#ifndef DAEDALUS_V3D_SIMULATE_H
#define DAEDALUS_V3D_SIMULATE_H

#include <daedalus/v3d/instruction.h>
#include <daedalus/v3d/profile.h>
#include <daedalus/v3d/rules.h>
#include <daedalus/v3d/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Device addresses [address, address + size) and the host memory behind them. */
typedef struct daedalus_v3d_buffer {
  uint32_t address;
  uint32_t size; /**< bytes; address + size <= 2^32. */
  void *data;    /**< borrowed while the job runs. */
} daedalus_v3d_buffer;

/** What a job did, instruction by instruction: daedalus/v3d/trace.h. */
typedef struct daedalus_v3d_trace daedalus_v3d_trace;

/** Registers of a dispatch: the words that are written to the compute shader dispatcher. */
typedef struct daedalus_v3d_job {
  uint32_t cfg[7];
  const daedalus_v3d_buffer *buffers; /**< sorted by address, disjoint. */
  size_t n_buffers;
  bool strict;               /**< raise broken rules (daedalus/v3d/rules.h), all of them. */
  bool timed;                /**< fill in the report's times. */
  daedalus_v3d_trace *trace; /**< to be filled in; then the job is timed. NULL: none. */
} daedalus_v3d_job;

typedef enum daedalus_v3d_outcome {
  DAEDALUS_V3D_DONE = 0,
  DAEDALUS_V3D_BAD_JOB,         /**< cfg or buffers make no sense. */
  DAEDALUS_V3D_BAD_FETCH,       /**< instructions or uniforms outside every buffer. */
  DAEDALUS_V3D_BAD_INSTRUCTION, /**< an illegal word, or one that compute jobs may not use. */
  DAEDALUS_V3D_BAD_ACCESS,      /**< a lookup outside every buffer, or misaligned. */
  DAEDALUS_V3D_BAD_FIFO,        /**< a FIFO overflowed, or ldtmu had nothing to wait for. */
  DAEDALUS_V3D_BROKEN_RULE,     /**< strict only. */
  DAEDALUS_V3D_DEADLOCK,        /**< every thread waits. */
  DAEDALUS_V3D_ENDLESS,         /**< profile.reset_ms, max_slots, max_job_slots. */
  DAEDALUS_V3D_NO_MEMORY,
  DAEDALUS_V3D_STOPPED, /**< daedalus_v3d_machine_stop(). */
  DAEDALUS_V3D_N_OUTCOMES
} daedalus_v3d_outcome;

/** What a job did. Counts are of all threads together. */
typedef struct daedalus_v3d_counts {
  uint64_t instructions;
  uint64_t batches;
  uint64_t thread_switches;
  uint64_t tmu_reads;  /**< lookups (16 lanes), atomics included. */
  uint64_t tmu_writes; /**< lookups that only write. */
  uint64_t uniforms;   /**< words consumed from the uniform streams. */
} daedalus_v3d_counts;

/** How a job ended, and where. Members past outcome and message are 0 where they have no meaning.
 */
typedef struct daedalus_v3d_report {
  daedalus_v3d_outcome outcome;
  daedalus_v3d_rule rule; /**< of DAEDALUS_V3D_BROKEN_RULE. */
  unsigned qpu;
  unsigned thread; /**< of the QPU. */
  uint32_t batch;
  uint32_t pc;   /**< address of the instruction. */
  uint64_t word; /**< the instruction. */
  unsigned lane;
  uint32_t address;  /**< that was accessed. */
  char message[512]; /**< all of the above as one readable text, disassembly included. */
  daedalus_v3d_counts counts;
  daedalus_v3d_times times; /**< of timed jobs; else 0. */
} daedalus_v3d_report;

typedef struct daedalus_v3d_machine daedalus_v3d_machine;

/**
 * A machine by *profile (copied; NULL: the default).  NULL when there is no memory, or when a
 * setting is out of its range.
 */
daedalus_v3d_machine *daedalus_v3d_machine_create(const daedalus_v3d_profile *profile);

void daedalus_v3d_machine_destroy(daedalus_v3d_machine *machine);

/**
 * Runs *job to its end.  Returns report->outcome.  After anything but DONE memory holds what had
 * been written until then.
 */
daedalus_v3d_outcome daedalus_v3d_machine_run(daedalus_v3d_machine *machine,
                                              const daedalus_v3d_job *job,
                                              daedalus_v3d_report *report);

/**
 * Ends the job that *machine runs, within a millisecond or so, and every later one at once, with
 * DAEDALUS_V3D_STOPPED, until daedalus_v3d_machine_resume().  From any thread, as long as the
 * machine is there.
 */
void daedalus_v3d_machine_stop(daedalus_v3d_machine *machine);

/**
 * Lets *machine, which was stopped, run jobs again.  From any thread; a job that runs meanwhile may
 * or may not be stopped.
 */
void daedalus_v3d_machine_resume(daedalus_v3d_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
