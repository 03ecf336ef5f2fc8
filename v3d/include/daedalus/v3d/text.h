/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/text.h - QPU instructions as text, both ways.
 *
 * The text is that of Mesa's disassembler: add part, "; " mul part, "; " signals, in columns.
 * The assembler takes the same text without regard to columns, and besides it labels, directives
 * and comments; docs/v3d-assembly.md has the grammar.  A line of Mesa's V3D_DEBUG=qpu dump
 * ("0x<word> <text>") may be pasted as it is: the word is compared with what the text assembles to.
 */
#ifndef DAEDALUS_V3D_TEXT_H
#define DAEDALUS_V3D_TEXT_H

#include <daedalus/v3d/instruction.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that hold any line of disassembly, terminator included. */
#define DAEDALUS_V3D_LINE 256

/** Text of *instruction into text (at least DAEDALUS_V3D_LINE bytes). Returns its length. */
size_t daedalus_v3d_format(const daedalus_v3d_instruction *instruction, char *text);

/**
 * Text of word into text (at least DAEDALUS_V3D_LINE bytes).  Returns NULL, or the reason why the
 * word is illegal; text then reads `.word 0x...`, which assembles to that word.
 */
const char *daedalus_v3d_disassemble(uint64_t word, char *text);

/** What is wrong with a source text, and where. */
typedef struct daedalus_v3d_diagnostic {
  unsigned line;     /**< from 1. */
  unsigned column;   /**< from 1, in bytes. */
  char message[192]; /**< what, which rule, what to do; one sentence. */
} daedalus_v3d_diagnostic;

/** An assembled program. Owned by the caller, freed by daedalus_v3d_program_free(). */
typedef struct daedalus_v3d_program {
  uint64_t *words;
  unsigned *lines; /**< source line of each word. */
  size_t n_words;
  uint32_t *uniforms; /**< the uniform stream that `.uniform` directives made. */
  size_t n_uniforms;
} daedalus_v3d_program;

/**
 * Assembles length bytes of text.  Returns the number of mistakes; the first max of them are
 * described in diagnostics (in the order of lines).  With 0 mistakes *program holds the result,
 * otherwise it is empty.  Returns SIZE_MAX when there is no memory.
 */
size_t daedalus_v3d_assemble(const char *text, size_t length, daedalus_v3d_program *program,
                             daedalus_v3d_diagnostic *diagnostics, size_t max);

/** Frees what *program holds and empties it. */
void daedalus_v3d_program_free(daedalus_v3d_program *program);

#ifdef __cplusplus
}
#endif

#endif
