/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "encoding/tables.h"

/* No padding: structs are compared with memcmp(). */
_Static_assert(sizeof(daedalus_v3d_alu) == 12, "padding");
_Static_assert(sizeof(daedalus_v3d_branch) == 12, "padding");
_Static_assert(sizeof(daedalus_v3d_instruction) == 44, "padding");

/* The fields of one ALU, before they take their places in the word. */
typedef struct fields {
  unsigned opcode, magic, waddr, raddr[2];
} fields;

static const char *check_dest(const daedalus_v3d_dest *dest) {
  if (dest->magic > 1)
    return "magic of a destination is 0 or 1";
  if (dest->magic == 0 && dest->waddr >= DAEDALUS_V3D_REGISTERS)
    return "the highest register is rf63";
  if (dest->magic == 1 && !daedalus_v3d_is_magic_waddr(dest->waddr))
    return "the write address is reserved";
  return NULL;
}

static const char *pack_dest(const daedalus_v3d_alu *alu, const daedalus_v3d_encoding *encoding,
                             fields *out) {
  const char *why = check_dest(&alu->dest);
  if (why != NULL)
    return why;
  const bool nowhere = alu->dest.magic == 1 && alu->dest.waddr == DAEDALUS_V3D_WADDR_NOP;
  out->magic = alu->dest.magic;
  out->waddr = alu->dest.waddr;
  switch (encoding->dest) {
    case DAEDALUS_V3D_DEST_REGISTER:
    case DAEDALUS_V3D_DEST_OUT:
      if (alu->dest.magic != 0)
        return "the operation writes registers only";
      out->magic = encoding->dest == DAEDALUS_V3D_DEST_OUT;
      return NULL;
    case DAEDALUS_V3D_DEST_OPERATION:
      out->magic = 0;
      out->waddr = encoding->waddr;
      return nowhere ? NULL : "the operation has no destination: it has to be `-`";
    case DAEDALUS_V3D_DEST_NONE:
      return nowhere ? NULL : "the operation has no destination: it has to be `-`";
    default:
      return NULL;
  }
}

static const char *check_sources(const daedalus_v3d_alu *alu,
                                 const daedalus_v3d_operation *operation) {
  for (unsigned i = 0; i < 2; i++) {
    const daedalus_v3d_operand *src = &alu->src[i];
    if (i >= operation->sources) {
      if (src->small != 0 || src->index != 0 || src->unpack != 0)
        return "a source that the operation does not have is not 0";
      continue;
    }
    if (src->small > 1)
      return "small of a source is 0 or 1";
    if (src->small == 0 && src->index >= DAEDALUS_V3D_REGISTERS)
      return "the highest register is rf63";
    if (src->small == 1 && src->index >= DAEDALUS_V3D_SMALL_IMMEDIATES)
      return "there are 48 small immediates";
    if (i == 1 && operation->unpack == DAEDALUS_V3D_UNPACKS_F16) {
      if (src->unpack != DAEDALUS_V3D_UNPACK_NONE)
        return "only the first source of the operation takes a modifier";
    } else if (daedalus_v3d_modifier_code(operation->unpack, src->unpack) < 0) {
      return "the operation has no such modifier of a source";
    }
  }
  return NULL;
}

static const char *check_pair(const daedalus_v3d_alu *alu, const daedalus_v3d_encoding *encoding,
                              const daedalus_v3d_operation *operation) {
  if ((operation->traits & DAEDALUS_V3D_TRAIT_ORDERED_PAIR) == 0 ||
      daedalus_v3d_is_second_of_pair(alu) == (encoding->second != 0))
    return NULL;
  if (encoding->second != 0 && memcmp(&alu->src[0], &alu->src[1], sizeof alu->src[0]) == 0)
    return "faddnf and fmax of one operand twice have no encoding";
  return "the order of the sources makes it the other operation of fadd/faddnf or fmin/fmax: "
         "exchange them";
}

static const char *pack_alu(const daedalus_v3d_alu *alu, const daedalus_v3d_encoding *encoding,
                            fields *out) {
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(alu->op);
  const char *why = pack_dest(alu, encoding, out);
  if (why == NULL)
    why = check_sources(alu, operation);
  if (why == NULL)
    why = check_pair(alu, encoding, operation);
  if (why != NULL)
    return why;
  if (alu->pack >= (operation->pack == DAEDALUS_V3D_PACKS_F32 ? DAEDALUS_V3D_N_PACKS : 1))
    return "the operation has no such modifier of the result";

  unsigned codes[2] = {0, 0};
  for (unsigned i = 0; i < operation->sources; i++) {
    out->raddr[i] = alu->src[i].index;
    const int code = daedalus_v3d_modifier_code(operation->unpack, alu->src[i].unpack);
    codes[i] = (unsigned)(code < 0 ? 0 : code);
  }
  out->opcode = encoding->opcode;
  if (operation->sources < 2)
    out->raddr[1] = encoding->selector + 4 * codes[0] + alu->pack;
  else if (operation->unpack == DAEDALUS_V3D_UNPACKS_F16)
    out->opcode += codes[0];
  else
    out->opcode += 16u * alu->pack + 4 * codes[0] + codes[1];
  return NULL;
}

/* The value of the signal field for the signals and the one small immediate. */
static const char *pack_signals(const daedalus_v3d_instruction *instruction, unsigned *field) {
  unsigned port = 0, count = 0;
  for (unsigned i = 0; i < 4; i++) {
    const daedalus_v3d_alu *alu = i < 2 ? &instruction->add : &instruction->mul;
    if (alu->src[i & 1].small != 0) {
      port = i + 1;
      count++;
    }
  }
  if (count > 1)
    return "an instruction takes one small immediate";
  for (unsigned i = 0; i < DAEDALUS_V3D_SIGNAL_SETS; i++) {
    const daedalus_v3d_signal_set *set = &daedalus_v3d_signal_sets[i];
    if (set->reserved == 0 && set->signals == instruction->signals && set->small_port == port) {
      *field = i;
      return NULL;
    }
  }
  if (count > 0)
    return "a small immediate leaves no room for signals";
  return "there is no such combination of signals";
}

static const char *pack_condition(const daedalus_v3d_instruction *instruction, unsigned *field) {
  const daedalus_v3d_alu *add = &instruction->add, *mul = &instruction->mul;
  const daedalus_v3d_dest *dest = &instruction->signal_dest;
  if ((instruction->signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) == 0) {
    if (dest->magic != 0 || dest->waddr != 0)
      return "a destination of signals is named, but no signal has one";
    const daedalus_v3d_condition condition = {add->cond, mul->cond, add->flags, mul->flags};
    return daedalus_v3d_encode_condition(&condition, field);
  }
  if (add->cond != 0 || mul->cond != 0 || add->flags != 0 || mul->flags != 0)
    return "beside a signal with a destination there is no room for conditions and flag changes";
  *field = (unsigned)dest->magic << 6 | dest->waddr;
  return check_dest(dest);
}

static const char *pack_branch(const daedalus_v3d_instruction *instruction, uint64_t *word) {
  const daedalus_v3d_branch *branch = &instruction->branch;
  const daedalus_v3d_instruction only = {.is_branch = 1, .branch = *branch};
  if (memcmp(&only, instruction, sizeof only) != 0)
    return "a branch has no operations and no signals";
  if (branch->cond > DAEDALUS_V3D_BRANCH_ALLNA || branch->cond == 1)
    return "there is no such branch condition";
  if (branch->msfign > DAEDALUS_V3D_MSFIGN_Q)
    return "there is no such msfign";
  if (branch->set_link > 1 || branch->uniforms > 1 || branch->reserved != 0)
    return "set_link and uniforms are 0 or 1, and reserved is 0";
  if (branch->target > DAEDALUS_V3D_BRANCH_REGISTER ||
      branch->uniform_dest > DAEDALUS_V3D_BRANCH_REGISTER)
    return "there is no such branch destination";
  if (branch->uniforms == 0 && branch->uniform_dest != 0)
    return "a destination of the uniform stream is named, but it does not branch";
  const bool takes_offset = branch->target <= DAEDALUS_V3D_BRANCH_RELATIVE;
  if (!takes_offset && branch->offset != 0)
    return "a branch to the link register or a register has no offset";
  if (branch->offset % 8 != 0)
    return "the offset of a branch is a multiple of 8";
  const bool takes_register = branch->target == DAEDALUS_V3D_BRANCH_REGISTER ||
                              branch->uniform_dest == DAEDALUS_V3D_BRANCH_REGISTER;
  if (branch->reg >= DAEDALUS_V3D_REGISTERS)
    return "the highest register is rf63";
  if (!takes_register && branch->reg != 0)
    return "a register is named, but no destination of the branch uses it";
  *word = DAEDALUS_V3D_PUT(DAEDALUS_V3D_IS_BRANCH, BRANCH_MARK) |
          DAEDALUS_V3D_PUT((branch->offset & 0xffffff) >> 3, BRANCH_OFFSET_LOW) |
          DAEDALUS_V3D_PUT(branch->cond, BRANCH_COND) |
          DAEDALUS_V3D_PUT(branch->offset >> 24, BRANCH_OFFSET_HIGH) |
          DAEDALUS_V3D_PUT(branch->set_link, BRANCH_SET_LINK) |
          DAEDALUS_V3D_PUT(branch->msfign, BRANCH_MSFIGN) |
          DAEDALUS_V3D_PUT(branch->uniform_dest, BRANCH_UNIFORM_DEST) |
          DAEDALUS_V3D_PUT(branch->uniforms, BRANCH_UNIFORMS) |
          DAEDALUS_V3D_PUT(branch->target, BRANCH_TARGET) | DAEDALUS_V3D_PUT(branch->reg, RADDR_A);
  return NULL;
}

const char *daedalus_v3d_pack(const daedalus_v3d_instruction *instruction, uint64_t *word) {
  static const daedalus_v3d_branch no_branch = {0};
  const daedalus_v3d_alu *add = &instruction->add, *mul = &instruction->mul;
  if (instruction->is_branch > 1 || instruction->reserved[0] != 0 ||
      instruction->reserved[1] != 0 || instruction->reserved[2] != 0)
    return "is_branch is 0 or 1, and reserved is 0";
  if (instruction->is_branch != 0)
    return pack_branch(instruction, word);
  if (memcmp(&instruction->branch, &no_branch, sizeof no_branch) != 0)
    return "branch is not 0, but the instruction is none";
  if (add->op >= DAEDALUS_V3D_N_OPS || mul->op >= DAEDALUS_V3D_N_OPS)
    return "there is no such operation";
  if (daedalus_v3d_operation_of(add->op)->on_add == 0)
    return "the add ALU does not have the operation";
  if (daedalus_v3d_operation_of(mul->op)->on_mul == 0)
    return "the mul ALU does not have the operation";

  fields a = {0}, m = {0};
  unsigned sig = 0, cond = 0;
  const char *why = pack_alu(add, &daedalus_v3d_add_encodings[add->op], &a);
  if (why == NULL)
    why = pack_alu(mul, &daedalus_v3d_mul_encodings[mul->op], &m);
  if (why == NULL)
    why = pack_signals(instruction, &sig);
  if (why == NULL)
    why = pack_condition(instruction, &cond);
  if (why != NULL)
    return why;
  *word = DAEDALUS_V3D_PUT(m.opcode, OP_MUL) | DAEDALUS_V3D_PUT(sig, SIG) |
          DAEDALUS_V3D_PUT(cond, COND) | DAEDALUS_V3D_PUT(m.magic, MAGIC_MUL) |
          DAEDALUS_V3D_PUT(a.magic, MAGIC_ADD) | DAEDALUS_V3D_PUT(m.waddr, WADDR_MUL) |
          DAEDALUS_V3D_PUT(a.waddr, WADDR_ADD) | DAEDALUS_V3D_PUT(a.opcode, OP_ADD) |
          DAEDALUS_V3D_PUT(m.raddr[0], RADDR_C) | DAEDALUS_V3D_PUT(m.raddr[1], RADDR_D) |
          DAEDALUS_V3D_PUT(a.raddr[0], RADDR_A) | DAEDALUS_V3D_PUT(a.raddr[1], RADDR_B);
  return NULL;
}

void daedalus_v3d_order_sources(daedalus_v3d_alu *alu) {
  if ((daedalus_v3d_operation_of(alu->op)->traits & DAEDALUS_V3D_TRAIT_ORDERED_PAIR) == 0 ||
      daedalus_v3d_is_second_of_pair(alu) == (daedalus_v3d_add_encodings[alu->op].second != 0))
    return;
  const daedalus_v3d_operand first = alu->src[0];
  alu->src[0] = alu->src[1];
  alu->src[1] = first;
}

daedalus_v3d_instruction daedalus_v3d_nop(void) {
  static const daedalus_v3d_dest nowhere = {.magic = 1, .waddr = DAEDALUS_V3D_WADDR_NOP};
  daedalus_v3d_instruction instruction;
  memset(&instruction, 0, sizeof instruction);
  instruction.add.op = instruction.mul.op = DAEDALUS_V3D_OP_NOP;
  instruction.add.dest = instruction.mul.dest = nowhere;
  return instruction;
}
