/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of V3D 7.1, in the order of their numbers and by the names that Linux 6.12 gives
 * them.  QPUs count in units of four clocks, what an instruction takes.  Not modelled are
 * instruction caches, command lists, and what the memory interface does.
 */
#include "perfmon.h"

static uint64_t clocks(const daedalus_v3d_times *t) {
  return t->clocks;
}

/* Of units that a compute job does not use. */
static uint64_t none(const daedalus_v3d_times *t) {
  (void)t;
  return 0;
}

static uint64_t uniform_misses(const daedalus_v3d_times *t) {
  return t->uniform_misses;
}

static uint64_t tmu_busy(const daedalus_v3d_times *t) {
  return t->tmu_busy;
}

static uint64_t l2t_hits(const daedalus_v3d_times *t) {
  return t->l2t_hits + t->l2t_uniform_hits;
}

static uint64_t l2t_misses(const daedalus_v3d_times *t) {
  return t->l2t_misses + t->l2t_uniform_misses;
}

#define QUARTER(name)                                 \
  static uint64_t name(const daedalus_v3d_times *t) { \
    return t->name / 4;                               \
  }

QUARTER(waiting)
QUARTER(active)
QUARTER(stall_tmu)
QUARTER(stall_uniforms)
QUARTER(stall_sfu)
QUARTER(stall_other)

static uint64_t stalls(const daedalus_v3d_times *t) {
  return (t->stall_tmu + t->stall_uniforms + t->stall_sfu + t->stall_other) / 4;
}

const struct dev_counter dev_counters[DEV_N_COUNTERS] = {
    {"CORE", "cycle-count", clocks},
    {"CORE", "core-active", clocks},
    {"CLE", "CLE-bin-thread-active-cycles", NULL},
    {"CLE", "CLE-render-thread-active-cycles", NULL},
    {"CORE", "compute-active-cycles", clocks},
    {"FEP", "FEP-valid-primitives-no-rendered-pixels", none},
    {"FEP", "FEP-valid-primitives-rendered-pixels", none},
    {"FEP", "FEP-clipped-quads", none},
    {"FEP", "FEP-valid-quads", none},
    {"TLB", "TLB-quads-not-passing-stencil-test", NULL},
    {"TLB", "TLB-quads-not-passing-z-and-stencil-test", NULL},
    {"TLB", "TLB-quads-passing-z-and-stencil-test", NULL},
    {"TLB", "TLB-quads-written-to-color-buffer", NULL},
    {"TLB", "TLB-partial-quads-written-to-color-buffer", NULL},
    {"PTB", "PTB-primitives-need-clipping", none},
    {"PTB", "PTB-primitives-discarded-outside-viewport", none},
    {"PTB", "PTB-primitives-binned", none},
    {"PTB", "PTB-primitives-discarded-reversed", none},
    {"QPU", "QPU-total-instr-cache-hit", NULL},
    {"QPU", "QPU-total-instr-cache-miss", NULL},
    {"QPU", "QPU-total-uniform-cache-hit", NULL},
    {"QPU", "QPU-total-uniform-cache-miss", uniform_misses},
    {"TMU", "TMU-active-cycles", tmu_busy},
    {"TMU", "TMU-stalled-cycles", NULL},
    {"TMU", "TMU-total-text-quads-access", NULL},
    {"TMU", "TMU-cache-x4-active-cycles", NULL},
    {"TMU", "TMU-cache-x4-stalled-cycles", NULL},
    {"TMU", "TMU-total-text-quads-x4-access", NULL},
    {"L2T", "L2T-total-cache-hit", l2t_hits},
    {"L2T", "L2T-total-cache-miss", l2t_misses},
    {"L2T", "L2T-local", NULL},
    {"L2T", "L2T-writeback", NULL},
    {"L2T", "L2T-zero", NULL},
    {"L2T", "L2T-merge", NULL},
    {"L2T", "L2T-fill", NULL},
    {"L2T", "L2T-stalls-no-wid", NULL},
    {"L2T", "L2T-stalls-no-rid", NULL},
    {"L2T", "L2T-stalls-queue-full", NULL},
    {"L2T", "L2T-stalls-wrightback", NULL},
    {"L2T", "L2T-stalls-mem", NULL},
    {"L2T", "L2T-stalls-fill", NULL},
    {"L2T", "L2T-hitq", NULL},
    {"L2T", "L2T-hitq-full", NULL},
    {"L2T", "L2T-stalls-read-data", NULL},
    {"L2T", "L2T-TMU-read-hits", NULL},
    {"L2T", "L2T-TMU-read-miss", NULL},
    {"L2T", "L2T-VCD-read-hits", NULL},
    {"L2T", "L2T-VCD-read-miss", NULL},
    {"L2T", "L2T-SLC-read-hits", NULL},
    {"L2T", "L2T-SLC-read-miss", NULL},
    {"AXI", "AXI-writes-seen-watch-0", NULL},
    {"AXI", "AXI-reads-seen-watch-0", NULL},
    {"AXI", "AXI-writes-stalled-seen-watch-0", NULL},
    {"AXI", "AXI-reads-stalled-seen-watch-0", NULL},
    {"AXI", "AXI-write-bytes-seen-watch-0", NULL},
    {"AXI", "AXI-read-bytes-seen-watch-0", NULL},
    {"AXI", "AXI-writes-seen-watch-1", NULL},
    {"AXI", "AXI-reads-seen-watch-1", NULL},
    {"AXI", "AXI-writes-stalled-seen-watch-1", NULL},
    {"AXI", "AXI-reads-stalled-seen-watch-1", NULL},
    {"AXI", "AXI-write-bytes-seen-watch-1", NULL},
    {"AXI", "AXI-read-bytes-seen-watch-1", NULL},
    {"CORE", "core-memory-writes", NULL},
    {"L2T", "L2T-memory-writes", NULL},
    {"PTB", "PTB-memory-writes", none},
    {"TLB", "TLB-memory-writes", NULL},
    {"CORE", "core-memory-reads", NULL},
    {"L2T", "L2T-memory-reads", NULL},
    {"PTB", "PTB-memory-reads", none},
    {"PSE", "PSE-memory-reads", none},
    {"TLB", "TLB-memory-reads", NULL},
    {"PTB", "PTB-memory-words-writes", none},
    {"TLB", "TLB-memory-words-writes", NULL},
    {"PSE", "PSE-memory-words-reads", none},
    {"TLB", "TLB-memory-words-reads", NULL},
    {"AXI", "AXI-read-trans", NULL},
    {"AXI", "AXI-write-trans", NULL},
    {"AXI", "AXI-read-wait-cycles", NULL},
    {"AXI", "AXI-write-wait-cycles", NULL},
    {"AXI", "AXI-max-outstanding-reads", NULL},
    {"AXI", "AXI-max-outstanding-writes", NULL},
    {"QPU", "QPU-wait-bubble", waiting},
    {"QPU", "QPU-ic-miss-bubble", NULL},
    {"QPU", "QPU-active", active},
    {"QPU", "QPU-total-active-clk-cycles-fragment-shading", none},
    {"QPU", "QPU-stalls", stalls},
    {"QPU", "QPU-total-clk-cycles-waiting-fragment-shading", none},
    {"QPU", "QPU-stalls-TMU", stall_tmu},
    {"QPU", "QPU-stalls-TLB", none},
    {"QPU", "QPU-stalls-VPM", none},
    {"QPU", "QPU-stalls-uniforms", stall_uniforms},
    {"QPU", "QPU-stalls-SFU", stall_sfu},
    {"QPU", "QPU-stalls-other", stall_other},
};
