/* SPDX-License-Identifier: BSD-2-Clause */
/* Intervals: a job by each of the alternatives to the default settings. */
#include <daedalus/v3d/estimate.h>

#include <string.h>

#include "simulator/timing/model.h"

/*
 * Each reproduces every calibrated figure within 10 %, which `daedalus-v3d timing` checks.  The
 * first two go as far from the default settings as the figures allow.  The others take one other
 * explanation each: of the GEMMs, that a QPU's own special function unit is slow, that what is
 * written to rep comes late, or that lines powers of two apart lie in one set of the caches; and of
 * transform8 at workgroups of 64, a dispatcher that takes long, and no limit.
 */
static const daedalus_v3d_alternative alternatives[DAEDALUS_V3D_ALTERNATIVES] = {
    {"fast",
     "tmu_word_eighths = 7\ntmu_merges_words = 1\ntmu_cache_bytes = 32768\ntmu_hit_clocks = 68\n"
     "memory_mb_per_s = 12200\njob_ns = 28000\n"},
    {"slow",
     "tmu_word_eighths = 9\nmemory_mb_per_s = 10200\nbatch_clocks = 1\n"
     "job_ns = 38000\n"},
    {"own sfu, fast",
     "sfu_slice_clocks = 0\nsfu_issue_slots = 4\ntmu_word_eighths = 7\ntmu_merges_words = 1\n"
     "l2t_bytes = 1048576\nmemory_mb_per_s = 12200\nbatch_clocks = 1\njob_ns = 28000\n"},
    {"rep, slow",
     "sfu_slice_clocks = 0\nrep_result_slots = 3\nclock_mhz = 880\ntmu_hit_clocks = 75\n"
     "barrier_clocks = 200\njob_ns = 38000\n"},
    {"sets",
     "sfu_slice_clocks = 0\ntmu_fill_clocks = 13\ncache_spreads_strides = 0\n"
     "tmu_hit_clocks = 60\n"},
    {"dispatcher, fast",
     "supergroups_in_flight = 64\nsupergroup_clocks = 1376\nbatch_clocks = 140\n"
     "tmu_word_eighths = 7\ntmu_merges_words = 1\nl2t_clocks = 20\nl2t_bytes = 1048576\n"
     "memory_mb_per_s = 12200\nbarrier_clocks = 4\njob_ns = 28000\n"},
    {"dispatcher, slow",
     "supergroups_in_flight = 64\nsupergroup_clocks = 1376\nbatch_clocks = 200\n"
     "tmu_word_eighths = 9\ntmu_hit_clocks = 85\nl2t_line_clocks = 4\n"
     "memory_mb_per_s = 10200\nuniform_cache_bytes = 1024\nbarrier_clocks = 200\n"
     "job_ns = 36000\n"},
};

const daedalus_v3d_alternative *daedalus_v3d_alternatives(size_t *n) {
  *n = DAEDALUS_V3D_ALTERNATIVES;
  return alternatives;
}

void daedalus_v3d_apply_alternative(const daedalus_v3d_alternative *alternative,
                                    daedalus_v3d_profile *profile) {
  const daedalus_v3d_profile defaults = daedalus_v3d_profile_default();
  daedalus_v3d_profile other = defaults;
  char message[200];
  /* The lines are those above, which a test reads: they have no mistakes. */
  daedalus_v3d_profile_parse(alternative->settings, strlen(alternative->settings), &other, message,
                             sizeof message);
#define APPLY(name, value, min, max, text) \
  if (profile->name == defaults.name)      \
    profile->name = other.name;
  DAEDALUS_V3D_TIMING_SETTINGS(APPLY)
#undef APPLY
}

uint64_t daedalus_v3d_dispatch_ns(const daedalus_v3d_times *times,
                                  const daedalus_v3d_profile *profile) {
  const uint64_t cleaned = times->l2t_dirty * DAEDALUS_V3D_CACHE_LINE;
  return times->ns + cleaned * 1000 / profile->memory_mb_per_s + profile->job_ns;
}

static void widen(daedalus_v3d_range *range, uint64_t value) {
  range->low = value < range->low ? value : range->low;
  range->high = value > range->high ? value : range->high;
}

static daedalus_v3d_taken taken(const daedalus_v3d_times *times,
                                const daedalus_v3d_profile *profile) {
  return (daedalus_v3d_taken){.issue = times->most_active,
                              .tmu = times->most_tmu_busy,
                              .memory = times->memory_busy,
                              .clocks = times->clocks,
                              .ns = times->ns,
                              .dispatch_ns = daedalus_v3d_dispatch_ns(times, profile)};
}

/* Runs the job by *profile and puts memory back. */
static daedalus_v3d_outcome run_once(daedalus_v3d_machine *machine, const daedalus_v3d_job *job,
                                     const daedalus_v3d_profile *profile,
                                     daedalus_v3d_report *report) {
  /* What timing keeps is made by the settings. */
  daedalus_v3d_timing_free(machine->timing_state);
  machine->timing_state = NULL;
  machine->profile = *profile;
  machine->keep_memory = true;
  daedalus_v3d_machine_run(machine, job, report);
  machine->keep_memory = false;
  daedalus_v3d_memory_restore(&machine->memory);
  return report->outcome;
}

daedalus_v3d_outcome daedalus_v3d_machine_estimate(daedalus_v3d_machine *machine,
                                                   const daedalus_v3d_job *job,
                                                   daedalus_v3d_timing *timing,
                                                   daedalus_v3d_report *report) {
  const daedalus_v3d_profile own = machine->profile;
  daedalus_v3d_job timed = *job;
  size_t n;
  const daedalus_v3d_alternative *all = daedalus_v3d_alternatives(&n);
  timed.timed = true;
  timed.trace = NULL;
  daedalus_v3d_report first;
  daedalus_v3d_outcome outcome = run_once(machine, &timed, &own, &first);
  const daedalus_v3d_times *t = &first.times;
  const uint64_t ns = daedalus_v3d_dispatch_ns(t, &own);
  *report = first;
  *timing = (daedalus_v3d_timing){.issue = {t->most_active, t->most_active, t->most_active},
                                  .clocks = {t->clocks, t->clocks, t->clocks},
                                  .ns = {t->ns, t->ns, t->ns},
                                  .dispatch_ns = {ns, ns, ns},
                                  .times = *t};
  for (size_t i = 0; i < n && outcome == DAEDALUS_V3D_DONE; i++) {
    daedalus_v3d_profile profile = own;
    daedalus_v3d_report other;
    daedalus_v3d_apply_alternative(&all[i], &profile);
    outcome = run_once(machine, &timed, &profile, &other);
    const daedalus_v3d_taken by = timing->by[i] = taken(&other.times, &profile);
    widen(&timing->issue, by.issue);
    widen(&timing->clocks, by.clocks);
    widen(&timing->ns, by.ns);
    widen(&timing->dispatch_ns, by.dispatch_ns);
    if (outcome != DAEDALUS_V3D_DONE)
      *report = other;
  }
  if (outcome != DAEDALUS_V3D_DONE)
    *timing = (daedalus_v3d_timing){0};
  daedalus_v3d_timing_free(machine->timing_state);
  machine->timing_state = NULL;
  machine->profile = own;
  return outcome;
}
