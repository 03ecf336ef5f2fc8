/* SPDX-License-Identifier: BSD-2-Clause */
/* What the assembler takes besides Mesa's text, what it refuses and how it says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <daedalus/v3d/text.h>

#include "check.h"

static daedalus_v3d_program assemble(const char *text) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic mistake = {0};
  CHECK_INT(daedalus_v3d_assemble(text, strlen(text), &program, &mistake, 1), 0);
  if (mistake.line != 0)
    fprintf(stderr, "%u:%u: %s\nin: %s\n", mistake.line, mistake.column, mistake.message, text);
  return program;
}

/* The texts have to be one word each, and the same one. */
#define SAME(text, other)                                                \
  do {                                                                   \
    daedalus_v3d_program a = assemble(text), b = assemble(other);        \
    CHECK(a.n_words == 1 && b.n_words == 1 && a.words[0] == b.words[0]); \
    daedalus_v3d_program_free(&a);                                       \
    daedalus_v3d_program_free(&b);                                       \
  } while (0)

static void test_free_form(void) {
  SAME("nop", "nop ; nop");
  SAME("  nop;nop ; thrsw", "thrsw");
  SAME("fmul rf1, rf2, rf3", "nop ; fmul rf1, rf2, rf3");
  SAME("; mov rf1, rf2", "nop ; mov rf1, rf2");
  SAME("mov rf1, rf2", "mov rf1, rf2 ; nop");
  SAME("add rf1,rf2,rf3;ldtmu.rf4;thrsw", "add rf1, rf2, rf3 ; nop ; thrsw ; ldtmu.rf4");
  SAME("eidx rf1 ; ; thrsw", "eidx rf1 ; thrsw");
  SAME("umul24_rtop0 rf1, rf2, rf3", "umul24 rf1, rf2, rf3");
  SAME("fadd rf1, rf3, rf2", "fadd rf1, rf2, rf3");
  SAME("faddnf rf1, rf2, rf3", "faddnf rf1, rf3, rf2");
  SAME("fmax rf1, rf2.abs, rf3", "fmax rf1, rf3, rf2.abs");
  SAME("fmin rf1, 1, rf2", "fmin rf1, rf2, 1");
  SAME("mov rf1, 1.0", "mov rf1, 0x3f800000");
  SAME("mov rf1, 128e0", "mov rf1, 0x43000000");
  SAME("mov rf1, 3.90625e-3", "mov rf1, 0x3b800000");
  SAME("mov rf1, 0xfffffff0", "mov rf1, -16");
  SAME("mov rf1, 4294967295", "mov rf1, -1");
  SAME("mov rf1, 0XFFFFFFFF", "mov rf1, -1");
  SAME("fmov rf1, 0.5.abs", "fmov rf1, 0x3f000000.abs");
  SAME("fmov rf1, 4.l", "fmov rf1, 0x4.l");
  SAME("add.ifa rf1, rf2, rf3; sub.ifb rf4, rf5, rf6 # comment",
       "\tadd.ifa rf1, rf2, rf3 ; sub.ifb rf4, rf5, rf6 // comment\r\n");
  SAME("ldunif (0x0000ffff / 0.000000)", "ldunif # annotated");
  SAME("ldunif (ssbo[0] (nested)) # and more", "ldunif");
  SAME("bu.anya 16, r:unif (0x10)", "bu.anya  16, r:unif");
  SAME("bup lri, lri", "bup  lri , lri");
  SAME("b.link zero_addr + 0x10", "b.link  zero_addr+0x00000010");
  SAME("b.a0p 0xfffffff8", "b.a0p  -8");
  SAME(".word 0x38003186bb03f000", "nop");
  SAME("0x38003186bb03f000", "nop");
  SAME("0x38003186bb03f000 nop", "nop");
}

static void test_stated_words(void) {
  /* Another encoding of the same instruction stays as it is stated. */
  daedalus_v3d_program program =
      assemble("0x38000000bb03f000 nop ; nop\n.word 0x0, 0xffffffffffffffff");
  CHECK_INT(program.n_words, 3);
  CHECK(program.words != NULL && program.words[0] == UINT64_C(0x38000000bb03f000) &&
        program.words[1] == 0 && program.words[2] == UINT64_MAX);
  daedalus_v3d_program_free(&program);
}

static void test_labels(void) {
  static const char text[] =
      "# comment\n"
      "start: first:\n"
      "  nop\n"
      "loop: nop\n"
      "  bu.anyna loop, r:unif\n"
      "  nop\n"
      "  b end + 8\n"
      "  b start\n"
      "end:\n"
      "  nop\n";
  daedalus_v3d_program program = assemble(text);
  CHECK_INT(program.n_words, 7);
  for (size_t i = 0; i < program.n_words; i++) {
    static const int offsets[] = {0, 0, 8 - (16 + 32), 0, 56 - (32 + 32), 0 - (40 + 32), 0};
    static const unsigned lines[] = {3, 4, 5, 6, 7, 8, 10};
    daedalus_v3d_instruction x;
    CHECK(daedalus_v3d_unpack(program.words[i], &x) == NULL);
    CHECK_INT((int32_t)x.branch.offset, offsets[i]);
    CHECK_INT(program.lines[i], lines[i]);
  }
  daedalus_v3d_program_free(&program);
}

/* So many that the table of names grows. */
static void test_many_labels(void) {
  enum { LABELS = 1000 };
  static char text[LABELS * 32];
  size_t length = 0;
  for (unsigned i = 0; i < LABELS; i++)
    length +=
        (size_t)snprintf(text + length, sizeof text - length, "L%u: b L%u\n", i, LABELS - 1 - i);
  daedalus_v3d_program program = assemble(text);
  CHECK_INT(program.n_words, LABELS);
  for (unsigned i = 0; i < program.n_words; i++) {
    daedalus_v3d_instruction x;
    CHECK(daedalus_v3d_unpack(program.words[i], &x) == NULL);
    CHECK_INT((int32_t)x.branch.offset, 8 * (LABELS - 1 - 2 * (int)i - 4));
  }
  daedalus_v3d_program_free(&program);
}

static void test_directives(void) {
  static const char text[] =
      ".equ size, 16\n"
      ".equ acc, rf12\n"
      ".equ twice, size + size\n"
      ".uniform size, -1, 0x80000000, 1.5, -0.0, 4294967295\n"
      "here: add acc, acc, size - 1\n"
      "  ldtmu.acc\n"
      ".uniform there - here, twice, here - there + 8\n"
      "there: b acc\n";
  static const uint32_t uniforms[] = {
      16, UINT32_MAX, UINT32_C(0x80000000), 0x3fc00000, UINT32_C(0x80000000), UINT32_MAX,
      16, 32,         UINT32_C(-8)};
  daedalus_v3d_program program = assemble(text);
  CHECK_INT(program.n_uniforms, sizeof uniforms / sizeof *uniforms);
  CHECK(program.n_uniforms == 9 && memcmp(program.uniforms, uniforms, sizeof uniforms) == 0);
  CHECK_INT(program.n_words, 3);
  daedalus_v3d_program plain = assemble("add rf12, rf12, 15\nldtmu.rf12\nb rf12\n");
  CHECK(program.n_words == 3 && plain.n_words == 3 &&
        memcmp(program.words, plain.words, 3 * sizeof(uint64_t)) == 0);
  daedalus_v3d_program_free(&program);
  daedalus_v3d_program_free(&plain);
}

/* Mistakes: one line each, or the last of several; where, and what is said. */
static const struct {
  const char *text;
  unsigned line, column;
  const char *message;
} mistakes[] = {
    {"ad rf1, rf2, rf3", 1, 1, "no operation or signal is called `ad`: did you mean `add`?"},
    {"fmlu rf1, rf2, rf3", 1, 1, "no operation or signal is called `fmlu`: did you mean `fmul`?"},
    {"frobnicate rf1", 1, 1, "no operation or signal is called `frobnicate`"},
    {"nop\n  nop ; shl rf1, rf2, rf3", 2, 9,
     "`shl` is an operation of the add ALU: it stands before the first `;`"},
    {"nop ; nop ; nop", 1, 13,
     "`nop` comes too late: an add operation, a mul operation, then signals"},
    {"thrsw ; mov rf1, rf2", 1, 9,
     "`mov` comes too late: an add operation, a mul operation, then signals"},
    {"nop ; b 8", 1, 7, "a branch is an instruction of its own"},
    {"nop ; nop ;", 1, 12, "a signal is missing after `;`"},
    {"nop ; 5", 1, 7, "`5` begins neither an operation nor a signal"},
    {"nop nop", 1, 5, "`nop` is too much: the line should end here"},
    {"add rf1, rf2", 1, 13, "`add` has 2 sources: `,` and source 2 are missing"},
    {"not rf1", 1, 8, "`not` has 1 source: `,` and source 1 are missing"},
    {"add", 1, 4, "`add` needs a destination: a register, or `-` for none"},
    {"add rf64, rf2, rf3", 1, 5, "there is no `rf64`: the registers are rf0 to rf63"},
    {"add rf1, rf99, rf3", 1, 10, "there is no `rf99`: the registers are rf0 to rf63"},
    {"add r5, rf2, rf3", 1, 5,
     "`r5` is no destination of `add`: write a register, `-`, or a write address such as tmua"},
    {"add rf1, tmua, rf3", 1, 10, "`tmua` can be written, not read"},
    {"add rf1, rf01, rf3", 1, 10,
     "`rf01` is not defined: neither a label nor an .equ gives it a value"},
    {"add rf1, rf2, 16", 1, 15,
     "0x00000010 is no small immediate (-16 to 15, or 2^-8 to 2^7 as a float): load it with ldunif "
     "or ldunifrf"},
    {"add rf1, rf2, $", 1, 15, "`$` is neither a number nor a name"},
    {"add rf1, rf2,", 1, 14, "a number or a name is missing"},
    {"add rf1, rf2, 12x", 1, 15, "`12x` is no number"},
    {"add rf1, rf2, 4294967296", 1, 15, "the number does not fit in 32 bits, signed or unsigned"},
    {"add rf1, rf2, -2147483649", 1, 15, "the number does not fit in 32 bits, signed or unsigned"},
    {".uniform 4294967295+1", 1, 10, "the number does not fit in 32 bits, signed or unsigned"},
    {".uniform 4294967295+4294967295+4294967295", 1, 32,
     "the number does not fit in 32 bits, signed or unsigned"},
    {".uniform 0.5555555555555555555555555555555555555555555555555555555555555555", 1, 10,
     "the number has too many digits: at most 63 are read"},
    {".uniform 1e39", 1, 10, "the number is too large for a 32-bit float"},
    {"add.foo rf1, rf2, rf3", 1, 4,
     "`.foo` is neither a condition (.ifa) nor a flag change (.pushz)"},
    {"add.ifa.pushz rf1, rf2, rf3", 1, 8,
     "an operation has one condition or one flag change: drop `.pushz`"},
    {"add rf1.l, rf2, rf3", 1, 8, "the result of `add` does not take `.l`"},
    {"fadd rf1.abs, rf2, rf3", 1, 9, "the result of `fadd` does not take `.abs`"},
    {"fadd rf1, rf2.sat, rf3", 1, 14, "this source of `fadd` does not take `.sat`"},
    {"fadd rf1, rf2.big, rf3", 1, 14, "`.big` is no modifier of a source"},
    {"vfmul rf1, rf2, rf3.swp", 1, 20, "this source of `vfmul` does not take `.swp`"},
    {"ldtmu", 1, 1, "`ldtmu` names its destination: write `ldtmu.rf1` or the like"},
    {"ldunif.rf1", 1, 7, "`ldunif` names no destination"},
    {"ldtmu.foo", 1, 7,
     "`foo` is no destination of `ldtmu`: write a register, `-`, or a write address such as tmua"},
    {"thrsw ; thrsw", 1, 9, "`thrsw` stands twice"},
    {"  add rf1, 1, rf2 ; thrsw", 1, 3,
     "the instruction cannot be encoded: a small immediate leaves no room for signals"},
    {"add.pushz rf1, rf2, rf3 ; ldtmu.rf4", 1, 1,
     "the instruction cannot be encoded: beside a signal with a destination there is no room for "
     "conditions and flag changes"},
    {"fmax rf1, rf2, rf2", 1, 1,
     "the instruction cannot be encoded: faddnf and fmax of one operand twice have no encoding"},
    {"b", 1, 2, "a number or a name is missing"},
    {"b nowhere", 1, 3, "`nowhere` is not defined: neither a label nor an .equ gives it a value"},
    {"b 12", 1, 3, "a branch goes to a multiple of 8 bytes of 32 bits"},
    {"b.any 8", 1, 2,
     "`.any` is no branch condition: one of .a0 .na0 .alla .anyna .anya .allna, with p or q at its "
     "end or without, then .link or nothing"},
    {"b 8, r:unif", 1, 5, "only `bu` has a second target, of the uniform stream"},
    {"bu 8", 1, 5,
     "`bu` names where the uniform stream goes: write `, r:unif` or the like, or `b` for a branch "
     "of "
     "instructions only"},
    {"bu 8, x:unif", 1, 7, "the uniform stream goes to a:unif, r:unif, lri or a register"},
    {"bu rf1, rf2", 1, 9, "a branch has room for one register: both destinations have to use it"},
    {"b zero_addr", 1, 12, "`+` and an address belong behind `zero_addr`"},
    {"x: y: b zero_addr+x", 1, 19,
     "the place of a label is known only against another: write the difference of two labels"},
    {"x: b x+x", 1, 6, "the target is neither a label nor a number"},
    {"x: nop\nx: nop", 2, 1, "`x` is defined in line 1 already"},
    {"rf1: nop", 1, 1, "`rf1` has a meaning already: choose another name"},
    {".equ tmua, 1", 1, 6, "`tmua` has a meaning already: choose another name"},
    {".equ", 1, 5, "a name belongs here: `.equ name, value`"},
    {".equ x 1", 1, 8, "`,` and a value are missing: `.equ name, value`"},
    {".equ x, rf1\n.uniform x", 2, 10, "`x` is a register, a number belongs here"},
    {".byte 1", 1, 1, "there is no directive `.byte`: .uniform, .word and .equ are"},
    {".uniform", 1, 9, "a number or a name is missing"},
    {".word 5", 1, 7, "a word is written as 0x and hexadecimal digits"},
    {".word 0x12345678123456789", 1, 7, "a word has at most 16 hexadecimal digits"},
    {"0x38003186bb03f001 nop", 1, 20,
     "the line states 0x38003186bb03f001 but its text is 0x38003186bb03f000: drop one of the two"},
    {"ldunif (x", 1, 8, "`)` is missing"},
    {"nop \x01\xff", 1, 5, "`??` is too much: the line should end here"},
};

static void test_mistakes(void) {
  for (unsigned i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    daedalus_v3d_program program;
    daedalus_v3d_diagnostic found[2] = {{0}};
    const char *text = mistakes[i].text;
    CHECK_INT(daedalus_v3d_assemble(text, strlen(text), &program, found, 2), 1);
    CHECK_STR(found[0].message, mistakes[i].message);
    CHECK_INT(found[0].line, mistakes[i].line);
    CHECK_INT(found[0].column, mistakes[i].column);
    CHECK(program.words == NULL && program.n_words == 0 && program.uniforms == NULL);
  }
}

/* All mistakes are counted, those are described for which there is room, labels stay in place. */
static void test_several_mistakes(void) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic found[2] = {{0}};
  static const char text[] = "foo\nnop\nbar\nb foo\nbaz\n";
  CHECK_INT(daedalus_v3d_assemble(text, sizeof text - 1, &program, found, 2), 4);
  CHECK_INT(found[0].line, 1);
  CHECK_INT(found[1].line, 3);
  CHECK_INT(daedalus_v3d_assemble(text, sizeof text - 1, &program, NULL, 0), 4);
  CHECK_INT(daedalus_v3d_assemble(NULL, 0, &program, NULL, 0), 0);
  daedalus_v3d_program_free(&program);
  CHECK_INT(daedalus_v3d_assemble("nop\n#\0 nop", 10, &program, found, 2), 1);
  CHECK_STR(found[0].message, "a byte 0: this is no text");
  CHECK(found[0].line == 2 && found[0].column == 2);
}

/* Bytes of the grammar in any order: nothing but words or mistakes may come of it. */
static void test_random_text(void) {
  static const char *const pieces[] = {"add",        "fmul",   "rf1",
                                       "rf63",       ",",      ";",
                                       " ",          "\n",     "-",
                                       "5",          "0x",     "0x3f800000",
                                       ".",          ".ifa",   ".l",
                                       ":",          "label",  "b",
                                       "bu.anya ",   "r:unif", "lri",
                                       "zero_addr+", "(",      ")",
                                       "#",          "//",     "\t",
                                       ".uniform ",  ".word ", ".equ ",
                                       "ldtmu.",     "thrsw",  "tmua",
                                       "1e9",        "1.5",    "+",
                                       "\x80",       "_",      "0x38003186bb03f000 ",
                                       "nop",        "\r",     "99999999999",
                                       ".abs",       "e"};
  uint64_t state = 1;
  for (int i = 0; i < 20000; i++) {
    char text[512];
    size_t length = 0;
    while (length < 400) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      const char *piece = pieces[(state >> 33) % (sizeof pieces / sizeof *pieces)];
      memcpy(text + length, piece, strlen(piece));
      length += strlen(piece);
    }
    /* Without a byte behind it, for the sanitizer to see. */
    char *exact = malloc(length);
    CHECK(exact != NULL);
    if (exact == NULL)
      return;
    memcpy(exact, text, length);
    daedalus_v3d_program program;
    daedalus_v3d_diagnostic found[4];
    const size_t n = daedalus_v3d_assemble(exact, length, &program, found, 4);
    for (size_t k = 0; k < n && k < 4; k++)
      CHECK(found[k].line > 0 && found[k].column > 0 && found[k].message[0] != '\0');
    CHECK(n == 0 || program.words == NULL);
    daedalus_v3d_program_free(&program);
    free(exact);
  }
}

int main(void) {
  RUN(test_free_form);
  RUN(test_stated_words);
  RUN(test_labels);
  RUN(test_many_labels);
  RUN(test_directives);
  RUN(test_mistakes);
  RUN(test_several_mistakes);
  RUN(test_random_text);
  return CHECK_RESULT();
}
