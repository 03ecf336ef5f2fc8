/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/assembler.h"

bool daedalus_v3d_describes(const daedalus_v3d_assembler *as) {
  return as->last_pass && as->n_diagnostics < as->max_diagnostics;
}

bool daedalus_v3d_fail(daedalus_v3d_assembler *as, const char *where, const char *format, ...) {
  if (!as->last_pass)
    return false;
  if (daedalus_v3d_describes(as)) {
    daedalus_v3d_diagnostic *diagnostic = &as->diagnostics[as->n_diagnostics];
    diagnostic->line = as->line;
    diagnostic->column = (unsigned)(where - as->line_start) + 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diagnostic->message, sizeof diagnostic->message, format, arguments);
    va_end(arguments);
    /* What is quoted may be any bytes. */
    for (char *c = diagnostic->message; *c != '\0'; c++)
      if (*c < ' ' || *c > '~')
        *c = '?';
  }
  as->n_diagnostics++;
  return false;
}

void daedalus_v3d_skip_blanks(daedalus_v3d_assembler *as) {
  while (as->at < as->line_end && (*as->at == ' ' || *as->at == '\t' || *as->at == '\r'))
    as->at++;
}

bool daedalus_v3d_at_end(daedalus_v3d_assembler *as) {
  daedalus_v3d_skip_blanks(as);
  return as->at == as->line_end || *as->at == '#' ||
         (*as->at == '/' && as->line_end - as->at >= 2 && as->at[1] == '/');
}

bool daedalus_v3d_accept(daedalus_v3d_assembler *as, char character) {
  daedalus_v3d_skip_blanks(as);
  if (as->at == as->line_end || *as->at != character)
    return false;
  as->at++;
  return true;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

daedalus_v3d_token daedalus_v3d_take_name(daedalus_v3d_assembler *as) {
  daedalus_v3d_token token = {as->at, 0};
  if (as->at == as->line_end || !begins_name(*as->at))
    return token;
  while (as->at < as->line_end && (begins_name(*as->at) || is_digit(*as->at)))
    as->at++;
  token.length = (size_t)(as->at - token.start);
  return token;
}

daedalus_v3d_token daedalus_v3d_peek_word(const daedalus_v3d_assembler *as) {
  const char *end = as->at;
  while (end < as->line_end && strchr(" \t\r,;.:()#", *end) == NULL)
    end++;
  if (end == as->at && end < as->line_end)
    end++;
  return (daedalus_v3d_token){as->at, (size_t)(end - as->at)};
}

bool daedalus_v3d_token_is(daedalus_v3d_token token, const char *text) {
  return strlen(text) == token.length && memcmp(text, token.start, token.length) == 0;
}

int daedalus_v3d_register_of(daedalus_v3d_token token) {
  if (token.length < 3 || token.length > 9 || memcmp(token.start, "rf", 2) != 0 ||
      (token.start[2] == '0' && token.length > 3))
    return -1;
  int number = 0;
  for (size_t i = 2; i < token.length; i++) {
    if (!is_digit(token.start[i]))
      return -1;
    number = 10 * number + (token.start[i] - '0');
  }
  return number;
}
