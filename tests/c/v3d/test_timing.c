/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timing model against clocks that are counted by hand.  The board is one of round numbers: a
 * lookup that misses takes 1 (memory) + 100 (latency) + 20 (L2T) + 30 (to the QPU) = 151 clocks,
 * one that hits 16 (a word of each lane) + 30.
 */
#include <stdlib.h>

#include "check.h"
#include "simulation.h"

/* The end of a single segment: 3 slots. */
#define END_AT_ONCE "nop ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
#define FIVE(text) text text text text text

enum { SLOT = 4, END_SLOTS = 3, MISS = 151, HIT = 46 };

static daedalus_v3d_profile board(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.clock_mhz = 1000;
  profile.tmu_word_eighths = 8;
  profile.tmu_fill_clocks = 0;
  profile.tmu_line_clocks = 1;
  profile.tmu_hit_clocks = 30;
  profile.l2t_clocks = 20;
  profile.l2t_line_clocks = 1;
  profile.memory_ns = 100;
  profile.memory_mb_per_s = 64000;
  profile.barrier_clocks = 7;
  profile.batch_clocks = 0;
  profile.supergroup_clocks = 0;
  profile.supergroups_in_flight = 64;
  return profile;
}

/* Runs text as a single segment; n batches of a workgroup each, per to a supergroup. */
static simulation *time_on(const daedalus_v3d_profile *profile, const char *text, unsigned n,
                           unsigned per) {
  simulation *s = simulation_create(profile);
  simulation_load(s, text);
  simulation_shape(s, n, 16, per);
  s->job.cfg[5] |= 2;
  s->job.timed = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  const daedalus_v3d_times *t = &s->report.times;
  const unsigned qpus = profile->slices * profile->qpus_per_slice;
  CHECK_INT(t->active + t->stall_tmu + t->stall_uniforms + t->stall_sfu + t->waiting + t->idle,
            t->clocks * qpus);
  CHECK_INT(t->active, SLOT * s->report.counts.instructions);
  return s;
}

static daedalus_v3d_times time_of(const daedalus_v3d_profile *profile, const char *text, unsigned n,
                                  unsigned per) {
  simulation *s = time_on(profile, text, n, per);
  const daedalus_v3d_times times = s->report.times;
  simulation_destroy(s);
  return times;
}

static void slots(void) {
  daedalus_v3d_profile profile = board();
#define ADD "add rf1, rf1, rf1 ; umul24 rf2, rf1, rf2\n"
  daedalus_v3d_times t = time_of(&profile, FIVE(FIVE(ADD)) END_AT_ONCE, 1, 1);
  CHECK_INT(t.clocks, SLOT * (25 + END_SLOTS));
  CHECK_INT(t.ns, t.clocks);
  CHECK_INT(t.waiting, 0);
  CHECK_INT(t.idle, 11 * t.clocks); /* of the other QPUs */
  /* The dispatcher's time comes before. */
  profile.batch_clocks = 9;
  profile.supergroup_clocks = 5;
  profile.clock_mhz = 500;
  t = time_of(&profile, FIVE(ADD) END_AT_ONCE, 1, 1);
  CHECK_INT(t.clocks, 14 + SLOT * (5 + END_SLOTS));
  CHECK_INT(t.ns, 2 * t.clocks);
  /* Twelve batches of a supergroup on twelve QPUs: the last one starts after 14 + 11 * 9. */
  t = time_of(&profile, FIVE(ADD) END_AT_ONCE, 12, 12);
  CHECK_INT(t.clocks, 14 + 11 * 9 + SLOT * (5 + END_SLOTS));
  /* QPU i has no batch for the first 14 + 9 i clocks, and after its end until the last one's. */
  CHECK_INT(t.waiting, 0);
  CHECK_INT(t.idle, 12 * 14 + 11 * 12 * 9);
  /* Two batches one after the other on the same thread: 14 clocks between them, without a batch. */
  profile.slices = profile.qpus_per_slice = 1;
  profile.supergroups_in_flight = 1;
  t = time_of(&profile, FIVE(ADD) END_AT_ONCE, 2, 1);
  CHECK_INT(t.clocks, 2 * (14 + SLOT * (5 + END_SLOTS)));
  CHECK_INT(t.waiting, 0);
  CHECK_INT(t.idle, 2 * 14);
}

/* Batch 0 waits at a barrier after 9 slots; the others go around it. All end 25 slots later. */
#define ONE_AT_THE_BARRIER                                \
  "mov.pushz -, rf3.ul\nnop\nb.na0 away\nnop\nnop\nnop\n" \
  "barrierid syncb ; nop ; thrsw\nnop\nnop\n"             \
  "away:\n" FIVE(FIVE("nop\n")) END

/* What the sum of shares leaves open: who of two threads without work waits, and who is idle. */
static void deadlocked(void) {
  daedalus_v3d_profile profile = board();
  profile.ended_batches_arrive = 0;
  profile.slices = profile.qpus_per_slice = 1;
  simulation *s = simulation_create(&profile);
  s->job.timed = true;
  /* Two batches: one waits for ever at the barrier, the other ends 25 slots later. */
  simulation_load(s, ONE_AT_THE_BARRIER);
  simulation_shape(s, 2, 16, 2);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DEADLOCK), DAEDALUS_V3D_DEADLOCK);
  const daedalus_v3d_times *t = &s->report.times;
  CHECK_INT(t->active + t->waiting, t->clocks);
  CHECK_INT(t->idle, 0);
  simulation_destroy(s);
}

/* The end of a batch wakes those that wait at the barrier for no other. */
static void woken_by_an_end(void) {
  const daedalus_v3d_profile profile = board();
  simulation *s = simulation_create(&profile);
  s->job.timed = true;
  /* Batch 0 waits after 9 slots; the others end after 38, on QPUs of their own. */
  simulation_load(s, ONE_AT_THE_BARRIER);
  for (unsigned batches = 2; batches <= 12; batches += 10) {
    simulation_shape(s, batches, 16, batches);
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    CHECK_INT(s->report.times.clocks, SLOT * 38 + 7 + SLOT * (25 + 7));
  }
  simulation_destroy(s);
}

static void sfu(void) {
  daedalus_v3d_profile profile = board();
  CHECK_INT(time_of(&profile, "rot rf1, rf1, 1\nadd rf2, rf1, rf1\n" END_AT_ONCE, 1, 1).stall_sfu,
            SLOT);
  CHECK_INT(
      time_of(&profile, "rot rf1, rf1, 1\nadd rf2, rf3, rf3\nadd rf2, rf1, rf1\n" END_AT_ONCE, 1, 1)
          .stall_sfu,
      0);
  /* The simulator decodes 32 words at a time: the same from word 31 to 32. */
  CHECK_INT(
      time_of(&profile,
              FIVE(FIVE("nop\n")) FIVE("nop\n") "nop\n"
                                                "rot rf1, rf1, 1\nadd rf2, rf1, rf1\n" END_AT_ONCE,
              1, 1)
          .stall_sfu,
      SLOT);
  CHECK_INT(time_of(&profile, FIVE("recip rf1, rf2\n") END_AT_ONCE, 1, 1).stall_sfu, 0);
  /* The unit takes one operation a slot, of whichever QPU of the slice: the second QPU waits for
   * the first one's five, the third for ten, the fourth for 15. Of another slice nobody waits. */
  CHECK_INT(time_of(&profile, FIVE("recip rf1, rf2\n") END_AT_ONCE, 4, 4).stall_sfu,
            (5 + 10 + 15) * SLOT);
  CHECK_INT(time_of(&profile, FIVE("recip rf1, rf2\n") END_AT_ONCE, 5, 5).stall_sfu,
            (5 + 10 + 15) * SLOT);
  /* 400 turns with an operation in ten slots: four QPUs are hardly slower than one, however far one
   * of them runs ahead. */
  const char *turns =
      ".uniform 400\nnop ; ldunifrf.rf10\nmov rf11, 1\nloop:\n"
      "recip rf1, rf2\nnop\nnop\nnop\nsub.pushz rf10, rf10, rf11\nb.anyna loop\n"
      "nop\nnop\nnop\n" END_AT_ONCE;
  const uint64_t alone = time_of(&profile, turns, 1, 1).clocks;
  CHECK(time_of(&profile, turns, 4, 4).clocks < alone + alone / 20);
  profile.sfu_slice_clocks = 0;
  CHECK_INT(time_of(&profile, FIVE("recip rf1, rf2\n") END_AT_ONCE, 4, 4).stall_sfu, 0);
  profile.sfu_issue_slots = 3;
  CHECK_INT(time_of(&profile, FIVE("recip rf1, rf2\n") END_AT_ONCE, 1, 1).stall_sfu, 4 * 2 * SLOT);
}

static void replication(void) {
  daedalus_v3d_profile profile = board();
  const char *at_once = "mov rep, rf1\nadd rf2, rf0, rf0\n" END_AT_ONCE;
  CHECK_INT(time_of(&profile, at_once, 1, 1).stall_sfu, 0);
  profile.rep_result_slots = 3;
  CHECK_INT(time_of(&profile, at_once, 1, 1).stall_sfu, 2 * SLOT);
  CHECK_INT(time_of(&profile, "mov rep, rf1\nnop\nadd rf2, rf0, rf0\n" END_AT_ONCE, 1, 1).stall_sfu,
            SLOT);
  CHECK_INT(time_of(&profile, "mov quad, rf1\nadd rf2, rf3, rf3\n" END_AT_ONCE, 1, 1).stall_sfu, 0);
  /* Signals write it as well; 2 slots from when the uniform or the lookup's result is there. */
  CHECK_INT(time_of(&profile, ".uniform 7\nldunifrf.rep\nadd rf2, rf0, rf0\n" END_AT_ONCE, 1, 1)
                .stall_sfu,
            2 * SLOT);
  CHECK_INT(time_of(&profile,
                    ".uniform 0x00100000\nldunifrf.rf1\nmov tmua, rf1\nldtmu.rep\n"
                    "add rf2, rf0, rf0\n" END_AT_ONCE,
                    1, 1)
                .stall_sfu,
            2 * SLOT);
}

/* Stalls on results of n batches, which share a QPU; the last slot of text is that of a switch. */
static uint64_t switched(const daedalus_v3d_profile *profile, const char *text, unsigned n) {
  simulation *s = simulation_create(profile);
  simulation_load(s, text);
  simulation_shape(s, n, 16, n);
  s->job.timed = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  const uint64_t stall = s->report.times.stall_sfu;
  simulation_destroy(s);
  return stall;
}

/* What a thread waits for are results of its own: registers of the same number are others. */
static void results_of_threads(void) {
  daedalus_v3d_profile profile = board();
  profile.slices = profile.qpus_per_slice = 1;
  profile.rep_result_slots = 3;
  const char *sfu = "nop ; nop ; thrsw\nnop\nrecip rf1, rf2\nadd rf3, rf1, rf1\n" END;
  const char *rep = "nop ; nop ; thrsw\nnop\nmov rep, rf2\nadd rf3, rf0, rf0\n" END;
  /* Alone it goes on at once; two go on when the other one has run for three slots. */
  CHECK_INT(switched(&profile, sfu, 1), SLOT);
  CHECK_INT(switched(&profile, sfu, 2), 0);
  CHECK_INT(switched(&profile, rep, 1), 2 * SLOT);
  CHECK_INT(switched(&profile, rep, 2), 0);
  /* The next batch of a thread has nothing of the last one. */
  const char *last =
      "add rf3, rf1, rf1\nnop ; nop ; thrsw\nnop\nnop\n"
      "nop ; nop ; thrsw\nnop ; nop ; thrsw\nnop\nnop\n"
      "nop ; nop ; thrsw\nnop\nrecip rf1, rf2\n";
  profile.supergroups_in_flight = 1;
  simulation *s = simulation_create(&profile);
  simulation_load(s, last);
  simulation_shape(s, 2, 16, 1);
  s->job.timed = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  CHECK_INT(s->report.times.stall_sfu, 0);
  simulation_destroy(s);
}

#define DATA_ADDRESS          \
  ".uniform 0x00100000\n"     \
  "eidx rf1 ; nop ; ldunif\n" \
  "shl rf1, rf1, 2\n"         \
  "add rf1, rf1, rf0\n"
/* Its clocks: 3 slots and the uniform's miss: memory 1 + 100, L2T 20. */
enum { UNIFORM_MISS = 121, ADDRESS_CLOCKS = 3 * SLOT + UNIFORM_MISS };

static void lookups(void) {
  const daedalus_v3d_profile profile = board();
  daedalus_v3d_times t =
      time_of(&profile, DATA_ADDRESS "mov tmua, rf1\nldtmu.rf2\n" END_AT_ONCE, 1, 1);
  CHECK_INT(t.stall_uniforms, UNIFORM_MISS);
  CHECK_INT(t.stall_tmu, MISS - SLOT);
  daedalus_v3d_profile filling = profile;
  filling.tmu_fill_clocks = 5;
  CHECK_INT(
      time_of(&filling, DATA_ADDRESS "mov tmua, rf1\nldtmu.rf2\n" END_AT_ONCE, 1, 1).stall_tmu,
      MISS + 5 - SLOT);
  CHECK_INT(t.clocks, ADDRESS_CLOCKS + MISS + SLOT * (1 + END_SLOTS));
  CHECK_INT(t.tmu_misses, 1);
  CHECK_INT(t.l2t_misses, 1);
  CHECK_INT(t.l2t_uniform_misses, 1);
  CHECK_INT(t.memory_bytes, 2 * 64);
  CHECK_INT(t.l2t_dirty, 0);
  /* The same line again: in the TMU's cache. */
  t = time_of(&profile,
              DATA_ADDRESS "mov tmua, rf1\nldtmu.rf2\nmov tmua, rf1\nldtmu.rf2\n" END_AT_ONCE, 1,
              1);
  CHECK_INT(t.stall_tmu, MISS - SLOT + HIT - SLOT);
  CHECK_INT(t.tmu_hits, 1);
  /* Instructions in between hide it; two lookups at once share the wait. */
  t = time_of(&profile,
              DATA_ADDRESS "mov tmua, rf1\n" FIVE("nop\n") FIVE("nop\n") "ldtmu.rf2\n" END_AT_ONCE,
              1, 1);
  CHECK_INT(t.stall_tmu, MISS - 11 * SLOT);
  t = time_of(&profile,
              DATA_ADDRESS "mov tmua, rf1\nmov tmua, rf1\nldtmu.rf2\nldtmu.rf2\n" END_AT_ONCE, 1,
              1);
  CHECK_INT(t.stall_tmu, MISS - 2 * SLOT);
  /* A write is waited for by tmuwt only: 16 for the words and 20 to the L2T. */
  t = time_of(&profile, DATA_ADDRESS "mov tmud, rf1\nmov tmua, rf1\n" END_AT_ONCE, 1, 1);
  CHECK_INT(t.stall_tmu, 0);
  t = time_of(&profile, DATA_ADDRESS "mov tmud, rf1\nmov tmua, rf1\ntmuwt -\n" END_AT_ONCE, 1, 1);
  CHECK_INT(t.stall_tmu, 16 + 20 - SLOT);
}

/* What a store writes is counted, not what its type has room for. */
static void short_stores(void) {
  const daedalus_v3d_profile profile = board();
#define CONFIG(word) ".uniform " #word "\nnop ; nop ; wrtmuc\n"
#define VEC4 CONFIG(0xfffffffc)
#define DATA_WORD "mov tmud, rf1\n"
  CHECK_INT(time_of(&profile, DATA_ADDRESS DATA_WORD "mov tmua, rf1\n" END_AT_ONCE, 1, 1).tmu_busy,
            16);
  CHECK_INT(
      time_of(&profile, DATA_ADDRESS VEC4 DATA_WORD "mov tmua, rf1\n" END_AT_ONCE, 1, 1).tmu_busy,
      16);
  CHECK_INT(
      time_of(&profile, DATA_ADDRESS VEC4 DATA_WORD DATA_WORD "mov tmua, rf1\n" END_AT_ONCE, 1, 1)
          .tmu_busy,
      32);
#undef CONFIG
}

/* Sixteen entries of the input queue: an entry for the data and one for the address. */
static void input_queue(void) {
  const daedalus_v3d_profile profile = board();
#define WRITE "mov tmud, rf1\nmov tmua, rf1\n"
  /* Lookup i wants to start at 8 i and does at 16 i; entries are free again at the start. */
  daedalus_v3d_times t = time_of(&profile, DATA_ADDRESS FIVE(WRITE) FIVE(WRITE) END_AT_ONCE, 1, 1);
  CHECK_INT(t.stall_tmu, 0);
  CHECK_INT(t.tmu_busy, 160);
  t = time_of(&profile,
              DATA_ADDRESS FIVE(WRITE) FIVE(WRITE) FIVE(WRITE) FIVE(WRITE) FIVE(WRITE) END_AT_ONCE,
              1, 1);
  CHECK(t.stall_tmu > 0);
  CHECK_INT(t.tmu_busy, 25 * 16);
  /* In the end the TMU is what it takes: the last of 25 begins when eight wait behind its first. */
  CHECK_INT(t.stall_tmu, (24 - 8) * 16 - 24 * 8);
}

/* The L2T holds four lines here: what has to go is written, whoever takes the place. */
static void evictions(void) {
  daedalus_v3d_profile profile = board();
  profile.l2t_bytes = 4 * DAEDALUS_V3D_CACHE_LINE;
  profile.uniform_cache_bytes = 0;
#define STORE_LINE "mov tmud, rf1\nmov tmua, rf1\nadd rf1, rf1, rf2\n"
#define STORE_LINES "mov rf2, 4\nshl rf2, rf2, rf2\n" STORE_LINE STORE_LINE STORE_LINE STORE_LINE
  daedalus_v3d_times t = time_of(&profile, DATA_ADDRESS STORE_LINES END_AT_ONCE, 1, 1);
  CHECK_INT(t.l2t_misses, 4);
  CHECK_INT(t.l2t_evictions, 0); /* the uniforms' line goes, which is as memory has it */
  CHECK_INT(t.l2t_dirty, 4);
  CHECK_INT(t.memory_bytes, 64); /* that line; whole lines are not read before they are written */
  t = time_of(&profile, DATA_ADDRESS STORE_LINES "ldunifrf.rf3\n.uniform 7\n" END_AT_ONCE, 1, 1);
  CHECK_INT(t.l2t_uniform_misses, 2);
  CHECK_INT(t.l2t_evictions, 1);
  CHECK_INT(t.l2t_dirty, 3);
  CHECK_INT(t.memory_bytes, 3 * 64);
}

/* A QPU of its own, so that its threads are those of the batches. */
static void threads(void) {
  daedalus_v3d_profile profile = board();
  profile.slices = profile.qpus_per_slice = 1;
  profile.uniform_cache_bytes = 0;
  /* 1 slot, lookup, 2 slots of the switch; back, 30 slots of work, the end. */
#define WORK \
  "eidx rf1\nmov tmua, rf4 ; nop ; thrsw\nnop\nnop\nldtmu.rf2\n"                        \
  FIVE(FIVE("add rf3, rf3, rf2\n")) FIVE("add rf3, rf3, rf2\n") "nop ; nop ; thrsw\n"   \
  "nop ; nop ; thrsw\nnop\nnop\nnop ; nop ; thrsw\nnop\nnop\n"
  simulation *s = simulation_create(&profile);
  simulation_load(s, ".uniform 0x00100000\nldunifrf.rf4\n" WORK);
  s->job.timed = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  const uint64_t alone = s->report.times.clocks;
  /* All lanes read one word: a miss of 151 clocks, of which 12 go into slots. */
  CHECK_INT(s->report.times.waiting, MISS - 3 * SLOT);
  simulation_shape(s, 2, 16, 2);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  const uint64_t both = s->report.times.clocks;
  simulation_destroy(s);
  /* Alone: 125 for the uniform, lookup at 129, result at 280, 34 slots to the next switch, and 4
   * more.  Together: the second thread's uniform comes from the L2T (20), its lookup at 169 finds
   * the line on its way, so that its result is there at 280 too; then 34 slots each, and 4 each. */
  CHECK_INT(alone, 129 + MISS + 38 * SLOT);
  CHECK_INT(both, 129 + MISS + 2 * 38 * SLOT);
}

/* One batch of two comes late to the barrier, by as much as it works. */
static void barriers(void) {
  daedalus_v3d_profile profile = board();
#define LATE_BATCH                                              \
  "mov.pushz -, rf3.ul\nnop\nb.a0 first\nnop\nnop\nnop\n" FIVE( \
      FIVE("add rf5, rf5, rf5\n")) "first:\n"
  simulation *s = simulation_create(&profile);
  simulation_load(s, LATE_BATCH "barrierid syncb ; nop ; thrsw\nnop\nnop\n" END);
  simulation_shape(s, 2, 16, 2);
  s->job.timed = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  /* The first one waits 25 slots, and until the barrier has told it. */
  CHECK_INT(s->report.times.waiting, 25 * SLOT + profile.barrier_clocks);
  simulation_destroy(s);
}

/* As many supergroups run at once as the profile says. */
static void supergroups(void) {
  daedalus_v3d_profile profile = board();
  const char *text = FIVE(FIVE("add rf1, rf1, rf1\n")) END_AT_ONCE;
  const uint64_t one = SLOT * (25 + END_SLOTS);
  CHECK_INT(time_of(&profile, text, 8, 2).clocks, one);
  profile.supergroups_in_flight = 2;
  CHECK_INT(time_of(&profile, text, 8, 2).clocks, 2 * one);
  profile.supergroups_in_flight = 1;
  CHECK_INT(time_of(&profile, text, 8, 2).clocks, 4 * one);
}

/* A timed job computes what an untimed one does, and what it takes does not depend on the past. */
static void results(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  simulation *s = simulation_create(&profile);
  simulation_load(s,
                  ".uniform 0x00100000, 0x00200000\n"
                  "eidx rf1 ; nop ; ldunif\n"
                  "mov rf4, rf3.ul\nshl rf4, rf4, 4\nadd rf1, rf1, rf4\nshl rf1, rf1, 2\n"
                  "add rf5, rf1, rf0 ; nop ; ldunif\nadd rf6, rf1, rf0\n"
                  "mov tmud, rf1\nmov tmua, rf5\ntmuwt -\n"
                  "barrierid syncb ; nop ; thrsw\nnop\nnop\n"
                  "mov rf7, 4\nxor rf5, rf5, rf7\nmov tmua, rf5 ; nop ; thrsw\nnop\nnop\n"
                  "ldtmu.rf8\nmov tmud, rf8\nmov tmua, rf6\ntmuwt -\n" END);
  simulation_shape(s, 64, 64, 1);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  static uint32_t expected[OUT_BYTES / 4];
  memcpy(expected, s->out, sizeof expected);
  CHECK_INT(s->report.times.clocks, 0);
  s->job.timed = true;
  uint64_t clocks = 0;
  for (int i = 0; i < 3; i++) {
    memset(s->out, 0, sizeof s->out);
    s->job.strict = i == 2;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    CHECK(!memcmp(expected, s->out, sizeof expected));
    CHECK(!i || clocks == s->report.times.clocks);
    clocks = s->report.times.clocks;
  }
  simulation_destroy(s);
}

/* Deadlocks and endless programs are found in time, too. */
static void bad_ends(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.ended_batches_arrive = 0;
  simulation *s = simulation_create(&profile);
  s->job.timed = true;
  simulation_load(s, LATE_BATCH
                  "b.a0 away\nnop\nnop\nnop\n"
                  "barrierid syncb ; nop ; thrsw\nnop\nnop\naway:\n" END);
  simulation_shape(s, 2, 16, 2);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DEADLOCK), DAEDALUS_V3D_DEADLOCK);
  simulation_destroy(s);
  profile = board();
  profile.max_slots = 1000000;
  s = simulation_create(&profile);
  s->job.timed = true;
  simulation_load(s, "again:\nb again\nnop\nnop\nnop\n");
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_ENDLESS), DAEDALUS_V3D_ENDLESS);
  simulation_destroy(s);
}

/* A batch that goes on for ever while others end, and then alone. */
static void pauses(void) {
  daedalus_v3d_profile profile = board();
  profile.reset_ms = 1; /* 1,000,000 clocks */
  simulation *s = simulation_create(&profile);
  s->job.timed = true;
  simulation_load(s,
                  "mov.pushz -, rf3.ul\nnop\nb.na0 end\nnop\nnop\nnop\n"
                  "again:\nb again\nnop\nnop\nnop\nend:\n" END);
  simulation_shape(s, 100, 16, 1);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_ENDLESS), DAEDALUS_V3D_ENDLESS);
  CHECK(strstr(s->report.message, "(batch 0)") && strstr(s->report.message, "for 1 ms"));
  CHECK(s->report.counts.batches == 100);
  CHECK(s->report.times.clocks >= 1000000 && s->report.times.clocks < 1500000);
  simulation_destroy(s);
  /* Long, but not too long: 200,000 slots; 0 allows all. */
  for (profile.reset_ms = 0; profile.reset_ms < 2; profile.reset_ms++) {
    s = simulation_create(&profile);
    s->job.timed = true;
    simulation_load(s,
                    ".uniform 50000\nldunifrf.rf1\nagain:\nsub.pushz rf1, rf1, 1\n"
                    "b.anyna again\nnop\nnop\nnop\n" END);
    const daedalus_v3d_outcome expected =
        profile.reset_ms ? DAEDALUS_V3D_ENDLESS : DAEDALUS_V3D_DONE;
    CHECK_INT(simulation_run(s, expected), expected);
    CHECK(profile.reset_ms || s->report.times.longest_pause == s->report.times.clocks);
    simulation_destroy(s);
  }
}

/* The default of each setting lies in the interval that is stated for it, and that in its range. */
static void intervals(void) {
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
/* As numbers with a sign, so that no comparison is always true. */
#define INTERVAL(name, low, high) \
  CHECK((int64_t)profile.name >= (low) && (int64_t)profile.name <= (high));
  DAEDALUS_V3D_TIMING_INTERVALS(INTERVAL)
#undef INTERVAL
  /* All of them, in the order of the settings. */
  static const char *const settings[] = {
#define SETTING(name, value, min, max, text) #name,
      DAEDALUS_V3D_TIMING_SETTINGS(SETTING)};
  static const char *const stated[] = {
#define STATED(name, low, high) #name,
      DAEDALUS_V3D_TIMING_INTERVALS(STATED)};
  CHECK_INT(sizeof settings, sizeof stated);
  for (size_t i = 0; i < sizeof settings / sizeof *settings && sizeof settings == sizeof stated;
       i++)
    CHECK_STR(settings[i], stated[i]);
}

int main(void) {
  RUN(slots);
  RUN(deadlocked);
  RUN(woken_by_an_end);
  RUN(sfu);
  RUN(replication);
  RUN(results_of_threads);
  RUN(lookups);
  RUN(short_stores);
  RUN(input_queue);
  RUN(evictions);
  RUN(threads);
  RUN(barriers);
  RUN(supergroups);
  RUN(results);
  RUN(bad_ends);
  RUN(pauses);
  RUN(intervals);
  return CHECK_RESULT();
}
