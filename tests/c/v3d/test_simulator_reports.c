/* SPDX-License-Identifier: BSD-2-Clause */
/* How jobs end that do what they may not, and what the report says. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "simulation.h"

/* Loads text, runs it, and compares the outcome and the end of the message. */
static void expect(simulation *s, const char *text, daedalus_v3d_outcome outcome,
                   const char *message) {
  if (text)
    simulation_load(s, text);
  CHECK_INT(simulation_run(s, outcome), outcome);
  if (!strstr(s->report.message, message)) {
    fprintf(stderr, "the message is\n  %s\nwithout\n  %s\n", s->report.message, message);
    CHECK(!"message");
  }
}

static void outside_buffers(void) {
  simulation *s = simulation_create(NULL);
  expect(
      s,
      "eidx rf1 ; nop ; ldunif\n.uniform 0x00103fe8\n"
      "shl rf1, rf1, 2 ; nop\n"
      "add tmua, rf0, rf1 ; nop ; ldunif\n" END,
      DAEDALUS_V3D_BAD_ACCESS,
      "QPU 0 thread 0 (batch 0) at 0x00010010, `add tmua, rf0, rf1; nop; ldunif`: lane 6 reads "
      "4 bytes at 0x00104000, 0 bytes past the end of the nearest buffer 0x00100000..0x00103fff");
  CHECK_INT(s->report.qpu, 0);
  CHECK_INT(s->report.lane, 6);
  CHECK_INT(s->report.address, 0x00104000);
  CHECK_INT(s->report.pc, CODE + 16);
  CHECK_INT(s->report.word, (long long)s->code[2]);
  CHECK_INT(s->report.counts.instructions, 3);
  expect(s,
         "nop ; nop ; ldunif\n.uniform 0x000fffd8\n"
         "mov tmud, 0 ; nop\nmov tmuau, rf0 ; nop\n.uniform 0xffffff87\n" END,
         DAEDALUS_V3D_BAD_ACCESS,
         "lane 0 changes 4 bytes at 0x000fffd8, 40 bytes before the nearest buffer");
  /* In the third batch only. */
  simulation_shape(s, 3, 16, 1);
  expect(s,
         "nop ; nop ; ldunif\n.uniform 0x00103fe0\n"
         "shl rf1, rf3, 4 ; nop\n"
         "add rf1, rf1, rf0 ; nop\n"
         "mov tmua, rf1 ; nop\n" END,
         DAEDALUS_V3D_BAD_ACCESS, "QPU 2 thread 0 (batch 2) at 0x00010018");
  /* A vector that begins inside and ends outside; a lane in the middle of it all. */
  simulation_shape(s, 1, 16, 1);
  expect(s,
         "nop ; nop ; ldunif\n.uniform 0x00103ff8\nmov tmuau, rf0 ; nop\n.uniform 0xfffffffb\n" END,
         DAEDALUS_V3D_BAD_ACCESS,
         "lane 0 reads 12 bytes at 0x00103ff8, 8 bytes before the end of the buffer "
         "0x00100000..0x00103fff");
  /* An address at the very end of the address space. */
  expect(s, "mov tmuau, -4 ; nop\n.uniform 0xfffffffc\n" END, DAEDALUS_V3D_BAD_ACCESS,
         "reads 16 bytes at 0xfffffffc, ");
  simulation_destroy(s);
}

static void misaligned(void) {
  simulation *s = simulation_create(NULL);
  expect(s, "nop ; nop ; ldunif\n.uniform 0x00100002\nmov tmua, rf0 ; nop\n" END,
         DAEDALUS_V3D_BAD_ACCESS, "lane 0 reads 4 bytes at 0x00100002, which is no multiple of 4");
  expect(s,
         "nop ; nop ; ldunif\n.uniform 0x00100001\nmov tmud, 0 ; nop\n"
         "mov tmuau, rf0 ; nop\n.uniform 0xfffffffe\n" END,
         DAEDALUS_V3D_BAD_ACCESS, "lane 0 writes 2 bytes at 0x00100001, which is no multiple of 2");
  simulation_destroy(s);
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.tmu_unaligned_halves = 1;
  s = simulation_create(&profile);
  simulation_do(s,
                "nop ; nop ; ldunif\n.uniform 0x00100001\nmov tmud, -1 ; nop\n"
                "mov tmuau, rf0 ; nop\n.uniform 0xfffffffe\n" END);
  CHECK_INT(s->data[0], 0x00ffff00);
  simulation_destroy(s);
}

static void queues(void) {
  simulation *s = simulation_create(NULL);
  expect(s, "nop ; nop ; ldtmu.rf1\n" END, DAEDALUS_V3D_BAD_FIFO, "no lookup has left a result");
  /* Two vec4 fill the eight entries of a thread; with four threads one does. */
  static const char full[] =
      "nop ; nop ; ldunifrf.rf1\n.uniform 0x00100000, 0xfcfcfcfc\nnop ; nop ; wrtmuc\n"
      "mov tmua, rf1 ; nop\nmov tmua, rf1 ; nop\nmov tmua, rf1 ; nop\n" END;
  expect(s, full, DAEDALUS_V3D_BAD_FIFO,
         "8 results are outstanding and 4 more are asked for: the output queue of this thread "
         "holds 8");
  CHECK_INT(s->report.pc, CODE + 4 * 8);
  s->job.cfg[5] |= 1;
  expect(s, full, DAEDALUS_V3D_BAD_FIFO, "4 results are outstanding and 4 more");
  s->job.cfg[5] &= ~1u;
  expect(s,
         "nop ; nop ; ldunifrf.rf1\n.uniform 0x00100000\nmov tmud, 0 ; nop\nmov tmud, 0 ; nop\n"
         "mov tmua, rf1 ; nop\n" END,
         DAEDALUS_V3D_BAD_FIFO, "the lookup takes 1 data words, and 2 have been written");
  expect(s,
         "nop ; nop ; ldunifrf.rf1\n.uniform 0x00100000\nmov tmud, 0 ; nop\nmov tmud, 0 ; nop\n"
         "mov tmud, 0 ; nop\nmov tmuau, rf1 ; nop\n.uniform 0xfffffffa\n" END,
         DAEDALUS_V3D_BAD_FIFO, "the lookup takes 2 data words, and 3 have been written");
  expect(s,
         "nop ; nop ; ldunifrf.rf1\n.uniform 0x00100000\nmov tmud, 0 ; nop\n"
         "mov tmuau, rf1 ; nop\n.uniform 0xffffff9a\n" END, /* cmpxchg */
         DAEDALUS_V3D_BAD_FIFO, "the lookup takes 2 data words, and 1 have been written");
  expect(s, "again:\nb again\nmov tmud, 0 ; nop\nnop ; nop\nnop ; nop\n", DAEDALUS_V3D_BAD_FIFO,
         "more than 8 data words wait for one lookup");
  simulation_destroy(s);
}

static void refused_lookups(void) {
  static const struct {
    const char *data;
    unsigned config;
    const char *message;
  } rows[] = {
      {"mov tmud, 0 ; nop\n", 0xdf, "operation 11 of the TMU is reserved"},
      {"", 0xaf, "operation 5 of the TMU needs data"},
      {"mov tmud, 0 ; nop\n", 0x82, "an atomic operation on a vector"},
      {"", 0xc2, "an atomic operation on a vector"},
  };
  simulation *s = simulation_create(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "nop ; nop ; ldunifrf.rf1\n.uniform 0x00100000\n%smov tmuau, rf1 ; nop\n"
             ".uniform 0xffffff%02x\n" END,
             rows[i].data, rows[i].config);
    expect(s, text, DAEDALUS_V3D_BAD_INSTRUCTION, rows[i].message);
  }
  /* What acts on caches has no result, and nothing to do here. */
  simulation_do(s,
                "nop ; nop ; ldunifrf.rf1\n.uniform 0x00100000, 0xffffff80\n"
                "mov tmuau, rf1 ; nop\n" END);
  simulation_destroy(s);
}

static void refused_instructions(void) {
  simulation *s = simulation_create(NULL);
  static const char *const lookups[] = {"tmus",  "tmut",    "tmur",   "tmui",
                                        "tmub",  "tmuscm",  "tmusf",  "tmuslod",
                                        "tmuhs", "tmuhscm", "tmuhsf", "tmuhslod"};
  for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++) {
    char text[256], said[128];
    snprintf(text, sizeof text, "mov %s, rf1 ; nop\n" END, lookups[i]);
    snprintf(said, sizeof said,
             "texture lookups (images, samplers, texel buffers) are not "
             "simulated: a write to %s",
             lookups[i]);
    expect(s, text, DAEDALUS_V3D_BAD_INSTRUCTION, said);
  }
  expect(s, "mov vpm, rf1 ; nop\n" END, DAEDALUS_V3D_BAD_INSTRUCTION,
         "compute jobs may not write this address (tiles, vertex memory)");
  expect(s, "nop ; nop ; ldunifrf.tmus\n" END, DAEDALUS_V3D_BAD_INSTRUCTION,
         "texture lookups (images, samplers, texel buffers) are not simulated");
  expect(s, "xcd rf1 ; nop\n" END, DAEDALUS_V3D_BAD_INSTRUCTION, "only graphics shaders");
  expect(s, "nop ; nop ; ldvary.rf1\n" END, DAEDALUS_V3D_BAD_INSTRUCTION,
         "only graphics shaders use this signal");
  simulation_load(s, END);
  s->code[0] = 0;
  expect(s, NULL, DAEDALUS_V3D_BAD_INSTRUCTION, "`.word 0x0000000000000000`");
  /* What is not executed may be anything. */
  simulation_do(s, END);
  s->job.cfg[5] |= 1;
  expect(s, "mov rf31, rf32 ; nop\n" END, DAEDALUS_V3D_BAD_INSTRUCTION, "32 registers");
  expect(s, "nop ; nop ; ldunifrf.rf40\n" END, DAEDALUS_V3D_BAD_INSTRUCTION, "32 registers");
  expect(s, "b rf32\n" END, DAEDALUS_V3D_BAD_INSTRUCTION, "32 registers");
  s->job.cfg[5] &= ~1u;
  simulation_do(s, "mov rf31, rf32 ; nop\n" END);
  expect(s, "b over\nb over\nnop ; nop\nnop ; nop\nnop ; nop\nover:\n" END,
         DAEDALUS_V3D_BAD_INSTRUCTION, "taken in the delay slots of a taken branch");
  expect(s, "nop ; nop ; ldunifrf.tlb\n" END, DAEDALUS_V3D_BAD_INSTRUCTION,
         "compute jobs may not write this address");
  s->job.strict = true;
  expect(s, "mov tmus, rf1 ; nop\n" END, DAEDALUS_V3D_BAD_INSTRUCTION, "texture lookups");
  s->job.strict = false;
  simulation_destroy(s);
}

static void lost(void) {
  simulation *s = simulation_create(NULL);
  expect(s, "b zero_addr+0x00020400\nnop ; nop\nnop ; nop\nnop ; nop\n", DAEDALUS_V3D_BAD_FETCH,
         "at 0x00020400, `no instruction`: the instruction lies in no buffer");
  expect(s, "eidx rf1 ; nop\nmov rf1, 4 ; nop\nb rf1\nnop ; nop\nnop ; nop\nnop ; nop\n",
         DAEDALUS_V3D_BAD_FETCH, "a branch to 0x00000004, which is no multiple of 8");
  /* Past the end of the buffer. */
  simulation_load(s, END);
  for (unsigned i = 0; i < CODE_BYTES / 8; i++)
    s->code[i] = UINT64_C(0x38003186bb03f000);
  expect(s, NULL, DAEDALUS_V3D_BAD_FETCH, "at 0x00011000");
  CHECK_INT(s->report.counts.instructions, CODE_BYTES / 8 + 1);
  s->job.cfg[5] = 0x7ffffff8;
  expect(s, NULL, DAEDALUS_V3D_BAD_FETCH, "at 0x7ffffff8");
  simulation_destroy(s);
}

static void endless(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.max_slots = 100000;
  profile.max_job_slots = 150000;
  simulation *s = simulation_create(&profile);
  expect(s, "again:\nb again\nnop ; nop\nnop ; nop\nnop ; nop\n", DAEDALUS_V3D_ENDLESS,
         "the thread has executed 100000 instructions (max_slots of the profile)");
  CHECK_INT(s->report.counts.instructions, 100000);
  /* A loop that switches; and more batches than will ever end. */
  expect(s, "again:\nb again\nnop ; nop\nnop ; nop\nnop ; nop\nnop ; nop ; thrsw\n",
         DAEDALUS_V3D_ENDLESS, "max_slots");
  s->job.cfg[4] = UINT32_MAX;
  expect(s, END, DAEDALUS_V3D_ENDLESS,
         "each of which counts for 16 more: 150000 are allowed (max_job_slots of the profile)");
  /* The report names the instruction that comes next, also where 32 of them have been decoded. */
  profile.max_slots = 32;
  simulation *at_seam = simulation_create(&profile);
  simulation_load(at_seam, END);
  for (unsigned i = 0; i < 64; i++)
    at_seam->code[i] = UINT64_C(0x38003186bb03f000);
  expect(at_seam, NULL, DAEDALUS_V3D_ENDLESS, "at 0x00010100, `nop; nop`");
  CHECK_INT(at_seam->report.word, (long long)at_seam->code[32]);
  simulation_destroy(at_seam);
  /* The last batch may have found less left than it counts for. */
  CHECK_INT((s->report.counts.instructions + 16 * s->report.counts.batches) / 16, 150000 / 16);
  simulation_destroy(s);
}

/* Untimed jobs are ended, too, when the kernel would have reset the GPU for certain. */
static void no_progress(void) {
  static const char loop[] = "again:\nb again\nnop ; nop\nnop ; nop\nnop ; nop\n";
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.reset_ms = 1; /* 240,000 slots at 960 MHz */
  simulation *s = simulation_create(&profile);
  expect(s, loop, DAEDALUS_V3D_ENDLESS,
         "no batch has started or ended while 1 QPUs executed what takes them at least 1 ms");
  CHECK_INT(s->report.counts.instructions, 240000);
  simulation_shape(s, 18, 16, 1); /* 12 QPUs have one batch or two */
  expect(s, NULL, DAEDALUS_V3D_ENDLESS, "while 12 QPUs executed");
  /* From when the last batch started: after a turn of 65,536 instructions of each before. */
  CHECK_INT(s->report.counts.instructions, 12 * 240000 + 17 * 65536);
  simulation_destroy(s);
  /* Progress is what counts, not how long a job takes. */
  profile.slices = profile.qpus_per_slice = 1;
  s = simulation_create(&profile);
  simulation_shape(s, 60000, 16, 1);
  simulation_do(s, END);
  CHECK(s->report.counts.instructions > 240000);
  simulation_destroy(s);
  profile.reset_ms = 0;
  profile.max_slots = 300000;
  s = simulation_create(&profile);
  expect(s, loop, DAEDALUS_V3D_ENDLESS, "max_slots");
  simulation_destroy(s);
}

/* Code without end does not take memory without end. */
static void too_much_code(void) {
  enum { WORDS = 5 << 17 }; /* 5 MiB */
  uint64_t *code = malloc(WORDS * sizeof *code);
  simulation *s = simulation_create(NULL);
  if (!code) {
    CHECK(!"memory");
    return;
  }
  for (unsigned i = 0; i < WORDS; i++)
    code[i] = UINT64_C(0x38003186bb03f000);
  s->buffers[3] = (daedalus_v3d_buffer){OUT, WORDS * sizeof *code, code};
  s->job.cfg[5] = OUT;
  expect(s, NULL, DAEDALUS_V3D_NO_MEMORY, "a job may execute 4 MiB");
  free(code);
  simulation_destroy(s);
}

/* A machine that was stopped runs nothing until it is resumed, and says where it stands. */
static void stopped(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, END);
  daedalus_v3d_machine_stop(s->machine);
  expect(
      s, NULL, DAEDALUS_V3D_STOPPED,
      "at 0x00010000, `nop; nop; thrsw`: the job was stopped from outside, after 0 instructions");
  expect(s, "again:\nb again\nnop ; nop\nnop ; nop\nnop ; nop\n", DAEDALUS_V3D_STOPPED, "`b -32`");
  daedalus_v3d_machine_resume(s->machine);
  simulation_do(s, END);
  simulation_destroy(s);
}

/* A loop that waits for what another thread does ends, though it never switches. */
static void waiting_in_a_loop(void) {
  simulation *s = simulation_create(NULL);
  simulation_load(s,
                  "mov rf1, rf3 ; nop ; ldunifrf.rf2\n"
                  ".uniform 0x00100000\n"
                  "mov.pushz -, rf1 ; nop\n" /* A in group 0, which waits */
                  "b.a0 again\nnop ; nop\nnop ; nop\nnop ; nop\n"
                  "mov tmud, 1 ; nop\nmov tmua, rf2 ; nop\n"
                  "b end\nnop ; nop\nnop ; nop\nnop ; nop\n"
                  "again:\n"
                  "mov tmua, rf2 ; nop\n"
                  "nop ; nop ; ldtmu.rf5\n"
                  "mov.pushz -, rf5 ; nop\n"
                  "b.a0 again\nnop ; nop\nnop ; nop\nnop ; nop\n"
                  "end:\n" END);
  simulation_shape(s, 2, 16, 1);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  simulation_destroy(s);
}

/* Where programs end: with the thrsw after the marked pair, or the first of a single segment. */
static void ends(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN
                "mov rf1, 1 ; nop\n"
                "nop ; nop ; thrsw\nnop ; nop\nnop ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                "nop ; nop ; thrsw\nnop ; nop ; thrsw\nnop ; nop\n"
                "mov tmud, rf1 ; nop\nmov tmua, rf60 ; nop\n"
                "nop ; nop ; thrsw\n"
                "mov tmud, rf61 ; nop\nadd tmua, rf60, rf61 ; nop\n"
                "mov tmud, rf61 ; nop\nadd tmua, rf60, 4 ; nop\n");
  CHECK_INT(s->out[0], 1);
  CHECK_INT(s->out[16], 64); /* both slots of the last thrsw execute, and no more */
  CHECK_INT(s->out[1], 1);
  CHECK_INT(s->report.counts.thread_switches, 4);
  memset(s->out, 0, sizeof s->out);
  s->job.cfg[5] |= 2;
  simulation_do(s, BEGIN
                "mov rf1, 1 ; nop\n"
                "mov tmud, rf1 ; nop ; thrsw\nmov tmua, rf60 ; nop\nnop ; nop\n"
                "mov tmud, rf61 ; nop\nmov tmua, rf60 ; nop\n");
  CHECK_INT(s->out[0], 1);
  CHECK_INT(s->report.counts.thread_switches, 1);
  simulation_destroy(s);
}

/* Strict: the rule, its sentence, and where; otherwise the same program runs. */
static void strict(void) {
  static const char text[] =
      BEGIN "mov unifa, rf60 ; nop\nnop ; nop\nnop ; nop\nnop ; nop ; ldunifa\n" END;
  simulation *s = simulation_create(NULL);
  simulation_do(s, text);
  s->job.strict = true;
  expect(s, text, DAEDALUS_V3D_BROKEN_RULE,
         "at 0x00010038, `nop; nop; ldunifa`: UNIFA_TOO_EARLY: ldunifa less than four");
  CHECK_INT(s->report.rule, DAEDALUS_V3D_RULE_UNIFA_TOO_EARLY);
  CHECK_INT(s->report.pc, CODE + 56);
  simulation_do(s, BEGIN "mov rf1, 1 ; nop\n" STORE("rf1") END);
  /* The config of a lookup is known when it comes from a uniform: four words are on their way. */
  expect(s,
         BEGIN
         "mov tmuau, rf60 ; nop\n.uniform 0xfffffffc\n"
         "nop ; nop ; ldtmu.rf1\nnop ; nop ; ldtmu.rf1\nnop ; nop ; ldtmu.rf1\n" END,
         DAEDALUS_V3D_BROKEN_RULE, "RESULTS_LEFT");
  simulation_do(s, BEGIN
                "mov tmuau, rf60 ; nop\n.uniform 0xfffffffb\n"
                "nop ; nop ; ldtmu.rf1\nnop ; nop ; ldtmu.rf1\nnop ; nop ; ldtmu.rf1\n" END);
  simulation_destroy(s);
}

static void good_end(void) {
  simulation *s = simulation_create(NULL);
  simulation_shape(s, 3, 16, 1);
  simulation_do(s, END);
  CHECK_STR(s->report.message, "done: 3 batches, 21 instructions");
  s->job.n_buffers = 0;
  expect(s, NULL, DAEDALUS_V3D_BAD_FETCH, "the instruction lies in no buffer");
  simulation_destroy(s);
}

int main(void) {
  RUN(outside_buffers);
  RUN(misaligned);
  RUN(queues);
  RUN(refused_lookups);
  RUN(refused_instructions);
  RUN(lost);
  RUN(endless);
  RUN(no_progress);
  RUN(too_much_code);
  RUN(stopped);
  RUN(waiting_in_a_loop);
  RUN(ends);
  RUN(strict);
  RUN(good_end);
  return CHECK_RESULT();
}
