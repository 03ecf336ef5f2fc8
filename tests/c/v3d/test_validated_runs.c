/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The validator against the simulator: a random program that the validator accepts in strict
 * checking breaks no rule when it runs, and one that it accepts in tolerant checking overflows no
 * queue.  It may end otherwise: run for ever, or take uniforms from where there are none.  A
 * program without branches that it refuses in strict checking breaks that very rule when it runs.
 *
 * Arguments: seed and number of programs, both optional.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <daedalus/v3d/simulate.h>

#include "check.h"
#include "random_program.h"

enum { CODE = 0x1000, UNIFORMS = 0x2000, DATA = 0x3000, BYTES = 512 };

typedef struct tally {
  unsigned accepted, refused, ended_before;
  unsigned outcomes[DAEDALUS_V3D_N_OUTCOMES];
  uint64_t instructions, reads, writes;
} tally;

/** Two batches, so that barriers have something to wait for; they share a supergroup. */
static void run_program(daedalus_v3d_machine *machine, program *program,
                        daedalus_v3d_report *report) {
  static uint32_t data[BYTES / 4];
  memset(data, 0, sizeof data);
  const daedalus_v3d_buffer buffers[] = {
      {CODE, program->n * (uint32_t)sizeof program->words[0], program->words},
      {UNIFORMS, sizeof program->uniforms, program->uniforms},
      {DATA, BYTES, data}};
  const daedalus_v3d_job job = {
      .cfg = {1u << 16, 1u << 16, 1u << 16, 32 | 1 << 8 | 1 << 12, 2,
              CODE | (program->mode.threads == 4) | program->mode.single_segment << 1, UNIFORMS},
      .buffers = buffers,
      .n_buffers = sizeof buffers / sizeof buffers[0],
      .strict = program->mode.strictness == DAEDALUS_V3D_STRICT};
  daedalus_v3d_machine_run(machine, &job, report);
}

/** Whether a program that the validator should accept runs as the validator promises. */
static bool check_accepted(daedalus_v3d_machine *machine, tally *tally, bool branches) {
  static program program;
  static daedalus_v3d_report report;
  random_valid_program(&program, branches, DATA);
  if (!is_accepted(&program))
    return true;
  run_program(machine, &program, &report);
  tally->accepted++;
  tally->outcomes[report.outcome]++;
  tally->instructions += report.counts.instructions;
  tally->reads += report.counts.tmu_reads;
  tally->writes += report.counts.tmu_writes;
  /* Stale uniforms are a matter of addresses, which the validator does not know. */
  const bool broken =
      report.outcome == DAEDALUS_V3D_BROKEN_RULE && report.rule != DAEDALUS_V3D_RULE_STALE_UNIFORM;
  /* So is which lanes of a quad are active.  Tolerated programs may do what nobody knows. */
  const bool refused = report.outcome == DAEDALUS_V3D_BAD_INSTRUCTION &&
                       program.mode.strictness == DAEDALUS_V3D_STRICT &&
                       strstr(report.message, "per quad") == NULL;
  if (!broken && !refused && report.outcome != DAEDALUS_V3D_BAD_FIFO &&
      report.outcome != DAEDALUS_V3D_BAD_JOB)
    return true;
  print_program(&program, (report.pc - CODE) / 8, 0, "accepted");
  fprintf(stderr, "%s\n", report.message);
  return false;
}

/** Whether a program without branches, if refused, breaks the first rule found, where it is. */
static bool check_refused(daedalus_v3d_machine *machine, tally *tally) {
  static program program;
  static daedalus_v3d_report report;
  random_program(&program, false, DATA);
  program.mode.strictness = DAEDALUS_V3D_STRICT;
  unsigned at = 0, rule = 0;
  if (!validate_program(&program))
    return false;
  while (at < program.n && !program.found[at])
    at++;
  if (at == program.n)
    return true;
  while (!(program.found[at] >> rule & 1))
    rule++;
  /* That the validator does not know is no matter of runs, and past the end is other memory. */
  if (rule <= DAEDALUS_V3D_RULE_TOO_MANY_PATHS)
    return true;
  run_program(machine, &program, &report);
  const unsigned ended_at = (report.pc - CODE) / 8;
  tally->refused++;
  const bool stale =
      report.outcome == DAEDALUS_V3D_BROKEN_RULE && report.rule == DAEDALUS_V3D_RULE_STALE_UNIFORM;
  if (stale || (report.outcome != DAEDALUS_V3D_BROKEN_RULE && ended_at < at)) {
    tally->ended_before++;
    return true;
  }
  /* Some of what rules forbid the simulator refuses in any case. */
  const daedalus_v3d_rules always = (uint64_t)1 << DAEDALUS_V3D_RULE_GRAPHICS |
                                    (uint64_t)1 << DAEDALUS_V3D_RULE_TEXTURE |
                                    (uint64_t)1 << DAEDALUS_V3D_RULE_HIGH_REGISTER;
  if (ended_at == at &&
      (report.outcome == DAEDALUS_V3D_BROKEN_RULE
           ? report.rule == rule
           : report.outcome == DAEDALUS_V3D_BAD_INSTRUCTION && (program.found[at] & always) != 0))
    return true;
  print_program(&program, at, (uint64_t)1 << rule, "refused");
  fprintf(stderr, "outcome %d at word %u: %s\n", (int)report.outcome, ended_at, report.message);
  return false;
}

int main(int argc, char **argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  const unsigned long programs = argc > 2 ? strtoul(argv[2], NULL, 0) : 600;
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.max_slots = 3000;
  profile.quad_mode = 1;
  daedalus_v3d_machine *machine = daedalus_v3d_machine_create(&profile);
  tally tally = {0};
  CHECK(machine != NULL);
  random_state = seed;
  for (unsigned long i = 0; machine != NULL && i < programs; i++) {
    const bool right = check_accepted(machine, &tally, i % 2) && check_refused(machine, &tally);
    CHECK(right);
    if (!right) {
      fprintf(stderr, "program %lu of seed %" PRIu64 "\n", i, seed);
      break;
    }
  }
  daedalus_v3d_machine_destroy(machine);
  printf("%u programs refused rightly, %u of them ended before\n", tally.refused,
         tally.ended_before);
  printf("%u programs accepted; %" PRIu64 " instructions, %" PRIu64 " reads, %" PRIu64
         " writes; outcomes",
         tally.accepted, tally.instructions, tally.reads, tally.writes);
  for (unsigned outcome = 0; outcome < DAEDALUS_V3D_N_OUTCOMES; outcome++)
    printf(" %u:%u", outcome, tally.outcomes[outcome]);
  printf("\n");
  /* The test would not mean much if most ended early. */
  CHECK(tally.accepted > programs / 3);
  CHECK(tally.refused - tally.ended_before > programs / 3);
  CHECK(tally.outcomes[DAEDALUS_V3D_DONE] > tally.accepted / 2);
  return CHECK_RESULT();
}
