/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches, delay slots, conditions, flags, and the order of reads and writes. */
#include "check.h"
#include "simulation.h"

/* All delay slots execute, what is jumped over does not. */
static void delay_slots(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "mov rf1, 0 ; nop\n"
                "b over\n"
                "add rf1, rf1, 1 ; nop\n"
                "add rf1, rf1, 2 ; nop\n"
                "add rf1, rf1, 4 ; nop\n"
                "add rf1, rf1, 8 ; nop\n"
                "over:\n" STORE("rf1") END);
  CHECK_ROW(s, 0, 7);
  simulation_destroy(s);
}

/* Each condition, with A set in the lanes below n for n = 0, 1, 15, 16, and in lane 15 alone. */
static void branch_conditions(void) {
  static const struct {
    const char *name;
    unsigned taken; /* bit k: for the k-th set of lanes */
  } conditions[] = {{"a0", 0x0e},    {"na0", 0x11},  {"alla", 0x08},
                    {"anyna", 0x17}, {"anya", 0x1e}, {"allna", 0x01}};
  static const char *const sets[] = {"sub.pushc -, rf2, 0 ; nop\n", /* eidx < 0 */
                                     "sub.pushc -, rf2, 1 ; nop\n", "sub.pushc -, rf2, 15 ; nop\n",
                                     "sub.pushc -, rf2, rf3 ; nop\n", /* eidx < 16 */
                                     "xor.pushz -, rf2, 15 ; nop\n"};
  simulation *s = simulation_create(NULL);
  for (unsigned c = 0; c < 6; c++) {
    for (unsigned k = 0; k < 5; k++) {
      char text[2048];
      snprintf(text, sizeof text,
               BEGIN
               "eidx rf2 ; mov rf1, 1\nmov rf3, 4 ; nop\nshl rf3, rf3, 2 ; nop\n%s"
               "b.%s over\nnop ; nop\nnop ; nop\nnop ; nop\nmov rf1, 0 ; nop\n"
               "over:\n" STORE("rf1") END,
               sets[k], conditions[c].name);
      simulation_do(s, text);
      CHECK_ROW(s, 0, conditions[c].taken >> k & 1);
    }
  }
  simulation_destroy(s);
}

/* Lanes that were not dispatched do not count with p, quads without any do not with q. */
static void undispatched_lanes(void) {
  static const struct {
    const char *branch;
    bool taken[3];
  } rows[] = {{"b.alla", {false, false, false}},
              {"b.allap", {true, true, true}},
              {"b.allaq", {false, true, false}},
              {"b.anynap", {false, false, false}},
              {"b.anynaq", {true, false, true}}};
  static const unsigned sizes[] = {5, 8, 9};
  simulation *s = simulation_create(NULL);
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (unsigned k = 0; k < 3; k++) {
      char text[2048];
      /* A in the dispatched lanes. */
      snprintf(text, sizeof text,
               BEGIN
               "msf rf2 ; mov rf1, 1\nxor.pushz -, rf2, 1 ; nop\n"
               "%s over\nnop ; nop\nnop ; nop\nnop ; nop\nmov rf1, 0 ; nop\n"
               "over:\n" STORE("rf1") END,
               rows[i].branch);
      simulation_shape(s, 1, sizes[k], 1);
      s->out[sizes[k]] = 77;
      simulation_do(s, text);
      for (unsigned lane = 0; lane < sizes[k]; lane++)
        CHECK_INT(s->out[lane], rows[i].taken[k]);
      CHECK_INT(s->out[sizes[k]], 77);
    }
  }
  simulation_destroy(s);
}

/* A subroutine called twice returns behind the slots of its call. */
static void link_register(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "mov rf1, 0 ; nop\n"
                "b.link twice\nnop ; nop\nnop ; nop\nnop ; nop\n"
                "add rf1, rf1, 1 ; nop\n"
                "b.link twice\nnop ; nop\nnop ; nop\nnop ; nop\n" STORE("rf1")
                "b end\nnop ; nop\nnop ; nop\nnop ; nop\n"
                "twice:\n"
                "add rf1, rf1, 2 ; nop\n"
                "lr rf5 ; nop\n"
                "b lri\nnop ; nop\nnop ; nop\nadd rf1, rf1, 4 ; nop\n"
                "mov rf1, 0 ; nop\n"
                "end:\n" END);
  CHECK_ROW(s, 0, 13);
  simulation_destroy(s);
}

/* To an address, and to one in a register. */
static void absolute_targets(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "mov rf1, 0 ; nop\n"
                "nop ; nop ; ldunifrf.rf7\n" /* word 5 */
                ".uniform 0x00010088\n"
                "b zero_addr+0x00010058\n"
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "add rf1, rf1, 1 ; nop\n" /* 10: skipped */
                "add rf1, rf1, 2 ; nop\n" /* 11 */
                "b rf7\n"
                "nop ; nop\nnop ; nop\nnop ; nop\n"
                "add rf1, rf1, 4 ; nop\n" /* 16: skipped */
                "add rf1, rf1, 8 ; nop\n" /* 17 */
                STORE("rf1") END);
  CHECK_ROW(s, 0, 10);
  simulation_destroy(s);
}

/* Push keeps the old A in B; each update leaves B alone. */
static void flags(void) {
  static const char *const names[12] = {"andz",  "andnz", "nornz", "norz",  "andn",  "andnn",
                                        "nornn", "norn",  "andc",  "andnc", "nornc", "norc"};
  simulation *s = simulation_create(NULL);
  for (unsigned i = 0; i < 12; i++) {
    /* A: lanes with bit 0. */
    char text[2048];
    const char *op = i < 4 ? "xor" : "sub";
    snprintf(text, sizeof text,
             BEGIN
             "eidx rf2 ; mov rf1, 0\n"
             "and rf3, rf2, 1 ; nop\n"
             "and rf5, rf2, 2 ; nop\n"
             "mov rf4, 0 ; nop\n"
             "xor.pushz -, rf3, 1 ; nop\n"
             "%s.%s -, rf5, 2 ; nop\n"
             "mov.ifa rf1, 1 ; nop\n"
             "mov.ifb rf4, 1 ; nop\n" STORE("rf1") STORE("rf4") END,
             op, names[i]);
    simulation_do(s, text);
    for (unsigned lane = 0; lane < 16; lane++) {
      const bool a = lane & 1;
      /* xor with 2: zero in lanes with bit 1.  Minus 2: negative, and borrows, in those without. */
      const bool flag = i < 4 ? (lane & 2) != 0 : (lane & 2) == 0;
      const bool expected[] = {a && flag, a && !flag, !(a || !flag), !(a || flag)};
      CHECK_INT(simulation_row(s, 0)[lane], expected[i % 4]);
      CHECK_INT(simulation_row(s, 1)[lane], 0); /* B: A before the push, never set */
    }
  }
  simulation_destroy(s);
}

static void pushes(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "eidx rf2 ; mov rf1, 0\n"
                "mov rf3, 0 ; nop\n"
                "and.pushz -, rf2, 1 ; nop\n" /* A: even lanes */
                "sub.pushn -, rf2, 4 ; nop\n" /* A: lanes 0..3, B: even */
                "mov.ifa rf1, 1 ; nop\n"
                "mov.ifb rf3, 1 ; nop\n"
                "add.pushc -, rf2, -3 ; nop\n" /* A: lanes 3..15 carry, B: lanes 0..3 */
                "mov.ifna rf3, 2 ; nop\n"
                "add.ifnb rf1, rf1, 4 ; nop\n" STORE("rf1") STORE("rf3") END);
  CHECK_ROW(s, 0, (lane < 4 ? 1 : 0) + (lane < 4 ? 0u : 4u));
  CHECK_ROW(s, 1, lane < 3 ? 2 : lane % 2 == 0);
  simulation_destroy(s);
}

/* A condition sees the flags before its own instruction, a branch those of the one before. */
static void flags_in_time(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "eidx rf2 ; mov rf1, 0\n"
                "and.pushz -, rf2, 1 ; nop\n"                 /* A: even */
                "sub.pushz -, rf2, rf2 ; mov.ifa rf1, rf61\n" /* A: all, but even lanes move */
                STORE("rf1") END);
  CHECK_ROW(s, 0, lane % 2 ? 0 : 64);
  simulation_destroy(s);
}

/* Of a thread that is alone flags survive a switch, as hardware shows: A is set in its last slot.
 * By the profile they do not; a strict job then reports who reads them. */
static void flags_after_switch(void) {
  static const char text[] = BEGIN
      "eidx rf2 ; mov rf1, 1\n"
      "nop ; nop ; ldunifrf.rf3\n"
      ".uniform 0x00100000\n"
      "mov tmua, rf3 ; nop ; thrsw\n"
      "nop ; nop\n"
      "sub.pushc -, rf2, 5 ; nop\n" /* A: lanes 0 to 4 */
      "nop ; nop ; ldtmu.rf4\n"
      "b.a0 over\nnop ; nop\nnop ; nop\nnop ; nop\n"
      "mov rf1, 0 ; nop\n"
      "over:\n"
      "add.ifa rf1, rf1, 1 ; nop\n" STORE("rf1") END;
  simulation *s = simulation_create(NULL);
  s->job.strict = true;
  simulation_do(s, text);
  CHECK_ROW(s, 0, lane < 5 ? 2 : 1);
  simulation_destroy(s);
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.flags_stay = 0;
  s = simulation_create(&profile);
  simulation_do(s, text);
  CHECK_ROW(s, 0, lane < 5 ? 0 : 1);
  s->job.strict = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BROKEN_RULE), DAEDALUS_V3D_BROKEN_RULE);
  CHECK_INT(s->report.rule, DAEDALUS_V3D_RULE_FLAGS_UNSET);
  simulation_destroy(s);
}

/* B is lost at a switch as A is; what is set behind it, and read there, is not. */
static void flags_lost(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.flags_stay = 0;
  simulation *s = simulation_create(&profile);
  simulation_do(s, BEGIN
                "eidx rf2 ; mov rf1, 0\n"
                "sub.pushc -, rf2, 5 ; nop\n" /* B: lanes 0 to 4 */
                "sub.pushc -, rf2, 9 ; nop\n" /* A: lanes 0 to 8 */
                "nop ; nop ; thrsw\n"
                "nop ; nop\n"
                "add.ifa rf1, rf1, 1 ; nop\n"
                "add.ifa rf1, rf1, 2 ; nop\n"
                "add.ifb rf1, rf1, 4 ; nop\n"
                "sub.pushc -, rf2, 3 ; nop\n" /* A: lanes 0 to 2 */
                "add.ifa rf1, rf1, 8 ; nop\n" STORE("rf1") END);
  CHECK_ROW(s, 0, (lane < 9 ? 1u : 2u) | (lane < 5 ? 0u : 4u) | (lane < 3 ? 8u : 0u));
  simulation_destroy(s);
}

/* Sources are read before anything of the instruction is written. */
static void reads_first(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "eidx rf2 ; nop\n"
                "add rf3, rf2, 1 ; nop\n"
                "mov rf3, rf2 ; mov rf2, rf3\n" STORE("rf2")
                    STORE("rf3") "add rf2, rf2, rf2 ; add rf3, rf2, rf3\n" STORE("rf2")
                        STORE("rf3") "mov rf4, rf0 ; nop ; ldunif\n.uniform 5\n" STORE("rf4")
                            STORE("rf0") END);
  CHECK_ROW(s, 0, lane + 1);
  CHECK_ROW(s, 1, lane);
  CHECK_ROW(s, 2, 2 * lane + 2);
  CHECK_ROW(s, 3, 2 * lane + 1);
  CHECK_ROW(s, 4, 64);
  CHECK_ROW(s, 5, 5);
  simulation_destroy(s);
}

/* rep and quad write rf0; the product's upper byte goes by multop; halves keep each other. */
static void special_results(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "eidx rf2 ; nop\n"
                "add rf2, rf2, 3 ; nop\n"
                "mov quad, rf2 ; nop\n" STORE("rf0")
                "rot rf3, rf2, 5 ; mov rep, rf2\n" STORE("rf0") STORE("rf3")
                "nop ; nop ; ldunifrf.rf5\n.uniform 0x89abcdef\n"
                "nop ; multop -, rf5, rf5\n"
                "nop ; umul24 rf6, rf5, rf5\n" STORE("rf6")
                "nop ; umul24 rf6, rf5, 1\n" STORE("rf6")
                "nop ; nop ; ldunifrf.rf7\n.uniform 0x40490fdb\n" /* pi */
                "mov rf8, rf5 ; nop\n"
                "fmov.pushz rf8.h, rf7 ; nop\n" STORE("rf8")
                "mov rf9, rf5.il ; mov rf10, rf5.uh\n" STORE("rf9") STORE("rf10") END);
  CHECK_ROW(s, 0, lane / 4 * 4 + 3);
  CHECK_ROW(s, 1, 3);
  CHECK_ROW(s, 2, (lane + 5) % 16 + 3);
  CHECK_ROW(s, 3, 0x89abcdefu * 0x89abcdefu);
  CHECK_ROW(s, 4, 0x00abcdef);
  CHECK_ROW(s, 5, 0x4248cdef);
  CHECK_ROW(s, 6, 0xffffcdef);
  CHECK_ROW(s, 7, 0x000089ab);
  simulation_destroy(s);
}

/* Flags of the mul ALU, and flags that come off a stack. */
static void flags_elsewhere(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "eidx rf2 ; mov rf1, 0\n"
                "mov rf3, 0 ; nop\n"
                "nop ; sub.pushn -, rf2, 4\n" /* A: lanes 0..3 */
                "mov.ifa rf1, 1 ; nop\n"
                "flapush rf4, rf3 ; nop\n"
                "nop ; umul24.norz -, rf2, 1\n" /* A: not A before, and not lane 0 */
                "add.ifa rf1, rf1, 2 ; nop\n"
                "flpop rf5, rf4 ; nop\n" /* A: lanes 0..3 again */
                "add.ifa rf1, rf1, 4 ; nop\n" STORE("rf1") STORE("rf4") STORE("rf5") END);
  CHECK_ROW(s, 0, lane < 4 ? 5 : 2);
  CHECK_ROW(s, 1, lane < 4 ? 3 : 0);
  CHECK_ROW(s, 2, 0);
  simulation_destroy(s);
}

/* Each source has its own modifier, the result one more. */
static void modifiers(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "nop ; nop ; ldunifrf.rf1\n"
                "nop ; nop ; ldunifrf.rf2\n"
                ".uniform 0xc0000000, 0x44003c00\n"                 /* -2; halves 4 and 1 */
                "fsub rf3, rf1.abs, rf2.h ; nop\n"                  /* 2 - 4 */
                "fadd rf4, rf2.l, rf1 ; fmul rf5, rf2.h, rf1.abs\n" /* 1 - 2; 4 * 2 */
                "mov rf6, rf2 ; nop\n"
                "fadd rf6.l, rf2.l, rf2.l ; nop\n" STORE("rf3") STORE("rf4") STORE("rf5")
                    STORE("rf6") END);
  CHECK_ROW(s, 0, 0xc0000000);
  CHECK_ROW(s, 1, 0xbf800000);
  CHECK_ROW(s, 2, 0x41000000);
  CHECK_ROW(s, 3, 0x44004000);
  simulation_destroy(s);
}

int main(void) {
  RUN(flags_elsewhere);
  RUN(modifiers);
  RUN(delay_slots);
  RUN(branch_conditions);
  RUN(undispatched_lanes);
  RUN(link_register);
  RUN(absolute_targets);
  RUN(flags);
  RUN(pushes);
  RUN(flags_in_time);
  RUN(flags_after_switch);
  RUN(flags_lost);
  RUN(reads_first);
  RUN(special_results);
  return CHECK_RESULT();
}
