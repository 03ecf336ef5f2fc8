/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/timing.h - what a job costs by the timing model: its settings, and its result.
 *
 * Clocks are those of the GPU; an instruction takes a slot of four.  docs/v3d-timing.md says how
 * the model works, where each setting comes from, and how far it is from what was measured.
 */
#ifndef DAEDALUS_V3D_TIMING_H
#define DAEDALUS_V3D_TIMING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Clocks of an instruction slot. */
#define DAEDALUS_V3D_SLOT_CLOCKS 4
/** Bytes of a cache line, of all caches. */
#define DAEDALUS_V3D_CACHE_LINE 64

/** Settings of the profile that only timed jobs look at: X(name, default, min, max, text). */
#define DAEDALUS_V3D_TIMING_SETTINGS(X)                                                           \
  X(clock_mhz, 960, 1, 4000, "clock of the GPU in MHz")                                           \
  X(sfu_result_slots, 2, 1, 2, "slots until an SFU-class result can be read")                     \
  X(sfu_issue_slots, 1, 1, 16, "slots from one SFU-class operation to the next of a QPU")         \
  X(sfu_slice_clocks, 4, 0, 64, "clocks that an SFU-class operation takes of its slice; 0: none") \
  X(rep_result_slots, 1, 1, 16, "slots until what was written to rep or quad can be read")        \
  X(tmu_word_eighths, 8, 1, 512, "eighths of a clock that a TMU takes for a word of a lane")      \
  X(tmu_merges_words, 0, 0, 1, "1: lanes of a lookup that share a 32-bit word take it once")      \
  X(tmu_line_clocks, 1, 1, 64, "clocks a TMU takes for a line, where words take less")            \
  X(tmu_fill_clocks, 4, 0, 64, "clocks between two lines that a TMU's cache takes in")            \
  X(tmu_hit_clocks, 70, 0, 10000, "from a TMU's cache to the QPU")                                \
  X(tmu_cache_bytes, 8192, 0, 1 << 24, "cache of a slice's TMU; 0: none")                         \
  X(cache_spreads_strides, 1, 0, 1, "1: lines powers of two apart lie in different sets")         \
  X(l2t_clocks, 30, 0, 10000, "from the L2T cache to a slice")                                    \
  X(l2t_line_clocks, 1, 0, 64, "clocks that the L2T is busy with a line")                         \
  X(l2t_bytes, 262144, 0, 1 << 28, "L2T cache; 0: none")                                          \
  X(memory_ns, 80, 0, 100000, "from memory to the L2T")                                           \
  X(memory_mb_per_s, 11200, 1, 1000000, "memory bandwidth, reads and writes, in 10^6 bytes/s")    \
  X(uniform_cache_bytes, 4096, 0, 1 << 24, "cache of a slice's uniforms; 0: none")                \
  X(barrier_clocks, 16, 0, 10000, "from the last batch at a barrier until all go on")             \
  X(batch_clocks, 16, 0, 100000, "from one batch that is started to the next")                    \
  X(supergroup_clocks, 0, 0, 1000000, "more, for the first batch of a supergroup")                \
  X(supergroups_in_flight, 2, 1, 64, "supergroups that run at once")                              \
  X(job_ns, 32900, 0, 1000000000, "what the kernel and the queue add to a dispatch")              \
  X(submit_ns, 22700, 0, 1000000000, "what the kernel adds to a submission")                      \
  X(reset_ms, 500, 0, 3600000, "modelled time without progress that ends a job; 0: any")

/** What public facts leave open of each setting: X(name, low, high). low == high: known. */
#define DAEDALUS_V3D_TIMING_INTERVALS(X) \
  X(clock_mhz, 800, 1000)                \
  X(sfu_result_slots, 2, 2)              \
  X(sfu_issue_slots, 1, 4)               \
  X(sfu_slice_clocks, 0, 4)              \
  X(rep_result_slots, 1, 3)              \
  X(tmu_word_eighths, 6, 16)             \
  X(tmu_merges_words, 0, 1)              \
  X(tmu_line_clocks, 1, 8)               \
  X(tmu_fill_clocks, 1, 16)              \
  X(tmu_hit_clocks, 40, 200)             \
  X(tmu_cache_bytes, 4096, 32768)        \
  X(cache_spreads_strides, 0, 1)         \
  X(l2t_clocks, 20, 200)                 \
  X(l2t_line_clocks, 1, 4)               \
  X(l2t_bytes, 65536, 1 << 20)           \
  X(memory_ns, 60, 150)                  \
  X(memory_mb_per_s, 8000, 17000)        \
  X(uniform_cache_bytes, 1024, 16384)    \
  X(barrier_clocks, 4, 200)              \
  X(batch_clocks, 1, 200)                \
  X(supergroup_clocks, 0, 1500)          \
  X(supergroups_in_flight, 1, 64)        \
  X(job_ns, 25000, 40000)                \
  X(submit_ns, 18000, 30000)             \
  X(reset_ms, 500, 500)

/**
 * Where the clocks of a timed job went. Those of QPUs are summed over them: for each QPU
 * active + stalls + waiting + idle = clocks.  Of a job that did not end well, QPUs whose batches
 * could not go on or were no longer run count as waiting to its end.
 */
typedef struct daedalus_v3d_times {
  uint64_t clocks; /**< from when the dispatcher begins until the last write has arrived. */
  uint64_t ns;     /**< the same at the profile's clock, rounded up. */
  uint64_t active; /**< issuing instructions. */
  uint64_t stall_tmu, stall_uniforms, stall_sfu;
  uint64_t stall_other;          /**< none so far. */
  uint64_t waiting;              /**< all batches of a QPU wait: for the TMU, or at a barrier. */
  uint64_t idle;                 /**< no thread has a batch. */
  uint64_t tmu_busy;             /**< of all slices' TMUs. */
  uint64_t tmu_hits, tmu_misses; /**< lines, in the TMUs' caches; reads only. */
  uint64_t l2t_hits, l2t_misses; /**< lines, of the TMUs' misses and writes. */
  uint64_t l2t_uniform_hits, l2t_uniform_misses; /**< lines, of the uniform caches' misses. */
  uint64_t l2t_evictions;  /**< lines that were written to memory for others to take their place. */
  uint64_t l2t_dirty;      /**< lines still to be written when the job ends: the kernel has it done
                              before the job's fence signals, which clocks do not count. */
  uint64_t uniform_misses; /**< lines. */
  /* What the job takes at least by each resource alone, in clocks; where clocks is much more than
   * all of them, latency, barriers or the dispatcher limit it. */
  uint64_t most_active;   /**< of the QPU that issues most. */
  uint64_t most_tmu_busy; /**< of the slice whose TMU is busiest. */
  uint64_t memory_busy;
  uint64_t longest_pause; /**< clocks in which no batch started or ended. */
  uint64_t memory_bytes;  /**< read and written until the job ends, by lines. */
} daedalus_v3d_times;

#ifdef __cplusplus
}
#endif

#endif
