/* SPDX-License-Identifier: BSD-2-Clause */
/* A word becomes a v3d_op: all that can be decided before it runs is decided here. */
#include <string.h>

#include "simulator/engine.h"
#include "simulator/timing/model.h"

/* What a magic write address means to a compute job. */
static v3d_dest_kind kind_of_waddr(unsigned waddr) {
  switch (waddr) {
    case DAEDALUS_V3D_WADDR_NOP:
      return V3D_TO_ROW;
    case DAEDALUS_V3D_WADDR_REP:
      return V3D_TO_REP;
    case DAEDALUS_V3D_WADDR_QUAD:
      return V3D_TO_QUAD;
    case DAEDALUS_V3D_WADDR_UNIFA:
      return V3D_TO_UNIFA;
    case DAEDALUS_V3D_WADDR_TMUD:
    case DAEDALUS_V3D_WADDR_TMUDREF:
    case DAEDALUS_V3D_WADDR_TMUOFF:
      return V3D_TO_TMU_DATA;
    case DAEDALUS_V3D_WADDR_TMUA:
      return V3D_TO_TMU_ADDRESS;
    case DAEDALUS_V3D_WADDR_TMUAU:
      return V3D_TO_TMU_ADDRESS_UNIFORM;
    case DAEDALUS_V3D_WADDR_TMUC:
      return V3D_TO_TMU_CONFIG;
    case DAEDALUS_V3D_WADDR_SYNC:
    case DAEDALUS_V3D_WADDR_SYNCB:
      return V3D_TO_SYNC;
    case DAEDALUS_V3D_WADDR_SYNCU:
      return V3D_TO_SYNC_UNIFORM;
    default:
      return V3D_TO_NOT_IN_COMPUTE;
  }
}

/* Why a compute job may not write an address that has no kind here. */
static const char *why_not(unsigned waddr) {
  switch (waddr) {
#define LOOKUP(id, name)        \
  case DAEDALUS_V3D_WADDR_##id: \
    return "texture lookups (images, samplers, texel buffers) are not simulated: a write to " name
    LOOKUP(TMUS, "tmus");
    LOOKUP(TMUT, "tmut");
    LOOKUP(TMUR, "tmur");
    LOOKUP(TMUI, "tmui");
    LOOKUP(TMUB, "tmub");
    LOOKUP(TMUSCM, "tmuscm");
    LOOKUP(TMUSF, "tmusf");
    LOOKUP(TMUSLOD, "tmuslod");
    LOOKUP(TMUHS, "tmuhs");
    LOOKUP(TMUHSCM, "tmuhscm");
    LOOKUP(TMUHSF, "tmuhsf");
    LOOKUP(TMUHSLOD, "tmuhslod");
#undef LOOKUP
    default:
      return "compute jobs may not write this address (tiles, vertex memory)";
  }
}

static void decode_dest(const daedalus_v3d_dest *dest, uint8_t *row, uint8_t *kind) {
  *kind = dest->magic ? (uint8_t)kind_of_waddr(dest->waddr) : V3D_TO_ROW;
  *row = dest->magic ? V3D_ROW_NOWHERE : dest->waddr;
}

static uint8_t row_of(const daedalus_v3d_operand *operand) {
  return operand->small ? (uint8_t)(V3D_ROW_SMALL + operand->index) : operand->index;
}

/* Returns NULL, or why a compute job may not use it. */
static const char *decode_half(const daedalus_v3d_alu *alu, v3d_half *half, v3d_modifiers *more) {
  if (alu->op == DAEDALUS_V3D_OP_NOP)
    return NULL;
  const daedalus_v3d_semantics *semantics = daedalus_v3d_semantics_of(alu->op);
  if (!semantics->execute)
    return "only graphics shaders use this operation";
  half->execute = semantics->execute;
  half->a = row_of(&alu->src[0]);
  half->b = row_of(&alu->src[1]);
  half->cond = alu->cond;
  half->flags = alu->flags;
  half->is_flpop = alu->op == DAEDALUS_V3D_OP_FLPOP;
  decode_dest(&alu->dest, &half->dest, &half->kind);
  if (half->kind == V3D_TO_NOT_IN_COMPUTE)
    return why_not(alu->dest.waddr);
  for (unsigned i = 0; i < 2; i++)
    if (alu->src[i].unpack != DAEDALUS_V3D_UNPACK_NONE)
      more->unpack[i] = daedalus_v3d_unpack_of(alu->src[i].unpack);
  if (alu->pack != DAEDALUS_V3D_PACK_NONE)
    more->pack = daedalus_v3d_pack_of(alu->pack);
  if (alu->flags != DAEDALUS_V3D_FLAGS_NONE) {
    /* After the three pushes come the updates, four of each flag. */
    const unsigned flags = alu->flags;
    const unsigned which = flags <= DAEDALUS_V3D_FLAGS_PUSHC
                               ? flags - DAEDALUS_V3D_FLAGS_PUSHZ
                               : (flags - DAEDALUS_V3D_FLAGS_ANDZ) / 4;
    more->flag = which == 0 ? semantics->zero : which == 1 ? semantics->negative : semantics->carry;
  }
  return NULL;
}

/* Operations that look at which lanes take part, so that it has to be told them. */
static bool asks_for_lanes(const daedalus_v3d_alu *alu) {
  return alu->op == DAEDALUS_V3D_OP_SETMSF ||
         (daedalus_v3d_operation_of(alu->op)->traits &
          (DAEDALUS_V3D_TRAIT_LANES | DAEDALUS_V3D_TRAIT_WRITES_FLAGS)) != 0;
}

/* The highest register that *alu names, 0 for none. */
static unsigned highest_register(const daedalus_v3d_alu *alu) {
  unsigned highest = alu->dest.magic ? 0 : alu->dest.waddr;
  for (unsigned i = 0; i < 2; i++)
    if (!alu->src[i].small && alu->src[i].index > highest)
      highest = alu->src[i].index;
  return highest;
}

static const char *decode_alus(const daedalus_v3d_instruction *in, v3d_op *op, bool four_threads) {
  const uint16_t graphics =
      DAEDALUS_V3D_SIGNAL_LDVARY | DAEDALUS_V3D_SIGNAL_LDTLB | DAEDALUS_V3D_SIGNAL_LDTLBU;
  if (in->signals & graphics)
    return "only graphics shaders use this signal";
  if (in->signals & DAEDALUS_V3D_SIGNAL_UCB)
    return "nobody knows what the signal ucb does";
  op->signals = in->signals;
  decode_dest(&in->signal_dest, &op->signal_dest, &op->signal_kind);
  if (!(in->signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS))
    op->signal_kind = V3D_TO_ROW;
  else if (op->signal_kind == V3D_TO_NOT_IN_COMPUTE)
    return why_not(in->signal_dest.waddr);
  if (four_threads &&
      (highest_register(&in->add) >= DAEDALUS_V3D_REGISTERS / 2 ||
       highest_register(&in->mul) >= DAEDALUS_V3D_REGISTERS / 2 ||
       ((in->signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) && !in->signal_dest.magic &&
        in->signal_dest.waddr >= DAEDALUS_V3D_REGISTERS / 2)))
    return "with four threads a QPU there are 32 registers, rf0 to rf31";
  const char *reason = decode_half(&in->add, &op->add, &op->add_more);
  return reason ? reason : decode_half(&in->mul, &op->mul, &op->mul_more);
}

unsigned daedalus_v3d_run_absent(v3d_thread *thread, v3d_op *op) {
  return daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BAD_FETCH, 0, op->address,
                               "the instruction lies in no buffer");
}

unsigned daedalus_v3d_run_refused(v3d_thread *thread, v3d_op *op) {
  return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION, "%s", op->reason);
}

unsigned daedalus_v3d_run_chunk_end(v3d_thread *thread, v3d_op *op) {
  (void)thread, (void)op;
  return V3D_EVENT_CHUNK;
}

/* Whether a result of that kind is one lane's, written to others by rep or quad. */
static bool spreads(uint8_t kind) {
  return kind == V3D_TO_REP || kind == V3D_TO_QUAD;
}

void daedalus_v3d_decode(v3d_op *op, daedalus_v3d_effects *effects, uint64_t word, uint32_t address,
                         bool four_threads, const daedalus_v3d_profile *profile) {
  daedalus_v3d_instruction in;
  memset(op, 0, sizeof *op);
  memset(effects, 0, sizeof *effects);
  op->word = word;
  op->address = address;
  op->add.dest = op->mul.dest = op->signal_dest = V3D_ROW_NOWHERE;
  op->reason = daedalus_v3d_unpack(word, &in);
  op->run = daedalus_v3d_run_refused;
  if (op->reason)
    return;
  daedalus_v3d_effects_of(&in, effects);
  op->timing = daedalus_v3d_timing_of(effects);
  if (in.is_branch) {
    op->branch = in.branch;
    op->run = daedalus_v3d_run_branch;
    if (four_threads && in.branch.reg >= DAEDALUS_V3D_REGISTERS / 2) {
      op->reason = "with four threads a QPU there are 32 registers, rf0 to rf31";
      op->run = daedalus_v3d_run_refused;
    }
    return;
  }
  op->reason = decode_alus(&in, op, four_threads);
  if (op->reason)
    return;
  if (spreads(op->add.kind) || spreads(op->mul.kind) || spreads(op->signal_kind))
    op->timing |= V3D_TIMING_SPREAD;
  /* The add ALU's setnnmode_* comes before the mul ALU's v8dot, unless the profile wants it after.
   */
  op->mul_first = in.mul.op == DAEDALUS_V3D_OP_V8DOT && !profile->nnmode_same_instruction;
  op->run = daedalus_v3d_runner_of(op, asks_for_lanes(&in.add));
}
