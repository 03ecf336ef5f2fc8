/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <daedalus/v3d/validate.h>

#include "v3d.h"

static int check_program(const char *path, const daedalus_v3d_program *program,
                         const daedalus_v3d_program_mode *mode) {
  const size_t n = daedalus_v3d_validate(program->words, program->n_words, mode, NULL, 0);
  daedalus_v3d_finding *findings = n == SIZE_MAX ? NULL : calloc(n + 1, sizeof *findings);
  if (findings == NULL ||
      daedalus_v3d_validate(program->words, program->n_words, mode, findings, n) != n) {
    complain("%s: no memory", shown_name(path));
    free(findings);
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

int verb_check(int argc, char **argv) {
  static const struct option options[] = {{"tolerant", no_argument, NULL, 't'},
                                          {"threads", required_argument, NULL, 'n'},
                                          {"single-segment", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  daedalus_v3d_program_mode mode = {.strictness = DAEDALUS_V3D_STRICT, .threads = 2};
  unsigned long threads = 2;
  for (int option; (option = getopt_long(argc, argv, "tn:sh", options, NULL)) != -1;) {
    if (option == 'h')
      return usage("check");
    else if (option == 't')
      mode.strictness = DAEDALUS_V3D_TOLERANT;
    else if (option == 's')
      mode.single_segment = true;
    else if (option != 'n' || !parse_threads(optarg, &threads))
      return bad_arguments("check");
  }
  mode.threads = (unsigned)threads;
  int n, code = EXIT_DONE;
  char **paths = paths_of(argc, argv, optind, &n);
  for (int i = 0; i < n; i++) {
    daedalus_v3d_program program = {0};
    int result = assemble_files(&paths[i], 1, &program);
    if (result == EXIT_DONE)
      result = check_program(paths[i], &program, &mode);
    daedalus_v3d_program_free(&program);
    code = result > code ? result : code;
  }
  return code;
}
