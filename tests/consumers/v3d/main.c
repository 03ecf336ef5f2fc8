/* SPDX-License-Identifier: BSD-2-Clause */
/* The least that a user of the V3D library does: assembles, validates, and runs a program. */
#include <stdio.h>
#include <string.h>

#include <daedalus/v3d/simulate.h>
#include <daedalus/v3d/text.h>
#include <daedalus/v3d/validate.h>

/* Each lane writes 3 x its index. */
static const char source[] =
    "eidx rf4 ; nop ; ldunif\n"
    "shl rf5, rf4, 2\n"
    "add rf6, rf0, rf5 ; umul24 rf7, rf4, 3\n"
    "mov tmud, rf7\n"
    "mov tmua, rf6 ; nop ; thrsw\n"
    "nop ; nop ; thrsw\n"
    "tmuwt -\n"
    "nop\n"
    "nop ; nop ; thrsw\n"
    "nop\n"
    "nop\n"
    ".uniform 0x30000\n";

/* The list of operations, by what the installed headers define alone. */
static bool lists_operations(void) {
  static const struct {
    const char *text;
    unsigned on_add, on_mul, traits;
  } listed[] = {
#define ROW(id, text, sources, unpack, pack, traits, add, mul) \
  {text, DAEDALUS_V3D_HAS_##add, DAEDALUS_V3D_HAS_##mul, DAEDALUS_V3D_TRAITS_##traits},
      DAEDALUS_V3D_OPERATIONS(ROW)
#undef ROW
  };
  bool same = sizeof listed / sizeof listed[0] == DAEDALUS_V3D_N_OPS;
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++) {
    const daedalus_v3d_operation *expected = daedalus_v3d_operation_of(op);
    same = same && strcmp(listed[op].text, expected->text) == 0 &&
           listed[op].on_add == expected->on_add && listed[op].on_mul == expected->on_mul &&
           listed[op].traits == expected->traits;
  }
  return same;
}

int main(void) {
  enum { CODE = 0x10000, UNIFORMS = 0x20000, OUT = 0x30000 };
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic mistake;
  if (daedalus_v3d_assemble(source, strlen(source), &program, &mistake, 1) != 0) {
    fprintf(stderr, "%u:%u: %s\n", mistake.line, mistake.column, mistake.message);
    return 1;
  }
  const daedalus_v3d_program_mode mode = {.threads = 4};
  daedalus_v3d_finding finding;
  const size_t findings = daedalus_v3d_validate(program.words, program.n_words, &mode, &finding, 1);
  if (findings != 0)
    fprintf(stderr, "word %zu: %s\n", finding.index, daedalus_v3d_rule_text(finding.rule));

  uint32_t out[16] = {0};
  const daedalus_v3d_buffer buffers[] = {
      {CODE, (uint32_t)(program.n_words * sizeof *program.words), program.words},
      {UNIFORMS, (uint32_t)(program.n_uniforms * sizeof *program.uniforms), program.uniforms},
      {OUT, sizeof out, out}};
  const daedalus_v3d_job job = {
      .cfg = {1u << 16, 1u << 16, 1u << 16, 16u | 1u << 8, 1, CODE | 1, UNIFORMS},
      .buffers = buffers,
      .n_buffers = 3,
      .strict = true};
  daedalus_v3d_report report;
  daedalus_v3d_machine *machine = daedalus_v3d_machine_create(NULL);
  if (machine == NULL)
    return 1;
  if (daedalus_v3d_machine_run(machine, &job, &report) != DAEDALUS_V3D_DONE)
    fprintf(stderr, "%s\n", report.message);
  daedalus_v3d_machine_destroy(machine);
  daedalus_v3d_program_free(&program);
  if (!lists_operations())
    return 1;
  for (uint32_t i = 0; i < 16; i++)
    if (out[i] != 3 * i)
      return 1;
  printf("v3d: good\n");
  return findings != 0;
}
