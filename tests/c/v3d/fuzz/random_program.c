/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_program.h"

#include <inttypes.h>

#include <daedalus/v3d/text.h>

#include "check.h"

enum { MAX_FINDINGS = 64 * MAX_WORDS, ADDRESSES = 8, BASE = 9 };

/** Bytes to draw from, or NULL: state. */
static const uint8_t *source;
static size_t source_left;
static uint64_t state;

void random_from_seed(uint64_t seed) {
  source = NULL;
  state = seed;
}

void random_from_bytes(const uint8_t *bytes, size_t size) {
  static const uint8_t none;
  source = size ? bytes : &none;
  source_left = size;
}

uint64_t random_seed(void) {
  return state;
}

static uint8_t take_byte(void) {
  if (source_left == 0)
    return 0;
  source_left--;
  return *source++;
}

uint32_t random_word(void) {
  if (source != NULL) {
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; i++)
      word |= (uint32_t)take_byte() << 8 * i;
    return word;
  }
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 32);
}

unsigned random_below(unsigned bound) {
  if (source == NULL)
    return (unsigned)((uint64_t)random_word() * bound >> 32);
  const unsigned low = take_byte();
  return (bound <= 256 ? low : low | (unsigned)take_byte() << 8) % bound;
}

/** Few, so that they meet; those that rules are about, and one of the upper half. */
static uint8_t random_register(void) {
  static const uint8_t registers[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 40};
  return registers[random_below(sizeof registers)];
}

static daedalus_v3d_operand random_operand(bool small, bool wild) {
  daedalus_v3d_operand operand = {0, random_register(), 0};
  /* Config words by their -1 to -6, and small numbers. */
  if (small)
    operand = (daedalus_v3d_operand){
        1, (uint8_t)(random_below(3) ? 26 + random_below(6) : random_below(wild ? 48 : 16)), 0};
  if (wild && random_below(4) == 0)
    operand.unpack = (uint8_t)random_below(DAEDALUS_V3D_N_UNPACKS);
  return operand;
}

static daedalus_v3d_dest random_dest(bool wild) {
  static const uint8_t magic[] = {
      DAEDALUS_V3D_WADDR_NOP, DAEDALUS_V3D_WADDR_TMUD, DAEDALUS_V3D_WADDR_TMUD,
      DAEDALUS_V3D_WADDR_TMUA, DAEDALUS_V3D_WADDR_TMUA, DAEDALUS_V3D_WADDR_TMUA,
      DAEDALUS_V3D_WADDR_TMUA, DAEDALUS_V3D_WADDR_TMUAU, DAEDALUS_V3D_WADDR_TMUAU,
      DAEDALUS_V3D_WADDR_TMUC, DAEDALUS_V3D_WADDR_UNIFA, DAEDALUS_V3D_WADDR_SYNCB,
      DAEDALUS_V3D_WADDR_REP, DAEDALUS_V3D_WADDR_QUAD, DAEDALUS_V3D_WADDR_TMUDREF,
      /* The wild ones. */
      DAEDALUS_V3D_WADDR_SYNC, DAEDALUS_V3D_WADDR_SYNCU, DAEDALUS_V3D_WADDR_TMUS,
      DAEDALUS_V3D_WADDR_TLB, DAEDALUS_V3D_WADDR_TMUOFF};
  enum { WILD = 5 };
  if (random_below(3) == 0)
    return (daedalus_v3d_dest){1, magic[random_below(sizeof magic - (wild ? 0 : WILD))]};
  if (wild && random_below(16) == 0)
    return (daedalus_v3d_dest){0, (uint8_t)random_below(DAEDALUS_V3D_REGISTERS)};
  return (daedalus_v3d_dest){0, random_register()};
}

/** Lookups go to memory that is there, and barriers are barriers. */
static void keep_sane(daedalus_v3d_alu *alu) {
  if (!alu->dest.magic)
    return;
  if (alu->dest.waddr == DAEDALUS_V3D_WADDR_SYNCB) {
    if (alu->op != DAEDALUS_V3D_OP_BARRIERID)
      alu->dest.waddr = DAEDALUS_V3D_WADDR_NOP;
    return;
  }
  const bool lookup =
      alu->dest.waddr == DAEDALUS_V3D_WADDR_TMUA || alu->dest.waddr == DAEDALUS_V3D_WADDR_TMUAU;
  if (!lookup && alu->dest.waddr != DAEDALUS_V3D_WADDR_UNIFA)
    return;
  alu->op = DAEDALUS_V3D_OP_MOV;
  alu->src[0] = (daedalus_v3d_operand){0, lookup ? ADDRESSES : BASE, 0};
  alu->src[1] = (daedalus_v3d_operand){0, 0, 0};
}

/** The operations that rules are about, of the add ALU and of the mul ALU. */
static uint8_t rules_operation(bool mul) {
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
  return mul ? mul_ops[random_below(sizeof mul_ops)] : add_ops[random_below(sizeof add_ops)];
}

static daedalus_v3d_alu random_alu(bool mul, bool small, bool wild) {
  daedalus_v3d_alu alu = daedalus_v3d_nop().add;
  alu.op =
      wild && random_below(2) ? (uint8_t)random_below(DAEDALUS_V3D_N_OPS) : rules_operation(mul);
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(alu.op);
  if (alu.op == DAEDALUS_V3D_OP_NOP)
    return alu;
  if (!(operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST))
    alu.dest = random_dest(wild);
  for (unsigned i = 0; i < operation->sources; i++)
    alu.src[i] = random_operand(small && i == 0, wild);
  if (random_below(6) == 0)
    alu.cond = (uint8_t)random_below(DAEDALUS_V3D_N_CONDS);
  else if (random_below(5) == 0)
    alu.flags = (uint8_t)random_below(DAEDALUS_V3D_N_FLAGS);
  if (wild && random_below(8) == 0)
    alu.pack = (uint8_t)random_below(DAEDALUS_V3D_N_PACKS);
  if (!wild)
    keep_sane(&alu);
  return alu;
}

static void random_signals(daedalus_v3d_instruction *instruction, bool wild) {
  static const uint16_t signals[] = {
      DAEDALUS_V3D_SIGNAL_THRSW,
      DAEDALUS_V3D_SIGNAL_THRSW,
      DAEDALUS_V3D_SIGNAL_LDTMU,
      DAEDALUS_V3D_SIGNAL_LDTMU,
      DAEDALUS_V3D_SIGNAL_LDTMU,
      DAEDALUS_V3D_SIGNAL_LDUNIF,
      DAEDALUS_V3D_SIGNAL_LDUNIFRF,
      DAEDALUS_V3D_SIGNAL_LDUNIFA,
      DAEDALUS_V3D_SIGNAL_LDUNIFARF,
      DAEDALUS_V3D_SIGNAL_WRTMUC,
      DAEDALUS_V3D_SIGNAL_LDVARY,
      DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_LDUNIF,
      DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_WRTMUC,
      DAEDALUS_V3D_SIGNAL_THRSW | DAEDALUS_V3D_SIGNAL_LDTMU,
      DAEDALUS_V3D_SIGNAL_THRSW | DAEDALUS_V3D_SIGNAL_LDUNIF,
      DAEDALUS_V3D_SIGNAL_UCB,
  };
  instruction->signals = signals[random_below(sizeof signals / sizeof *signals)];
  static const uint8_t magic[] = {DAEDALUS_V3D_WADDR_TMUD, DAEDALUS_V3D_WADDR_TMUC,
                                  DAEDALUS_V3D_WADDR_REP};
  if (!(instruction->signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS))
    return;
  instruction->signal_dest = (daedalus_v3d_dest){0, random_register()};
  if (wild)
    instruction->signal_dest = random_dest(true);
  else if (random_below(8) == 0)
    instruction->signal_dest = (daedalus_v3d_dest){1, magic[random_below(sizeof magic)]};
}

static daedalus_v3d_instruction random_branch(unsigned pc, unsigned n) {
  daedalus_v3d_instruction instruction;
  memset(&instruction, 0, sizeof instruction);
  instruction.is_branch = 1;
  daedalus_v3d_branch *branch = &instruction.branch;
  const unsigned kind = random_below(12), to = random_below(n + 1);
  branch->cond = (uint8_t)random_below(8);
  if (branch->cond == 1) /* reserved */
    branch->cond = DAEDALUS_V3D_BRANCH_ALWAYS;
  branch->msfign = random_below(4) ? 0 : (uint8_t)random_below(3);
  branch->set_link = random_below(4) == 0;
  branch->target = kind == 11   ? DAEDALUS_V3D_BRANCH_REGISTER
                   : kind == 10 ? DAEDALUS_V3D_BRANCH_ABSOLUTE
                   : kind >= 8  ? DAEDALUS_V3D_BRANCH_LINK
                                : DAEDALUS_V3D_BRANCH_RELATIVE;
  if (branch->target == DAEDALUS_V3D_BRANCH_RELATIVE)
    branch->offset = 8 * (to - pc - 4);
  else if (branch->target == DAEDALUS_V3D_BRANCH_ABSOLUTE)
    branch->offset = CODE_ADDRESS + 8 * to;
  branch->uniforms = random_below(3) == 0;
  if (branch->uniforms)
    branch->uniform_dest = (uint8_t)random_below(4);
  if (branch->target == DAEDALUS_V3D_BRANCH_REGISTER ||
      (branch->uniforms && branch->uniform_dest == DAEDALUS_V3D_BRANCH_REGISTER))
    branch->reg = random_register();
  return instruction;
}

/** Gives up what there is no encoding for, one thing after another; the word of what is left. */
static uint64_t simplify(daedalus_v3d_instruction *in) {
  uint64_t word;
  daedalus_v3d_order_sources(&in->add);
  for (unsigned step = 0; daedalus_v3d_pack(in, &word) != NULL; step++) {
    daedalus_v3d_alu *const alu = step & 1 ? &in->mul : &in->add;
    switch (step / 2) {
      case 0:
        alu->src[0].unpack = alu->src[1].unpack = alu->pack = 0;
        daedalus_v3d_order_sources(&in->add);
        break;
      case 1:
        alu->cond = alu->flags = 0;
        break;
      case 2:
        alu->src[0].small = 0;
        break;
      case 3:
        *alu = daedalus_v3d_nop().add;
        break;
      default:
        *in = daedalus_v3d_nop();
    }
  }
  return word;
}

static uint64_t random_instruction(unsigned pc, unsigned n, unsigned kind) {
  const bool wild = kind & RANDOM_WILD, used_up = source != NULL && source_left == 0;
  daedalus_v3d_instruction instruction = daedalus_v3d_nop();
  if (kind & RANDOM_BRANCHES && random_below(6) == 5) {
    instruction = random_branch(pc, n);
  } else if (wild && random_below(32) == 31) {
    return random_word() | (uint64_t)random_word() << 32;
  } else if (!used_up) {
    const bool small = random_below(4) == 0;
    if (random_below(4))
      instruction.add = random_alu(false, small, wild);
    if (random_below(3) == 0)
      instruction.mul = random_alu(true, false, wild);
    if (!small && random_below(3) == 0)
      random_signals(&instruction, wild);
  }
  return simplify(&instruction);
}

/** The packed form of what must pack. */
static uint64_t pack(const daedalus_v3d_instruction *instruction) {
  uint64_t word = 0;
  CHECK(daedalus_v3d_pack(instruction, &word) == NULL);
  return word;
}

/** rf9 = the first uniform; rf8 = rf9 + 16 * lane. Returns the number of words. */
static unsigned put_addresses(uint64_t *words) {
  daedalus_v3d_instruction instruction = daedalus_v3d_nop();
  instruction.add.op = DAEDALUS_V3D_OP_EIDX;
  instruction.add.dest = (daedalus_v3d_dest){0, ADDRESSES};
  instruction.signals = DAEDALUS_V3D_SIGNAL_LDUNIFRF;
  instruction.signal_dest = (daedalus_v3d_dest){0, BASE};
  words[0] = pack(&instruction);
  instruction = daedalus_v3d_nop();
  instruction.add.op = DAEDALUS_V3D_OP_SHL;
  instruction.add.dest = (daedalus_v3d_dest){0, ADDRESSES};
  instruction.add.src[0] = (daedalus_v3d_operand){0, ADDRESSES, 0};
  instruction.add.src[1] = (daedalus_v3d_operand){1, 4, 0};
  words[1] = pack(&instruction);
  instruction.add.op = DAEDALUS_V3D_OP_ADD;
  instruction.add.src[1] = (daedalus_v3d_operand){0, BASE, 0};
  words[2] = pack(&instruction);
  return 3;
}

void random_program(program *program, unsigned kind) {
  memset(program, 0, sizeof *program);
  program->n = 8 + random_below(MAX_WORDS - 8);
  program->mode = (daedalus_v3d_program_mode){
      .strictness = random_below(2) ? DAEDALUS_V3D_STRICT : DAEDALUS_V3D_TOLERANT,
      .threads = random_below(3) ? 2 : 4,
      .single_segment = random_below(3) == 0,
  };
  /* Jumps of the stream; configs: words, vectors, bytes, atomic operations, a prefetch. */
  static const uint8_t configs[] = {0xff, 0xff, 0xfa, 0xfb, 0xfc, 0xfd, 0x87, 0xc7, 0x9a, 0x80};
  for (unsigned i = 0; i < N_UNIFORMS; i++)
    program->uniforms[i] = random_below(2) ? 4 * (random_below(9) - 4)
                                           : 0xffffff00 | configs[random_below(sizeof configs)];
  program->uniforms[0] = DATA_ADDRESS;
  if (random_below(4)) {
    program->mode.uniforms = program->uniforms;
    program->mode.n_uniforms = N_UNIFORMS;
  }
  for (unsigned i = put_addresses(program->words); i < program->n; i++)
    program->words[i] = random_instruction(i, program->n, kind);
}

bool validate_program(program *program) {
  static daedalus_v3d_finding findings[MAX_FINDINGS];
  memset(program->found, 0, sizeof program->found);
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

bool is_accepted(const program *program) {
  daedalus_v3d_rules all = 0;
  for (unsigned i = 0; i < program->n; i++)
    all |= program->found[i];
  return all == 0;
}

void print_program(const program *program, size_t word, daedalus_v3d_rules rules,
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

/** What is left to do at the end breaks these rules; no other is broken. */
static bool is_open(const program *program) {
  const daedalus_v3d_rules open = (uint64_t)1 << DAEDALUS_V3D_RULE_RESULTS_LEFT |
                                  (uint64_t)1 << DAEDALUS_V3D_RULE_SEQUENCE_UNFINISHED;
  daedalus_v3d_rules all = 0;
  for (unsigned i = 0; i < program->n; i++)
    all |= program->found[i];
  return (all & ~open) == 0;
}

/** Puts word at i, unless that breaks a rule. */
static bool try_word(program *program, unsigned i, uint64_t word) {
  const uint64_t before = program->words[i];
  program->words[i] = word;
  if (validate_program(program) && is_open(program))
    return true;
  program->words[i] = before;
  return false;
}

/** Pops results, finishes sequences, in the words from i to end - 1. */
static void close_program(program *program, unsigned i, unsigned end) {
  daedalus_v3d_instruction pop = daedalus_v3d_nop(), lookup = pop, data = pop;
  pop.signals = DAEDALUS_V3D_SIGNAL_LDTMU;
  pop.signal_dest = (daedalus_v3d_dest){0, 5};
  lookup.add.op = data.add.op = DAEDALUS_V3D_OP_MOV;
  lookup.add.src[0] = (daedalus_v3d_operand){0, ADDRESSES, 0};
  lookup.add.dest = (daedalus_v3d_dest){1, DAEDALUS_V3D_WADDR_TMUA};
  data.add.dest = (daedalus_v3d_dest){1, DAEDALUS_V3D_WADDR_TMUD};
  const uint64_t words[] = {pack(&lookup), pack(&data), pack(&pop)};
  for (; i < end && validate_program(program) && !is_accepted(program); i++) {
    const bool unfinished =
        program->found[program->n - 1] >> DAEDALUS_V3D_RULE_SEQUENCE_UNFINISHED & 1;
    for (unsigned k = unfinished ? 0 : 2; k < 3; k++)
      if (try_word(program, i, words[k]))
        break;
  }
}

void random_valid_program(program *program, unsigned kind) {
  enum { TRIES = 6, CLOSING = 10 };
  random_program(program, 0);
  program->n = MAX_WORDS;
  program->mode.single_segment = random_below(4) == 0;
  program->mode.uniforms = program->uniforms;
  program->mode.n_uniforms = N_UNIFORMS;
  daedalus_v3d_instruction nop = daedalus_v3d_nop();
  for (unsigned i = 3; i < program->n; i++)
    program->words[i] = pack(&nop);
  unsigned end = program->n - 3;
  nop.signals = DAEDALUS_V3D_SIGNAL_THRSW;
  program->words[end] = pack(&nop);
  if (!program->mode.single_segment) {
    end -= 3;
    program->words[end] = program->words[end + 1] = pack(&nop);
  }
  for (unsigned i = 3; i < end - CLOSING; i++)
    for (unsigned try = 0; try < TRIES; try++)
      if (try_word(program, i, random_instruction(i, program->n, kind)))
        break;
  close_program(program, end - CLOSING, end);
  validate_program(program);
}
