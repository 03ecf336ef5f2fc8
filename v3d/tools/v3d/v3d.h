/* SPDX-License-Identifier: BSD-2-Clause */
/* The command daedalus-v3d: one file a verb. */
#ifndef DAEDALUS_TOOLS_V3D_H
#define DAEDALUS_TOOLS_V3D_H

#include <stdio.h>

#include <daedalus/v3d/profile.h>
#include <daedalus/v3d/text.h>

/* Exit codes. */
enum { EXIT_DONE = 0, EXIT_WRONG = 1, EXIT_BAD_INPUT = 2 };
enum { SHOWN_MISTAKES = 20 }; /* of a file; the others are counted */

/* Verbs: argv[0] is the verb's name. They return the exit code. */
int verb_asm(int argc, char **argv);
int verb_dis(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_exec(int argc, char **argv);
int verb_ops(int argc, char **argv);
int verb_timing(int argc, char **argv);

/** Prints the usage of a verb, and of all with NULL, to stdout; returns EXIT_DONE. */
int usage(const char *verb);
/** Says that the arguments are wrong (getopt has said how); returns EXIT_BAD_INPUT. */
int bad_arguments(const char *verb);

/** "daedalus-v3d: " and a message, on stderr. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void complain(const char *format, ...);

/** The name that messages call a file by: `-` is <stdin>. */
const char *shown_name(const char *path);

/**
 * Reads a regular file, or stdin for "-", into memory to free(). Anything else, which could block,
 * is refused. False after a message.
 */
bool read_file(const char *path, char **bytes, size_t *size);

/** Reads settings over those of *profile. False after a message. */
bool read_profile(const char *path, daedalus_v3d_profile *profile);

/**
 * Makes a file hold the bytes, or writes them to stdout for "-". A symlink stays, and its target is
 * written; what is there and is no regular file is refused. False after a message; then what was
 * there is there still.
 */
bool write_file(const char *path, const void *bytes, size_t size);

/** A text in the making: print to stream, then write_text(). */
typedef struct text_output {
  FILE *stream;
  char *bytes;
  size_t size;
} text_output;

/** False after a message. */
bool begin_text(text_output *text);

/** Ends it and writes it as write_file() does. False after a message. */
bool write_text(const char *path, text_output *text);

/**
 * Assembles text, which messages call path. Mistakes are printed as file:line:column.  Returns an
 * exit code; with EXIT_DONE *program is to be freed.
 */
int assemble_text(const char *path, const char *text, size_t size, daedalus_v3d_program *program);

/**
 * Assembles the files: text, or words in hexadecimal, which is text too.  Otherwise
 * as assemble_text().
 */
int assemble_files(char **paths, int n, daedalus_v3d_program *programs);

/** The paths of the arguments behind the options; none stands for stdin. *n is at least 1. */
char **paths_of(int argc, char **argv, int first, int *n);

/** A number of an option, decimal or 0x..., of 0 to max. False after a message. */
bool parse_number(const char *option, const char *text, unsigned long max, unsigned long *number);

/** The 2 or 4 of --threads. False after a message. */
bool parse_threads(const char *text, unsigned long *threads);

#endif
