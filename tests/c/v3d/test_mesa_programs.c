/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of Mesa's compiler keep all rules in strict checking: those of the folder mesa, whose
 * files each hold a shader of another kind, or those in the files that arguments name.  A file is
 * V3D_DEBUG=qpu,shaderdb output.  The compiler may try several times and then print one SHADER-DB
 * line: the attempt that it took has the number of instructions that the line tells.  The uniforms'
 * values stand in the dump; what it gives a name instead (addresses) is no config word, so that 0
 * stands in for it.
 *
 * Counted are those that would not if flags were lost at thread switches: Mesa counts on them.
 */
#include <stdlib.h>

#include <daedalus/v3d/text.h>
#include <daedalus/v3d/validate.h>

#include "check.h"
#include "hazards/hazards.h"

enum { MAX_WORDS = 16384, MAX_FINDINGS = 64, MAX_ATTEMPTS = 16 };

typedef struct program {
  uint64_t words[MAX_WORDS];
  uint32_t uniforms[MAX_WORDS];
  size_t n_words, n_uniforms;
} program;

static program attempts[MAX_ATTEMPTS]; /* Too large for a stack. */
static size_t n_by_flags;              /* programs that count on flags at thread switches */

/** The value in "... (0x0000001c / 0.000000)" at the end of line, or 0. */
static uint32_t annotation(const char *line) {
  const char *open = strrchr(line, '(');
  return open != NULL && strncmp(open, "(0x", 3) == 0 ? (uint32_t)strtoul(open + 1, NULL, 16) : 0;
}

static void add_line(program *one, const char *line) {
  daedalus_v3d_instruction instruction;
  daedalus_v3d_effects effects;
  CHECK(one->n_words < MAX_WORDS);
  if (one->n_words == MAX_WORDS)
    return;
  const uint64_t word = strtoull(line, NULL, 16);
  one->words[one->n_words++] = word;
  const char *reason = daedalus_v3d_unpack(word, &instruction);
  CHECK(reason == NULL);
  if (reason != NULL)
    return;
  daedalus_v3d_effects_of(&instruction, &effects);
  if (effects.kinds & DAEDALUS_V3D_EFFECT_UNIFORM)
    one->uniforms[one->n_uniforms++] = annotation(line);
}

/** Whether two instructions in a row carry thrsw: else Mesa starts the program single-segment. */
static bool marks_last(const program *one) {
  bool before = false;
  for (size_t i = 0; i < one->n_words; i++) {
    daedalus_v3d_instruction instruction;
    const bool thrsw = daedalus_v3d_unpack(one->words[i], &instruction) == NULL &&
                       instruction.signals & DAEDALUS_V3D_SIGNAL_THRSW;
    if (thrsw && before)
      return true;
    before = thrsw;
  }
  return false;
}

static void check_program(const program *one, const char *file, unsigned threads) {
  daedalus_v3d_finding findings[MAX_FINDINGS];
  daedalus_v3d_program_mode mode = {.strictness = DAEDALUS_V3D_STRICT,
                                    .threads = threads,
                                    .single_segment = !marks_last(one),
                                    .uniforms = one->uniforms,
                                    .n_uniforms = one->n_uniforms};
  const size_t count =
      daedalus_v3d_validate(one->words, one->n_words, &mode, findings, MAX_FINDINGS);
  CHECK_INT(count, 0);
  for (size_t i = 0; count != SIZE_MAX && i < count && i < MAX_FINDINGS; i++) {
    char text[DAEDALUS_V3D_LINE];
    daedalus_v3d_disassemble(one->words[findings[i].index], text);
    fprintf(stderr, "%s: instruction %zu of %zu: %s: %s\n  %s\n", file, findings[i].index,
            one->n_words, text, daedalus_v3d_rule_name(findings[i].rule),
            daedalus_v3d_rule_text(findings[i].rule));
  }
  mode.flags_lost = true;
  n_by_flags += daedalus_v3d_validate(one->words, one->n_words, &mode, NULL, 0) > count;
}

/** Checks the attempt with that many instructions. */
static void check_attempts(size_t n_attempts, const char *file, size_t instructions,
                           unsigned threads) {
  size_t i = n_attempts;
  while (i > 0 && attempts[i - 1].n_words != instructions)
    i--;
  CHECK(i > 0);
  if (i > 0)
    check_program(&attempts[i - 1], file, threads);
}

/** The number of programs checked. */
static size_t check_file(const char *file) {
  char line[512];
  size_t programs = 0, n_attempts = 0;
  FILE *stream = fopen(file, "r");
  CHECK(stream != NULL);
  if (stream == NULL)
    return 0;
  while (fgets(line, sizeof line, stream) != NULL) {
    unsigned instructions, threads;
    const char *statistics = strstr(line, "shader: ");
    if (strncmp(line, "0x", 2) == 0 && n_attempts > 0) {
      add_line(&attempts[n_attempts - 1], line);
    } else if (strstr(line, "QPU:") != NULL) {
      CHECK(n_attempts < MAX_ATTEMPTS);
      n_attempts += n_attempts < MAX_ATTEMPTS;
      attempts[n_attempts - 1].n_words = attempts[n_attempts - 1].n_uniforms = 0;
    } else if (statistics != NULL &&
               sscanf(statistics, "shader: %u inst, %u threads", &instructions, &threads) == 2) {
      check_attempts(n_attempts, file, instructions, threads);
      n_attempts = 0;
      programs++;
    }
  }
  fclose(stream);
  CHECK(programs > 0);
  return programs;
}

/** Files of the folder mesa. */
static const char *const kinds[] = {"arrays",    "atomics", "divergence", "float",   "halves",
                                    "histogram", "integer", "loops",      "quads",   "shared",
                                    "shuffle",   "small",   "uniforms",   "vectors", "vote"};

int main(int argc, char **argv) {
  size_t programs = 0;
  for (size_t i = 0; argc <= 1 && i < sizeof kinds / sizeof *kinds; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.qpu", DAEDALUS_V3D_MESA_PROGRAMS, kinds[i]);
    programs += check_file(path);
  }
  for (int i = 1; i < argc; i++)
    programs += check_file(argv[i]);
  printf("%zu programs, %zu of them count on flags at thread switches\n", programs, n_by_flags);
  CHECK(programs > 0);
  if (argc <= 1) /* arrays and histogram */
    CHECK_INT(n_by_flags, 2);
  return CHECK_RESULT();
}
