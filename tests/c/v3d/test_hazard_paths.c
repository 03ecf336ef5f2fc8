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

#include <daedalus/v3d/text.h>
#include <daedalus/v3d/validate.h>

#include "check.h"
#include "hazards/hazards.h"

enum { MAX_WORDS = 40, UNIFORMS = 24, WALKS = 6, MAX_STEPS = 300, MAX_FINDINGS = 64 * MAX_WORDS };

static uint64_t random_state;

static uint32_t random_word(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 32);
}

static unsigned below(unsigned bound) {
  return (unsigned)((uint64_t)random_word() * bound >> 32);
}

/** Few, so that they meet; those that rules are about, and one of the upper half. */
static uint8_t random_register(void) {
  static const uint8_t registers[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 40};
  return registers[below(sizeof registers)];
}

static daedalus_v3d_operand random_operand(bool small) {
  /* Config words by their -1 to -6, and small numbers. */
  return small ? (daedalus_v3d_operand){1, (uint8_t)(below(3) ? 26 + below(6) : below(16)), 0}
               : (daedalus_v3d_operand){0, random_register(), 0};
}

static daedalus_v3d_dest random_dest(void) {
  static const uint8_t magic[] = {
      DAEDALUS_V3D_WADDR_NOP,  DAEDALUS_V3D_WADDR_TMUD,  DAEDALUS_V3D_WADDR_TMUA,
      DAEDALUS_V3D_WADDR_TMUA, DAEDALUS_V3D_WADDR_TMUAU, DAEDALUS_V3D_WADDR_TMUC,
      DAEDALUS_V3D_WADDR_TMUC, DAEDALUS_V3D_WADDR_UNIFA, DAEDALUS_V3D_WADDR_SYNCB,
      DAEDALUS_V3D_WADDR_REP,  DAEDALUS_V3D_WADDR_QUAD,  DAEDALUS_V3D_WADDR_SYNCU};
  if (below(3) == 0)
    return (daedalus_v3d_dest){1, magic[below(sizeof magic)]};
  return (daedalus_v3d_dest){0, random_register()};
}

static void random_alu(daedalus_v3d_alu *alu, const uint8_t *ops, unsigned n_ops, bool small) {
  alu->op = ops[below(n_ops)];
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(alu->op);
  if (alu->op != DAEDALUS_V3D_OP_NOP && !(operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST))
    alu->dest = random_dest();
  for (unsigned i = 0; i < operation->sources; i++)
    alu->src[i] = random_operand(small && i == 0);
  if (alu->op != DAEDALUS_V3D_OP_NOP && below(6) == 0)
    alu->cond = (uint8_t)below(DAEDALUS_V3D_N_CONDS);
  else if (alu->op != DAEDALUS_V3D_OP_NOP && below(5) == 0)
    alu->flags = (uint8_t)below(DAEDALUS_V3D_N_FLAGS);
}

static void random_signals(daedalus_v3d_instruction *instruction) {
  static const uint16_t signals[] = {
      DAEDALUS_V3D_SIGNAL_THRSW,     DAEDALUS_V3D_SIGNAL_THRSW,
      DAEDALUS_V3D_SIGNAL_LDTMU,     DAEDALUS_V3D_SIGNAL_LDTMU,
      DAEDALUS_V3D_SIGNAL_LDTMU,     DAEDALUS_V3D_SIGNAL_LDUNIF,
      DAEDALUS_V3D_SIGNAL_LDUNIFRF,  DAEDALUS_V3D_SIGNAL_LDUNIFA,
      DAEDALUS_V3D_SIGNAL_LDUNIFARF, DAEDALUS_V3D_SIGNAL_WRTMUC,
      DAEDALUS_V3D_SIGNAL_LDVARY,    DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_LDUNIF,
  };
  instruction->signals = signals[below(sizeof signals / sizeof *signals)];
  if (instruction->signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS)
    instruction->signal_dest = below(4) ? (daedalus_v3d_dest){0, random_register()} : random_dest();
}

static void random_branch(daedalus_v3d_branch *branch, unsigned pc, unsigned n) {
  static const uint8_t conds[] = {DAEDALUS_V3D_BRANCH_ALWAYS, DAEDALUS_V3D_BRANCH_A0,
                                  DAEDALUS_V3D_BRANCH_ANYNA, DAEDALUS_V3D_BRANCH_ALLA};
  const unsigned kind = below(12);
  branch->cond = conds[below(4)];
  branch->set_link = below(4) == 0;
  branch->target = kind == 0   ? DAEDALUS_V3D_BRANCH_REGISTER
                   : kind == 1 ? DAEDALUS_V3D_BRANCH_ABSOLUTE
                   : kind <= 3 ? DAEDALUS_V3D_BRANCH_LINK
                               : DAEDALUS_V3D_BRANCH_RELATIVE;
  if (branch->target == DAEDALUS_V3D_BRANCH_RELATIVE)
    branch->offset = (uint32_t)(8 * ((int)below(n + 1) - (int)pc - 4));
  branch->uniforms = below(3) == 0;
  if (branch->uniforms)
    branch->uniform_dest = (uint8_t)below(4);
  if (branch->target == DAEDALUS_V3D_BRANCH_REGISTER ||
      (branch->uniforms && branch->uniform_dest == DAEDALUS_V3D_BRANCH_REGISTER))
    branch->reg = random_register();
}

static const uint8_t add_ops[] = {
    DAEDALUS_V3D_OP_NOP,   DAEDALUS_V3D_OP_NOP,       DAEDALUS_V3D_OP_MOV,
    DAEDALUS_V3D_OP_MOV,   DAEDALUS_V3D_OP_NOT,       DAEDALUS_V3D_OP_ADD,
    DAEDALUS_V3D_OP_SHL,   DAEDALUS_V3D_OP_OR,        DAEDALUS_V3D_OP_ROT,
    DAEDALUS_V3D_OP_TMUWT, DAEDALUS_V3D_OP_TMUWT,     DAEDALUS_V3D_OP_SETNNMODE_SS,
    DAEDALUS_V3D_OP_VFLB,  DAEDALUS_V3D_OP_BARRIERID, DAEDALUS_V3D_OP_FLPOP,
};
static const uint8_t mul_ops[] = {
    DAEDALUS_V3D_OP_NOP,    DAEDALUS_V3D_OP_NOP,   DAEDALUS_V3D_OP_NOP,
    DAEDALUS_V3D_OP_MOV,    DAEDALUS_V3D_OP_SUB,   DAEDALUS_V3D_OP_MULTOP,
    DAEDALUS_V3D_OP_UMUL24, DAEDALUS_V3D_OP_V8DOT, DAEDALUS_V3D_OP_MOV,
};

/** A word that packs; pc and n are for branches, which are left out where n is 0. */
static uint64_t random_instruction(unsigned pc, unsigned n) {
  uint64_t word;
  for (;;) {
    daedalus_v3d_instruction instruction = daedalus_v3d_nop();
    const bool small = below(4) == 0;
    if (n && below(6) == 0) {
      memset(&instruction, 0, sizeof instruction);
      instruction.is_branch = 1;
      random_branch(&instruction.branch, pc, n);
    } else {
      if (below(4))
        random_alu(&instruction.add, add_ops, sizeof add_ops, small);
      if (below(3) == 0)
        random_alu(&instruction.mul, mul_ops, sizeof mul_ops, false);
      if (!small && below(3) == 0)
        random_signals(&instruction);
    }
    if (daedalus_v3d_pack(&instruction, &word) == NULL)
      return word;
  }
}

typedef struct program {
  uint64_t words[MAX_WORDS];
  unsigned n;
  bool branches;
  uint32_t uniforms[UNIFORMS];
  daedalus_v3d_program_mode mode;
  daedalus_v3d_rules found[MAX_WORDS]; /**< by the validator. */
} program;

/** A run of a program: one lane, as what is known of values is the same in all. */
typedef struct walk {
  const program *program;
  daedalus_v3d_hazards hazards;
  unsigned pc, target, slots, link;
  bool branching, linked;
  size_t uniform_index; /**< UNIFORMS and above: somewhere else. */
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
  if (walk->program->mode.uniforms == NULL || walk->uniform_index >= UNIFORMS)
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
  const bool own = value.own && !partly, written = !partly || below(2);
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
  const bool taken = branch->cond == DAEDALUS_V3D_BRANCH_ALWAYS || below(2);
  const unsigned after = walk->pc + 4;
  int64_t target = -1;
  if (walk->branching)
    return true;
  if (branch->target == DAEDALUS_V3D_BRANCH_RELATIVE)
    target = (int64_t)after + (int32_t)branch->offset / 8;
  else if (branch->target == DAEDALUS_V3D_BRANCH_LINK && walk->linked)
    target = walk->link;
  if (branch->set_link && (taken || below(2))) {
    walk->link = after;
    walk->linked = true;
  }
  if (branch->uniforms) {
    const bool reads = branch->uniform_dest <= DAEDALUS_V3D_BRANCH_RELATIVE;
    const uint32_t value = reads ? read_uniform(walk).bits : 0;
    if (taken && branch->uniform_dest == DAEDALUS_V3D_BRANCH_RELATIVE && value % 4 == 0 &&
        walk->uniform_index < UNIFORMS)
      walk->uniform_index += (size_t)((int32_t)value / 4);
    else if (taken)
      walk->uniform_index = UNIFORMS;
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

static void random_program(program *program, bool branches) {
  memset(program, 0, sizeof *program);
  program->branches = branches;
  program->n = 4 + below(MAX_WORDS - 4);
  program->mode = (daedalus_v3d_program_mode){
      .strictness = below(2) ? DAEDALUS_V3D_STRICT : DAEDALUS_V3D_TOLERANT,
      .threads = below(3) ? 2 : 4,
      .single_segment = below(3) == 0,
  };
  for (unsigned i = 0; i < UNIFORMS; i++)
    program->uniforms[i] = below(2) ? 4 * (below(9) - 4) : 0xffffff00 | below(256);
  if (below(4)) {
    program->mode.uniforms = program->uniforms;
    program->mode.n_uniforms = UNIFORMS;
  }
  for (unsigned i = 0; i < program->n; i++)
    program->words[i] = random_instruction(i, branches ? program->n : 0);
}

/** False when there is something wrong with the validator itself. */
static bool validate(program *program) {
  static daedalus_v3d_finding findings[MAX_FINDINGS];
  const size_t count =
      daedalus_v3d_validate(program->words, program->n, &program->mode, findings, MAX_FINDINGS);
  CHECK(count <= MAX_FINDINGS);
  if (count > MAX_FINDINGS)
    return false;
  for (size_t i = 0; i < count; i++) {
    CHECK(findings[i].index < program->n);
    if (i > 0)
      CHECK(
          findings[i - 1].index < findings[i].index ||
          (findings[i - 1].index == findings[i].index && findings[i - 1].rule < findings[i].rule));
    program->found[findings[i].index] |= (uint64_t)1 << findings[i].rule;
  }
  return true;
}

static void print_program(const program *program, size_t word, daedalus_v3d_rules rules,
                          const char *what) {
  fprintf(stderr, "word %zu, %s:", word, what);
  for (unsigned rule = 0; rule < DAEDALUS_V3D_N_RULES; rule++)
    if (rules >> rule & 1)
      fprintf(stderr, " %s", daedalus_v3d_rule_name((daedalus_v3d_rule)rule));
  fprintf(stderr, "\n%s, %u threads, %s\n",
          program->mode.strictness == DAEDALUS_V3D_STRICT ? "strict" : "tolerant",
          program->mode.threads, program->mode.single_segment ? "single segment" : "segments");
  for (size_t i = 0; i < program->n; i++) {
    char line[DAEDALUS_V3D_LINE];
    daedalus_v3d_disassemble(program->words[i], line);
    fprintf(stderr, "%3zu 0x%016" PRIx64 " %s\n", i, program->words[i], line);
  }
}

/**
 * Replaces words that break rules by nop until none does, or for some rounds; a rule that is broken
 * in the last three, the end, may be due to any.
 */
static void mend(program *program) {
  daedalus_v3d_instruction nop = daedalus_v3d_nop();
  uint64_t word = 0;
  CHECK(daedalus_v3d_pack(&nop, &word) == NULL);
  nop.signals = DAEDALUS_V3D_SIGNAL_THRSW;
  for (unsigned i = 0; i < 3; i++)
    program->words[program->n - 1 - i] = word;
  CHECK(daedalus_v3d_pack(&nop, &program->words[program->n - 3]) == NULL);
  program->mode.single_segment = true;
  for (unsigned round = 0; round < 60; round++) {
    bool broken = false;
    memset(program->found, 0, sizeof program->found);
    if (!validate(program))
      return;
    for (unsigned i = 0; i < program->n; i++)
      if (program->found[i]) {
        program->words[i + 3 < program->n ? i : below(program->n - 3)] = word;
        broken = true;
      }
    if (!broken)
      return;
  }
}

typedef struct tally {
  unsigned programs, accepted, exact;
  daedalus_v3d_rules seen;
} tally;

/** Walks a random program; false where the validator and a walk differ. */
static bool check_program(tally *tally, bool branches) {
  static program program;
  random_program(&program, branches);
  if (below(2))
    mend(&program);
  memset(program.found, 0, sizeof program.found);
  if (!validate(&program))
    return false;
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
  random_state = seed;
  for (unsigned long i = 0; i < programs; i++) {
    const uint64_t at = random_state;
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
  printf("%u programs, %u accepted, %u compared exactly, %u rules seen\n", tally.programs,
         tally.accepted, tally.exact, seen);
  return CHECK_RESULT();
}
