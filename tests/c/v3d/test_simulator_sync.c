/* SPDX-License-Identifier: BSD-2-Clause */
/* Barriers and the thread synchroniser. */
#include <string.h>

#include "check.h"
#include "simulation.h"

/*
 * Groups of 256: each invocation writes its number to data, and behind the barrier reads that of
 * the one 16 (so of another thread) further on; then once more the other way round.
 */
static const char neighbours[] =
    "shr rf10, rf2, -8 ; nop\n" /* index in the group: 8 bits of payload */
    "shl rf10, rf10, 2 ; nop\n" /* in bytes */
    "shl rf11, rf3, 10 ; nop\n" /* the group's part of the buffers */
    "nop ; nop ; ldunifrf.rf12\n"
    "nop ; nop ; ldunifrf.rf13\n"
    "nop ; nop ; ldunifrf.rf14\n" /* 64 */
    "nop ; nop ; ldunifrf.rf15\n" /* 1023 */
    ".uniform 0x00100000, 0x00200000, 64, 1023\n"
    "add rf12, rf12, rf11 ; add rf13, rf13, rf11\n"
    "add rf16, rf12, rf10 ; mov tmud, rf10\n"
    "mov tmua, rf16 ; nop\n"
    "tmuwt - ; nop\n"
    "barrierid syncb ; nop ; thrsw\n"
    "add rf17, rf10, rf14 ; nop\n"
    "and rf17, rf17, rf15 ; nop\n"
    "add tmua, rf12, rf17 ; nop ; thrsw\n"
    "nop ; nop\n"
    "nop ; nop\n"
    "nop ; nop ; ldtmu.rf20\n"
    "barrierid syncb ; nop ; thrsw\n" /* nobody overwrites what others still read */
    "nop ; nop\n"
    "nop ; nop\n"
    "nop ; mov tmud, rf20\n"
    "mov tmua, rf16 ; nop\n"
    "tmuwt - ; nop\n"
    "barrierid syncb ; nop\n"
    "nop ; nop ; thrsw\n"
    "sub rf17, rf10, rf14 ; nop\n"
    "and rf17, rf17, rf15 ; nop\n"
    "add tmua, rf12, rf17 ; nop ; thrsw\n"
    "nop ; nop\n"
    "nop ; nop\n"
    "nop ; nop ; ldtmu.rf21\n"
    "add rf18, rf13, rf10 ; mov tmud, rf21\n"
    "mov tmua, rf18 ; nop\n"
    "tmuwt - ; nop\n" END;

static void barrier(void) {
  for (unsigned four = 0; four < 2; four++) {
    simulation *s = simulation_create(NULL);
    simulation_load(s, neighbours);
    simulation_shape(s, 10, 256, 1);
    s->job.cfg[5] |= four;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 2560; i++) {
      wrong += s->out[i] != i % 256 * 4;
      wrong += s->data[i] != (i + 16) % 256 * 4;
    }
    CHECK_INT(wrong, 0);
    simulation_destroy(s);
  }
}

static simulation *create_where_ended_batches(bool arrive) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.ended_batches_arrive = arrive;
  return simulation_create(&profile);
}

/* One batch of a supergroup leaves without coming to the barrier. */
static void deserter(void) {
  simulation *s = create_where_ended_batches(false);
  simulation_load(s,
                  "shr rf10, rf2, -8 ; nop\n"
                  "shr rf10, rf10, 4 ; nop\n"
                  "xor.pushz -, rf10, 2 ; nop\n" /* A: in batch 2 */
                  "b.a0 end\nnop ; nop\nnop ; nop\nnop ; nop\n"
                  "barrierid syncb ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                  "end:\n" END);
  simulation_shape(s, 1, 256, 1);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DEADLOCK), DAEDALUS_V3D_DEADLOCK);
  CHECK(strstr(s->report.message,
               "QPU 0 thread 0 (batch 0) before 0x00010050 waits for the barrier of supergroup 0: "
               "15 of 16 batches are there, 1 have ended, 0 have not begun"));
  /* The machine is none the worse. */
  simulation_do(s, BEGIN "mov rf1, 5 ; nop\n" STORE("rf1") END);
  simulation_destroy(s);
}

#define SWITCH "nop ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
#define BARRIER "barrierid syncb ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
#define NOPS "nop ; nop\nnop ; nop\nnop ; nop\n"

/*
 * Batch b of 16 comes to b % 4 barriers and ends.  Before barrier i it adds 16 to data[i], behind
 * it it reads that into out[4 b + i]: nobody passes before all those have come that do come.
 */
static const char some_barriers[] =
    "shr rf10, rf2, -8 ; nop\n" /* index in the group */
    "shr rf10, rf10, 4 ; nop\n"
    "and rf11, rf10, 3 ; nop\n"
    "nop ; nop ; ldunifrf.rf12\n" /* barriers that are left */
    "shl rf13, rf10, 4 ; nop\n"
    "nop ; nop ; ldunifrf.rf14\n"
    "nop ; nop ; ldunifrf.rf15\n"
    ".uniform 0x00100000, 0x00200000, 0xffffff87\n"
    "add rf13, rf13, rf14 ; nop\n"
    "again:\n"
    "mov.pushz -, rf11 ; nop\n"
    "b.a0 end\n" NOPS
    "mov tmuc, rf15 ; nop\n"
    "mov tmud, 1 ; nop\n"
    "mov tmua, rf12 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
    "nop ; nop ; ldtmu.rf20\n" BARRIER
    "mov tmua, rf12 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
    "nop ; nop ; ldtmu.rf20\n"
    "mov tmud, rf20 ; nop\n"
    "mov tmua, rf13 ; nop\n"
    "tmuwt - ; nop\n"
    "add rf12, rf12, 4 ; nop\n"
    "add rf13, rf13, 4 ; nop\n"
    "sub rf11, rf11, 1 ; nop\n"
    "b again\n" NOPS "end:\n" END;

static void barriers_of_some(void) {
  simulation *s = create_where_ended_batches(true);
  CHECK_INT(daedalus_v3d_profile_default().ended_batches_arrive, 1);
  simulation_load(s, some_barriers);
  for (unsigned kind = 0; kind < 4; kind++) {
    s->job.timed = kind & 1;
    /* Three supergroups: they do not fit the machine at two threads, and do at four. */
    simulation_shape(s, 3, 256, 1);
    s->job.cfg[5] = CODE | kind >> 1;
    memset(s->data, 0, sizeof s->data);
    memset(s->out, 0, sizeof s->out);
    /* One by one, as they count in the same words. */
    for (unsigned group = 0; group < 3; group++) {
      s->job.cfg[0] = 1u << 16 | group;
      s->job.cfg[4] = 16;
      CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
      for (unsigned b = 0; b < 16; b++)
        for (unsigned i = 0; i < 4; i++)
          CHECK_INT(s->out[4 * b + i],
                    i < b % 4 ? (group + 1) * 16 * 4 * (3 - i) : 0); /* 4 batches come 3 times */
    }
    /* Together they end, too. */
    simulation_shape(s, 3, 256, 1);
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  }
  simulation_destroy(s);
}

/*
 * A supergroup of two groups does not fit the machine: the first one waits until the batches of the
 * second have ended, also those that have to wait for a free slot.
 */
static void not_yet_dispatched(void) {
  simulation *s = create_where_ended_batches(true);
  simulation_load(s,
                  "and.pushz -, rf3, 1 ; nop\n"
                  "nop ; nop ; ldunifrf.rf12\n" /* A: in group 0 */
                  "shr rf10, rf2, -8 ; nop\n"
                  "nop ; nop ; ldunifrf.rf14\n"
                  "shl rf10, rf10, 2 ; nop\n"
                  "nop ; nop ; ldunifrf.rf15\n"
                  ".uniform 0x00100000, 0x00200000, 0xffffff87\n"
                  "add rf14, rf14, rf10 ; nop\n"
                  "b.a0 wait\n" NOPS
                  "mov tmuc, rf15 ; nop\n"
                  "mov tmud, 1 ; nop\n"
                  "mov tmua, rf12 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                  "nop ; nop ; ldtmu.rf20\n"
                  "b end\n" NOPS "wait:\n" BARRIER
                  "mov tmua, rf12 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                  "nop ; nop ; ldtmu.rf20\n"
                  "mov tmud, rf20 ; nop\n"
                  "mov tmua, rf14 ; nop\n"
                  "tmuwt - ; nop\n"
                  "end:\n" END);
  simulation_shape(s, 2, 256, 2);
  for (unsigned timed = 0; timed < 2; timed++) {
    s->job.timed = timed;
    s->data[0] = 0;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    for (unsigned i = 0; i < 256; i++)
      CHECK_INT(s->out[i], 256);
  }
  simulation_destroy(s);
}

/* A batch that comes to the barrier and ends at that very switch is not counted twice. */
static void end_at_the_barrier(void) {
  simulation *s = create_where_ended_batches(true);
  simulation_load(s,
                  "nop ; nop ; ldunifrf.rf12\n"
                  "nop ; nop ; ldunifrf.rf14\n"
                  ".uniform 0x00100000, 0x00200000\n"
                  "and.pushz -, rf3, 3 ; nop\n"
                  "b.na0 others\n" NOPS
                  /* Group 0. */
                  "nop ; nop ; thrsw\nnop ; nop ; thrsw\nnop ; nop\nnop ; nop\n" BARRIER
                  "others:\n"
                  "and.pushz -, rf3, 2 ; nop\n"
                  "b.na0 last\n" NOPS
                  /* Group 1: at this barrier, and alone at another one. */
                  BARRIER
                  "mov tmua, rf12 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                  "nop ; nop ; ldtmu.rf20\n"
                  "mov tmud, rf20 ; nop\nmov tmua, rf14 ; nop\ntmuwt - ; nop\n" BARRIER END
                  /* Group 2. */
                  "last:\n" SWITCH SWITCH SWITCH SWITCH
                  "mov tmud, 7 ; nop\nmov tmua, rf12 ; nop\ntmuwt - ; nop\n" BARRIER END);
  simulation_shape(s, 3, 16, 3);
  for (unsigned timed = 0; timed < 2; timed++) {
    s->job.timed = timed;
    s->data[0] = 0;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    CHECK_INT(s->out[0], 7);
  }
  /* All come, and end there: that breaks no rule. */
  simulation_load(s, BARRIER);
  s->job.cfg[5] |= 2;
  s->job.strict = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  simulation_destroy(s);
}

/* Strict jobs report whoever ends while others wait, and whoever comes when others have ended. */
static void barrier_partly(void) {
  static const struct {
    const char *early, *late; /* what each of the sides does first. */
    unsigned pc;
    const char *what;
  } rows[] = {
      {"", SWITCH SWITCH SWITCH, 18, "1 of the 3 batches of supergroup 0 have ended"},
      {SWITCH SWITCH SWITCH, "", 27, "1 of the 3 batches of supergroup 0 have ended"},
  };
  for (unsigned timed = 0; timed < 2; timed++)
    for (size_t i = 0; i < 2; i++) {
      simulation *s = create_where_ended_batches(true);
      char text[2048];
      snprintf(text, sizeof text,
               "and.pushz -, rf3, 3 ; nop\n" /* A: in group 0 */
               "b.na0 wait\n" NOPS
               "%s"
               "b end\n" NOPS "wait:\n%s" BARRIER "end:\n" END,
               rows[i].early, rows[i].late);
      simulation_load(s, text);
      simulation_shape(s, 3, 16, 3);
      s->job.timed = timed;
      CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
      s->job.strict = true;
      CHECK_INT(simulation_run(s, DAEDALUS_V3D_BROKEN_RULE), DAEDALUS_V3D_BROKEN_RULE);
      CHECK_INT(s->report.rule, DAEDALUS_V3D_RULE_BARRIER_PARTLY);
      CHECK(strstr(s->report.message, rows[i].what));
      CHECK_INT(s->report.pc, CODE + 8 * rows[i].pc);
      simulation_destroy(s);
    }
  /* Where all come, none is broken. */
  simulation *s = create_where_ended_batches(true);
  simulation_load(s, neighbours);
  simulation_shape(s, 10, 256, 1);
  s->job.strict = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  simulation_destroy(s);
}

/* A supergroup that does not fit the machine. */
static void too_large(void) {
  simulation *s = simulation_create(NULL);
  simulation_load(s, "barrierid syncb ; nop ; thrsw\nnop ; nop\nnop ; nop\n" END);
  simulation_shape(s, 2, 256, 2);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DEADLOCK), DAEDALUS_V3D_DEADLOCK);
  CHECK(strstr(s->report.message, "24 of 32 batches are there, 0 have ended, 8 have not begun"));
  s->job.cfg[5] |= 1;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  simulation_destroy(s);
}

/* rf10: the configuration of operation on object 50. */
#define CONFIG(reg, operation)  \
  "mov " reg                    \
  ", 0 ; nop\n"                 \
  "xor.pushz -, rf5, 2 ; nop\n" \
  "mov.ifa " reg                \
  ", rf6 ; nop\n"               \
  "xor.pushz -, rf5, 3 ; nop\n" \
  "mov.ifa " reg ", " operation " ; nop\n"

#define CONFIG_BEGIN "eidx rf5 ; nop ; ldunifrf.rf6\n.uniform 50\n"

/* A counter that is read, and written after a switch: right only if the mutex works. */
static void mutex(void) {
  simulation *s = simulation_create(NULL);
  for (unsigned with = 0; with < 2; with++) {
    char text[4096];
    snprintf(text, sizeof text,
             CONFIG_BEGIN "nop ; nop ; ldunifrf.rf1\n.uniform 0x00100000\n" CONFIG("rf10", "7")
                 CONFIG("rf11", "6") "mov %s, rf10 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                                     "mov tmua, rf1 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                                     "nop ; nop ; ldtmu.rf12\n"
                                     "nop ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                                     "add rf12, rf12, 1 ; nop\n"
                                     "mov tmud, rf12 ; nop\nmov tmua, rf1 ; nop\ntmuwt - ; nop\n"
                                     "mov %s, rf11 ; nop ; thrsw\nnop ; nop\nnop ; nop\n" END,
             with ? "sync" : "-", with ? "sync" : "-");
    simulation_load(s, text);
    simulation_shape(s, 50, 16, 1);
    s->data[0] = 0;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    CHECK_INT(s->data[0] == 50, with);
  }
  simulation_destroy(s);
}

/* The first batch waits for the semaphore that the second raises; alone it waits for ever. */
static void semaphore(void) {
  simulation *s = simulation_create(NULL);
  simulation_load(s, CONFIG_BEGIN CONFIG("rf10", "14") CONFIG("rf11", "13")
                  "mov.pushz -, rf3 ; nop\n" /* A in group 0 */
                  "mov rf12, rf11 ; nop\n"
                  "mov.ifa rf12, rf10 ; nop\n"
                  "mov sync, rf12 ; nop ; thrsw\nnop ; nop\nnop ; nop\n" END);
  simulation_shape(s, 2, 16, 1);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  simulation_shape(s, 1, 16, 1);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DEADLOCK), DAEDALUS_V3D_DEADLOCK);
  CHECK(strstr(s->report.message, "the semaphore of object 50"));
  simulation_destroy(s);
}

/*
 * Batches that have ended count at the barrier of their supergroup alone: not at another object,
 * nor at that one (0) where another quorum or another operation makes it something else.
 */
static void other_objects(void) {
#define QUORUM(reg, quorum) "mov.pushz -, rf5 ; nop\nmov.ifa " reg ", " quorum " ; nop\n"
#define FIRST(operation, quorum) \
  CONFIG("rf10", operation) QUORUM("rf10", quorum) "mov sync, rf10 ; nop ; thrsw\n" \
                                                   "nop ; nop\nnop ; nop\n"
  static const struct {
    unsigned object;
    const char *waits;
    daedalus_v3d_outcome outcome;
  } rows[] = {
      {0, FIRST("rf9", "3"), DAEDALUS_V3D_DONE}, /* what barrierid delivers: the barrier */
      {50, FIRST("rf9", "3"), DAEDALUS_V3D_DEADLOCK},
      {0, FIRST("rf9", "2"), DAEDALUS_V3D_DEADLOCK},
      {0, FIRST("0", "3") FIRST("11", "0"), DAEDALUS_V3D_DEADLOCK},
      {0, FIRST("13", "0") BARRIER, DAEDALUS_V3D_DEADLOCK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    simulation *s = create_where_ended_batches(true);
    char text[4096];
    /* Group 0 waits, 1 and 2 end. */
    snprintf(text, sizeof text,
             "eidx rf5 ; nop ; ldunifrf.rf6\nnop ; nop ; ldunifrf.rf9\n.uniform %u, 16\n"
             "and.pushz -, rf3, 3 ; nop\n"
             "b.na0 end\n" NOPS "%send:\n" END,
             rows[i].object, rows[i].waits);
    simulation_load(s, text);
    simulation_shape(s, 3, 16, 3);
    CHECK_INT(simulation_run(s, rows[i].outcome), rows[i].outcome);
    s->job.timed = true;
    CHECK_INT(simulation_run(s, rows[i].outcome), rows[i].outcome);
    simulation_destroy(s);
  }
}

static void unknown_operations(void) {
  simulation *s = simulation_create(NULL);
  simulation_load(s, CONFIG_BEGIN CONFIG("rf10", "12") "mov sync, rf10 ; nop ; thrsw\n" END);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_INSTRUCTION), DAEDALUS_V3D_BAD_INSTRUCTION);
  CHECK(strstr(s->report.message, "(wait_cv)"));
  simulation_load(s,
                  "nop ; nop ; ldunifrf.rf1\nmov syncu, rf1 ; nop\n.uniform 0, 0x11000000\n" END);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_INSTRUCTION), DAEDALUS_V3D_BAD_INSTRUCTION);
  CHECK(strstr(s->report.message, "operation 17"));
  simulation_destroy(s);
}

int main(void) {
  RUN(barrier);
  RUN(deserter);
  RUN(barriers_of_some);
  RUN(not_yet_dispatched);
  RUN(end_at_the_barrier);
  RUN(barrier_partly);
  RUN(too_large);
  RUN(mutex);
  RUN(semaphore);
  RUN(other_objects);
  RUN(unknown_operations);
  return CHECK_RESULT();
}
