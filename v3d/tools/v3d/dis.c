/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "v3d.h"

typedef struct layout {
  bool words, addresses;
  unsigned long start;
} layout;

static void print_address(uint64_t word, uint32_t address) {
  daedalus_v3d_instruction x;
  printf("  # 0x%08" PRIx32, address);
  if (daedalus_v3d_unpack(word, &x) == NULL && x.is_branch != 0 &&
      x.branch.target == DAEDALUS_V3D_BRANCH_RELATIVE)
    printf(" -> 0x%08" PRIx32, address + 32 + x.branch.offset);
}

/* Returns EXIT_WRONG if one of the words is illegal; the first of them are told, the others
 * counted.
 */
static int print_program(const char *path, const daedalus_v3d_program *program, const layout *how) {
  size_t wrong = 0;
  for (size_t i = 0; i < program->n_words; i++) {
    char text[DAEDALUS_V3D_LINE];
    const uint64_t word = program->words[i];
    const char *why = daedalus_v3d_disassemble(word, text);
    if (how->words && why == NULL)
      printf("0x%016" PRIx64 " ", word);
    printf("%s", text);
    if (how->addresses)
      print_address(word, (uint32_t)(how->start + 8 * i));
    printf("\n");
    if (why != NULL && wrong++ < SHOWN_MISTAKES)
      fprintf(stderr, "%s:%u: illegal word: %s\n", shown_name(path), program->lines[i], why);
  }
  if (wrong > SHOWN_MISTAKES)
    fprintf(stderr, "%s: %zu more illegal words\n", shown_name(path), wrong - SHOWN_MISTAKES);
  return wrong == 0 ? EXIT_DONE : EXIT_WRONG;
}

int verb_dis(int argc, char **argv) {
  static const struct option options[] = {{"words", no_argument, NULL, 'w'},
                                          {"addresses", optional_argument, NULL, 'a'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  layout how = {0};
  for (int option; (option = getopt_long(argc, argv, "wa::h", options, NULL)) != -1;) {
    if (option == 'h')
      return usage("dis");
    else if (option == 'w')
      how.words = true;
    else if (option == 'a' &&
             (optarg == NULL || parse_number("--addresses", optarg, UINT32_MAX, &how.start)))
      how.addresses = true;
    else
      return bad_arguments("dis");
  }
  int n, code = EXIT_DONE;
  char **paths = paths_of(argc, argv, optind, &n);
  for (int i = 0; i < n; i++) {
    daedalus_v3d_program program = {0};
    int result = assemble_files(&paths[i], 1, &program);
    if (result == EXIT_DONE)
      result = print_program(paths[i], &program, &how);
    daedalus_v3d_program_free(&program);
    code = result > code ? result : code;
  }
  return code;
}
