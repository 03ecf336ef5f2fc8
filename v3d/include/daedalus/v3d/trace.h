/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/trace.h - what a job did, instruction by instruction: how often each was executed
 * and what it waited for, with the dispatch's registers and uniforms by name.
 *
 * A trace is filled in by daedalus_v3d_machine_run() where job.trace names it; the job is then
 * timed.  It belongs to the caller, and may be used again after daedalus_v3d_trace_free().
 */
#ifndef DAEDALUS_V3D_TRACE_H
#define DAEDALUS_V3D_TRACE_H

#include <stdio.h>

#include <daedalus/v3d/estimate.h>
#include <daedalus/v3d/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An instruction; clocks are summed over threads. */
typedef struct daedalus_v3d_trace_line {
  uint64_t word;
  uint64_t executed;
  uint64_t stall_tmu, stall_uniforms, stall_sfu; /**< clocks before, or while, it was issued. */
  uint64_t waiting; /**< clocks in which its QPU had no thread to run before this one went on. */
} daedalus_v3d_trace_line;

/** A word of the uniform stream. */
typedef struct daedalus_v3d_trace_uniform {
  uint32_t address;
  uint32_t value;
  uint32_t pc;    /**< of the instruction that took it first. */
  uint64_t reads; /**< in all. */
} daedalus_v3d_trace_uniform;

struct daedalus_v3d_trace {
  uint32_t address; /**< of the first line; the others follow every 8 bytes. */
  uint32_t n_lines; /**< of the buffer that holds the program. */
  daedalus_v3d_trace_line *lines;
  uint32_t n_uniforms; /**< those that were read, in the order of their first reads. */
  daedalus_v3d_trace_uniform *uniforms;
};

void daedalus_v3d_trace_free(daedalus_v3d_trace *trace);

/**
 * Writes the job's registers, uniforms, times and annotated program to file, as text; with the
 * interval of its times where timing is not NULL.
 */
void daedalus_v3d_trace_print(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                              const daedalus_v3d_report *report, const daedalus_v3d_timing *timing,
                              FILE *file);

/** The same as one JSON object, in a line of its own. */
void daedalus_v3d_trace_print_json(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                                   const daedalus_v3d_report *report,
                                   const daedalus_v3d_timing *timing, FILE *file);

/** Members of a JSON object: counters of the timing model by name, `"clocks": N, "ns": N, ...`. */
void daedalus_v3d_times_print_json(const daedalus_v3d_report *report, FILE *file);

/** A JSON object: `{"issue": {"low": N, "mid": N, "high": N}, "clocks": ...}`, or null where there
 * is no interval, as the job does not end well by each of the settings. */
void daedalus_v3d_timing_print_json(const daedalus_v3d_timing *timing, FILE *file);

#ifdef __cplusplus
}
#endif

#endif
