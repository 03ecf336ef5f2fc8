/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The description of the instruction set as JSON, for programs that make code: what the library's
 * tables say of operations, which combinations daedalus_v3d_pack() has an encoding for, and the
 * timing model's default settings.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <daedalus/v3d/instruction.h>
#include <daedalus/v3d/timing.h>

#include "v3d.h"

static const struct {
  uint16_t bit;
  const char *name;
} traits[] = {
    {DAEDALUS_V3D_TRAIT_NO_DEST, "no_dest"},
    {DAEDALUS_V3D_TRAIT_SFU, "sfu"},
    {DAEDALUS_V3D_TRAIT_FLOAT, "float"},
    {DAEDALUS_V3D_TRAIT_ORDERED_PAIR, "ordered_pair"},
    {DAEDALUS_V3D_TRAIT_VPM, "vpm"},
    {DAEDALUS_V3D_TRAIT_GRAPHICS, "graphics"},
    {DAEDALUS_V3D_TRAIT_READS_FLAGS, "reads_flags"},
    {DAEDALUS_V3D_TRAIT_WRITES_FLAGS, "writes_flags"},
    {DAEDALUS_V3D_TRAIT_LANES, "lanes"},
};
enum { N_TRAITS = sizeof traits / sizeof *traits };

/* Signals that compute programs have. */
static const struct {
  uint16_t bit;
  const char *name;
} signals[] = {
    {DAEDALUS_V3D_SIGNAL_THRSW, "thrsw"},         {DAEDALUS_V3D_SIGNAL_LDUNIF, "ldunif"},
    {DAEDALUS_V3D_SIGNAL_LDUNIFRF, "ldunifrf"},   {DAEDALUS_V3D_SIGNAL_LDUNIFA, "ldunifa"},
    {DAEDALUS_V3D_SIGNAL_LDUNIFARF, "ldunifarf"}, {DAEDALUS_V3D_SIGNAL_LDTMU, "ldtmu"},
    {DAEDALUS_V3D_SIGNAL_WRTMUC, "wrtmuc"},
};
enum { N_SIGNALS = sizeof signals / sizeof *signals };

/* What the condition field holds of one operation: one member of each class stands for it. */
static const struct {
  const char *name;
  uint8_t cond, flags;
} classes[] = {
    {"none", 0, 0},
    {"cond", DAEDALUS_V3D_COND_IFA, 0},
    {"push", 0, DAEDALUS_V3D_FLAGS_PUSHZ},
    {"update", 0, DAEDALUS_V3D_FLAGS_ANDZ},
};
enum { N_CLASSES = sizeof classes / sizeof *classes };

static bool packs(const daedalus_v3d_instruction *x) {
  uint64_t word;
  return daedalus_v3d_pack(x, &word) == NULL;
}

/* An instruction whose both halves write registers, as those with a condition do. */
static daedalus_v3d_instruction two_moves(void) {
  daedalus_v3d_instruction x = daedalus_v3d_nop();
  x.add.op = x.mul.op = DAEDALUS_V3D_OP_MOV;
  x.add.dest = (daedalus_v3d_dest){.waddr = 1};
  x.mul.dest = (daedalus_v3d_dest){.waddr = 2};
  return x;
}

/* The modifiers of one source that operation op takes, as the assembly text names them. */
static void print_unpacks(unsigned op) {
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
  bool first = true;
  for (uint8_t unpack = 1; operation->sources > 0 && unpack < DAEDALUS_V3D_N_UNPACKS; unpack++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    daedalus_v3d_alu *alu = operation->on_add ? &x.add : &x.mul;
    *alu = (daedalus_v3d_alu){.op = (uint8_t)op, .dest = {.waddr = 1}};
    alu->src[0] = (daedalus_v3d_operand){.index = 1, .unpack = unpack};
    if (operation->sources > 1)
      alu->src[1] = (daedalus_v3d_operand){.index = 2};
    daedalus_v3d_order_sources(alu);
    uint64_t word;
    char text[DAEDALUS_V3D_LINE];
    if (daedalus_v3d_pack(&x, &word) != NULL || daedalus_v3d_format(&x, text) == 0)
      continue;
    /* The modifier's name is what follows the operand rf1: the text has it. */
    const char *at = strstr(text, "rf1, rf1.");
    if (at == NULL && (at = strstr(text, ", rf1.")) != NULL)
      at += strlen(", rf1.");
    else if (at != NULL)
      at += strlen("rf1, rf1.");
    if (at == NULL)
      continue;
    printf("%s\"%.*s\"", first ? "" : ", ", (int)strcspn(at, ", ;\n"), at);
    first = false;
  }
}

static void print_operation(unsigned op, bool last) {
  const daedalus_v3d_operation *x = daedalus_v3d_operation_of(op);
  printf("    {\"name\": \"%s\", \"add\": %s, \"mul\": %s, \"sources\": %u, \"unpacks\": [",
         x->text, x->on_add ? "true" : "false", x->on_mul ? "true" : "false", x->sources);
  print_unpacks(op);
  printf("], \"second_unpacks\": %s, \"packs\": %s, \"traits\": [",
         x->unpack == DAEDALUS_V3D_UNPACKS_F32 || x->unpack == DAEDALUS_V3D_UNPACKS_F32_HALVES
             ? "true"
             : "false",
         x->pack == DAEDALUS_V3D_PACKS_F32 ? "[\"l\", \"h\"]" : "[]");
  bool first = true;
  for (unsigned i = 0; i < N_TRAITS; i++)
    if (x->traits & traits[i].bit) {
      printf("%s\"%s\"", first ? "" : ", ", traits[i].name);
      first = false;
    }
  printf("]}%s\n", last ? "" : ",");
}

static void print_conditions(void) {
  bool first = true;
  printf("  \"conditions\": [");
  for (unsigned a = 0; a < N_CLASSES; a++)
    for (unsigned m = 0; m < N_CLASSES; m++) {
      daedalus_v3d_instruction x = two_moves();
      x.add.cond = classes[a].cond;
      x.add.flags = classes[a].flags;
      x.mul.cond = classes[m].cond;
      x.mul.flags = classes[m].flags;
      if (!packs(&x))
        continue;
      printf("%s[\"%s\", \"%s\"]", first ? "" : ", ", classes[a].name, classes[m].name);
      first = false;
    }
  printf("],\n");
}

/* Sets of signals that have a code, each with whether it leaves the condition field free. */
static void print_signals(void) {
  bool first = true;
  printf("  \"signals\": [");
  for (unsigned set = 0; set < 1u << N_SIGNALS; set++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    for (unsigned i = 0; i < N_SIGNALS; i++)
      if (set >> i & 1)
        x.signals |= signals[i].bit;
    const bool addressed = (x.signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) != 0;
    if (addressed)
      x.signal_dest = (daedalus_v3d_dest){.waddr = 1};
    if (!packs(&x))
      continue;
    printf("%s\n    {\"names\": [", first ? "" : ",");
    const char *comma = "";
    for (unsigned i = 0; i < N_SIGNALS; i++)
      if (set >> i & 1) {
        printf("%s\"%s\"", comma, signals[i].name);
        comma = ", ";
      }
    printf("], \"conditions\": %s}", addressed ? "false" : "true");
    first = false;
  }
  printf("\n  ],\n");
}

static void print_timing(void) {
  printf("  \"timing\": {\"slot_clocks\": %d, \"line_bytes\": %d", DAEDALUS_V3D_SLOT_CLOCKS,
         DAEDALUS_V3D_CACHE_LINE);
#define PRINT(name, value, min, max, text) printf(",\n    \"" #name "\": %d", value);
  DAEDALUS_V3D_TIMING_SETTINGS(PRINT)
#undef PRINT
  printf("},\n");
}

int verb_ops(int argc, char **argv) {
  static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;)
    return option == 'h' ? usage("ops") : bad_arguments("ops");
  if (optind < argc) {
    complain("ops: no file is read: %s", argv[optind]);
    return bad_arguments("ops");
  }
  printf("{\n  \"registers\": %d,\n  \"lanes\": %d,\n", DAEDALUS_V3D_REGISTERS, DAEDALUS_V3D_LANES);
  printf("  \"immediates\": [");
  for (unsigned i = 0; i < DAEDALUS_V3D_SMALL_IMMEDIATES; i++)
    printf("%s%" PRIu32, i == 0 ? "" : ", ", daedalus_v3d_small_immediate(i));
  printf("],\n");
  print_conditions();
  print_signals();
  print_timing();
  printf("  \"operations\": [\n");
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++)
    print_operation(op, op + 1 == DAEDALUS_V3D_N_OPS);
  printf("  ]\n}\n");
  return EXIT_DONE;
}
