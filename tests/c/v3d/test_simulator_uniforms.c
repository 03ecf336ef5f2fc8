/* SPDX-License-Identifier: BSD-2-Clause */
/* The two streams of uniforms. */
#include <string.h>

#include "check.h"
#include "simulation.h"

/* Every consumer takes the next word. */
static void order(void) {
  simulation *s = simulation_create(NULL);
  s->data[5] = 1234;
  simulation_do(s, BEGIN
                "nop ; nop ; ldunifrf.rf1\n"
                "nop ; nop ; ldunif\n"
                "mov rf2, rf0 ; nop ; ldunifrf.tmud\n"
                "mov tmuau, rf60 ; nop\n"
                "add rf60, rf60, rf61 ; nop\n"
                "nop ; nop ; wrtmuc\n"
                "nop ; nop ; ldunifrf.tmua\n"
                "nop ; nop ; ldtmu.rf3\n"
                "nop ; nop ; ldunifrf.rf4\n"
                ".uniform 11, 22, 33, 0xffffffff, 0xffffffff, 0x00100014, 44\n" STORE("rf1")
                    STORE("rf2") STORE("rf3") STORE("rf4") END);
  CHECK_ROW(s, 0, 33);
  CHECK_ROW(s, 1, 11);
  CHECK_ROW(s, 2, 22);
  CHECK_ROW(s, 3, 1234);
  CHECK_ROW(s, 4, 44);
  CHECK_INT(s->report.counts.uniforms, 9);
  simulation_destroy(s);
}

/* A branch takes a word whether it is taken or not, and moves the stream if it is. */
static void branches(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "eidx rf2 ; nop\n"
                "sub.pushz -, rf2, rf2 ; nop\n" /* A everywhere */
                "bu.anyna over, r:unif\n"       /* not taken: 4000 is used up */
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "over:\n"
                "nop ; nop ; ldunifrf.rf1\n"
                "bu.alla there, r:unif\n" /* taken: over two words */
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "nop ; nop ; ldunifrf.rf1\n"
                "there:\n"
                "nop ; nop ; ldunifrf.rf3\n"
                "bu again, a:unif\n" /* to the word of address 0x00020008 */
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "again:\n"
                "nop ; nop ; ldunifrf.rf4\n"
                ".uniform 4000, 101, 8, 102, 103, 104, 0x00020008\n" STORE("rf1") STORE("rf3")
                    STORE("rf4") END);
  CHECK_ROW(s, 0, 101);
  CHECK_ROW(s, 1, 104);
  CHECK_ROW(s, 2, 4000);
  simulation_destroy(s);
}

/* A register moves the stream by its second element. */
static void register_branch(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "nop ; nop ; ldunifrf.rf1\n"
                "eidx rf2 ; nop\n"
                "xor.pushz -, rf2, 1 ; nop\n"
                "mov rf3, 0 ; nop\n"
                "mov.ifa rf3, rf1 ; nop\n"
                "bu there, rf3\n"
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "there:\n"
                "nop ; nop ; ldunifrf.rf4\n"
                ".uniform 0x00020010, 1, 55, 66\n" STORE("rf4") END);
  CHECK_ROW(s, 0, 55);
  simulation_destroy(s);
}

/* As a test on hardware has it: lanes 4 bytes apart, and the word of lane 0 is read. */
static void register_branch_bit_2(void) {
  static const char text[] = BEGIN
      "nop ; nop ; ldunifrf.rf1\n"
      "eidx rf2 ; nop\n"
      "shl rf2, rf2, 2 ; nop\n"
      "add rf2, rf2, rf1 ; nop\n"
      "bu there, rf2\n" /* word 8 */
      "nop ; nop\nnop ; nop\nnop ; nop\n"
      "there:\n"
      "nop ; nop ; ldunifrf.rf4\n"
      ".uniform 0x00020010, 1, 55, 66\n" STORE("rf4") END;
  for (uint32_t ignored = 0; ignored < 2; ignored++) {
    daedalus_v3d_profile profile = daedalus_v3d_profile_default();
    CHECK_INT(profile.register_stream_ignores_bit_2, 1);
    profile.register_stream_ignores_bit_2 = ignored;
    simulation *s = simulation_create(&profile);
    simulation_do(s, text);
    CHECK_ROW(s, 0, ignored ? 55 : 66);
    s->job.strict = true;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_BROKEN_RULE), DAEDALUS_V3D_BROKEN_RULE);
    CHECK_INT(s->report.rule, DAEDALUS_V3D_RULE_STREAM_BIT_2);
    CHECK_INT(s->report.pc, CODE + 8 * 8);
    CHECK_INT(s->report.lane, 1);
    CHECK_INT(s->report.address, UNIFORMS + 5 * 4);
    /* An absolute address keeps the bit, and breaks no rule. */
    simulation_do(s, BEGIN
                  "bu there, a:unif\nnop ; nop\nnop ; nop\nnop ; nop\n"
                  "there:\n"
                  "nop ; nop ; ldunifrf.rf4\n"
                  ".uniform 0x00020014, 1, 55, 66\n" STORE("rf4") END);
    CHECK_ROW(s, 0, 66);
    simulation_destroy(s);
  }
}

/* The link register as the stream's new address; it was set by a call. */
static void link_branch(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "b.link here\n" /* word 4; the link is word 8 */
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "here:\n"
                "bu there, lri\n"
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "there:\n"
                "nop ; nop ; ldunifrf.rf4\n" STORE("rf4") END);
  CHECK_ROW(s, 0, (uint32_t)s->code[8]);
  simulation_destroy(s);
}

/* unifa takes lane 0, is a stream of its own, and a load with a write uses the old pointer. */
static void unifa(void) {
  simulation *s = simulation_create(NULL);
  for (unsigned i = 0; i < 16; i++)
    s->data[i] = 1000 + i;
  simulation_do(s, BEGIN
                "nop ; nop ; ldunifrf.rf5\n"
                ".uniform 0x00100000\n"
                "eidx rf2 ; nop\n"
                "shl rf2, rf2, 4 ; nop\n"
                "add rf6, rf5, rf2 ; nop\n"
                "mov unifa, rf6 ; nop\n" /* lane 0: DATA */
                "nop ; nop\nnop ; nop\n"
                "nop ; nop ; ldunifrf.rf1\n"
                "nop ; nop ; ldunifarf.rf7\n"
                "add unifa, rf5, 8 ; nop\n"
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "nop ; nop ; ldunifa\n"
                "mov rf8, rf0 ; nop ; ldunifrf.rf9\n"
                "mov unifa, rf5 ; nop ; ldunifarf.rf10\n"
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "nop ; nop ; ldunifarf.rf11\n"
                ".uniform 77, 88\n" STORE("rf1") STORE("rf7") STORE("rf8") STORE("rf9")
                    STORE("rf10") STORE("rf11") END);
  CHECK_ROW(s, 0, 77);
  CHECK_ROW(s, 1, 1000);
  CHECK_ROW(s, 2, 1002);
  CHECK_ROW(s, 3, 88);
  CHECK_ROW(s, 4, 1003);
  CHECK_ROW(s, 5, 1000);
  simulation_destroy(s);
}

/* A write of unifa in a branch's slots counts, as a test on hardware shows (Mesa makes none). */
static void unifa_in_slots(void) {
  simulation *s = simulation_create(NULL);
  for (unsigned i = 0; i < 4; i++)
    s->data[i] = 500 + i;
  simulation_do(s, BEGIN
                "nop ; nop ; ldunifrf.rf5\n"
                ".uniform 0x00100008\n"
                "b there\n"
                "mov unifa, rf5 ; nop\n"
                "nop ; nop\nnop ; nop\n"
                "mov unifa, rf60 ; nop\n" /* jumped over */
                "there:\n"
                "nop ; nop\n"
                "nop ; nop ; ldunifarf.rf7\n" STORE("rf7") END);
  CHECK_ROW(s, 0, 502);
  simulation_destroy(s);
}

/* What the job stores is not seen by uniforms, as hardware shows; strictly it is reported. */
static const char stores_then_reads[] = BEGIN
    "mov tmud, 2 ; nop\n"
    "nop ; nop ; ldunifrf.rf5\n"
    "mov tmua, rf5 ; nop\n"
    "tmuwt - ; nop ; thrsw\n" /* the store is done in any order of threads */
    "nop ; nop\nnop ; nop\n"
    "bu there, a:unif\n"
    "nop ; nop\nnop ; nop\nnop ; nop\n"
    "there:\n"
    "nop ; nop ; ldunifrf.rf1\n"
    "mov unifa, rf5 ; nop\n"
    "nop ; nop\nnop ; nop\nnop ; nop\n"
    "nop ; nop ; ldunifarf.rf3\n"
    "mov tmua, rf5 ; nop ; thrsw\n"
    "nop ; nop\nnop ; nop\n"
    "nop ; nop ; ldtmu.rf2\n"
    ".uniform 0x00100010, 0x00100010\n" STORE("rf1") STORE("rf2") STORE("rf3") END;

static void stale(void) {
  simulation *s = simulation_create(NULL);
  s->data[4] = 1;
  simulation_do(s, stores_then_reads);
  CHECK_ROW(s, 0, 1);
  CHECK_ROW(s, 1, 2);
  CHECK_ROW(s, 2, 1);
  CHECK_INT(s->data[4], 2);
  /* The next job sees what this one stored: caches are emptied in between. */
  simulation_do(s, stores_then_reads);
  CHECK_ROW(s, 0, 2);
  s->data[4] = 1;
  s->job.strict = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BROKEN_RULE), DAEDALUS_V3D_BROKEN_RULE);
  CHECK_INT(s->report.rule, DAEDALUS_V3D_RULE_STALE_UNIFORM);
  CHECK_INT(s->report.address, DATA + 16);
  simulation_destroy(s);

  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.uniforms_see_stores = 1;
  s = simulation_create(&profile);
  s->data[4] = 1;
  simulation_do(s, stores_then_reads);
  CHECK_ROW(s, 0, 2);
  CHECK_ROW(s, 2, 2);
  simulation_destroy(s);
}

static void outside(void) {
  simulation *s = simulation_create(NULL);
  simulation_load(s, "nop ; nop ; ldunif\n" END);
  s->job.cfg[6] = UNIFORMS + UNIFORM_BYTES;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_FETCH), DAEDALUS_V3D_BAD_FETCH);
  CHECK_INT(s->report.address, UNIFORMS + UNIFORM_BYTES);
  CHECK(strstr(s->report.message, "uniform stream is read at 0x00020400, 0 bytes past the end"));
  /* By every other consumer. */
  static const char *const consumers[] = {
      "bu over, r:unif\nnop ; nop\nnop ; nop\nnop ; nop\nover:\n", "nop ; nop ; ldunifrf.rf1\n",
      "nop ; nop ; wrtmuc\n", "mov tmuau, rf0 ; nop\n", "mov syncu, rf0 ; nop\n"};
  for (size_t i = 0; i < sizeof consumers / sizeof consumers[0]; i++) {
    char text[1024];
    snprintf(text, sizeof text, "%s" END, consumers[i]);
    simulation_load(s, text);
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_FETCH), DAEDALUS_V3D_BAD_FETCH);
    CHECK(strstr(s->report.message, "uniform stream is read at 0x00020400"));
  }
  simulation_load(s,
                  "mov unifa, 8 ; nop\nnop ; nop\nnop ; nop\nnop ; nop\nnop ; nop ; ldunifa\n" END);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_FETCH), DAEDALUS_V3D_BAD_FETCH);
  CHECK(strstr(s->report.message, "unifa stream is read at 0x00000008"));
  simulation_destroy(s);
}

int main(void) {
  RUN(order);
  RUN(branches);
  RUN(register_branch);
  RUN(register_branch_bit_2);
  RUN(link_branch);
  RUN(unifa);
  RUN(unifa_in_slots);
  RUN(stale);
  RUN(outside);
  return CHECK_RESULT();
}
