/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * docs/v3d-assembly.md has a row for each operation, in the order of the table, which begins as
 * the tables of the encoding say; and its blocks of assembly (```asm) assemble.  With the argument
 * --print, prints how the rows have to begin.
 */
#include <stdlib.h>

#include <daedalus/v3d/text.h>

#include "check.h"
#include "encoding/tables.h"
#include "text/names.h"

enum { LINE = 512, BLOCK = 1 << 14 };

/* The names that a source's modifier codes have, in the order of the codes. */
static void modifiers(unsigned kind, char *text) {
  static const char *const of_kind[] = {
      [DAEDALUS_V3D_UNPACKS_NONE] = "",
      [DAEDALUS_V3D_UNPACKS_F32] = "f32",
      [DAEDALUS_V3D_UNPACKS_F32_HALVES] = "halves",
      [DAEDALUS_V3D_UNPACKS_FMOV] = "fmov",
      [DAEDALUS_V3D_UNPACKS_F16] = "f16",
      [DAEDALUS_V3D_UNPACKS_MOV] = "int",
  };
  strcpy(text, of_kind[kind]);
}

static size_t add_code(char *row, size_t length, const char *alu,
                       const daedalus_v3d_encoding *encoding,
                       const daedalus_v3d_operation *operation) {
  length += (size_t)snprintf(row + length, LINE - length, "%s%s %u", length > 0 ? ", " : "", alu,
                             encoding->opcode);
  if (operation->sources < 2)
    length += (size_t)snprintf(row + length, LINE - length, "/%u", encoding->selector);
  return length;
}

/* | `fadd` | add 0 | 2 | f32 | .l .h | */
static void row_start(unsigned op, char *row) {
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
  char code[LINE] = "", unpack[64];
  size_t length = 0;
  if (operation->on_add)
    length = add_code(code, length, "add", &daedalus_v3d_add_encodings[op], operation);
  if (operation->on_mul)
    add_code(code, length, "mul", &daedalus_v3d_mul_encodings[op], operation);
  modifiers(operation->unpack, unpack);
  snprintf(row, LINE, "| `%s` | %.100s | %u | %s | %s | ", operation->text, code,
           operation->sources, unpack, operation->pack == DAEDALUS_V3D_PACKS_F32 ? "l h" : "");
}

/* Rows of operations, and no other lines, begin so and name one. */
static bool is_row(const char *line) {
  return strncmp(line, "| `", 3) == 0 && strchr(line + 3, '`') != NULL &&
         daedalus_v3d_op_index(line + 3, strcspn(line + 3, "`")) >= 0;
}

static void check_row(const char *line, unsigned op) {
  char expected[LINE] = "";
  if (op < DAEDALUS_V3D_N_OPS)
    row_start(op, expected);
  if (op >= DAEDALUS_V3D_N_OPS || strncmp(line, expected, strlen(expected)) != 0 ||
      strlen(line) < strlen(expected) + 4) {
    fprintf(stderr, "row\n%sbegins not with\n%s\n", line, expected);
    CHECK(false);
  }
}

static void check_block(const char *text, size_t length) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic mistake = {0};
  CHECK_INT(daedalus_v3d_assemble(text, length, &program, &mistake, 1), 0);
  CHECK_STR(mistake.message, "");
  CHECK(program.n_words > 0);
  daedalus_v3d_program_free(&program);
}

int main(int argc, char **argv) {
  static char block[BLOCK];
  char line[LINE];
  unsigned op = 0, blocks = 0;
  size_t length = 0;
  bool inside = false;
  for (; argc > 1 && strcmp(argv[1], "--print") == 0 && op < DAEDALUS_V3D_N_OPS; op++) {
    row_start(op, line);
    puts(line);
  }
  FILE *page = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (page == NULL)
    return op > 0 ? 0 : 2;
  while (fgets(line, sizeof line, page) != NULL) {
    if (strncmp(line, "```", 3) == 0) {
      if (inside)
        check_block(block, length);
      inside = strcmp(line, "```asm\n") == 0;
      blocks += inside;
      length = 0;
    } else if (inside && length + strlen(line) < BLOCK) {
      memcpy(block + length, line, strlen(line));
      length += strlen(line);
    } else if (is_row(line)) {
      check_row(line, op++);
    }
  }
  fclose(page);
  CHECK_INT(op, DAEDALUS_V3D_N_OPS);
  CHECK(blocks >= 2);
  return CHECK_RESULT();
}
