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

/* One batch of a supergroup leaves without coming to the barrier. */
static void deserter(void) {
  simulation *s = simulation_create(NULL);
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
  RUN(too_large);
  RUN(mutex);
  RUN(semaphore);
  RUN(unknown_operations);
  return CHECK_RESULT();
}
