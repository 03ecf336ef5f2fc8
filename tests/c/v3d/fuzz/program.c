/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"

#include <stdlib.h>

unsigned choose(bytes *from, unsigned n) {
  if (from->size == 0)
    return 0;
  from->size--;
  return *from->data++ % n;
}

static uint64_t packed(const daedalus_v3d_instruction *instruction) {
  uint64_t word;
  if (daedalus_v3d_pack(instruction, &word) != NULL)
    abort();
  return word;
}

static bool packs(const daedalus_v3d_instruction *instruction) {
  uint64_t word;
  return daedalus_v3d_pack(instruction, &word) == NULL;
}

static daedalus_v3d_dest random_dest(bytes *from) {
  /* What compute programs write besides registers, and what they must not. */
  static const uint8_t magic[] = {
      DAEDALUS_V3D_WADDR_NOP,   DAEDALUS_V3D_WADDR_NOP,   DAEDALUS_V3D_WADDR_TMUA,
      DAEDALUS_V3D_WADDR_TMUA,  DAEDALUS_V3D_WADDR_TMUD,  DAEDALUS_V3D_WADDR_TMUD,
      DAEDALUS_V3D_WADDR_TMUAU, DAEDALUS_V3D_WADDR_TMUC,  DAEDALUS_V3D_WADDR_REP,
      DAEDALUS_V3D_WADDR_QUAD,  DAEDALUS_V3D_WADDR_UNIFA, DAEDALUS_V3D_WADDR_SYNCB,
      DAEDALUS_V3D_WADDR_SYNC,  DAEDALUS_V3D_WADDR_SYNCU, DAEDALUS_V3D_WADDR_TMUS,
      DAEDALUS_V3D_WADDR_TLB};
  if (choose(from, 4) == 0)
    return (daedalus_v3d_dest){1, magic[choose(from, sizeof magic)]};
  return (daedalus_v3d_dest){0, (uint8_t)choose(from, choose(from, 16) == 0 ? 64 : 12)};
}

static daedalus_v3d_operand random_operand(bytes *from) {
  daedalus_v3d_operand operand = {0, (uint8_t)choose(from, 12), 0};
  if (choose(from, 8) == 0)
    operand = (daedalus_v3d_operand){1, (uint8_t)choose(from, DAEDALUS_V3D_SMALL_IMMEDIATES), 0};
  if (choose(from, 4) == 0)
    operand.unpack = (uint8_t)choose(from, DAEDALUS_V3D_N_UNPACKS);
  return operand;
}

static daedalus_v3d_alu random_alu(bytes *from, bool mul) {
  daedalus_v3d_alu alu = daedalus_v3d_nop().add;
  const unsigned op = choose(from, DAEDALUS_V3D_N_OPS);
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
  if (op == DAEDALUS_V3D_OP_NOP || !(mul ? operation->on_mul : operation->on_add))
    return alu;
  alu.op = (uint8_t)op;
  if (!(operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST))
    alu.dest = random_dest(from);
  for (unsigned i = 0; i < operation->sources; i++)
    alu.src[i] = random_operand(from);
  switch (choose(from, 4)) {
    case 0:
      alu.cond = (uint8_t)choose(from, DAEDALUS_V3D_N_CONDS);
      break;
    case 1:
      alu.flags = (uint8_t)choose(from, DAEDALUS_V3D_N_FLAGS);
      break;
  }
  if (choose(from, 8) == 0)
    alu.pack = (uint8_t)choose(from, DAEDALUS_V3D_N_PACKS);
  return alu;
}

/* Gives up what makes an operation impossible to encode, one thing after another. */
static void simplify(daedalus_v3d_instruction *in) {
  for (unsigned step = 0; !packs(in); step++) {
    daedalus_v3d_alu *const alu = step & 1 ? &in->mul : &in->add;
    switch (step / 2) {
      case 0:
        alu->src[0].unpack = alu->src[1].unpack = alu->pack = 0;
        break;
      case 1:
        alu->cond = alu->flags = 0;
        break;
      case 2:
        alu->src[0].small = alu->src[1].small = 0;
        break;
      case 3:
        *alu = daedalus_v3d_nop().add;
        break;
      default:
        *in = daedalus_v3d_nop();
    }
  }
}

static daedalus_v3d_instruction random_branch(bytes *from, size_t at, size_t n_words) {
  daedalus_v3d_instruction in = {.is_branch = 1};
  static const uint8_t conds[] = {DAEDALUS_V3D_BRANCH_ALWAYS, DAEDALUS_V3D_BRANCH_A0,
                                  DAEDALUS_V3D_BRANCH_NA0,    DAEDALUS_V3D_BRANCH_ALLA,
                                  DAEDALUS_V3D_BRANCH_ANYNA,  DAEDALUS_V3D_BRANCH_ANYA,
                                  DAEDALUS_V3D_BRANCH_ALLNA};
  in.branch.cond = conds[choose(from, sizeof conds)];
  if (in.branch.cond != DAEDALUS_V3D_BRANCH_ALWAYS)
    in.branch.msfign = (uint8_t)choose(from, 3);
  in.branch.target = DAEDALUS_V3D_BRANCH_RELATIVE;
  const uint32_t to = (uint32_t)choose(from, n_words < 256 ? (unsigned)n_words : 256);
  in.branch.offset = (to - (uint32_t)at - 4) * 8;
  if (choose(from, 8) == 0) {
    in.branch.uniforms = 1;
    in.branch.uniform_dest = DAEDALUS_V3D_BRANCH_RELATIVE;
  }
  return in;
}

daedalus_v3d_instruction random_instruction(bytes *from, bool branches, size_t at, size_t n_words) {
  static const uint16_t signals[] = {0,
                                     0,
                                     0,
                                     0,
                                     DAEDALUS_V3D_SIGNAL_THRSW,
                                     DAEDALUS_V3D_SIGNAL_LDUNIF,
                                     DAEDALUS_V3D_SIGNAL_LDUNIFRF,
                                     DAEDALUS_V3D_SIGNAL_LDTMU,
                                     DAEDALUS_V3D_SIGNAL_LDUNIFA,
                                     DAEDALUS_V3D_SIGNAL_LDUNIFARF,
                                     DAEDALUS_V3D_SIGNAL_WRTMUC,
                                     DAEDALUS_V3D_SIGNAL_THRSW | DAEDALUS_V3D_SIGNAL_LDUNIF,
                                     DAEDALUS_V3D_SIGNAL_THRSW | DAEDALUS_V3D_SIGNAL_LDTMU,
                                     DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_LDUNIF,
                                     DAEDALUS_V3D_SIGNAL_LDVARY,
                                     DAEDALUS_V3D_SIGNAL_UCB};
  if (branches && choose(from, 12) == 11)
    return random_branch(from, at, n_words);
  daedalus_v3d_instruction in = daedalus_v3d_nop();
  in.signals = signals[choose(from, sizeof signals / sizeof signals[0])];
  if (in.signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS)
    in.signal_dest = random_dest(from);
  in.add = random_alu(from, false);
  in.mul = random_alu(from, true);
  simplify(&in);
  return in;
}

void write_epilogue(uint64_t *words) {
  daedalus_v3d_instruction nop = daedalus_v3d_nop(), thrsw = nop;
  thrsw.signals = DAEDALUS_V3D_SIGNAL_THRSW;
  const bool switches[EPILOGUE] = {true, true, false, false, true, false, false};
  for (size_t i = 0; i < EPILOGUE; i++)
    words[i] = packed(switches[i] ? &thrsw : &nop);
}
