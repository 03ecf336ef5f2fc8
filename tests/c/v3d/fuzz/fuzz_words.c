/* SPDX-License-Identifier: BSD-2-Clause */
/* Any word: it is refused, or its text assembles to its canonical form, which stays the same. */
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/text.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds) {
  if (!holds)
    abort();
}

static void word(uint64_t given) {
  char text[DAEDALUS_V3D_LINE], again[DAEDALUS_V3D_LINE];
  daedalus_v3d_instruction instruction;
  uint64_t canonical = given;
  const int legal = daedalus_v3d_disassemble(given, text) == NULL;
  check(strlen(text) < sizeof text);
  if (legal) {
    check(daedalus_v3d_unpack(given, &instruction) == NULL);
    check(daedalus_v3d_pack(&instruction, &canonical) == NULL);
    check(daedalus_v3d_disassemble(canonical, again) == NULL);
    check(strcmp(text, again) == 0);
  }
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic diagnostic;
  check(daedalus_v3d_assemble(text, strlen(text), &program, &diagnostic, 1) == 0);
  check(program.n_words == 1 && program.words[0] == canonical);
  daedalus_v3d_program_free(&program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (; size >= sizeof(uint64_t); data += sizeof(uint64_t), size -= sizeof(uint64_t)) {
    uint64_t given;
    memcpy(&given, data, sizeof given);
    word(given);
  }
  return 0;
}
