/* SPDX-License-Identifier: BSD-2-Clause */
/* Intervals: what they hold, that memory is as before, and that alternatives say what is meant. */
#include <stdlib.h>

#include <daedalus/v3d/estimate.h>

#include "check.h"
#include "simulation.h"

/* Adds 1 to 64 words of data in place, and reads a uniform that it has overwritten before. */
#define IN_PLACE                                          \
  ".uniform 0x00100000, 0x00020008, 77\n"                 \
  "eidx rf1 ; nop ; ldunif\nmov rf4, rf3.ul\n"            \
  "shl rf4, rf4, 4\nadd rf1, rf1, rf4\nshl rf1, rf1, 2\n" \
  "add rf1, rf1, rf0 ; nop ; ldunif\n"                    \
  "mov tmua, rf1\nldtmu.rf2\nadd rf2, rf2, 1\nmov tmud, rf2\nmov tmua, rf1\ntmuwt -\n"

static simulation *in_place(const daedalus_v3d_profile *profile) {
  simulation *s = simulation_create(profile);
  simulation_load(s, IN_PLACE END);
  simulation_shape(s, 4, 16, 4);
  for (uint32_t i = 0; i < 64; i++)
    s->data[i] = 1000 + i;
  return s;
}

static void check_range(daedalus_v3d_range range) {
  CHECK(range.low <= range.mid && range.mid <= range.high);
  CHECK(range.low > 0);
}

static void ranges(void) {
  simulation *s = in_place(NULL);
  daedalus_v3d_timing timing;
  daedalus_v3d_report report;
  CHECK_INT(daedalus_v3d_machine_estimate(s->machine, &s->job, &timing, &report),
            DAEDALUS_V3D_DONE);
  for (uint32_t i = 0; i < 64; i++)
    CHECK_INT(s->data[i], 1000 + i);
  check_range(timing.issue);
  check_range(timing.clocks);
  check_range(timing.ns);
  check_range(timing.dispatch_ns);
  CHECK(timing.ns.low < timing.ns.mid && timing.ns.mid < timing.ns.high);
  daedalus_v3d_range found = {timing.ns.mid, timing.ns.mid, timing.ns.mid};
  for (size_t i = 0; i < DAEDALUS_V3D_ALTERNATIVES; i++) {
    const daedalus_v3d_taken *by = &timing.by[i];
    CHECK(by->issue > 0 && by->issue <= by->clocks && by->ns < by->dispatch_ns);
    CHECK(by->tmu <= by->clocks && by->memory <= by->clocks);
    found.low = by->ns < found.low ? by->ns : found.low;
    found.high = by->ns > found.high ? by->ns : found.high;
  }
  CHECK(found.low == timing.ns.low && found.high == timing.ns.high);
  /* A batch for each of four QPUs: what is issued is known. */
  CHECK_INT(timing.issue.low, timing.issue.high);
  CHECK_INT(timing.issue.mid * 4, DAEDALUS_V3D_SLOT_CLOCKS * report.counts.instructions);
  /* Four dirty lines of 64 bytes, at 11.2 bytes a nanosecond. */
  CHECK_INT(timing.times.l2t_dirty, 4);
  CHECK_INT(timing.dispatch_ns.mid, timing.ns.mid + 22 + 32900);
  /* mid is what a run by the machine's own settings takes, before and after. */
  s->job.timed = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  CHECK_INT(s->report.times.clocks, timing.clocks.mid);
  CHECK_INT(s->report.times.ns, timing.times.ns);
  for (uint32_t i = 0; i < 64; i++)
    CHECK_INT(s->data[i], 1001 + i);
  simulation_destroy(s);
}

/* Where uniforms see stores nothing else needs the old contents, and they are put back as well. */
static void live_uniforms(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.uniforms_see_stores = 1;
  simulation *s = simulation_create(&profile);
  simulation_load(s,
                  ".uniform 0x00020008, 0x00020000, 77\n"
                  "nop ; nop ; ldunif\nmov rf1, 5\nmov tmud, rf1\n"
                  "mov tmua, rf0\ntmuwt -\nnop ; nop ; ldunif\n" END);
  daedalus_v3d_timing timing;
  daedalus_v3d_report report;
  CHECK_INT(daedalus_v3d_machine_estimate(s->machine, &s->job, &timing, &report),
            DAEDALUS_V3D_DONE);
  CHECK_INT(s->uniforms[2], 77);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  CHECK_INT(s->uniforms[2], 5);
  simulation_destroy(s);
}

/* A job that does not end well: no times, and memory as before. */
static void failures(void) {
  simulation *s = simulation_create(NULL);
  daedalus_v3d_timing timing;
  daedalus_v3d_report report;
  simulation_load(s, IN_PLACE "ldtmu.rf2\n" END);
  s->data[0] = 3;
  CHECK_INT(daedalus_v3d_machine_estimate(s->machine, &s->job, &timing, &report),
            DAEDALUS_V3D_BAD_FIFO);
  CHECK_INT(report.outcome, DAEDALUS_V3D_BAD_FIFO);
  CHECK_INT(timing.clocks.high, 0);
  CHECK_INT(s->data[0], 3);
  s->job.cfg[4] = 0;
  CHECK_INT(daedalus_v3d_machine_estimate(s->machine, &s->job, &timing, &report),
            DAEDALUS_V3D_BAD_JOB);
  simulation_destroy(s);
}

/* By the settings it ends in 0.95 ms, on a slow board the kernel would reset it after 1. */
static void slow_board(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.reset_ms = 1;
  simulation *s = simulation_create(&profile);
  simulation_load(s,
                  ".uniform 45600\nldunifrf.rf1\nagain:\nsub.pushz rf1, rf1, 1\n"
                  "b.anyna again\nnop\nnop\nnop\n" END);
  daedalus_v3d_timing timing;
  daedalus_v3d_report report;
  CHECK_INT(daedalus_v3d_machine_estimate(s->machine, &s->job, &timing, &report),
            DAEDALUS_V3D_ENDLESS);
  CHECK(strstr(report.message, "for 1 ms of modelled time") != NULL);
  CHECK_INT(timing.clocks.mid, 0);
  s->job.timed = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  simulation_destroy(s);
}

static const struct {
  const char *name;
  uint32_t low, high;
} intervals[] = {
#define ROW(name, low, high) {#name, low, high},
    DAEDALUS_V3D_TIMING_INTERVALS(ROW)
#undef ROW
};

/* Each is a profile that keeps to the intervals, and changes something. */
static void alternatives(void) {
  size_t n;
  const daedalus_v3d_alternative *all = daedalus_v3d_alternatives(&n);
  const daedalus_v3d_profile defaults = daedalus_v3d_profile_default();
  CHECK(n >= 2);
  for (size_t i = 0; i < n; i++) {
    daedalus_v3d_profile profile = defaults;
    char message[200] = "";
    CHECK_INT(daedalus_v3d_profile_parse(all[i].settings, strlen(all[i].settings), &profile,
                                         message, sizeof message),
              0);
    CHECK_STR(message, "");
    daedalus_v3d_profile applied = defaults;
    daedalus_v3d_apply_alternative(&all[i], &applied);
    CHECK(memcmp(&applied, &profile, sizeof profile) == 0);
    CHECK(memcmp(&applied, &defaults, sizeof profile) != 0);
    const uint32_t values[] = {
#define VALUE(name, low, high) profile.name,
        DAEDALUS_V3D_TIMING_INTERVALS(VALUE)
#undef VALUE
    };
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
      if (values[k] < intervals[k].low || values[k] > intervals[k].high)
        CHECK_STR(all[i].name, intervals[k].name);
  }
  /* What somebody has set is known. */
  daedalus_v3d_profile known = defaults;
  known.memory_mb_per_s = 10999;
  for (size_t i = 0; i < n; i++)
    daedalus_v3d_apply_alternative(&all[i], &known);
  CHECK_INT(known.memory_mb_per_s, 10999);
}

int main(void) {
  RUN(ranges);
  RUN(live_uniforms);
  RUN(failures);
  RUN(slow_board);
  RUN(alternatives);
  return CHECK_RESULT();
}
