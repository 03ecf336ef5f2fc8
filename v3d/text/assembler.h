/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the assembler: text/assemble.c goes over the text twice, line by line; the first time it
 * only learns what names mean.  Parsers read at the cursor, return false after they have reported
 * a mistake, and never look past the end of the line.
 */
#ifndef DAEDALUS_V3D_TEXT_ASSEMBLER_H
#define DAEDALUS_V3D_TEXT_ASSEMBLER_H

#include <daedalus/v3d/text.h>

/** A stretch of the source text. */
typedef struct daedalus_v3d_token {
  const char *start;
  size_t length;
} daedalus_v3d_token;

/** printf() arguments for "%.*s": the token, cut to what a message has room for. */
#define DAEDALUS_V3D_TOKEN_ARGS(token) \
  (int)((token).length < 32 ? (token).length : 32), (token).start

typedef enum daedalus_v3d_symbol_kind {
  DAEDALUS_V3D_SYMBOL_LABEL,    /**< value: bytes from the first word. */
  DAEDALUS_V3D_SYMBOL_NUMBER,   /**< value: 32 bits. */
  DAEDALUS_V3D_SYMBOL_REGISTER, /**< value: number of a register. */
} daedalus_v3d_symbol_kind;

typedef struct daedalus_v3d_symbol {
  daedalus_v3d_token name; /**< start is NULL in an unused place. */
  daedalus_v3d_symbol_kind kind;
  uint32_t value;
  unsigned line;
} daedalus_v3d_symbol;

/** A hash table of names. Zeroed it is empty. */
typedef struct daedalus_v3d_symbols {
  daedalus_v3d_symbol *places;
  size_t n_places, n_symbols;
} daedalus_v3d_symbols;

/** The symbol, or NULL. It stays where it is until the next add. */
const daedalus_v3d_symbol *daedalus_v3d_symbols_find(const daedalus_v3d_symbols *symbols,
                                                     daedalus_v3d_token name);
/** Adds a symbol that is not there. False when there is no memory. */
bool daedalus_v3d_symbols_add(daedalus_v3d_symbols *symbols, daedalus_v3d_symbol symbol);
void daedalus_v3d_symbols_free(daedalus_v3d_symbols *symbols);

typedef struct daedalus_v3d_assembler {
  const char *line_start, *at, *line_end; /**< at: the cursor. */
  unsigned line;
  bool last_pass;
  bool no_memory;
  size_t n_words;
  size_t n_uniforms;
  daedalus_v3d_symbols symbols;
  daedalus_v3d_program *program;
  size_t word_room, uniform_room;
  daedalus_v3d_diagnostic *diagnostics;
  size_t max_diagnostics, n_diagnostics;
} daedalus_v3d_assembler;

/* scan.c */

/** Whether what daedalus_v3d_fail() is told now goes into a diagnostic. */
bool daedalus_v3d_describes(const daedalus_v3d_assembler *as);
/** Reports a mistake at a place of the current line. Always false. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool daedalus_v3d_fail(daedalus_v3d_assembler *as, const char *where, const char *format, ...);

void daedalus_v3d_skip_blanks(daedalus_v3d_assembler *as);
/** Whether the line is over: nothing follows, or a comment. Skips blanks. */
bool daedalus_v3d_at_end(daedalus_v3d_assembler *as);
/** Takes a character, after blanks, if it is the next. */
bool daedalus_v3d_accept(daedalus_v3d_assembler *as, char character);
/** Takes a name: a letter or `_`, then letters, digits and `_`. Length 0 if there is none. */
daedalus_v3d_token daedalus_v3d_take_name(daedalus_v3d_assembler *as);
/** Takes what a message calls "what stands there": all up to a separator; not empty. */
daedalus_v3d_token daedalus_v3d_peek_word(const daedalus_v3d_assembler *as);
bool daedalus_v3d_token_is(daedalus_v3d_token token, const char *text);
/** The number n of a register name rf<n>, without leading zeros; -1: token is none. */
int daedalus_v3d_register_of(daedalus_v3d_token token);

/* expression.c */

/** What an expression comes to. */
typedef struct daedalus_v3d_value {
  int64_t number;
  int labels; /**< labels added less labels subtracted: 0 a number, 1 a place in the program. */
} daedalus_v3d_value;

/** term {("+" | "-") term}. */
bool daedalus_v3d_take_expression(daedalus_v3d_assembler *as, daedalus_v3d_value *value);
/** An expression that is a number of 32 bits, signed or unsigned. */
bool daedalus_v3d_take_u32(daedalus_v3d_assembler *as, uint32_t *value);
/** 0x and up to 16 hexadecimal digits. */
bool daedalus_v3d_take_word(daedalus_v3d_assembler *as, uint64_t *word);

/* parse_alu.c, parse_branch.c */

/** The closest of the mnemonics and signals to what stands there, or NULL. */
const char *daedalus_v3d_did_you_mean(daedalus_v3d_token token);
/** Whether a mnemonic is one of a branch. */
bool daedalus_v3d_is_branch_name(daedalus_v3d_token name);
/** The suffixes and operands of a branch, its name just taken. */
bool daedalus_v3d_parse_branch(daedalus_v3d_assembler *as, daedalus_v3d_token name,
                               daedalus_v3d_instruction *instruction);
/** A whole instruction, up to the end of the line or an annotation. */
bool daedalus_v3d_parse_instruction(daedalus_v3d_assembler *as,
                                    daedalus_v3d_instruction *instruction);
/** A register: rf<n> or a name that .equ gave one. */
bool daedalus_v3d_token_register(const daedalus_v3d_assembler *as, daedalus_v3d_token token,
                                 uint8_t *index);

#endif
