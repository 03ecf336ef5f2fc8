/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "encoding/tables.h"

/* The fields of one ALU, and which of its sources is a small immediate (1, 2; 0 none). */
typedef struct fields {
  unsigned opcode, magic, waddr, raddr[2], small;
} fields;

/*
 * Modifiers of a row's operation out of what the opcode (two sources) or the selector (fewer)
 * exceeds the row's by.  False: it is not this operation.
 */
static bool unpack_modifiers(const daedalus_v3d_operation *operation, unsigned excess,
                             daedalus_v3d_alu *alu) {
  unsigned codes[2], pack;
  if (operation->sources < 2) {
    pack = excess & 3;
    codes[0] = excess >> 2;
    codes[1] = 0;
  } else if (operation->unpack == DAEDALUS_V3D_UNPACKS_F16) {
    pack = 0;
    codes[0] = excess;
    codes[1] = 0;
  } else {
    pack = excess >> 4;
    codes[0] = excess >> 2 & 3;
    codes[1] = excess & 3;
  }
  if (pack >= (operation->pack == DAEDALUS_V3D_PACKS_F32 ? DAEDALUS_V3D_N_PACKS : 1))
    return false;
  alu->pack = (uint8_t)pack;
  const unsigned modified = operation->unpack == DAEDALUS_V3D_UNPACKS_F16 ? 1 : 2;
  for (unsigned i = 0; i < 2; i++) {
    const bool takes = i < operation->sources && i < modified;
    const int unpack = takes ? daedalus_v3d_modifier_of(operation->unpack, codes[i])
                             : (codes[i] == 0 ? DAEDALUS_V3D_UNPACK_NONE : -1);
    if (unpack < 0)
      return false;
    alu->src[i].unpack = (uint8_t)unpack;
  }
  return true;
}

/* Whether the destination fields are those of the row's operation; fills in dest. */
static bool unpack_dest(const daedalus_v3d_encoding *encoding, const fields *in,
                        daedalus_v3d_dest *dest) {
  *dest = (daedalus_v3d_dest){.magic = (uint8_t)in->magic, .waddr = (uint8_t)in->waddr};
  switch (encoding->dest) {
    case DAEDALUS_V3D_DEST_REGISTER:
      return in->magic == 0;
    case DAEDALUS_V3D_DEST_OUT:
      dest->magic = 0;
      return in->magic == 1;
    case DAEDALUS_V3D_DEST_NONE:
    case DAEDALUS_V3D_DEST_OPERATION:
      *dest = (daedalus_v3d_dest){.magic = 1, .waddr = DAEDALUS_V3D_WADDR_NOP};
      return encoding->dest == DAEDALUS_V3D_DEST_NONE || in->waddr == encoding->waddr;
    default:
      return true;
  }
}

/* Whether the fields are of this operation; then *alu is complete but for condition and flags. */
static bool unpack_as(unsigned op, const daedalus_v3d_encoding *encoding, const fields *in,
                      daedalus_v3d_alu *alu) {
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
  const bool selects = operation->sources < 2;
  if (in->opcode < encoding->opcode || (selects && in->opcode != encoding->opcode) ||
      (selects && in->raddr[1] < encoding->selector))
    return false;
  *alu = (daedalus_v3d_alu){.op = (uint8_t)op};
  const unsigned excess =
      selects ? in->raddr[1] - encoding->selector : in->opcode - encoding->opcode;
  if (!unpack_modifiers(operation, excess, alu) || !unpack_dest(encoding, in, &alu->dest))
    return false;
  for (unsigned i = 0; i < operation->sources; i++) {
    alu->src[i].small = in->small == i + 1;
    alu->src[i].index = (uint8_t)in->raddr[i];
  }
  return (operation->traits & DAEDALUS_V3D_TRAIT_ORDERED_PAIR) == 0 ||
         daedalus_v3d_is_second_of_pair(alu) == (encoding->second != 0);
}

static const char *check_alu(const fields *in, const daedalus_v3d_alu *alu) {
  if (in->small > daedalus_v3d_operation_of(alu->op)->sources)
    return "a small immediate is signalled for a source that the operation does not have";
  for (unsigned i = 0; i < 2; i++)
    if (alu->src[i].small != 0 && alu->src[i].index >= DAEDALUS_V3D_SMALL_IMMEDIATES)
      return "there are 48 small immediates";
  if (alu->dest.magic != 0 && !daedalus_v3d_is_magic_waddr(alu->dest.waddr))
    return "the write address is reserved";
  return NULL;
}

static const char *unpack_add(const fields *in, daedalus_v3d_alu *alu) {
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++)
    if (daedalus_v3d_operation_of(op)->on_add != 0 &&
        unpack_as(op, &daedalus_v3d_add_encodings[op], in, alu))
      return check_alu(in, alu);
  return "the add ALU has no operation with this code";
}

static const char *unpack_mul(const fields *in, daedalus_v3d_alu *alu) {
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++)
    if (daedalus_v3d_operation_of(op)->on_mul != 0 &&
        unpack_as(op, &daedalus_v3d_mul_encodings[op], in, alu))
      return check_alu(in, alu);
  return "the mul ALU has no operation with this code";
}

static const char *unpack_branch(uint64_t word, daedalus_v3d_branch *branch) {
  const unsigned uniform_dest = DAEDALUS_V3D_GET(word, BRANCH_UNIFORM_DEST);
  branch->cond = (uint8_t)DAEDALUS_V3D_GET(word, BRANCH_COND);
  branch->msfign = (uint8_t)DAEDALUS_V3D_GET(word, BRANCH_MSFIGN);
  branch->set_link = (uint8_t)DAEDALUS_V3D_GET(word, BRANCH_SET_LINK);
  branch->target = (uint8_t)DAEDALUS_V3D_GET(word, BRANCH_TARGET);
  branch->uniforms = (uint8_t)DAEDALUS_V3D_GET(word, BRANCH_UNIFORMS);
  if (branch->cond == 1)
    return "branch condition 1 is reserved";
  if (branch->msfign > DAEDALUS_V3D_MSFIGN_Q)
    return "msfign 3 is reserved";
  if (branch->uniforms != 0) {
    if (uniform_dest > DAEDALUS_V3D_BRANCH_REGISTER)
      return "the destination of the uniform stream is reserved";
    branch->uniform_dest = (uint8_t)uniform_dest;
  }
  if (branch->target <= DAEDALUS_V3D_BRANCH_RELATIVE)
    branch->offset = DAEDALUS_V3D_GET(word, BRANCH_OFFSET_LOW) << 3 |
                     DAEDALUS_V3D_GET(word, BRANCH_OFFSET_HIGH) << 24;
  if (branch->target == DAEDALUS_V3D_BRANCH_REGISTER ||
      branch->uniform_dest == DAEDALUS_V3D_BRANCH_REGISTER)
    branch->reg = (uint8_t)DAEDALUS_V3D_GET(word, RADDR_A);
  return NULL;
}

static const char *unpack_condition(uint64_t word, daedalus_v3d_instruction *instruction) {
  const unsigned field = DAEDALUS_V3D_GET(word, COND);
  if ((instruction->signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) != 0) {
    instruction->signal_dest =
        (daedalus_v3d_dest){.magic = (uint8_t)(field >> 6), .waddr = (uint8_t)(field & 63)};
    if (instruction->signal_dest.magic != 0 &&
        !daedalus_v3d_is_magic_waddr(instruction->signal_dest.waddr))
      return "the write address of the signal is reserved";
    return NULL;
  }
  daedalus_v3d_condition condition;
  const char *why = daedalus_v3d_decode_condition(field, &condition);
  instruction->add.cond = condition.add_cond;
  instruction->add.flags = condition.add_flags;
  instruction->mul.cond = condition.mul_cond;
  instruction->mul.flags = condition.mul_flags;
  return why;
}

const char *daedalus_v3d_unpack(uint64_t word, daedalus_v3d_instruction *instruction) {
  memset(instruction, 0, sizeof *instruction);
  if (DAEDALUS_V3D_GET(word, OP_MUL) == 0) {
    if (DAEDALUS_V3D_GET(word, BRANCH_MARK) != DAEDALUS_V3D_IS_BRANCH)
      return "the word is neither an ALU instruction nor a branch";
    instruction->is_branch = 1;
    return unpack_branch(word, &instruction->branch);
  }
  const daedalus_v3d_signal_set *set = &daedalus_v3d_signal_sets[DAEDALUS_V3D_GET(word, SIG)];
  if (set->reserved != 0)
    return "the value of the signal field is reserved";
  instruction->signals = set->signals;
  const fields add = {
      .opcode = DAEDALUS_V3D_GET(word, OP_ADD),
      .magic = DAEDALUS_V3D_GET(word, MAGIC_ADD),
      .waddr = DAEDALUS_V3D_GET(word, WADDR_ADD),
      .raddr = {DAEDALUS_V3D_GET(word, RADDR_A), DAEDALUS_V3D_GET(word, RADDR_B)},
      .small = set->small_port <= 2 ? set->small_port : 0,
  };
  const fields mul = {
      .opcode = DAEDALUS_V3D_GET(word, OP_MUL),
      .magic = DAEDALUS_V3D_GET(word, MAGIC_MUL),
      .waddr = DAEDALUS_V3D_GET(word, WADDR_MUL),
      .raddr = {DAEDALUS_V3D_GET(word, RADDR_C), DAEDALUS_V3D_GET(word, RADDR_D)},
      .small = set->small_port > 2 ? set->small_port - 2u : 0,
  };
  const char *why = unpack_add(&add, &instruction->add);
  if (why == NULL)
    why = unpack_mul(&mul, &instruction->mul);
  if (why == NULL)
    why = unpack_condition(word, instruction);
  return why;
}
