/* SPDX-License-Identifier: BSD-2-Clause */
#include "hazards/values.h"

enum {
  /** Operations on the way to a constant that is followed shortly. */
  SHORT_DEPTH = 8,
  /** Longer ways count as this long. */
  MAX_DEPTH = UINT8_MAX
};

/** A word of the same value in all lanes; depth 0: not known. */
typedef struct value {
  uint32_t bits;
  unsigned depth;
} value;

static const value unknown = {0, 0};

/** Whether what is written to dest can reach the config word. */
static bool reaches(const daedalus_v3d_followed *followed, daedalus_v3d_dest dest) {
  if (!dest.magic)
    return followed->registers >> dest.waddr & 1;
  /* The two write rf0. */
  return dest.waddr == DAEDALUS_V3D_WADDR_TMUC ||
         ((dest.waddr == DAEDALUS_V3D_WADDR_REP || dest.waddr == DAEDALUS_V3D_WADDR_QUAD) &&
          followed->registers & 1);
}

static bool writes(const daedalus_v3d_alu *alu) {
  return alu->op != DAEDALUS_V3D_OP_NOP &&
         !(daedalus_v3d_operation_of(alu->op)->traits & DAEDALUS_V3D_TRAIT_NO_DEST);
}

static void follow_sources(daedalus_v3d_followed *followed, const daedalus_v3d_alu *alu) {
  if (!writes(alu) || !reaches(followed, alu->dest))
    return;
  for (unsigned i = 0; i < daedalus_v3d_operation_of(alu->op)->sources; i++)
    if (!alu->src[i].small)
      followed->registers |= UINT64_C(1) << alu->src[i].index;
}

bool daedalus_v3d_values_follow(daedalus_v3d_followed *followed,
                                const daedalus_v3d_instruction *instruction,
                                const daedalus_v3d_effects *effects) {
  const daedalus_v3d_followed before = *followed;
  if (instruction->is_branch)
    return false;
  follow_sources(followed, &instruction->add);
  follow_sources(followed, &instruction->mul);
  if (effects->kinds & DAEDALUS_V3D_EFFECT_UNIFORM_CONFIG ||
      (instruction->signals & DAEDALUS_V3D_SIGNAL_LDUNIF && followed->registers & 1) ||
      (instruction->signals & DAEDALUS_V3D_SIGNAL_LDUNIFRF &&
       reaches(followed, instruction->signal_dest)))
    followed->uniforms = true;
  return followed->registers != before.registers || followed->uniforms != before.uniforms;
}

void daedalus_v3d_values_begin(daedalus_v3d_values *values, const daedalus_v3d_program_mode *mode,
                               const daedalus_v3d_followed *followed) {
  *values = (daedalus_v3d_values){
      .uniform_index = mode->uniforms && followed->uniforms ? 0 : DAEDALUS_V3D_NOWHERE,
      .config = UINT32_MAX,
  };
}

static value take_uniform(daedalus_v3d_values *values, const daedalus_v3d_program_mode *mode) {
  if (values->uniform_index >= mode->n_uniforms)
    values->uniform_index = DAEDALUS_V3D_NOWHERE;
  if (values->uniform_index == DAEDALUS_V3D_NOWHERE)
    return unknown;
  return (value){mode->uniforms[values->uniform_index++], 1};
}

static value operand_value(const daedalus_v3d_values *values, const daedalus_v3d_operand *operand) {
  if (operand->unpack != DAEDALUS_V3D_UNPACK_NONE)
    return unknown;
  if (operand->small)
    return (value){daedalus_v3d_small_immediate(operand->index), 1};
  return (value){values->register_value[operand->index], values->register_depth[operand->index]};
}

/** Result of op on a and b; the few that programs build constants with. */
static bool evaluate(unsigned op, uint32_t a, uint32_t b, uint32_t *result) {
  switch (op) {
    case DAEDALUS_V3D_OP_MOV:
      *result = a;
      return true;
    case DAEDALUS_V3D_OP_NOT:
      *result = ~a;
      return true;
    case DAEDALUS_V3D_OP_NEG:
      *result = 0 - a;
      return true;
    case DAEDALUS_V3D_OP_ADD:
      *result = a + b;
      return true;
    case DAEDALUS_V3D_OP_SUB:
      *result = a - b;
      return true;
    case DAEDALUS_V3D_OP_SHL:
      *result = a << (b & 31);
      return true;
    case DAEDALUS_V3D_OP_SHR:
      *result = a >> (b & 31);
      return true;
    case DAEDALUS_V3D_OP_AND:
      *result = a & b;
      return true;
    case DAEDALUS_V3D_OP_OR:
      *result = a | b;
      return true;
    case DAEDALUS_V3D_OP_XOR:
      *result = a ^ b;
      return true;
    default:
      return false;
  }
}

/** What alu writes; not known also where it keeps part of what was there. */
static value alu_value(const daedalus_v3d_values *values, const daedalus_v3d_alu *alu,
                       const daedalus_v3d_followed *followed) {
  const unsigned sources = daedalus_v3d_operation_of(alu->op)->sources;
  value operands[2] = {unknown, unknown}, result = unknown;
  if (alu->cond != DAEDALUS_V3D_COND_NONE || alu->pack != DAEDALUS_V3D_PACK_NONE ||
      !reaches(followed, alu->dest))
    return unknown;
  for (unsigned i = 0; i < sources; i++) {
    operands[i] = operand_value(values, &alu->src[i]);
    if (operands[i].depth == 0 || (followed->shortly && operands[i].depth >= SHORT_DEPTH))
      return unknown;
    if (operands[i].depth >= result.depth)
      result.depth = operands[i].depth < MAX_DEPTH ? operands[i].depth + 1 : MAX_DEPTH;
  }
  return evaluate(alu->op, operands[0].bits, operands[1].bits, &result.bits) ? result : unknown;
}

static void set_config(daedalus_v3d_values *values, value config) {
  values->config = config.depth ? config.bits : UINT32_MAX;
  values->config_unknown = config.depth ? 0 : 4;
}

static void write(daedalus_v3d_values *values, daedalus_v3d_dest dest, value value,
                  const daedalus_v3d_followed *followed) {
  if (!reaches(followed, dest))
    return;
  if (dest.magic && dest.waddr == DAEDALUS_V3D_WADDR_TMUC) {
    set_config(values, value);
    return;
  }
  /* rep and quad: the same in all lanes if the operand is. */
  const unsigned index = dest.magic ? 0 : dest.waddr;
  values->register_value[index] = value.depth ? value.bits : 0;
  values->register_depth[index] = (uint8_t)value.depth;
}

/** The byte of config that a lookup takes. */
static unsigned take_config(daedalus_v3d_values *values) {
  if (values->config_unknown) {
    values->config_unknown--;
    return DAEDALUS_V3D_CONFIG_UNKNOWN;
  }
  const unsigned byte = values->config & 0xff;
  values->config = values->config >> 8 | 0xff000000;
  return byte;
}

unsigned daedalus_v3d_values_step(daedalus_v3d_values *values,
                                  const daedalus_v3d_instruction *instruction,
                                  const daedalus_v3d_effects *effects,
                                  const daedalus_v3d_program_mode *mode,
                                  const daedalus_v3d_followed *followed) {
  const unsigned signals = instruction->signals;
  const daedalus_v3d_dest rf0 = {0, 0};
  const value add = alu_value(values, &instruction->add, followed);
  const value mul = alu_value(values, &instruction->mul, followed);
  value uniform = unknown;
  if (effects->kinds & DAEDALUS_V3D_EFFECT_UNIFORM)
    uniform = take_uniform(values, mode);
  if (writes(&instruction->add))
    write(values, instruction->add.dest, add, followed);
  if (writes(&instruction->mul))
    write(values, instruction->mul.dest, mul, followed);
  if (signals & (DAEDALUS_V3D_SIGNAL_LDUNIF | DAEDALUS_V3D_SIGNAL_LDUNIFA))
    write(values, rf0, signals & DAEDALUS_V3D_SIGNAL_LDUNIF ? uniform : unknown, followed);
  if (signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS)
    write(values, instruction->signal_dest,
          signals & DAEDALUS_V3D_SIGNAL_LDUNIFRF ? uniform : unknown, followed);
  /* The config of this very instruction is that of its lookup. */
  if (effects->kinds & DAEDALUS_V3D_EFFECT_UNIFORM_CONFIG)
    set_config(values, uniform);
  return effects->kinds & DAEDALUS_V3D_EFFECT_LOOKUP ? take_config(values)
                                                     : DAEDALUS_V3D_CONFIG_UNKNOWN;
}

void daedalus_v3d_values_branch(daedalus_v3d_values *values, const daedalus_v3d_branch *branch,
                                const daedalus_v3d_program_mode *mode, bool taken) {
  if (!branch->uniforms)
    return;
  const bool relative = branch->uniform_dest == DAEDALUS_V3D_BRANCH_RELATIVE;
  value offset = unknown;
  if (relative || branch->uniform_dest == DAEDALUS_V3D_BRANCH_ABSOLUTE)
    offset = take_uniform(values, mode);
  if (!taken)
    return;
  const int64_t index = (int64_t)values->uniform_index + (int32_t)offset.bits / 4;
  const bool known = relative && offset.depth && offset.bits % 4 == 0 && index >= 0 &&
                     index < (int64_t)mode->n_uniforms;
  values->uniform_index = known ? (uint32_t)index : DAEDALUS_V3D_NOWHERE;
}
