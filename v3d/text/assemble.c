/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text/assembler.h"
#include "text/names.h"

/* Room for one more of count elements of size bytes in an array of *room; NULL: no memory. */
static void *grow(void *array, size_t count, size_t *room, size_t size) {
  if (count < *room)
    return array;
  const size_t more = *room == 0 ? 64 : 2 * *room;
  void *grown = more > SIZE_MAX / size ? NULL : realloc(array, more * size);
  if (grown != NULL)
    *room = more;
  return grown;
}

static bool out_of_memory(daedalus_v3d_assembler *as) {
  as->no_memory = true;
  return false;
}

static bool emit(daedalus_v3d_assembler *as, uint64_t word) {
  daedalus_v3d_program *program = as->program;
  if (as->last_pass) {
    size_t room = as->word_room;
    void *words = grow(program->words, as->n_words, &room, sizeof *program->words);
    if (words == NULL)
      return out_of_memory(as);
    program->words = words;
    void *lines = grow(program->lines, as->n_words, &as->word_room, sizeof *program->lines);
    if (lines == NULL)
      return out_of_memory(as);
    program->lines = lines;
    program->words[as->n_words] = word;
    program->lines[as->n_words] = as->line;
  }
  as->n_words++;
  return true;
}

static bool emit_uniform(daedalus_v3d_assembler *as, uint32_t value) {
  if (as->last_pass) {
    void *uniforms = grow(as->program->uniforms, as->n_uniforms, &as->uniform_room,
                          sizeof *as->program->uniforms);
    if (uniforms == NULL)
      return out_of_memory(as);
    as->program->uniforms = uniforms;
    as->program->uniforms[as->n_uniforms] = value;
  }
  as->n_uniforms++;
  return true;
}

/* Gives a name its meaning, in the first pass; in the second one says which are given twice. */
static bool define(daedalus_v3d_assembler *as, daedalus_v3d_token name,
                   daedalus_v3d_symbol_kind kind, uint32_t value) {
  static const char *const words[] = {DAEDALUS_V3D_TEXT_LINK, DAEDALUS_V3D_TEXT_ABSOLUTE};
  if (daedalus_v3d_register_of(name) >= 0 ||
      daedalus_v3d_name_index(daedalus_v3d_waddr_names, DAEDALUS_V3D_N_WADDRS, name.start,
                              name.length) >= 0 ||
      daedalus_v3d_name_index(words, 2, name.start, name.length) >= 0)
    return daedalus_v3d_fail(as, name.start, "`%.*s` has a meaning already: choose another name",
                             DAEDALUS_V3D_TOKEN_ARGS(name));
  const daedalus_v3d_symbol *symbol = daedalus_v3d_symbols_find(&as->symbols, name);
  if (symbol != NULL && symbol->name.start != name.start)
    return daedalus_v3d_fail(as, name.start, "`%.*s` is defined in line %u already",
                             DAEDALUS_V3D_TOKEN_ARGS(name), symbol->line);
  const daedalus_v3d_symbol defined = {
      .name = name, .kind = kind, .value = value, .line = as->line};
  if (symbol == NULL && !daedalus_v3d_symbols_add(&as->symbols, defined))
    return out_of_memory(as);
  return true;
}

static bool parse_labels(daedalus_v3d_assembler *as) {
  for (;;) {
    daedalus_v3d_skip_blanks(as);
    const char *start = as->at;
    const daedalus_v3d_token name = daedalus_v3d_take_name(as);
    if (name.length == 0 || !daedalus_v3d_accept(as, ':')) {
      as->at = start;
      return true;
    }
    if (!define(as, name, DAEDALUS_V3D_SYMBOL_LABEL, (uint32_t)(as->n_words * 8)))
      return false;
  }
}

static bool directive_uniform(daedalus_v3d_assembler *as) {
  uint32_t value;
  do {
    if (!daedalus_v3d_take_u32(as, &value) || !emit_uniform(as, value))
      return false;
  } while (daedalus_v3d_accept(as, ','));
  return true;
}

static bool directive_word(daedalus_v3d_assembler *as) {
  uint64_t word;
  do {
    daedalus_v3d_skip_blanks(as);
    if (!daedalus_v3d_take_word(as, &word) || !emit(as, word))
      return false;
  } while (daedalus_v3d_accept(as, ','));
  return true;
}

static bool directive_equ(daedalus_v3d_assembler *as) {
  daedalus_v3d_skip_blanks(as);
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  if (name.length == 0)
    return daedalus_v3d_fail(as, as->at, "a name belongs here: `.equ name, value`");
  if (!daedalus_v3d_accept(as, ','))
    return daedalus_v3d_fail(as, as->at, "`,` and a value are missing: `.equ name, value`");
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  uint8_t index;
  if (daedalus_v3d_token_register(as, daedalus_v3d_take_name(as), &index))
    return define(as, name, DAEDALUS_V3D_SYMBOL_REGISTER, index);
  as->at = start;
  uint32_t value;
  return daedalus_v3d_take_u32(as, &value) && define(as, name, DAEDALUS_V3D_SYMBOL_NUMBER, value);
}

static bool parse_directive(daedalus_v3d_assembler *as) {
  static const struct {
    const char *name;
    bool (*parse)(daedalus_v3d_assembler *as);
  } directives[] = {
      {"uniform", directive_uniform}, {"word", directive_word}, {"equ", directive_equ}};
  const char *start = as->at++;
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
    if (daedalus_v3d_token_is(name, directives[i].name))
      return directives[i].parse(as);
  return daedalus_v3d_fail(as, start, "there is no directive `.%.*s`: .uniform, .word and .equ are",
                           DAEDALUS_V3D_TOKEN_ARGS(name));
}

/* The word of an instruction; the one that the line states if it means the same. */
static bool encode(daedalus_v3d_assembler *as, const char *start,
                   daedalus_v3d_instruction *instruction, const uint64_t *stated, uint64_t *word) {
  daedalus_v3d_order_sources(&instruction->add);
  const char *why = daedalus_v3d_pack(instruction, word);
  if (why != NULL)
    return daedalus_v3d_fail(as, start, "the instruction cannot be encoded: %s", why);
  if (stated == NULL || *stated == *word)
    return true;
  daedalus_v3d_instruction meant;
  if (daedalus_v3d_unpack(*stated, &meant) != NULL ||
      memcmp(&meant, instruction, sizeof meant) != 0)
    return daedalus_v3d_fail(as, start,
                             "the line states 0x%016" PRIx64 " but its text is 0x%016" PRIx64
                             ": drop one of the two",
                             *stated, *word);
  *word = *stated;
  return true;
}

/* Mesa's dumps say in parentheses which uniform is loaded. */
static bool skip_annotation(daedalus_v3d_assembler *as) {
  const char *start = as->at;
  unsigned depth = 0;
  do {
    depth += *as->at == '(';
    depth -= *as->at == ')';
    as->at++;
  } while (depth > 0 && as->at < as->line_end);
  return depth == 0 || daedalus_v3d_fail(as, start, "`)` is missing");
}

static bool parse_statement(daedalus_v3d_assembler *as) {
  uint64_t stated = 0, word = 0;
  const bool has_word = *as->at >= '0' && *as->at <= '9';
  if (has_word && !daedalus_v3d_take_word(as, &stated))
    return false;
  if (has_word && daedalus_v3d_at_end(as))
    return emit(as, stated);
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  daedalus_v3d_instruction instruction;
  const bool good = daedalus_v3d_parse_instruction(as, &instruction) &&
                    encode(as, start, &instruction, has_word ? &stated : NULL, &word);
  /* Counted in any case, so that labels are where they would be. */
  if (!emit(as, word) || !good)
    return false;
  daedalus_v3d_skip_blanks(as);
  return as->at == as->line_end || *as->at != '(' || skip_annotation(as);
}

/* The line has a byte 0, which no text has and messages could not show. */
static bool has_zero(daedalus_v3d_assembler *as) {
  const char *zero = memchr(as->at, '\0', (size_t)(as->line_end - as->at));
  return zero != NULL && !daedalus_v3d_fail(as, zero, "a byte 0: this is no text");
}

static void parse_line(daedalus_v3d_assembler *as) {
  bool good = !has_zero(as) && parse_labels(as);
  if (good && !daedalus_v3d_at_end(as))
    good = *as->at == '.' ? parse_directive(as) : parse_statement(as);
  if (good && !daedalus_v3d_at_end(as))
    daedalus_v3d_fail(as, as->at, "`%.*s` is too much: the line should end here",
                      DAEDALUS_V3D_TOKEN_ARGS(daedalus_v3d_peek_word(as)));
}

static void parse_lines(daedalus_v3d_assembler *as, const char *text, size_t length) {
  const char *end = length > 0 ? text + length : text;
  as->line = 0;
  as->n_words = as->n_uniforms = 0;
  while (text < end && !as->no_memory) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    as->line_start = as->at = text;
    as->line_end = newline != NULL ? newline : end;
    as->line++;
    parse_line(as);
    text = newline != NULL ? newline + 1 : end;
  }
}

size_t daedalus_v3d_assemble(const char *text, size_t length, daedalus_v3d_program *program,
                             daedalus_v3d_diagnostic *diagnostics, size_t max) {
  daedalus_v3d_assembler as = {
      .program = program, .diagnostics = diagnostics, .max_diagnostics = max};
  *program = (daedalus_v3d_program){0};
  parse_lines(&as, text, length);
  as.last_pass = true;
  parse_lines(&as, text, length);
  daedalus_v3d_symbols_free(&as.symbols);
  program->n_words = as.n_words;
  program->n_uniforms = as.n_uniforms;
  if (as.no_memory || as.n_diagnostics > 0)
    daedalus_v3d_program_free(program);
  return as.no_memory ? SIZE_MAX : as.n_diagnostics;
}

void daedalus_v3d_program_free(daedalus_v3d_program *program) {
  free(program->words);
  free(program->lines);
  free(program->uniforms);
  *program = (daedalus_v3d_program){0};
}
