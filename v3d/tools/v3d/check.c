/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/validate.h>

#include "v3d.h"

/* The findings, to free(), and their number in *n. NULL when there is no memory. */
static daedalus_v3d_finding *validate(const daedalus_v3d_program *program,
                                      const daedalus_v3d_program_mode *mode, size_t *n) {
  daedalus_v3d_finding *findings = NULL;
  /* A second time only if there are many: paths may take long. */
  for (size_t room = 256;; room = *n) {
    daedalus_v3d_finding *grown = realloc(findings, room * sizeof *findings);
    if (grown == NULL)
      break;
    findings = grown;
    *n = daedalus_v3d_validate(program->words, program->n_words, mode, findings, room);
    if (*n <= room)
      return findings;
    if (*n == SIZE_MAX)
      break;
  }
  free(findings);
  return NULL;
}

static int check_program(const char *path, const daedalus_v3d_program *program,
                         const daedalus_v3d_program_mode *mode) {
  size_t n;
  daedalus_v3d_finding *findings = validate(program, mode, &n);
  if (findings == NULL) {
    complain("%s: no memory", shown_name(path));
    return EXIT_BAD_INPUT;
  }
  for (size_t i = 0; i < n; i++) {
    char text[DAEDALUS_V3D_LINE] = "";
    const size_t index = findings[i].index;
    if (index < program->n_words)
      daedalus_v3d_disassemble(program->words[index], text);
    printf("%s:%u: %s: %s\n    word %zu: %s\n", shown_name(path),
           index < program->n_words ? program->lines[index] : 1,
           daedalus_v3d_rule_name(findings[i].rule), daedalus_v3d_rule_text(findings[i].rule),
           index, text);
  }
  free(findings);
  return n == 0 ? EXIT_DONE : EXIT_WRONG;
}

/* Makes room for one more uniform of *program; false after a message. */
static bool add_uniform(daedalus_v3d_program *program, uint32_t value) {
  const size_t n = program->n_uniforms;
  uint32_t *grown = program->uniforms;
  if ((n & (n - 1)) == 0) /* 0, 1, 2, 4...: full */
    grown = realloc(grown, (n == 0 ? 1 : 2 * n) * sizeof *grown);
  if (grown == NULL) {
    complain("no memory");
    return false;
  }
  program->uniforms = grown;
  program->uniforms[program->n_uniforms++] = value;
  return true;
}

/* Whether a comment begins before end. */
static bool has_comment(const char *text, const char *end) {
  for (; text < end; text++)
    if (*text == '#' || (*text == '/' && text + 1 < end && text[1] == '/'))
      return true;
  return false;
}

/*
 * The uniforms as annotations of Mesa's dumps state them: "(0x0000001c / 0.000000)" a constant,
 * anything else a value that is not known, but is no config of the TMU either: 0.
 */
static bool read_annotations(const char *text, size_t size, daedalus_v3d_program *program) {
  const char *end = text + size;
  while (text < end) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    const char *line_end = newline != NULL ? newline : end;
    const char *open = memchr(text, '(', (size_t)(line_end - text));
    if (open != NULL && !has_comment(text, open)) {
      char value[16] = "";
      const size_t length = (size_t)(line_end - open - 1);
      memcpy(value, open + 1, length < 10 ? length : 10);
      const bool constant = strncmp(value, "0x", 2) == 0;
      if (!add_uniform(program, constant ? (uint32_t)strtoul(value, NULL, 16) : 0))
        return false;
    }
    text = newline != NULL ? newline + 1 : end;
  }
  return true;
}

/* What asm --uniforms writes: numbers, one a line. */
static bool read_uniforms(const char *path, daedalus_v3d_program *program) {
  char *text;
  size_t size;
  if (!read_file(path, &text, &size))
    return false;
  char *whole = realloc(text, size + 1);
  if (whole == NULL) {
    free(text);
    complain("no memory");
    return false;
  }
  whole[size] = '\0';
  free(program->uniforms);
  program->uniforms = NULL;
  program->n_uniforms = 0;
  bool good = true;
  for (char *word = strtok(whole, " \t\r\n"); word != NULL && good;
       word = strtok(NULL, " \t\r\n")) {
    unsigned long value;
    good = parse_number("--uniforms", word, UINT32_MAX, &value) &&
           add_uniform(program, (uint32_t)value);
  }
  free(whole);
  return good;
}

static int check_file(const char *path, const char *uniforms, daedalus_v3d_program_mode mode) {
  char *text;
  size_t size;
  if (!read_file(path, &text, &size))
    return EXIT_BAD_INPUT;
  daedalus_v3d_program program = {0};
  int code = assemble_text(path, text, size, &program);
  if (code == EXIT_DONE && uniforms != NULL && !read_uniforms(uniforms, &program))
    code = EXIT_BAD_INPUT;
  if (code == EXIT_DONE && uniforms == NULL && program.n_uniforms == 0 &&
      !read_annotations(text, size, &program))
    code = EXIT_BAD_INPUT;
  free(text);
  mode.uniforms = program.uniforms;
  mode.n_uniforms = program.n_uniforms;
  if (code == EXIT_DONE)
    code = check_program(path, &program, &mode);
  daedalus_v3d_program_free(&program);
  return code;
}

int verb_check(int argc, char **argv) {
  static const struct option options[] = {{"tolerant", no_argument, NULL, 't'},
                                          {"threads", required_argument, NULL, 'n'},
                                          {"single-segment", no_argument, NULL, 's'},
                                          {"uniforms", required_argument, NULL, 'u'},
                                          {"flags-lost", no_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  daedalus_v3d_program_mode mode = {.strictness = DAEDALUS_V3D_STRICT, .threads = 2};
  unsigned long threads = 2;
  const char *uniforms = NULL;
  for (int option; (option = getopt_long(argc, argv, "tn:su:fh", options, NULL)) != -1;) {
    if (option == 'h')
      return usage("check");
    else if (option == 't')
      mode.strictness = DAEDALUS_V3D_TOLERANT;
    else if (option == 's')
      mode.single_segment = true;
    else if (option == 'f')
      mode.flags_lost = true;
    else if (option == 'u')
      uniforms = optarg;
    else if (option != 'n' || !parse_threads(optarg, &threads))
      return bad_arguments("check");
  }
  mode.threads = (unsigned)threads;
  int n, code = EXIT_DONE;
  char **paths = paths_of(argc, argv, optind, &n);
  for (int i = 0; i < n; i++) {
    const int result = check_file(paths[i], uniforms, mode);
    code = result > code ? result : code;
  }
  return code;
}
