/* SPDX-License-Identifier: BSD-2-Clause */
/* daedalus-v3d: assembles, disassembles, checks and runs programs for the QPUs of V3D 7.1. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "v3d.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *usage;
} verbs[] = {
    {"asm", verb_asm,
     "asm [--output FILE] [--uniforms FILE] [FILE...]\n"
     "  Assembles text to words, printed in hexadecimal, one a line.\n"
     "    -o, --output FILE    write the words there\n"
     "    -u, --uniforms FILE  write what .uniform gives there, in the same form\n"},
    {"dis", verb_dis,
     "dis [--words] [--addresses[=START]] [FILE...]\n"
     "  Disassembles what asm prints, or any text that asm reads. Its output can be assembled.\n"
     "    -w, --words              put the word before each line\n"
     "    -a, --addresses[=START]  comment each line with its address, from START (0)\n"},
    {"check", verb_check,
     "check [--tolerant] [--threads 2|4] [--single-segment] [--flags-lost] [--uniforms FILE]\n"
     "      [FILE...]\n"
     "  Validates each file as a program: text, or words as asm prints them.\n"
     "  The TMU's configs may be uniforms: those of .uniform, else those that the annotations of\n"
     "  a dump of Mesa state.\n"
     "    -t, --tolerant        leave out rules that hardware is known not to insist on\n"
     "    -n, --threads N       threads a QPU: 2 (64 registers, the default) or 4 (32)\n"
     "    -s, --single-segment  the next thread switch ends the program\n"
     "    -f, --flags-lost      refuse flags that are used behind the next thread switch, too\n"
     "    -u, --uniforms FILE   the uniforms, as asm writes them\n"},
    {"exec", verb_exec,
     "exec [options] [FILE]\n"
     "  Runs a program on the simulator. Its uniform stream is what .uniform gives.\n"
     "    -b, --buffer ADDRESS,BYTES[,FILE]  memory at ADDRESS, with the bytes of FILE or 0\n"
     "    -o, --output ADDRESS,FILE  write the buffer at ADDRESS there instead of printing it\n"
     "    -g, --groups X[,Y[,Z]]     workgroups (1)\n"
     "    -i, --invocations N        of a workgroup, 1 to 256 (16)\n"
     "    -m, --supergroup N         workgroups of a supergroup, 1 to 16 (1)\n"
     "    -n, --threads N            a QPU: 2 (the default) or 4\n"
     "    -s, --single-segment       the next thread switch ends the program\n"
     "    -S, --strict               end with a report where a rule is broken\n"
     "    -T, --timed                say on stderr how long it takes by the timing model\n"
     "    -I, --intervals            and within which interval, as a line of JSON: issue is "
     "clocks\n"
     "                               of the QPU that issues most, clocks and ns of the job,\n"
     "                               dispatch_ns with what the kernel adds\n"
     "    -t, --trace FILE           write what it did, instruction by instruction, to FILE: as\n"
     "                               text, or JSON where the name ends in .json\n"
     "    -p, --profile FILE         settings of the machine\n"
     "  Buffers are printed as 32-bit words in hexadecimal, four a line.\n"},
    {"ops", verb_ops,
     "ops\n"
     "  Describes the instruction set as JSON: operations, small immediates, and what goes "
     "together\n"
     "  in one instruction; and the timing model's default settings. For programs that make code."
     "\n"},
    {"timing", verb_timing,
     "timing [--intervals | --alternatives | --left-out] [--profile FILE] FOLDER\n"
     "  Runs the programs in FOLDER by the timing model and compares with published figures; from\n"
     "  .. to is what the alternatives to the open settings make of a figure, all at once.\n"
     "    -I, --intervals     how much each figure changes when one setting goes to an end of its\n"
     "                        interval\n"
     "    -A, --alternatives  each figure by each of them\n"
     "    -L, --left-out      what the settings become when they are fitted to all calibrated\n"
     "                        figures but one, and that one; takes minutes\n"
     "    -p, --profile FILE  settings of the machine, but for --left-out\n"
     "  Exit code 1: a calibrated figure is off by more than 10 %, by the settings or by an\n"
     "  alternative.\n"},
};
#define N_VERBS (sizeof verbs / sizeof *verbs)

int usage(const char *verb) {
  for (size_t i = 0; i < N_VERBS; i++)
    if (verb == NULL || strcmp(verb, verbs[i].name) == 0)
      printf("usage: daedalus-v3d %s", verbs[i].usage);
  if (verb == NULL)
    printf(
        "FILE: `-`, or none, is stdin; else a regular file. Outputs are written whole or not at "
        "all.\n"
        "Exit codes: 0 done, 1 what was checked or run is wrong, 2 bad input or arguments.\n");
  return EXIT_DONE;
}

int bad_arguments(const char *verb) {
  fprintf(stderr, "See `daedalus-v3d %s --help`.\n", verb);
  return EXIT_BAD_INPUT;
}

/* What a verb returned, unless its output got lost. */
static int finish(int code) {
  if (fflush(stdout) == 0 && ferror(stdout) == 0)
    return code;
  complain("the output could not be written");
  return EXIT_BAD_INPUT;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    complain("a verb is missing: asm, dis, check, exec, ops or timing (--help says more)");
    return EXIT_BAD_INPUT;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    return finish(usage(NULL));
  signal(SIGXFSZ, SIG_IGN); /* then a write says that the file is too large */
  for (size_t i = 0; i < N_VERBS; i++)
    if (strcmp(argv[1], verbs[i].name) == 0)
      return finish(verbs[i].run(argc - 1, argv + 1));
  complain("there is no verb `%s`: asm, dis, check, exec, ops and timing are (--help says more)",
           argv[1]);
  return EXIT_BAD_INPUT;
}
