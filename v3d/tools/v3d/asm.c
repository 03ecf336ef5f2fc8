/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "v3d.h"

static int write_programs(const daedalus_v3d_program *programs, int n, const char *output,
                          const char *uniforms) {
  text_output text;
  if (!begin_text(&text))
    return EXIT_BAD_INPUT;
  for (int i = 0; i < n; i++)
    for (size_t k = 0; k < programs[i].n_words; k++)
      fprintf(text.stream, "0x%016" PRIx64 "\n", programs[i].words[k]);
  if (!write_text(output, &text))
    return EXIT_BAD_INPUT;
  if (uniforms == NULL)
    return EXIT_DONE;
  if (!begin_text(&text))
    return EXIT_BAD_INPUT;
  for (int i = 0; i < n; i++)
    for (size_t k = 0; k < programs[i].n_uniforms; k++)
      fprintf(text.stream, "0x%08" PRIx32 "\n", programs[i].uniforms[k]);
  return write_text(uniforms, &text) ? EXIT_DONE : EXIT_BAD_INPUT;
}

int verb_asm(int argc, char **argv) {
  static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                          {"uniforms", required_argument, NULL, 'u'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  const char *output = "-", *uniforms = NULL;
  for (int option; (option = getopt_long(argc, argv, "o:u:h", options, NULL)) != -1;) {
    if (option == 'h')
      return usage("asm");
    else if (option == 'o')
      output = optarg;
    else if (option == 'u')
      uniforms = optarg;
    else
      return bad_arguments("asm");
  }
  int n;
  char **paths = paths_of(argc, argv, optind, &n);
  daedalus_v3d_program *programs = calloc((size_t)n, sizeof *programs);
  if (programs == NULL) {
    complain("no memory");
    return EXIT_BAD_INPUT;
  }
  int code = assemble_files(paths, n, programs);
  if (code == EXIT_DONE)
    code = write_programs(programs, n, output, uniforms);
  for (int i = 0; i < n; i++)
    daedalus_v3d_program_free(&programs[i]);
  free(programs);
  return code;
}
