/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each rule by two small programs: one that keeps it, and one that breaks it, alone, at a known
 * word; the latter is found in strict checking, and in tolerant checking by the rule's level.
 */
#include <stdlib.h>

#include <daedalus/v3d/text.h>
#include <daedalus/v3d/validate.h>

#include "check.h"

#define NOP "nop\n"
#define NOPS NOP NOP NOP
#define THRSW "nop; nop; thrsw\n"
/** The end of a program that is started as a single segment, and of one that is not. */
#define END THRSW NOP NOP
#define LAST_END THRSW THRSW NOP END
#define UNIFORM(value) ".uniform " #value "\n"
#define LDUNIF "nop; nop; ldunif\n"
#define PUSH "mov.pushz -, rf4\n"
#define UNIFA "mov unifa, rf4\n"
#define LDUNIFA "nop; nop; ldunifa\n"
#define DATA "mov tmud, rf4\n"
#define LOOKUP "mov tmua, rf4\n"
#define POP "nop; nop; ldtmu.rf5\n"
#define POP_2 POP POP
#define POP_4 POP_2 POP_2
#define POP_8 POP_4 POP_4
#define TMUWT "tmuwt -\n"
#define STORE DATA LOOKUP
#define STORE_8 STORE STORE STORE STORE STORE STORE STORE STORE
#define VEC2 "mov tmuc, -6\n"
#define VEC3 "mov tmuc, -5\n"
#define VEC4 "mov tmuc, -4\n"
#define LOAD_4 VEC4 LOOKUP

typedef struct sample {
  daedalus_v3d_rule rule;
  unsigned threads; /**< 0: 2. */
  bool segments;    /**< not started as a single segment. */
  const char *kept, *broken;
  size_t index; /**< of the word of broken at which rule is broken. */
} sample;

#define R(name) DAEDALUS_V3D_RULE_##name

static const sample samples[] = {
    {R(ILLEGAL_WORD), 0, 0, NOP END, ".word 0x0\n" END, 0},
    {R(OFF_THE_END), 0, 0, END, THRSW NOP, 1},
    {R(NO_LAST_THRSW), 0, 1, LAST_END, END, 2},
    {R(BRANCH_OUTSIDE), 0, 0, "b 0\n" NOPS END, "b 32\n" NOPS END, 0},
    {R(BRANCH_OUTSIDE), 0, 0, "b 16\n" NOPS END END, "b -40\n" NOPS END, 0},
    {R(UNKNOWN_TARGET), 0, 0, "b.link sub\n" NOPS END "sub: b lri\n" NOPS, "b rf5\n" NOPS END, 0},
    {R(UNKNOWN_TARGET), 0, 0, "b.link sub\n" NOPS END "sub: b lri\n" NOPS, "b lri\n" NOPS END, 0},
    {R(WRITTEN_TWICE), 0, 0, "add rf1, rf4, rf5; sub rf6, rf4, rf5\n" END,
     "add rf1, rf4, rf5; sub rf1, rf4, rf5\n" END, 0},
    {R(WRITTEN_TWICE), 0, 0, "mov rf1, rf4; nop; ldunif\n" END, "mov rep, rf4; nop; ldunif\n" END,
     0},
    {R(WRITTEN_TWICE), 0, 0, UNIFA "mov rf1, rf4; nop; ldunifrf.unifa\n" END,
     UNIFA "mov unifa, rf4; nop; ldunifrf.unifa\n" END, 1},
    {R(PERIPHERALS), 0, 0, "recip rf6, rf4; mov rf7, rf5\n" LOOKUP POP END,
     "recip rf6, rf4; mov tmua, rf5\n" POP END, 0},
    {R(PERIPHERALS), 0, 0, UNIFORM(-1) "mov tmua, rf4; nop; wrtmuc\n" POP END,
     UNIFORM(-1) "mov tmuc, rf4; nop; wrtmuc\n" END, 0},
    {R(PERIPHERALS), 0, 0, VEC2 DATA "mov tmud, rf4; nop; ldunif\n" LOOKUP TMUWT END,
     VEC2 DATA "mov tmud, rf4; nop; ldunifrf.tmud\n" LOOKUP TMUWT END, 2},
    {R(PERIPHERALS), 0, 1, "barrierid syncb; nop; thrsw\n" NOP NOP LOOKUP POP LAST_END,
     "barrierid syncb; mov tmuc, rf4; thrsw\n" NOP NOP LAST_END, 0},
    {R(SFU_DEST), 0, 0, "rot -, rf4, 1\n" END, "rot rep, rf4, 1\n" END, 0},
    {R(UNIFORM_TWICE), 0, 0, UNIFORM(-1) UNIFORM(0) "mov tmuau, rf4\n" LDUNIF POP END,
     UNIFORM(-1) UNIFORM(0) "mov tmuau, rf4; nop; ldunif\n" POP END, 0},
    {R(UNIFORM_TWICE), 0, 0, UNIFORM(-1) UNIFA NOPS "mov tmua, rf4; nop; ldunifa\n" POP END,
     UNIFORM(-1) UNIFA NOPS "mov tmuau, rf4; nop; ldunifa\n" POP END, 4},
    {R(GRAPHICS), 0, 0, "mov rf5, rf4\n" END, "mov tlb, rf4\n" END, 0},
    {R(GRAPHICS), 0, 0, TMUWT END, "vpmwt -\n" END, 0},
    {R(GRAPHICS), 0, 0, NOP END, "nop; nop; ldtlb.rf5\n" END, 0},
    {R(TEXTURE), 0, 0, LOOKUP POP END, "mov tmus, rf4\n" END, 0},
    {R(REP_PREDICATED), 0, 0, PUSH "mov rep, rf4\n" END, PUSH "mov.ifa rep, rf4\n" END, 1},
    {R(REP_PREDICATED), 0, 0, PUSH "mov quad, rf4\n" END, PUSH "mov.ifna quad, rf4\n" END, 1},
    {R(UCB), 0, 0, NOP END, ".word 0x3ac03186bb03f000\n" END, 0},
    {R(HIGH_REGISTER), 4, 0, "mov rf31, rf4\n" END, "mov rf32, rf4\n" END, 0},
    {R(HIGH_REGISTER), 4, 0, "mov rf5, rf31\n" END, "mov rf5, rf32\n" END, 0},
    {R(BRANCH_IN_BRANCH), 0, 0, "b end\n" NOPS NOP "end:" END, "b end\nb end\n" NOPS "end:" NOP END,
     1},
    {R(THRSW_IN_BRANCH), 0, 1, THRSW NOP NOP "b end\n" NOPS NOP "end:" LAST_END,
     "b end\n" THRSW NOP NOP "end:" LAST_END, 1},
    {R(UNIFORM_IN_BRANCH), 0, 0, LDUNIF "b end\n" NOPS "end:" LDUNIF END,
     "b end\n" NOP NOP LDUNIF "end:" END, 3},
    {R(UNIFA_IN_BRANCH), 0, 0, "b end\n" NOPS "end:" UNIFA END, "b end\n" NOP NOP UNIFA "end:" END,
     3},
    {R(BRANCH_IN_THRSW), 0, 1, THRSW NOP NOP "b end\n" NOPS "end:" LAST_END,
     THRSW NOP "b end\n" NOPS "end:" LAST_END, 2},
    {R(THRSW_TOO_CLOSE), 0, 1, THRSW NOP NOP THRSW NOP NOP LAST_END,
     THRSW NOP THRSW NOP NOP LAST_END, 2},
    {R(THRSW_TRIPLE), 0, 1, THRSW THRSW NOP THRSW NOP NOP, THRSW THRSW THRSW NOP NOP, 2},
    {R(LAST_THRSW_TWICE), 0, 0, THRSW NOP NOP, THRSW THRSW NOP, 1},
    {R(SFU_IN_THRSW), 0, 1, THRSW NOP NOP "recip rf6, rf4\n" LAST_END,
     THRSW NOP "recip rf6, rf4\n" LAST_END, 2},
    {R(RF0_LOST), 0, 1, LOOKUP LDUNIF THRSW NOP POP "mov rf6, rf0\n" LAST_END,
     LOOKUP LDUNIF THRSW NOP "nop; nop; ldtmu.rf5; ldunif\nmov rf6, rf0\n" LAST_END, 5},
    {R(RF0_LOST), 0, 1,
     LOOKUP THRSW NOP "nop; nop; ldtmu.rf5; ldunif\nmov rf0, rf6\nmov rf6, rf0\n" LAST_END,
     LOOKUP THRSW NOP "nop; nop; ldtmu.rf5; ldunif\n" PUSH "mov.ifa rf0, rf6\nmov rf6, rf0\n" //
     LAST_END,
     6},
    {R(FLAGS_UNSET), 0, 1, PUSH THRSW NOP NOP "mov.ifa rf5, rf4\n" LAST_END,
     "mov.ifa rf5, rf4\n" LAST_END, 0},
    {R(FLAGS_UNSET), 0, 0, PUSH PUSH "mov.ifb rf5, rf4\n" END, PUSH "mov.ifb rf5, rf4\n" END, 1},
    {R(FLAGS_UNSET), 0, 0, PUSH "mov.andz -, rf5\n" END, "mov.andz -, rf5\n" END, 0},
    {R(FLAGS_UNSET), 0, 0, PUSH "vfla rf5\n" END, PUSH "vflb rf5\n" END, 1},
    {R(FLAGS_UNSET), 0, 0, PUSH "b.anya 0\n" NOPS END, "b.anya 0\n" NOPS END, 0},
    {R(RTOP_LOST), 0, 1, THRSW "nop; multop -, rf4, rf5\nnop; umul24 rf6, rf4, rf5\n" LAST_END,
     THRSW NOP "nop; multop -, rf4, rf5\nnop; umul24 rf6, rf4, rf5\n" LAST_END, 2},
    {R(RTOP_OVERWRITTEN), 0, 0,
     "nop; multop -, rf4, rf5\nnop; umul24 rf6, rf4, rf5\nnop; multop -, rf4, rf5\n" END,
     "nop; multop -, rf4, rf5\nnop; multop -, rf4, rf5\nnop; umul24 rf6, rf4, rf5\n" END, 1},
    {R(NNMODE_UNSET), 0, 0, "setnnmode_ss; v8dot rf5, rf4, rf4\n" END,
     "nop; v8dot rf5, rf4, rf4\n" END, 0},
    {R(LDVARY_RF0), 0, 0, "nop; nop; ldvary.rf5\n" NOP LDUNIF END,
     "nop; nop; ldvary.rf5\n" LDUNIF END, 1},
    {R(UNIFA_TOO_EARLY), 0, 0, UNIFA NOPS LDUNIFA END, UNIFA NOP NOP LDUNIFA END, 3},
    {R(UNIFA_TOO_EARLY), 0, 0, UNIFA NOPS "mov unifa, rf5; nop; ldunifa\n" NOPS LDUNIFA END,
     UNIFA NOPS "mov unifa, rf5; nop; ldunifa\n" LDUNIFA END, 5},
    {R(UNIFA_BRANCH), 0, 0, UNIFA NOPS "b end\n" NOPS "end:" END,
     UNIFA NOP NOP "b end\n" NOPS "end:" END, 3},
    {R(UNIFA_SWITCH), 0, 1, UNIFA THRSW NOP NOP LDUNIFA LAST_END,
     THRSW UNIFA NOP NOP NOP LDUNIFA LAST_END, 2},
    {R(UNIFA_SWITCH), 0, 0, UNIFA END, "mov unifa, rf4; nop; thrsw\n" NOP NOP, 2},
    {R(UNIFA_UNSET), 0, 0, UNIFA NOPS LDUNIFA END, LDUNIFA END, 0},
    {R(LDTMU_EMPTY), 0, 0, LOOKUP POP END, POP END, 0},
    {R(LDTMU_EMPTY), 0, 0, LOOKUP POP END, DATA LOOKUP POP END, 2},
    {R(LDTMU_EMPTY), 0, 0, LOOKUP POP END, LOOKUP POP_2 END, 2},
    {R(OUTPUT_FIFO), 0, 0, LOAD_4 LOAD_4 POP_8 END, LOAD_4 LOAD_4 LOOKUP POP_8 END, 4},
    {R(OUTPUT_FIFO), 4, 0, LOAD_4 POP_4 END, LOAD_4 LOOKUP POP_4 END, 2},
    {R(OUTPUT_FIFO), 4, 1, LOAD_4 THRSW NOP NOP "mov tmua, rf4; nop; ldtmu.rf5\n" POP_4 LAST_END,
     LOAD_4 THRSW NOP NOP POP LOOKUP "mov tmua, rf4; nop; ldtmu.rf5\n" POP_4 LAST_END, 7},
    {R(OUTPUT_FIFO), 4, 1,
     THRSW NOP NOP LOAD_4 POP "mov tmua, rf4; nop; ldtmu.rf5\n" POP_2 POP LAST_END,
     THRSW NOP NOP LOAD_4 "mov tmua, rf4; nop; ldtmu.rf5\n" POP_4 LAST_END, 5},
    {R(INPUT_FIFO), 4, 0, VEC3 DATA DATA DATA LOOKUP TMUWT END,
     VEC4 DATA DATA DATA DATA LOOKUP TMUWT END, 4},
    {R(LOOKUP_CONFIG), 0, 0, UNIFORM(0xffffff87) DATA "mov tmuau, rf4\n" POP END,
     UNIFORM(0xffffffdf) DATA "mov tmuau, rf4\n" POP END, 1},
    {R(LOOKUP_CONFIG), 0, 0, UNIFORM(0xffffffc7) "mov tmuau, rf4\n" POP END,
     UNIFORM(0xffffffc2) "mov tmuau, rf4\n" POP END, 0},
    {R(LOOKUP_CONFIG), 0, 0, UNIFORM(0xffffffa7) "mov tmuau, rf4\n" END,
     UNIFORM(0xffffffaf) "mov tmuau, rf4\n" END, 0},
    {R(LOOKUP_DATA), 0, 0, VEC2 DATA DATA LOOKUP TMUWT END, VEC2 DATA DATA DATA LOOKUP TMUWT END,
     4},
    {R(LOOKUP_DATA), 0, 0, STORE TMUWT END, DATA DATA LOOKUP TMUWT END, 2},
    {R(STORE_SHORT), 0, 0, VEC2 DATA DATA LOOKUP TMUWT END, VEC2 DATA LOOKUP TMUWT END, 2},
    {R(STORE_SHORT), 0, 0, VEC3 DATA DATA DATA LOOKUP TMUWT END,
     VEC4 DATA DATA DATA LOOKUP TMUWT END, 4},
    {R(LOOKUP_DATA), 0, 0, UNIFORM(0xffffff9a) DATA DATA "mov tmuau, rf4\n" POP END,
     UNIFORM(0xffffff9a) DATA "mov tmuau, rf4\n" POP END, 1},
    {R(UNKNOWN_CONFIG), 0, 0, UNIFORM(-1) "mov tmuau, rf4\n" POP END, "mov tmuau, rf4\n" POP END,
     0},
    {R(UNKNOWN_CONFIG), 0, 0, "mov tmuc, 4; nop\nnot tmuc, 3\n" LOOKUP POP_4 END,
     "not tmuc, rf4\n" LOOKUP POP END, 1},
    {R(LOOKUPS), 0, 0, STORE_8 TMUWT STORE TMUWT END, STORE_8 STORE TMUWT END, 17},
    {R(LOOKUPS), 0, 0, STORE_8 TMUWT LOOKUP POP END, STORE_8 LOOKUP POP TMUWT END, 16},
    {R(SEQUENCE_SPLIT), 0, 1, THRSW DATA LOOKUP TMUWT LAST_END,
     THRSW NOP DATA LOOKUP TMUWT LAST_END, 2},
    {R(SEQUENCE_UNFINISHED), 0, 0, DATA LOOKUP TMUWT END, DATA END, 3},
    {R(RESULTS_LEFT), 0, 0, LOOKUP POP END, LOOKUP END, 3},
    {R(RESULTS_LEFT), 0, 0, LOOKUP POP END, LOAD_4 POP_2 POP END, 7},
    {R(BARRIER_OUTSTANDING), 0, 1, LOOKUP POP "barrierid syncb; nop; thrsw\n" NOP NOP LAST_END,
     LOOKUP "barrierid syncb; nop; thrsw\n" NOP NOP POP LAST_END, 1},
    {R(BARRIER_OUTSTANDING), 0, 1, STORE TMUWT "barrierid syncb; nop; thrsw\n" NOP NOP LAST_END,
     STORE "barrierid syncb; nop; thrsw\n" NOP NOP LAST_END, 2},
    {R(SYNC_NO_SWITCH), 0, 1, "barrierid syncb\n" NOP THRSW NOP NOP LOOKUP POP LAST_END,
     "barrierid syncb\n" THRSW NOP LOOKUP POP LAST_END, 3},
    {R(END_WRITES), 0, 0, "mov -, rf4; nop; thrsw\n" NOP NOP, "mov rf5, rf4; nop; thrsw\n" NOP NOP,
     0},
    {R(END_WRITES), 0, 0, THRSW "mov rf5, rf4\n" NOP, "nop; mov rep, rf4; thrsw\n" NOP NOP, 0},
    {R(END_RF2_RF3), 0, 0, THRSW "mov rf1, rf4\n" NOP, THRSW "mov rf1, rf3\n" NOP, 1},
    {R(END_RF2_RF3), 0, 0, THRSW NOP "mov rf1, rf4\n", THRSW NOP "mov rf2, rf4\n", 2},
    {R(END_LDVARY), 0, 0, "nop; nop; ldvary.rf5\n" END, THRSW "nop; nop; ldvary.rf5\n" NOP, 1},
    {R(END_UNIFORM), 0, 0, "nop; nop; thrsw; ldunif\n" NOP NOP, THRSW LDUNIF NOP, 1},
};

enum { N_SAMPLES = sizeof samples / sizeof *samples, MAX_FINDINGS = 16 };

static daedalus_v3d_program assemble(const char *text) {
  daedalus_v3d_program program = {0};
  daedalus_v3d_diagnostic diagnostic;
  const size_t mistakes = daedalus_v3d_assemble(text, strlen(text), &program, &diagnostic, 1);
  CHECK_INT(mistakes, 0);
  if (mistakes != 0)
    fprintf(stderr, "%s: line %u: %s\n", text, diagnostic.line, diagnostic.message);
  return program;
}

/**
 * Findings for text in *found, without those of GRAPHICS unless asked for: two rules are about
 * a graphics signal.
 */
static size_t validate(const char *text, const sample *sample, daedalus_v3d_strictness strictness,
                       daedalus_v3d_finding *found) {
  daedalus_v3d_program program = assemble(text);
  daedalus_v3d_finding findings[MAX_FINDINGS];
  const daedalus_v3d_program_mode mode = {.strictness = strictness,
                                          .threads = sample->threads ? sample->threads : 2,
                                          .single_segment = !sample->segments,
                                          .uniforms = program.n_uniforms ? program.uniforms : NULL,
                                          .n_uniforms = program.n_uniforms};
  const size_t count =
      daedalus_v3d_validate(program.words, program.n_words, &mode, findings, MAX_FINDINGS);
  size_t kept = 0;
  CHECK(count <= MAX_FINDINGS);
  for (size_t i = 0; i < count && i < MAX_FINDINGS; i++)
    if (findings[i].rule != R(GRAPHICS) || sample->rule == R(GRAPHICS))
      found[kept++] = findings[i];
  daedalus_v3d_program_free(&program);
  return kept;
}

/** Exactly `expected` findings, 0 or 1: that of the sample. */
static void expect(const char *text, const sample *sample, daedalus_v3d_strictness strictness,
                   size_t expected) {
  daedalus_v3d_finding found[MAX_FINDINGS];
  const size_t count = validate(text, sample, strictness, found);
  const bool right =
      count == expected &&
      (count == 0 || (found[0].rule == sample->rule && found[0].index == sample->index));
  CHECK(right);
  if (right)
    return;
  fprintf(stderr, "%s (%s): expected %zu at %zu of\n%s", daedalus_v3d_rule_name(sample->rule),
          strictness == DAEDALUS_V3D_STRICT ? "strict" : "tolerant", expected, sample->index, text);
  for (size_t i = 0; i < count; i++)
    fprintf(stderr, "  found %s at %zu\n", daedalus_v3d_rule_name(found[i].rule), found[i].index);
}

static void test_samples(void) {
  for (size_t i = 0; i < N_SAMPLES; i++) {
    const sample *sample = &samples[i];
    expect(sample->kept, sample, DAEDALUS_V3D_STRICT, 0);
    expect(sample->kept, sample, DAEDALUS_V3D_TOLERANT, 0);
    expect(sample->broken, sample, DAEDALUS_V3D_STRICT, 1);
    expect(sample->broken, sample, DAEDALUS_V3D_TOLERANT,
           daedalus_v3d_rule_is_strict(sample->rule) ? 0 : 1);
  }
}

/** 18 registers each of which is a constant, or is not: more than MAX_STATES paths that differ. */
static size_t validate_registers(const char *end, daedalus_v3d_finding *found) {
  enum { BRANCHES = 18 };
  char text[8192] = PUSH "mov tmuc, -1\n";
  for (unsigned i = 0; i < BRANCHES; i++) {
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "b.anya over%u\n" NOPS "mov rf%u, 1\nover%u:\n",
             i, i + 4, i);
  }
  strcat(text, end);
  const sample sample = {.rule = R(TOO_MANY_PATHS)};
  return validate(text, &sample, DAEDALUS_V3D_STRICT, found);
}

/** Only what reaches the config makes paths differ. */
static void test_too_many_paths(void) {
  char end[1024] = "";
  for (unsigned i = 4; i < 22; i++)
    snprintf(end + strlen(end), sizeof end - strlen(end), "or rf30, rf30, rf%u\n", i);
  strcat(end, "mov tmuc, rf30\n" END);
  daedalus_v3d_finding found[MAX_FINDINGS];
  const size_t count = validate_registers(end, found);
  CHECK(count > 0);
  for (size_t i = 0; i < count; i++)
    CHECK_INT(found[i].rule, R(TOO_MANY_PATHS));
  CHECK_INT(validate_registers(END, found), 0);
}

/** A loop that consumes uniforms, and no config comes from them: it does not count them. */
static void test_uniform_loop(void) {
  enum { UNIFORMS = 200000 };
  static const uint32_t uniforms[UNIFORMS];
  daedalus_v3d_program program = assemble(PUSH "loop: ldunif\nb.anya loop\n" NOPS END);
  const daedalus_v3d_program_mode mode = {.strictness = DAEDALUS_V3D_STRICT,
                                          .threads = 2,
                                          .single_segment = true,
                                          .uniforms = uniforms,
                                          .n_uniforms = UNIFORMS};
  CHECK_INT(daedalus_v3d_validate(program.words, program.n_words, &mode, NULL, 0), 0);
  daedalus_v3d_program_free(&program);
}

static void test_every_rule_has_a_sample(void) {
  for (unsigned rule = 0; rule < DAEDALUS_V3D_N_RULES; rule++) {
    /* Two have tests of their own, three are the simulator's. */
    bool covered = rule == R(TOO_MANY_PATHS) || rule == R(INPUT_OVERFLOW) ||
                   rule == R(STALE_UNIFORM) || rule == R(STREAM_BIT_2) || rule == R(BARRIER_PARTLY);
    for (size_t i = 0; i < N_SAMPLES; i++)
      covered |= samples[i].rule == rule;
    CHECK(covered);
    if (!covered)
      fprintf(stderr, "no sample of %s\n", daedalus_v3d_rule_name(rule));
  }
}

/** What is no mistake on V3D 7.1, though Mesa or V3D 4.2 does not do it. */
static void test_hardware_tolerance(void) {
  const sample sample = {.rule = R(THRSW_TOO_CLOSE), .segments = true, .index = 2};
  const char *const epilogue = "nop; nop; thrsw\nnop; nop; thrsw\nnop\nnop\nnop; nop; thrsw\n" NOPS;
  expect(epilogue, &sample, DAEDALUS_V3D_TOLERANT, 0);
  expect(epilogue, &sample, DAEDALUS_V3D_STRICT, 0);
  const char *const close = LOOKUP THRSW NOP THRSW NOP NOP POP LAST_END;
  struct sample at_3 = sample;
  at_3.index = 3;
  expect(close, &at_3, DAEDALUS_V3D_TOLERANT, 0);
  expect(close, &at_3, DAEDALUS_V3D_STRICT, 1);
  /* What V3D 4.2 must not do: to wait for stores in the last instruction. */
  const struct sample any = {.rule = R(END_WRITES)};
  expect(STORE THRSW NOP TMUWT, &any, DAEDALUS_V3D_STRICT, 0);
}

/** Loops end, states of both ways round meet, and what happens in a loop is remembered. */
static void test_loops(void) {
  const sample clean = {.rule = R(RESULTS_LEFT)};
  expect(PUSH "loop:" LOOKUP POP "b.anya loop\n" NOPS END, &clean, DAEDALUS_V3D_STRICT, 0);
  const sample growing = {.rule = R(OUTPUT_FIFO), .index = 1};
  expect(PUSH "loop:" LOOKUP "b.anya loop\n" NOPS END, &growing, DAEDALUS_V3D_TOLERANT, 2);
  /* A lookup on one way only: ldtmu may have nothing to wait for. */
  const sample one_way = {.rule = R(LDTMU_EMPTY), .index = 6};
  expect(PUSH "b.anya over\n" NOPS LOOKUP "over:" POP END, &one_way, DAEDALUS_V3D_STRICT, 1);
}

/** No config takes that many words, so that this rule is never broken alone. */
static void test_input_overflow(void) {
  const sample sample = {.rule = R(INPUT_OVERFLOW)};
  daedalus_v3d_finding found[MAX_FINDINGS];
  const char *const text = DATA DATA DATA DATA DATA DATA DATA DATA DATA LOOKUP TMUWT END;
  CHECK_INT(validate(text, &sample, DAEDALUS_V3D_TOLERANT, found), 2);
  CHECK(found[0].rule == R(INPUT_OVERFLOW) && found[0].index == 8);
  CHECK(found[1].rule == R(LOOKUP_DATA) && found[1].index == 9);
  CHECK_INT(validate(text, &sample, DAEDALUS_V3D_STRICT, found), 3);
  CHECK(found[0].rule == R(INPUT_FIFO) && found[0].index == 7);
}

/** Whether a branch that is not taken sets the link register is not known. */
static void test_links(void) {
  const sample known = {.rule = R(UNKNOWN_TARGET)},
               unknown = {.rule = R(UNKNOWN_TARGET), .index = 9};
  expect("b.link over\n" NOPS "over:b lri\n" NOPS, &known, DAEDALUS_V3D_STRICT, 0);
  expect(PUSH "b.link over\n" NOPS "over:b.anya.link on\n" NOPS "on:b lri\n" NOPS, &unknown,
         DAEDALUS_V3D_TOLERANT, 1);
}

/** Where the config comes from; each of these programs keeps all rules. */
static void test_configs(void) {
  static const char *const programs[] = {
      UNIFORM(-6) "mov tmuau, rf4\n" POP_2 END,
      UNIFORM(-6) "mov tmua, rf4; nop; wrtmuc\n" POP_2 END,
      UNIFORM(-6) "nop; nop; ldunifrf.rf6\nmov tmuc, rf6\n" LOOKUP POP_2 END,
      UNIFORM(-6) "nop; nop; ldunif\nnop; mov tmuc, rf0\n" LOOKUP POP_2 END,
      UNIFORM(-6) "nop; nop; ldunifrf.tmuc\n" LOOKUP POP_2 END,
      "nop; mov rep, -6\nmov tmuc, rf0\n" LOOKUP POP_2 END,
      /* A config word serves four lookups; then, and at the start, all are of one word. */
      LOOKUP POP UNIFORM(0xfafbfcff) "mov tmuau, rf4\n" POP LOOKUP POP_4 LOOKUP POP_2 POP LOOKUP
          POP_2 LOOKUP POP END,
      "mov rf6, 3\nnot rf6, rf6\nmov rf7, rf6\nmov tmuc, rf7\n" LOOKUP POP_4 END,
      "mov rf6, 6\nneg tmuc, rf6\n" LOOKUP POP_2 END,
      "mov rf6, 5\nxor tmuc, rf6, -1\n" LOOKUP POP_2 END,
      "mov rf6, -1\nshr rf6, rf6, 8\nshl rf6, rf6, 8\nor tmuc, rf6, -6\n" LOOKUP POP_2 END,
      "mov rf6, -2\nand tmuc, rf6, -5\n" LOOKUP POP_2 END,
      "mov rf6, -4\nadd rf6, rf6, -3\nsub tmuc, rf6, -1\n" LOOKUP POP_2 END,
      /* The stream follows branches. */
      UNIFORM(4) UNIFORM(0) UNIFORM(-6) "bu end, r:unif\n" NOPS "end:mov tmuau, rf4\n" POP_2 END,
      /* The same config from both ways. */
      PUSH "mov rf6, -6\nb.anya over\n" NOPS "mov rf6, -6\nover: mov tmuc, rf6\n" LOOKUP POP_2 END,
  };
  const sample sample = {.rule = R(UNKNOWN_CONFIG)};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    expect(programs[i], &sample, DAEDALUS_V3D_STRICT, 0);
  /* Neither a condition, nor a uniform behind a jump that nobody knows, gives a known config. */
  const struct sample at_2 = {.rule = R(UNKNOWN_CONFIG), .index = 2};
  expect(PUSH "mov.ifa tmuc, -1\n" LOOKUP POP END, &at_2, DAEDALUS_V3D_TOLERANT, 1);
  const struct sample at_4 = {.rule = R(UNKNOWN_CONFIG), .index = 4};
  expect(UNIFORM(4) UNIFORM(-1) "bu end, rf5\n" NOPS "end:mov tmuau, rf4\n" POP END, &at_4,
         DAEDALUS_V3D_TOLERANT, 1);
}

/** Findings of FLAGS_UNSET where switches lose flags; others are none of its. */
static size_t validate_flags_lost(const char *text, size_t *index) {
  daedalus_v3d_program program = assemble(text);
  daedalus_v3d_finding found[MAX_FINDINGS];
  const daedalus_v3d_program_mode mode = {
      .strictness = DAEDALUS_V3D_STRICT, .threads = 2, .flags_lost = true};
  const size_t count =
      daedalus_v3d_validate(program.words, program.n_words, &mode, found, MAX_FINDINGS);
  CHECK(count <= 1 && (count == 0 || found[0].rule == R(FLAGS_UNSET)));
  *index = count == 1 ? found[0].index : 0;
  daedalus_v3d_program_free(&program);
  return count;
}

/** The switch is behind the second slot; a push behind it leaves B what was there before. */
static void test_flags_lost(void) {
  static const char *const kept[] = {
      PUSH THRSW NOP "mov.ifa rf5, rf4\n" LAST_END,
      PUSH THRSW NOP NOP PUSH "mov.ifa rf5, rf4\n" LAST_END,
      PUSH THRSW NOP NOP PUSH PUSH "mov.ifb rf5, rf4\n" LAST_END,
      PUSH "loop:" THRSW NOP NOP PUSH "b.anya loop\n" NOPS LAST_END,
  };
  static const struct {
    const char *text;
    size_t index;
  } broken[] = {
      {PUSH THRSW NOP NOP "mov.ifa rf5, rf4\n" LAST_END, 4},
      {PUSH THRSW NOP NOP "mov.andz -, rf4\n" LAST_END, 4},
      {THRSW NOP PUSH "b.anya 0\n" NOPS LAST_END, 3},
      {PUSH THRSW NOP NOP PUSH "mov.ifb rf5, rf4\n" LAST_END, 5},
      {PUSH "loop: mov.ifb rf5, rf4\n" PUSH THRSW NOP NOP PUSH "b.anya loop\n" NOPS LAST_END, 1},
  };
  size_t index;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    CHECK_INT(validate_flags_lost(kept[i], &index), 0);
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    CHECK_INT(validate_flags_lost(broken[i].text, &index), 1);
    CHECK_INT(index, broken[i].index);
  }
}

static void test_no_words(void) {
  const daedalus_v3d_program_mode mode = {.threads = 2};
  daedalus_v3d_finding found = {1, R(UCB)};
  CHECK_INT(daedalus_v3d_validate(NULL, 0, &mode, NULL, 0), 1);
  CHECK_INT(daedalus_v3d_validate(NULL, 0, &mode, &found, 1), 1);
  CHECK(found.index == 0 && found.rule == R(OFF_THE_END));
}

int main(void) {
  RUN(test_configs);
  RUN(test_links);
  RUN(test_flags_lost);
  RUN(test_no_words);
  RUN(test_input_overflow);
  RUN(test_samples);
  RUN(test_every_rule_has_a_sample);
  RUN(test_hardware_tolerance);
  RUN(test_loops);
  RUN(test_too_many_paths);
  RUN(test_uniform_loop);
  return CHECK_RESULT();
}
