/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text: it assembles, and so does the disassembly of what came out, to the same words; or
 * the mistakes that are reported lie in it. */
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/text.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DIAGNOSTICS = 4 };

static void check(int holds) {
  if (!holds)
    abort();
}

static void mistakes(const uint8_t *data, size_t size, const daedalus_v3d_diagnostic *found,
                     size_t n) {
  size_t lines = 1;
  for (size_t i = 0; i < size; i++)
    lines += data[i] == '\n';
  for (size_t i = 0; i < n && i < DIAGNOSTICS; i++) {
    check(found[i].line >= 1 && found[i].line <= lines && found[i].column >= 1);
    check(found[i].message[0] && memchr(found[i].message, 0, sizeof found[i].message) != NULL);
  }
}

/* `.word` makes words that are not canonical, and illegal ones, which stay as they are. */
static uint64_t canonical(uint64_t word) {
  daedalus_v3d_instruction instruction;
  if (daedalus_v3d_unpack(word, &instruction) == NULL)
    check(daedalus_v3d_pack(&instruction, &word) == NULL);
  return word;
}

static void again(const daedalus_v3d_program *program) {
  for (size_t i = 0; i < program->n_words; i++) {
    char text[DAEDALUS_V3D_LINE];
    daedalus_v3d_program second;
    daedalus_v3d_diagnostic diagnostic;
    daedalus_v3d_disassemble(program->words[i], text);
    check(daedalus_v3d_assemble(text, strlen(text), &second, &diagnostic, 1) == 0);
    check(second.n_words == 1 && second.words[0] == canonical(program->words[i]));
    daedalus_v3d_program_free(&second);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic found[DIAGNOSTICS];
  const size_t n = daedalus_v3d_assemble((const char *)data, size, &program, found, DIAGNOSTICS);
  if (n == 0)
    again(&program);
  else
    mistakes(data, size, found, n);
  daedalus_v3d_program_free(&program);
  return 0;
}
