/* SPDX-License-Identifier: BSD-2-Clause */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "text/assembler.h"

/* Sums stay far from the bounds of int64_t: each term is of 33 bits, and a line has fewer. */
#define NUMBER_MIN INT32_MIN
#define NUMBER_MAX UINT32_MAX

static int digit_of(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 16;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* The character n behind the cursor, NUL past the end of the line. */
static char peek(const daedalus_v3d_assembler *as, size_t n) {
  return (size_t)(as->line_end - as->at) > n ? as->at[n] : '\0';
}

bool daedalus_v3d_take_word(daedalus_v3d_assembler *as, uint64_t *word) {
  const char *start = as->at;
  unsigned digits = 0;
  *word = 0;
  if (peek(as, 0) == '0' && (peek(as, 1) == 'x' || peek(as, 1) == 'X'))
    for (as->at += 2; digit_of(peek(as, 0)) < 16; as->at++, digits++)
      *word = *word << 4 | (unsigned)digit_of(*as->at);
  if (digits == 0)
    return daedalus_v3d_fail(as, start, "a word is written as 0x and hexadecimal digits");
  if (digits > 16)
    return daedalus_v3d_fail(as, start, "a word has at most 16 hexadecimal digits");
  return true;
}

/* Length of a decimal number at the cursor; *is_float: it has a fraction or an exponent. */
static size_t decimal_length(const daedalus_v3d_assembler *as, bool *is_float) {
  size_t n = 0;
  *is_float = false;
  while (is_digit(peek(as, n)))
    n++;
  if (peek(as, n) == '.' && is_digit(peek(as, n + 1))) { /* otherwise `.` begins a modifier */
    *is_float = true;
    for (n++; is_digit(peek(as, n));)
      n++;
  }
  if (peek(as, n) == 'e' || peek(as, n) == 'E') {
    const size_t sign = peek(as, n + 1) == '-' || peek(as, n + 1) == '+';
    if (is_digit(peek(as, n + 1 + sign))) {
      *is_float = true;
      for (n += 1 + sign; is_digit(peek(as, n));)
        n++;
    }
  }
  return n;
}

/* The bits of the float of length bytes at the cursor, by strtof() in whatever locale is set. */
static bool take_float(daedalus_v3d_assembler *as, size_t length, bool negative, int64_t *bits) {
  char copy[64];
  if (length >= sizeof copy)
    return daedalus_v3d_fail(as, as->at, "the number has too many digits: at most %zu are read",
                             sizeof copy - 1);
  memcpy(copy, as->at, length);
  copy[length] = '\0';
  char *point = strchr(copy, '.');
  const char *local_point = localeconv()->decimal_point;
  if (point != NULL && strlen(local_point) == 1)
    *point = *local_point;
  const float value = strtof(copy, NULL);
  uint32_t pattern;
  memcpy(&pattern, &value, sizeof pattern);
  if ((pattern & 0x7f800000) == 0x7f800000)
    return daedalus_v3d_fail(as, as->at, "the number is too large for a 32-bit float");
  *bits = negative ? pattern | 0x80000000 : pattern;
  as->at += length;
  return true;
}

static bool too_large(daedalus_v3d_assembler *as, const char *where) {
  return daedalus_v3d_fail(as, where, "the number does not fit in 32 bits, signed or unsigned");
}

static bool take_number(daedalus_v3d_assembler *as, const char *start, bool negative,
                        int64_t *number) {
  bool is_float = false;
  uint64_t value = 0;
  if (peek(as, 0) == '0' && (peek(as, 1) == 'x' || peek(as, 1) == 'X')) {
    if (!daedalus_v3d_take_word(as, &value))
      return false;
  } else {
    const size_t length = decimal_length(as, &is_float);
    if (is_float && !take_float(as, length, negative, number))
      return false;
    for (size_t i = 0; !is_float && i < length && value <= NUMBER_MAX; i++)
      value = 10 * value + (unsigned)(*as->at++ - '0');
  }
  if (value > (negative ? (uint64_t)1 << 31 : NUMBER_MAX))
    return too_large(as, start);
  if (!is_float)
    *number = negative ? -(int64_t)value : (int64_t)value;
  if (daedalus_v3d_take_name(as).length == 0)
    return true;
  const daedalus_v3d_token all = {start, (size_t)(as->at - start)};
  return daedalus_v3d_fail(as, start, "`%.*s` is no number", DAEDALUS_V3D_TOKEN_ARGS(all));
}

static bool take_symbol(daedalus_v3d_assembler *as, daedalus_v3d_value *value) {
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  const daedalus_v3d_symbol *symbol = daedalus_v3d_symbols_find(&as->symbols, name);
  if (symbol == NULL)
    return daedalus_v3d_fail(as, name.start,
                             "`%.*s` is not defined: neither a label nor an .equ gives it a value",
                             DAEDALUS_V3D_TOKEN_ARGS(name));
  if (symbol->kind == DAEDALUS_V3D_SYMBOL_REGISTER)
    return daedalus_v3d_fail(as, name.start, "`%.*s` is a register, a number belongs here",
                             DAEDALUS_V3D_TOKEN_ARGS(name));
  value->number = symbol->value;
  value->labels = symbol->kind == DAEDALUS_V3D_SYMBOL_LABEL;
  return true;
}

/* Whether an expression can begin at the cursor (after blanks). */
static bool at_expression(daedalus_v3d_assembler *as) {
  daedalus_v3d_skip_blanks(as);
  const char c = peek(as, 0);
  return is_digit(c) || (c == '-' && is_digit(peek(as, 1))) || c == '_' || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/* One number, name or `-` number: a term. */
static bool take_term(daedalus_v3d_assembler *as, daedalus_v3d_value *value) {
  *value = (daedalus_v3d_value){0, 0};
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  if (!at_expression(as)) {
    if (daedalus_v3d_at_end(as))
      return daedalus_v3d_fail(as, start, "a number or a name is missing");
    return daedalus_v3d_fail(as, start, "`%.*s` is neither a number nor a name",
                             DAEDALUS_V3D_TOKEN_ARGS(daedalus_v3d_peek_word(as)));
  }
  const bool negative = peek(as, 0) == '-';
  as->at += negative;
  if (is_digit(peek(as, 0)))
    return take_number(as, start, negative, &value->number);
  return take_symbol(as, value);
}

bool daedalus_v3d_take_expression(daedalus_v3d_assembler *as, daedalus_v3d_value *value) {
  if (!take_term(as, value))
    return false;
  for (;;) {
    daedalus_v3d_value term;
    int sign;
    if (daedalus_v3d_accept(as, '+'))
      sign = 1;
    else if (daedalus_v3d_accept(as, '-'))
      sign = -1;
    else
      return true;
    const char *where = as->at;
    if (!take_term(as, &term))
      return false;
    value->number += sign * term.number;
    value->labels += sign * term.labels;
    if (value->number < 2 * (int64_t)NUMBER_MIN || value->number > 2 * (int64_t)NUMBER_MAX)
      return too_large(as, where);
  }
}

bool daedalus_v3d_take_u32(daedalus_v3d_assembler *as, uint32_t *value) {
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  daedalus_v3d_value sum;
  if (!daedalus_v3d_take_expression(as, &sum))
    return false;
  if (sum.labels != 0)
    return daedalus_v3d_fail(as, start,
                             "the place of a label is known only against another: write the "
                             "difference of two labels");
  if (sum.number < NUMBER_MIN || sum.number > NUMBER_MAX)
    return too_large(as, start);
  *value = (uint32_t)sum.number;
  return true;
}
