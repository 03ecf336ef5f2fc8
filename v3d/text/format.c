/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <daedalus/v3d/text.h>

#include "text/names.h"

enum { MUL_COLUMN = 30, SIGNAL_COLUMN = 60 };

/* A line in the making; nothing that can be printed fills it. */
typedef struct line {
  char *text;
  size_t length;
} line;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(line *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const size_t room = DAEDALUS_V3D_LINE - out->length;
  const int n = vsnprintf(out->text + out->length, room, format, arguments);
  va_end(arguments);
  out->length += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void add_suffix(line *out, const char *const *names, unsigned index) {
  if (index != 0)
    add(out, ".%s", names[index]);
}

static void pad(line *out, size_t column) {
  while (out->length < column)
    add(out, " ");
}

static void add_dest(line *out, const daedalus_v3d_dest *dest) {
  if (dest->magic == 0)
    add(out, "rf%u", dest->waddr);
  else if (dest->waddr < DAEDALUS_V3D_N_WADDRS && daedalus_v3d_waddr_names[dest->waddr] != NULL)
    add(out, "%s", daedalus_v3d_waddr_names[dest->waddr]);
  else
    add(out, "waddr%u", dest->waddr); /* No instruction that packs. */
}

static void add_source(line *out, const daedalus_v3d_operand *src) {
  const uint32_t value = daedalus_v3d_small_immediate(src->index);
  const int32_t number = (int32_t)value;
  if (src->small == 0)
    add(out, "rf%u", src->index);
  else if (number >= -16 && number <= 15)
    add(out, "%" PRId32, number);
  else
    add(out, "0x%08" PRIx32, value);
  add_suffix(out, daedalus_v3d_unpack_names, src->unpack % DAEDALUS_V3D_N_UNPACKS);
}

static bool has_dest(const daedalus_v3d_alu *alu) {
  return alu->op != DAEDALUS_V3D_OP_NOP &&
         (daedalus_v3d_operation_of(alu->op)->traits & DAEDALUS_V3D_TRAIT_NO_DEST) == 0;
}

static void add_alu(line *out, const daedalus_v3d_alu *alu) {
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(alu->op);
  const char *separator = " ";
  add(out, "%s", operation->text);
  add_suffix(out, daedalus_v3d_cond_names, alu->cond % DAEDALUS_V3D_N_CONDS);
  add_suffix(out, daedalus_v3d_flags_names, alu->flags % DAEDALUS_V3D_N_FLAGS);
  if (has_dest(alu)) {
    add(out, "%s", separator);
    add_dest(out, &alu->dest);
    add_suffix(out, daedalus_v3d_pack_names, alu->pack % DAEDALUS_V3D_N_PACKS);
    separator = ", ";
  }
  for (unsigned i = 0; i < operation->sources; i++) {
    add(out, "%s", separator);
    add_source(out, &alu->src[i]);
    separator = ", ";
  }
}

static void add_signals(line *out, const daedalus_v3d_instruction *instruction) {
  if (instruction->signals == 0)
    return;
  pad(out, SIGNAL_COLUMN);
  for (unsigned i = 0; i < DAEDALUS_V3D_N_SIGNALS; i++) {
    const daedalus_v3d_signal_name *signal = &daedalus_v3d_signal_names[i];
    if ((instruction->signals & signal->bit) == 0)
      continue;
    add(out, "; %s", signal->text);
    if ((signal->bit & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) != 0) {
      add(out, ".");
      add_dest(out, &instruction->signal_dest);
    }
  }
}

static void add_branch(line *out, const daedalus_v3d_branch *branch) {
  add(out, "b%s", branch->uniforms != 0 ? "u" : "");
  const char *cond = daedalus_v3d_branch_cond_names[branch->cond % DAEDALUS_V3D_N_BRANCH_CONDS];
  if (cond != NULL && cond[0] != '\0')
    add(out, ".%s", cond);
  add(out, "%s", daedalus_v3d_msfign_names[branch->msfign % DAEDALUS_V3D_N_MSFIGNS]);
  if (branch->set_link != 0)
    add(out, "." DAEDALUS_V3D_TEXT_SET_LINK);
  add(out, "  ");
  switch (branch->target) {
    case DAEDALUS_V3D_BRANCH_ABSOLUTE:
      add(out, DAEDALUS_V3D_TEXT_ABSOLUTE "+0x%08" PRIx32, branch->offset);
      break;
    case DAEDALUS_V3D_BRANCH_RELATIVE:
      add(out, "%" PRId32, (int32_t)branch->offset);
      break;
    case DAEDALUS_V3D_BRANCH_LINK:
      add(out, DAEDALUS_V3D_TEXT_LINK);
      break;
    default:
      add(out, "rf%u", branch->reg);
      break;
  }
  if (branch->uniforms == 0)
    return;
  switch (branch->uniform_dest) {
    case DAEDALUS_V3D_BRANCH_ABSOLUTE:
      add(out, ", " DAEDALUS_V3D_TEXT_UNIFORM_ABSOLUTE);
      break;
    case DAEDALUS_V3D_BRANCH_RELATIVE:
      add(out, ", " DAEDALUS_V3D_TEXT_UNIFORM_RELATIVE);
      break;
    case DAEDALUS_V3D_BRANCH_LINK:
      add(out, ", " DAEDALUS_V3D_TEXT_LINK);
      break;
    default:
      add(out, ", rf%u", branch->reg);
      break;
  }
}

size_t daedalus_v3d_format(const daedalus_v3d_instruction *instruction, char *text) {
  line out = {.text = text, .length = 0};
  text[0] = '\0';
  if (instruction->is_branch != 0) {
    add_branch(&out, &instruction->branch);
    return out.length;
  }
  add_alu(&out, &instruction->add);
  pad(&out, MUL_COLUMN);
  add(&out, "; ");
  add_alu(&out, &instruction->mul);
  add_signals(&out, instruction);
  return out.length;
}

const char *daedalus_v3d_disassemble(uint64_t word, char *text) {
  daedalus_v3d_instruction instruction;
  const char *why = daedalus_v3d_unpack(word, &instruction);
  if (why == NULL)
    daedalus_v3d_format(&instruction, text);
  else
    snprintf(text, DAEDALUS_V3D_LINE, ".word 0x%016" PRIx64, word);
  return why;
}
