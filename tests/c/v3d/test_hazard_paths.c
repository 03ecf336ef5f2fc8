/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The validator against runs: random programs are walked along random paths, with values of their
 * own, and every rule that the automaton raises on the way must be among the validator's findings
 * at that word.  Of programs without branches, whose configs are known, it must find no other.
 *
 * Arguments: seed and number of programs, both optional.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"
#include "fuzz/random_program.h"

enum { WALKS = 6, MAX_STEPS = 300 };

/** A run of a program: one lane, as what is known of values is the same in all. */
typedef struct walk {
  const program *program;
  daedalus_v3d_hazards hazards;
  unsigned pc, target, slots, link;
  bool branching, linked;
  size_t uniform_index; /**< N_UNIFORMS and above: somewhere else. */
  uint32_t config;
  uint32_t registers[DAEDALUS_V3D_REGISTERS];
  daedalus_v3d_rules raised[MAX_WORDS];
  bool decided; /**< by nothing but the program: no value that it does not hold went to tmuc. */
  bool own[DAEDALUS_V3D_REGISTERS]; /**< the register's value is the program's. */
} walk;

/** A value, and whether it is the program's own. */
typedef struct value {
  uint32_t bits;
  bool own;
} value;

static value read_uniform(walk *walk) {
  if (walk->program->mode.uniforms == NULL || walk->uniform_index >= N_UNIFORMS)
    return (value){random_word(), false};
  return (value){walk->program->uniforms[walk->uniform_index++], true};
}

static value read_operand(const walk *walk, const daedalus_v3d_operand *operand) {
  if (operand->small)
    return (value){daedalus_v3d_small_immediate(operand->index), true};
  return (value){walk->registers[operand->index], walk->own[operand->index]};
}

static value execute(const walk *walk, const daedalus_v3d_alu *alu) {
  const value a = read_operand(walk, &alu->src[0]), b = read_operand(walk, &alu->src[1]);
  switch (alu->op) {
    case DAEDALUS_V3D_OP_MOV:
      return a;
    case DAEDALUS_V3D_OP_NOT:
      return (value){~a.bits, a.own};
    case DAEDALUS_V3D_OP_ADD:
      return (value){a.bits + b.bits, a.own && b.own};
    case DAEDALUS_V3D_OP_SUB:
      return (value){a.bits - b.bits, a.own && b.own};
    case DAEDALUS_V3D_OP_SHL:
      return (value){a.bits << (b.bits & 31), a.own && b.own};
    case DAEDALUS_V3D_OP_OR:
      return (value){a.bits | b.bits, a.own && b.own};
    default:
      return (value){random_word(), false};
  }
}

static void write_dest(walk *walk, daedalus_v3d_dest dest, value value, bool partly) {
  const bool rf0 =
      dest.magic && (dest.waddr == DAEDALUS_V3D_WADDR_REP || dest.waddr == DAEDALUS_V3D_WADDR_QUAD);
  const unsigned index = rf0 ? 0 : dest.waddr;
  const bool own = value.own && !partly, written = !partly || random_below(2);
  if (!dest.magic || rf0) {
    walk->own[index] = own;
    if (written)
      walk->registers[index] = value.bits;
  } else if (dest.waddr == DAEDALUS_V3D_WADDR_TMUC) {
    walk->decided &= own;
    if (written)
      walk->config = value.bits;
  }
}

/** An ALU instruction's values; returns the config byte of its lookup. */
static unsigned execute_values(walk *walk, const daedalus_v3d_instruction *instruction,
                               const daedalus_v3d_effects *effects) {
  const unsigned signals = instruction->signals;
  const value add = execute(walk, &instruction->add), mul = execute(walk, &instruction->mul);
  value uniform = {random_word(), false};
  if (effects->kinds & DAEDALUS_V3D_EFFECT_UNIFORM)
    uniform = read_uniform(walk);
  const value other = {random_word(), false};
  if (instruction->add.op != DAEDALUS_V3D_OP_NOP)
    write_dest(walk, instruction->add.dest, add, instruction->add.cond != 0);
  if (instruction->mul.op != DAEDALUS_V3D_OP_NOP)
    write_dest(walk, instruction->mul.dest, mul, instruction->mul.cond != 0);
  if (signals & (DAEDALUS_V3D_SIGNAL_LDUNIF | DAEDALUS_V3D_SIGNAL_LDUNIFA))
    write_dest(walk, (daedalus_v3d_dest){0, 0},
               signals & DAEDALUS_V3D_SIGNAL_LDUNIF ? uniform : other, false);
  if (signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS)
    write_dest(walk, instruction->signal_dest,
               signals & DAEDALUS_V3D_SIGNAL_LDUNIFRF ? uniform : other, false);
  if (effects->kinds & DAEDALUS_V3D_EFFECT_UNIFORM_CONFIG) {
    walk->config = uniform.bits;
    walk->decided &= uniform.own;
  }
  const unsigned byte = walk->config & 0xff;
  if (effects->kinds & DAEDALUS_V3D_EFFECT_LOOKUP)
    walk->config = walk->config >> 8 | 0xff000000;
  return byte;
}

/** Whether the walk can go on. */
static bool execute_branch(walk *walk, const daedalus_v3d_branch *branch) {
  const bool taken = branch->cond == DAEDALUS_V3D_BRANCH_ALWAYS || random_below(2);
  const unsigned after = walk->pc + 4;
  int64_t target = -1;
  if (walk->branching)
    return true;
  if (branch->target == DAEDALUS_V3D_BRANCH_RELATIVE)
    target = (int64_t)after + (int32_t)branch->offset / 8;
  else if (branch->target == DAEDALUS_V3D_BRANCH_LINK && walk->linked)
    target = walk->link;
  if (branch->set_link && (taken || random_below(2))) {
    walk->link = after;
    walk->linked = true;
  }
  if (branch->uniforms) {
    const bool reads = branch->uniform_dest <= DAEDALUS_V3D_BRANCH_RELATIVE;
    const uint32_t value = reads ? read_uniform(walk).bits : 0;
    if (taken && branch->uniform_dest == DAEDALUS_V3D_BRANCH_RELATIVE && value % 4 == 0 &&
        walk->uniform_index < N_UNIFORMS)
      walk->uniform_index += (size_t)((int32_t)value / 4);
    else if (taken)
      walk->uniform_index = N_UNIFORMS;
  }
  if (!taken)
    return true;
  if (target < 0 || target >= walk->program->n)
    return false;
  /* As for configs. */
  if (walk->program->found[walk->pc] >> DAEDALUS_V3D_RULE_UNKNOWN_TARGET & 1)
    return false;
  walk->branching = true;
  walk->target = (unsigned)target;
  walk->slots = 4;
  return true;
}

/** One run from the start; its rules go into walk->raised. */
static void run_walk(walk *walk) {
  const program *program = walk->program;
  daedalus_v3d_hazards_begin(&walk->hazards, &program->mode);
  walk->config = UINT32_MAX;
  walk->decided = true;
  for (unsigned i = 0; i < DAEDALUS_V3D_REGISTERS; i++)
    walk->registers[i] = random_word();
  for (unsigned step = 0; step < MAX_STEPS; step++) {
    daedalus_v3d_instruction instruction;
    daedalus_v3d_effects effects;
    unsigned config = DAEDALUS_V3D_CONFIG_UNKNOWN;
    if (walk->pc >= program->n) {
      walk->raised[program->n - 1] |= (uint64_t)1
                                      << (walk->hazards.last ? DAEDALUS_V3D_RULE_OFF_THE_END
                                                             : DAEDALUS_V3D_RULE_NO_LAST_THRSW);
      return;
    }
    CHECK(daedalus_v3d_unpack(program->words[walk->pc], &instruction) == NULL);
    daedalus_v3d_effects_of(&instruction, &effects);
    if (!instruction.is_branch)
      config = execute_values(walk, &instruction, &effects);
    if (program->found[walk->pc] >> DAEDALUS_V3D_RULE_UNKNOWN_CONFIG & 1) {
      /* What the validator says that it does not know it need not have followed. */
      walk->decided = false;
      return;
    }
    walk->raised[walk->pc] |= daedalus_v3d_hazards_step(&walk->hazards, &effects, config);
    if (daedalus_v3d_hazards_ended(&walk->hazards))
      return;
    if (instruction.is_branch && !execute_branch(walk, &instruction.branch))
      return;
    walk->pc++;
    if (walk->branching && --walk->slots == 0) {
      walk->branching = false;
      walk->pc = walk->target;
    }
  }
}

typedef struct tally {
  unsigned programs, accepted, exact, too_many;
  daedalus_v3d_rules seen;
} tally;

/** Walks a random program; false where the validator and a walk differ. */
static bool check_program(tally *tally, bool branches) {
  static program program;
  if (random_below(16) == 0)
    random_valid_program(&program, branches ? RANDOM_BRANCHES : 0);
  else
    random_program(&program, branches ? RANDOM_BRANCHES : 0);
  program.mode.flags_lost = random_below(4) == 0;
  if (!validate_program(&program))
    return false;
  for (unsigned word = 0; word < program.n; word++)
    if (program.found[word] >> DAEDALUS_V3D_RULE_TOO_MANY_PATHS & 1) {
      tally->too_many++;
      return true;
    }
  daedalus_v3d_rules all = 0;
  tally->programs++;
  for (unsigned i = 0; i < (branches ? WALKS : 1); i++) {
    walk walk = {.program = &program};
    run_walk(&walk);
    const bool exact = !branches && walk.decided;
    tally->exact += exact;
    for (size_t word = 0; word < program.n; word++) {
      const daedalus_v3d_rules missed = walk.raised[word] & ~program.found[word];
      const daedalus_v3d_rules invented = program.found[word] & ~walk.raised[word];
      all |= program.found[word];
      if (missed != 0 || (exact && invented != 0)) {
        print_program(&program, word, missed ? missed : invented, missed ? "missed" : "invented");
        return false;
      }
    }
  }
  tally->accepted += all == 0;
  tally->seen |= all;
  return true;
}

int main(int argc, char **argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
  const unsigned long programs = argc > 2 ? strtoul(argv[2], NULL, 0) : 5000;
  tally tally = {0};
  random_from_seed(seed);
  for (unsigned long i = 0; i < programs; i++) {
    const uint64_t at = random_seed();
    const bool right = check_program(&tally, i % 2);
    CHECK(right);
    if (!right) {
      fprintf(stderr, "program %lu of seed %" PRIu64 " (state %" PRIu64 ")\n", i, seed, at);
      break;
    }
  }
  unsigned seen = 0;
  for (unsigned rule = 0; rule < DAEDALUS_V3D_N_RULES; rule++)
    seen += tally.seen >> rule & 1;
  printf("%u programs, %u accepted, %u compared exactly, %u rules seen, %u not followed\n",
         tally.programs, tally.accepted, tally.exact, seen, tally.too_many);
  CHECK(tally.too_many <= programs / 1000);
  return CHECK_RESULT();
}
