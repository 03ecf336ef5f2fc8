/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any program of legal words, in any dispatch: the simulator ends it with a report, twice the
 * same, and agrees with the validator: what is accepted strictly breaks no rule while it runs, and
 * a program without branches that is refused does not run to its end.
 */
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/simulate.h>
#include <daedalus/v3d/validate.h>

#include "hazards/hazards.h"
#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE = 0x10000, UNIFORMS = 0x20000, DATA = 0x30000 };
enum { BODY = 48, WORDS = BODY + EPILOGUE, N_UNIFORMS = 64, DATA_WORDS = 1024 };

typedef struct trial {
  bool branches, repaired;
  daedalus_v3d_program_mode mode;
  daedalus_v3d_job job;
  uint64_t words[WORDS];
  uint32_t uniforms[N_UNIFORMS];
  size_t n_words;
} trial;

static void check(int holds) {
  if (!holds)
    abort();
}

/* Leaves out what breaks a rule of sequences, so that many programs are accepted. */
static void repair(daedalus_v3d_hazards *hazards, daedalus_v3d_instruction *instruction) {
  daedalus_v3d_effects effects;
  daedalus_v3d_hazards next = *hazards;
  daedalus_v3d_effects_of(instruction, &effects);
  if (daedalus_v3d_hazards_step(&next, &effects, DAEDALUS_V3D_CONFIG_UNKNOWN)) {
    *instruction = daedalus_v3d_nop();
    daedalus_v3d_effects_of(instruction, &effects);
    next = *hazards;
    daedalus_v3d_hazards_step(&next, &effects, DAEDALUS_V3D_CONFIG_UNKNOWN);
  }
  *hazards = next;
}

static void make_program(trial *t, bytes *from) {
  const size_t n = 1 + choose(from, BODY);
  daedalus_v3d_hazards hazards;
  daedalus_v3d_hazards_begin(&hazards, &t->mode);
  for (size_t i = 0; i < n; i++) {
    daedalus_v3d_instruction instruction = random_instruction(from, t->branches, i, n + EPILOGUE);
    if (t->repaired)
      repair(&hazards, &instruction);
    check(daedalus_v3d_pack(&instruction, &t->words[i]) == NULL);
  }
  write_epilogue(&t->words[n]);
  t->n_words = n + EPILOGUE;
}

static void make_trial(trial *t, bytes *from) {
  static const uint8_t sizes[] = {16, 1, 8, 24, 100, 0};
  const unsigned kind = choose(from, 16);
  *t = (trial){.branches = kind & 1, .repaired = kind & 2};
  t->mode.strictness = DAEDALUS_V3D_STRICT;
  t->mode.threads = kind & 4 ? 4 : 2;
  t->mode.single_segment = kind & 8;
  const unsigned groups = 1 + choose(from, 3), size = sizes[choose(from, sizeof sizes)];
  const unsigned lanes = groups * (size ? size : 256);
  const uint32_t cfg[7] = {
      groups << 16,      1u << 16,
      1u << 16,          size | 1u << 8 | (((size ? size : 256) + 15) / 16 - 1) << 12,
      (lanes + 15) / 16, CODE | (t->mode.threads == 4) | (uint32_t)t->mode.single_segment << 1,
      UNIFORMS};
  memcpy(t->job.cfg, cfg, sizeof cfg);
  t->job.strict = true;
  for (size_t i = 0; i < N_UNIFORMS; i++) {
    /* Addresses, configs, small numbers. */
    const unsigned way = choose(from, 4);
    t->uniforms[i] = way < 2    ? DATA + 4 * choose(from, 256)
                     : way == 2 ? 0xffffff00u | choose(from, 256)
                                : choose(from, 32);
  }
  make_program(t, from);
  t->mode.uniforms = t->uniforms;
  t->mode.n_uniforms = N_UNIFORMS;
}

/* One for all runs: what a job leaves in it must not show in the next. */
static daedalus_v3d_machine *machine(void) {
  static daedalus_v3d_machine *made;
  if (made == NULL) {
    daedalus_v3d_profile profile = daedalus_v3d_profile_default();
    profile.max_slots = 1000;
    made = daedalus_v3d_machine_create(&profile);
    check(made != NULL);
  }
  return made;
}

static daedalus_v3d_outcome run(const trial *t, uint32_t *memory, daedalus_v3d_report *report) {
  uint64_t words[WORDS];
  uint32_t uniforms[N_UNIFORMS];
  memcpy(words, t->words, sizeof words);
  memcpy(uniforms, t->uniforms, sizeof uniforms);
  for (uint32_t i = 0; i < DATA_WORDS; i++)
    memory[i] = DATA + i % 512 * 4;
  const daedalus_v3d_buffer buffers[] = {
      {CODE, (uint32_t)(t->n_words * sizeof *words), words},
      {UNIFORMS, sizeof uniforms, uniforms},
      {DATA, DATA_WORDS * sizeof *memory, memory},
  };
  daedalus_v3d_job job = t->job;
  job.buffers = buffers;
  job.n_buffers = sizeof buffers / sizeof buffers[0];
  const daedalus_v3d_outcome outcome = daedalus_v3d_machine_run(machine(), &job, report);
  check(outcome == report->outcome && (outcome == DAEDALUS_V3D_DONE || report->message[0]));
  return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint32_t first[DATA_WORDS], second[DATA_WORDS];
  daedalus_v3d_report report, again;
  bytes from = {data, size};
  trial t;
  make_trial(&t, &from);
  memset(&report, 0, sizeof report);
  memset(&again, 0, sizeof again);
  const daedalus_v3d_outcome outcome = run(&t, first, &report);
  check(run(&t, second, &again) == outcome && strcmp(report.message, again.message) == 0);
  check(memcmp(first, second, sizeof first) == 0);

  daedalus_v3d_finding finding;
  const size_t findings = daedalus_v3d_validate(t.words, t.n_words, &t.mode, &finding, 1);
  check(findings != SIZE_MAX);
  if (findings == 0)
    check(outcome != DAEDALUS_V3D_BROKEN_RULE);
  else if (!t.branches)
    check(outcome != DAEDALUS_V3D_DONE);

  t.job.strict = false;
  run(&t, first, &report);
  return 0;
}
