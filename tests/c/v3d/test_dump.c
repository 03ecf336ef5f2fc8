/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: daedalus_v3d_test_dump FILE...
 *
 * Dumps of Mesa's compiler (V3D_DEBUG=qpu): lines of `0x<word> <text>`, in which an annotation in
 * parentheses may follow; other lines are left alone.  Every word has to disassemble to its text,
 * every text to assemble to its word, alone and as a line of the whole file, word and annotation
 * included.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <daedalus/v3d/text.h>

#include "check.h"

static unsigned long n_words, n_excepted;

/*
 * What Mesa 25.0.7 makes of an instruction when it prints it; each of these is a mistake of its
 * decoder, mended in later versions or absent from its own output.
 */
static daedalus_v3d_instruction as_mesa_sees(daedalus_v3d_instruction x) {
  switch (x.add.op) {
    case DAEDALUS_V3D_OP_FROUND: /* the modifier of the source is read from the wrong bits */
    case DAEDALUS_V3D_OP_FTRUNC:
    case DAEDALUS_V3D_OP_FFLOOR:
    case DAEDALUS_V3D_OP_FCEIL:
    case DAEDALUS_V3D_OP_FDX:
    case DAEDALUS_V3D_OP_FDY:
      x.add.src[0].unpack = DAEDALUS_V3D_UNPACK_NONE;
      break;
    case DAEDALUS_V3D_OP_ITOF: /* the modifier of the result is left out */
    case DAEDALUS_V3D_OP_UTOF:
    case DAEDALUS_V3D_OP_FXCD:
    case DAEDALUS_V3D_OP_FYCD:
      x.add.pack = DAEDALUS_V3D_PACK_NONE;
      break;
    default:
      break;
  }
  if (x.mul.op == DAEDALUS_V3D_OP_FMOV) { /* two bits of the modifier's three */
    uint8_t *unpack = &x.mul.src[0].unpack;
    *unpack = *unpack == DAEDALUS_V3D_UNPACK_SAT    ? DAEDALUS_V3D_UNPACK_ABS
              : *unpack == DAEDALUS_V3D_UNPACK_NSAT ? DAEDALUS_V3D_UNPACK_NONE
              : *unpack == DAEDALUS_V3D_UNPACK_MAX0 ? DAEDALUS_V3D_UNPACK_L
                                                    : *unpack;
  }
  daedalus_v3d_dest *dests[] = {&x.add.dest, &x.mul.dest, &x.signal_dest};
  for (unsigned i = 0; i < 3; i++) /* the wrong name */
    if (dests[i]->magic != 0 && dests[i]->waddr == DAEDALUS_V3D_WADDR_TMUHSCM)
      dests[i]->waddr = DAEDALUS_V3D_WADDR_TMUSCM;
  return x;
}

static void fail(const char *file, unsigned line, const char *what, const char *text) {
  atomic_fetch_add(&check_failures, 1);
  fprintf(stderr, "%s:%u: %s: %s\n", file, line, what, text);
}

static bool assembles_to(const char *text, size_t length, uint64_t word, char *message) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic diagnostic = {0};
  const size_t mistakes = daedalus_v3d_assemble(text, length, &program, &diagnostic, 1);
  const bool same = mistakes == 0 && program.n_words == 1 && program.words[0] == word;
  snprintf(message, 256, "%s", mistakes == 0 ? "another word" : diagnostic.message);
  daedalus_v3d_program_free(&program);
  return same;
}

static void check_line(const char *file, unsigned line, const char *start) {
  char *rest, ours[DAEDALUS_V3D_LINE], mesas[DAEDALUS_V3D_LINE], why[256];
  const uint64_t word = strtoull(start, &rest, 16);
  rest += *rest == ' ';
  size_t length = strcspn(rest, "(\r\n");
  while (length > 0 && rest[length - 1] == ' ')
    length--;
  n_words++;

  daedalus_v3d_instruction x;
  const char *reason = daedalus_v3d_unpack(word, &x);
  if (reason != NULL) {
    fail(file, line, "no instruction", reason);
    return;
  }
  const size_t our_length = daedalus_v3d_format(&x, ours);
  const daedalus_v3d_instruction seen = as_mesa_sees(x);
  const size_t mesa_length = daedalus_v3d_format(&seen, mesas);
  const bool excepted = strcmp(ours, mesas) != 0;
  n_excepted += excepted;
  if (mesa_length != length || memcmp(mesas, rest, length) != 0)
    fail(file, line, "disassembles to", ours);
  uint64_t canonical = 0;
  reason = daedalus_v3d_pack(&x, &canonical);
  if (reason != NULL || canonical != word)
    fail(file, line, "does not pack to the same word", reason == NULL ? ours : reason);
  if (!assembles_to(ours, our_length, word, why))
    fail(file, line, "our text does not assemble", why);
  if (!excepted && !assembles_to(rest, length, word, why))
    fail(file, line, "Mesa's text does not assemble", why);
  if (!excepted && !assembles_to(start, strcspn(start, "\r\n"), word, why))
    fail(file, line, "Mesa's line does not assemble", why);
}

int main(int argc, char **argv) {
  char text[4096];
  CHECK(argc > 1);
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "r");
    if (file == NULL) {
      perror(argv[i]);
      return 2;
    }
    for (unsigned line = 1; fgets(text, sizeof text, file) != NULL; line++)
      if (strncmp(text, "0x", 2) == 0 && strspn(text + 2, "0123456789abcdef") == 16)
        check_line(argv[i], line, text);
    fclose(file);
  }
  CHECK(n_words > 0);
  printf("%lu words, %lu of them not as Mesa prints them\n", n_words, n_excepted);
  return CHECK_RESULT();
}
