/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs in random dispatches, validated and run.  The simulator ends each with a report,
 * twice the same, and agrees with the validator:
 * - a program that strict checking accepts breaks no rule when it runs, one that tolerant checking
 *   accepts overflows no queue.  It may end otherwise: run for ever, take uniforms from where there
 *   are none, access memory that is not there;
 * - a program without branches that strict checking refuses breaks the first rule found, where it
 *   is found.
 *
 * A libFuzzer target; with DAEDALUS_FUZZ_MAIN a program of its own, whose arguments are a seed and
 * a number of programs, both optional.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/simulate.h>

#include "random_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RULE(name) ((daedalus_v3d_rules)1 << DAEDALUS_V3D_RULE_##name)

static struct tally {
  unsigned accepted, wild, refused, ended_before;
  unsigned outcomes[DAEDALUS_V3D_N_OUTCOMES]; /**< of accepted programs that are not wild. */
  uint64_t instructions, reads, writes;
} tally;

static void check(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s\n", what);
  abort();
}

/** One for all runs: what a job leaves in it must not show in the next. */
static daedalus_v3d_machine *machine(void) {
  static daedalus_v3d_machine *made;
  if (made == NULL) {
    daedalus_v3d_profile profile = daedalus_v3d_profile_default();
    profile.max_slots = 1000;
    profile.max_job_slots = 20000;
    profile.quad_mode = 1;
    made = daedalus_v3d_machine_create(&profile);
    check(made != NULL, "no machine");
  }
  return made;
}

/** Some workgroups, or in wild programs what makes no sense perhaps. */
static daedalus_v3d_job random_job(const program *program, bool wild) {
  static const uint16_t sizes[] = {32, 16, 1, 8, 24, 100, 256};
  const uint32_t groups = 1 + random_below(3), size = sizes[random_below(sizeof sizes / 2)];
  daedalus_v3d_job job = {
      .cfg = {groups << 16, 1u << 16, 1u << 16,
              (size & 0xff) | 1u << 8 | ((size + 15) / 16 - 1) << 12, groups * ((size + 15) / 16),
              CODE_ADDRESS | (program->mode.threads == 4) |
                  (uint32_t)program->mode.single_segment << 1,
              UNIFORMS_ADDRESS},
      .strict = program->mode.strictness == DAEDALUS_V3D_STRICT};
  if (!wild || random_below(4))
    return job;
  for (unsigned i = 0; i < 3; i++)
    job.cfg[i] = random_below(5) << 16 | random_below(3);
  job.cfg[3] = random_below(2) ? random_word() : random_below(256) | random_below(3) << 12;
  job.cfg[4] = random_below(4) ? random_below(40) : random_word();
  return job;
}

static uint32_t memory[2][DATA_BYTES / 4];

static void run_once(program *program, daedalus_v3d_job job, daedalus_v3d_report *report,
                     uint32_t *data) {
  uint64_t words[MAX_WORDS];
  uint32_t uniforms[N_UNIFORMS];
  memcpy(words, program->words, sizeof words);
  memcpy(uniforms, program->uniforms, sizeof uniforms);
  for (uint32_t i = 0; i < DATA_BYTES / 4; i++)
    data[i] = DATA_ADDRESS + 4 * i;
  const daedalus_v3d_buffer buffers[] = {
      {CODE_ADDRESS, program->n * (uint32_t)sizeof words[0], words},
      {UNIFORMS_ADDRESS, sizeof uniforms, uniforms},
      {DATA_ADDRESS, DATA_BYTES, data}};
  job.buffers = buffers;
  job.n_buffers = sizeof buffers / sizeof buffers[0];
  memset(report, 0, sizeof *report);
  const daedalus_v3d_outcome outcome = daedalus_v3d_machine_run(machine(), &job, report);
  check(outcome == report->outcome, "the report is of another outcome");
  check(outcome == DAEDALUS_V3D_DONE || report->message[0] != '\0', "no message");
}

/** Timed, a job ends too, and its clocks add up; one batch does what it does untimed. */
static void run_timed(program *program, daedalus_v3d_job job, const daedalus_v3d_report *untimed) {
  static daedalus_v3d_report report;
  static uint32_t data[DATA_BYTES / 4];
  job.timed = true;
  run_once(program, job, &report, data);
  const daedalus_v3d_times *t = &report.times;
  check(report.outcome == DAEDALUS_V3D_BAD_JOB || t->idle <= 12 * t->clocks,
        "more clocks were used than there are");
  if (job.cfg[4] == 1)
    check(report.outcome == untimed->outcome && !strcmp(report.message, untimed->message) &&
              !memcmp(data, memory[0], sizeof data),
          "a timed run differs");
}

static void run_program(program *program, daedalus_v3d_job job, daedalus_v3d_report *report) {
  static daedalus_v3d_report again;
  run_once(program, job, report, memory[0]);
  run_once(program, job, &again, memory[1]);
  run_timed(program, job, report);
  if (report->outcome == again.outcome && strcmp(report->message, again.message) == 0 &&
      memcmp(memory[0], memory[1], sizeof memory[0]) == 0)
    return;
  print_program(program, 0, 0, "two runs differ");
  for (unsigned i = 0; i < 7; i++)
    fprintf(stderr, "cfg[%u] = 0x%08" PRIx32 "\n", i, job.cfg[i]);
  fprintf(stderr, "outcomes %d %d: %s\n%s\n", (int)report->outcome, (int)again.outcome,
          report->message, again.message);
  for (unsigned i = 0; i < DATA_BYTES / 4; i++)
    if (memory[0][i] != memory[1][i])
      fprintf(stderr, "word %u: 0x%08" PRIx32 " 0x%08" PRIx32 "\n", i, memory[0][i], memory[1][i]);
  abort();
}

static unsigned word_of(const daedalus_v3d_report *report) {
  return (report->pc - CODE_ADDRESS) / 8;
}

/** Broken rules about addresses and other batches, of which the validator knows nothing. */
static bool is_simulators_own(const daedalus_v3d_report *report) {
  return report->outcome == DAEDALUS_V3D_BROKEN_RULE &&
         report->rule >= DAEDALUS_V3D_RULE_STALE_UNIFORM;
}

/** Whether a program that the validator accepts ran as the validator promises. */
static bool kept_promise(const program *program, bool wild, const daedalus_v3d_report *report) {
  if (is_simulators_own(report))
    return true;
  if (report->outcome == DAEDALUS_V3D_BROKEN_RULE || report->outcome == DAEDALUS_V3D_BAD_FIFO)
    return false;
  if (wild)
    return true;
  /* Nor does it know which lanes of a quad are active.  Tolerated programs may do what nobody
   * knows. */
  return report->outcome != DAEDALUS_V3D_BAD_JOB &&
         (report->outcome != DAEDALUS_V3D_BAD_INSTRUCTION ||
          program->mode.strictness == DAEDALUS_V3D_TOLERANT ||
          strstr(report->message, "per quad") != NULL);
}

/** Whether a program without branches broke the first rule found, at word `at`, when it ran. */
static bool broke_rule(const program *program, unsigned at, const daedalus_v3d_report *report) {
  unsigned rule = 0;
  while (!(program->found[at] >> rule & 1))
    rule++;
  /* That the validator does not know is no matter of runs, and past the end is other memory. */
  if (rule != DAEDALUS_V3D_RULE_ILLEGAL_WORD && rule <= DAEDALUS_V3D_RULE_TOO_MANY_PATHS)
    return true;
  if (report->outcome == DAEDALUS_V3D_BAD_JOB ||
      (report->outcome == DAEDALUS_V3D_DONE && report->counts.batches == 0))
    return true;
  tally.refused++;
  if (is_simulators_own(report) ||
      (report->outcome != DAEDALUS_V3D_DONE && report->outcome != DAEDALUS_V3D_BROKEN_RULE &&
       (word_of(report) < at || report->outcome == DAEDALUS_V3D_ENDLESS))) {
    tally.ended_before++;
    return true;
  }
  /* Some of what rules forbid the simulator refuses in any case. */
  const daedalus_v3d_rules always =
      RULE(ILLEGAL_WORD) | RULE(GRAPHICS) | RULE(TEXTURE) | RULE(UCB) | RULE(HIGH_REGISTER);
  return word_of(report) == at && (report->outcome == DAEDALUS_V3D_BROKEN_RULE
                                       ? report->rule == rule
                                       : report->outcome == DAEDALUS_V3D_BAD_INSTRUCTION &&
                                             (program->found[at] & always) != 0);
}

static void check_program(void) {
  static program program;
  static daedalus_v3d_report report;
  const unsigned kind = random_below(4);
  const bool wild = kind & RANDOM_WILD, valid = random_below(2);
  if (valid)
    random_valid_program(&program, kind);
  else
    random_program(&program, kind);
  if (!valid)
    program.mode.strictness = DAEDALUS_V3D_STRICT;
  check(validate_program(&program), "the validator contradicts itself");
  daedalus_v3d_job job = random_job(&program, wild);
  run_program(&program, job, &report);
  bool right = true;
  unsigned at = 0;
  while (at < program.n && !program.found[at])
    at++;
  if (is_accepted(&program)) {
    tally.accepted++;
    tally.wild += wild;
    tally.outcomes[report.outcome] += !wild;
    tally.instructions += report.counts.instructions;
    tally.reads += report.counts.tmu_reads;
    tally.writes += report.counts.tmu_writes;
    right = kept_promise(&program, wild, &report);
  } else if (!(kind & RANDOM_BRANCHES) && job.strict) {
    right = broke_rule(&program, at, &report);
  }
  if (!right) {
    print_program(&program, at < program.n ? at : word_of(&report),
                  at < program.n ? program.found[at] : 0, at < program.n ? "refused" : "accepted");
    fprintf(stderr, "outcome %d at word %u: %s\n", (int)report.outcome, word_of(&report),
            report.message);
  }
  check(right, "validator and simulator differ");
  job.strict = !job.strict;
  run_once(&program, job, &report, memory[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  random_from_bytes(data, size);
  check_program();
  return 0;
}

#ifdef DAEDALUS_FUZZ_MAIN
int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  const unsigned long programs = argc > 2 ? strtoul(argv[2], NULL, 0) : 5000;
  random_from_seed(seed);
  for (unsigned long i = 0; i < programs; i++)
    check_program();
  printf("%u programs refused rightly, %u of them ended before\n", tally.refused,
         tally.ended_before);
  printf("%u programs accepted, %u of them wild; %" PRIu64 " instructions, %" PRIu64
         " reads, %" PRIu64 " writes; outcomes of the others",
         tally.accepted, tally.wild, tally.instructions, tally.reads, tally.writes);
  for (unsigned outcome = 0; outcome < DAEDALUS_V3D_N_OUTCOMES; outcome++)
    printf(" %u:%u", outcome, tally.outcomes[outcome]);
  printf("\n");
  /* It would not mean much if most ended early. */
  check(tally.accepted > programs / 5, "few programs are accepted");
  check(tally.refused - tally.ended_before > programs / 10, "few programs break a rule");
  check(2 * tally.outcomes[DAEDALUS_V3D_DONE] > tally.accepted - tally.wild, "few programs end");
  return 0;
}
#endif
