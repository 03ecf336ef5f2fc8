/* SPDX-License-Identifier: BSD-2-Clause */
#include "encoding/tables.h"
#include "text/assembler.h"
#include "text/names.h"

/* Where in an instruction the parser is. */
typedef enum place { AT_ADD, AT_MUL, AT_SIGNALS } place;

bool daedalus_v3d_token_register(const daedalus_v3d_assembler *as, daedalus_v3d_token token,
                                 uint8_t *index) {
  int number = daedalus_v3d_register_of(token);
  const daedalus_v3d_symbol *symbol = daedalus_v3d_symbols_find(&as->symbols, token);
  if (number < 0 && symbol != NULL && symbol->kind == DAEDALUS_V3D_SYMBOL_REGISTER)
    number = (int)symbol->value;
  *index = (uint8_t)number;
  return number >= 0 && number < DAEDALUS_V3D_REGISTERS;
}

/* A modifier: `.` and a name, with no blank before it. Length 0: there is none. */
static daedalus_v3d_token take_suffix(daedalus_v3d_assembler *as) {
  if (as->at == as->line_end || *as->at != '.')
    return (daedalus_v3d_token){as->at, 0};
  as->at++;
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  return (daedalus_v3d_token){name.start - 1, name.length + 1};
}

/* The index of a suffix among names; -1. */
static int suffix_index(daedalus_v3d_token suffix, const char *const *names, size_t n) {
  return daedalus_v3d_name_index(names, n, suffix.start + 1, suffix.length - 1);
}

static bool parse_conditions(daedalus_v3d_assembler *as, daedalus_v3d_alu *alu) {
  for (;;) {
    const daedalus_v3d_token suffix = take_suffix(as);
    if (suffix.length == 0)
      return true;
    const int cond = suffix_index(suffix, daedalus_v3d_cond_names, DAEDALUS_V3D_N_CONDS);
    const int flags = suffix_index(suffix, daedalus_v3d_flags_names, DAEDALUS_V3D_N_FLAGS);
    if (cond < 0 && flags < 0)
      return daedalus_v3d_fail(as, suffix.start,
                               "`%.*s` is neither a condition (.ifa) nor a flag change (.pushz)",
                               DAEDALUS_V3D_TOKEN_ARGS(suffix));
    if (alu->cond != 0 || alu->flags != 0)
      return daedalus_v3d_fail(as, suffix.start,
                               "an operation has one condition or one flag change: drop `%.*s`",
                               DAEDALUS_V3D_TOKEN_ARGS(suffix));
    alu->cond = (uint8_t)(cond < 0 ? 0 : cond);
    alu->flags = (uint8_t)(flags < 0 ? 0 : flags);
  }
}

static bool parse_dest(daedalus_v3d_assembler *as, const char *of, daedalus_v3d_dest *dest) {
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  if (daedalus_v3d_accept(as, '-')) {
    *dest = (daedalus_v3d_dest){.magic = 1, .waddr = DAEDALUS_V3D_WADDR_NOP};
    return true;
  }
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  *dest = (daedalus_v3d_dest){0};
  if (daedalus_v3d_token_register(as, name, &dest->waddr))
    return true;
  const int waddr = daedalus_v3d_name_index(daedalus_v3d_waddr_names, DAEDALUS_V3D_N_WADDRS,
                                            name.start, name.length);
  if (waddr >= 0) {
    *dest = (daedalus_v3d_dest){.magic = 1, .waddr = (uint8_t)waddr};
    return true;
  }
  if (daedalus_v3d_register_of(name) >= 0)
    return daedalus_v3d_fail(as, start, "there is no `%.*s`: the registers are rf0 to rf63",
                             DAEDALUS_V3D_TOKEN_ARGS(name));
  if (name.length == 0 && daedalus_v3d_at_end(as))
    return daedalus_v3d_fail(as, start, "`%s` needs a destination: a register, or `-` for none",
                             of);
  as->at = start;
  return daedalus_v3d_fail(as, start,
                           "`%.*s` is no destination of `%s`: write a register, `-`, or a write "
                           "address such as tmua",
                           DAEDALUS_V3D_TOKEN_ARGS(daedalus_v3d_peek_word(as)), of);
}

static bool parse_small(daedalus_v3d_assembler *as, daedalus_v3d_operand *src) {
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  uint32_t value;
  if (!daedalus_v3d_take_u32(as, &value))
    return false;
  const int index = daedalus_v3d_small_immediate_index(value);
  if (index < 0)
    return daedalus_v3d_fail(as, start,
                             "0x%08x is no small immediate (-16 to 15, or 2^-8 to 2^7 as a float): "
                             "load it with ldunif or ldunifrf",
                             (unsigned)value);
  *src = (daedalus_v3d_operand){.small = 1, .index = (uint8_t)index};
  return true;
}

static bool parse_source(daedalus_v3d_assembler *as, const daedalus_v3d_operation *operation,
                         bool modified, daedalus_v3d_operand *src) {
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  if (!daedalus_v3d_token_register(as, name, &src->index)) {
    if (daedalus_v3d_register_of(name) >= 0)
      return daedalus_v3d_fail(as, start, "there is no `%.*s`: the registers are rf0 to rf63",
                               DAEDALUS_V3D_TOKEN_ARGS(name));
    if (daedalus_v3d_name_index(daedalus_v3d_waddr_names, DAEDALUS_V3D_N_WADDRS, name.start,
                                name.length) >= 0)
      return daedalus_v3d_fail(as, start, "`%.*s` can be written, not read",
                               DAEDALUS_V3D_TOKEN_ARGS(name));
    as->at = start;
    if (!parse_small(as, src))
      return false;
  }
  const daedalus_v3d_token suffix = take_suffix(as);
  if (suffix.length == 0)
    return true;
  const int unpack = suffix_index(suffix, daedalus_v3d_unpack_names, DAEDALUS_V3D_N_UNPACKS);
  if (unpack < 0)
    return daedalus_v3d_fail(as, suffix.start, "`%.*s` is no modifier of a source",
                             DAEDALUS_V3D_TOKEN_ARGS(suffix));
  if (!modified || daedalus_v3d_modifier_code(operation->unpack, (unsigned)unpack) < 0)
    return daedalus_v3d_fail(as, suffix.start, "this source of `%s` does not take `%.*s`",
                             operation->text, DAEDALUS_V3D_TOKEN_ARGS(suffix));
  src->unpack = (uint8_t)unpack;
  return true;
}

static bool parse_result(daedalus_v3d_assembler *as, const daedalus_v3d_operation *operation,
                         daedalus_v3d_alu *alu) {
  if (!parse_dest(as, operation->text, &alu->dest))
    return false;
  const daedalus_v3d_token suffix = take_suffix(as);
  if (suffix.length == 0)
    return true;
  const int pack = suffix_index(suffix, daedalus_v3d_pack_names, DAEDALUS_V3D_N_PACKS);
  if (pack < 0 || operation->pack == DAEDALUS_V3D_PACKS_NONE)
    return daedalus_v3d_fail(as, suffix.start, "the result of `%s` does not take `%.*s`",
                             operation->text, DAEDALUS_V3D_TOKEN_ARGS(suffix));
  alu->pack = (uint8_t)pack;
  return true;
}

static bool parse_operation(daedalus_v3d_assembler *as, unsigned op, daedalus_v3d_alu *alu) {
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
  const bool has_dest =
      op != DAEDALUS_V3D_OP_NOP && (operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST) == 0;
  const daedalus_v3d_dest nowhere = alu->dest;
  *alu = (daedalus_v3d_alu){.op = (uint8_t)op, .dest = nowhere};
  if (!parse_conditions(as, alu) || (has_dest && !parse_result(as, operation, alu)))
    return false;
  for (unsigned i = 0; i < operation->sources; i++) {
    if ((has_dest || i > 0) && !daedalus_v3d_accept(as, ','))
      return daedalus_v3d_fail(as, as->at, "`%s` has %u source%s: `,` and source %u are missing",
                               operation->text, operation->sources,
                               operation->sources == 1 ? "" : "s", i + 1);
    const bool modified = i == 0 || operation->unpack != DAEDALUS_V3D_UNPACKS_F16;
    if (!parse_source(as, operation, modified, &alu->src[i]))
      return false;
  }
  return true;
}

static bool parse_signal(daedalus_v3d_assembler *as, const daedalus_v3d_signal_name *signal,
                         const char *start, daedalus_v3d_instruction *instruction) {
  if ((instruction->signals & signal->bit) != 0)
    return daedalus_v3d_fail(as, start, "`%s` stands twice", signal->text);
  instruction->signals |= signal->bit;
  const bool dotted = as->at < as->line_end && *as->at == '.';
  const bool addressed = (signal->bit & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) != 0;
  if (dotted && !addressed)
    return daedalus_v3d_fail(as, as->at, "`%s` names no destination", signal->text);
  if (!dotted && addressed)
    return daedalus_v3d_fail(as, start, "`%s` names its destination: write `%s.rf1` or the like",
                             signal->text, signal->text);
  as->at += dotted;
  return !addressed || parse_dest(as, signal->text, &instruction->signal_dest);
}

static bool unknown(daedalus_v3d_assembler *as, daedalus_v3d_token name) {
  /* Looking for it takes long, with many mistakes. */
  const char *meant = daedalus_v3d_describes(as) ? daedalus_v3d_did_you_mean(name) : NULL;
  return daedalus_v3d_fail(as, name.start, "no operation or signal is called `%.*s`%s%s%s",
                           DAEDALUS_V3D_TOKEN_ARGS(name), meant != NULL ? ": did you mean `" : "",
                           meant != NULL ? meant : "", meant != NULL ? "`?" : "");
}

/* One operation or signal. *at moves on to where the next one may stand. */
static bool parse_part(daedalus_v3d_assembler *as, place *at,
                       daedalus_v3d_instruction *instruction) {
  daedalus_v3d_skip_blanks(as);
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  if (name.length == 0)
    return daedalus_v3d_fail(as, as->at, "`%.*s` begins neither an operation nor a signal",
                             DAEDALUS_V3D_TOKEN_ARGS(daedalus_v3d_peek_word(as)));
  const int signal = daedalus_v3d_signal_index(name.start, name.length);
  if (signal >= 0) {
    *at = AT_SIGNALS;
    return parse_signal(as, &daedalus_v3d_signal_names[signal], name.start, instruction);
  }
  const int op = daedalus_v3d_op_index(name.start, name.length);
  if (op < 0 && daedalus_v3d_is_branch_name(name))
    return daedalus_v3d_fail(as, name.start, "a branch is an instruction of its own");
  if (op < 0)
    return unknown(as, name);
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of((unsigned)op);
  if (*at == AT_SIGNALS)
    return daedalus_v3d_fail(as, name.start,
                             "`%s` comes too late: an add operation, a mul operation, then signals",
                             operation->text);
  if (*at == AT_ADD && operation->on_add != 0) {
    *at = AT_MUL;
    return parse_operation(as, (unsigned)op, &instruction->add);
  }
  if (operation->on_mul == 0)
    return daedalus_v3d_fail(as, name.start,
                             "`%s` is an operation of the add ALU: it stands before the first `;`",
                             operation->text);
  *at = AT_SIGNALS;
  return parse_operation(as, (unsigned)op, &instruction->mul);
}

bool daedalus_v3d_parse_instruction(daedalus_v3d_assembler *as,
                                    daedalus_v3d_instruction *instruction) {
  place at = AT_ADD;
  *instruction = daedalus_v3d_nop();
  const char *start = as->at;
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  if (daedalus_v3d_is_branch_name(name))
    return daedalus_v3d_parse_branch(as, name, instruction);
  as->at = start;
  for (;;) {
    daedalus_v3d_skip_blanks(as);
    const bool empty = daedalus_v3d_at_end(as) || *as->at == ';' || *as->at == '(';
    if (empty && at == AT_SIGNALS)
      return daedalus_v3d_fail(as, as->at, "a signal is missing after `;`");
    if (empty)
      at++; /* an operation left out: nop */
    else if (!parse_part(as, &at, instruction))
      return false;
    if (!daedalus_v3d_accept(as, ';'))
      return true;
  }
}
