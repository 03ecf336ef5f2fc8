/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "text/assembler.h"
#include "text/names.h"

/* Instructions between a branch and what its relative target counts from: itself and the slots. */
enum { BRANCH_WINDOW = 4 * 8 };

bool daedalus_v3d_is_branch_name(daedalus_v3d_token name) {
  static const char *const names[] = {"b", "bp", "bq", "bu", "bup", "buq"};
  return daedalus_v3d_name_index(names, sizeof names / sizeof *names, name.start, name.length) >= 0;
}

/* Takes p or q off the end of token. */
static uint8_t take_msfign(daedalus_v3d_token *token) {
  const char last = token->start[token->length - 1];
  if (last != 'p' && last != 'q')
    return DAEDALUS_V3D_MSFIGN_NONE;
  token->length--;
  return last == 'p' ? DAEDALUS_V3D_MSFIGN_P : DAEDALUS_V3D_MSFIGN_Q;
}

static bool parse_suffixes(daedalus_v3d_assembler *as, daedalus_v3d_branch *branch) {
  while (as->at < as->line_end && *as->at == '.') {
    const char *start = as->at++;
    const daedalus_v3d_token name = daedalus_v3d_take_name(as);
    if (daedalus_v3d_token_is(name, DAEDALUS_V3D_TEXT_SET_LINK) && branch->set_link == 0) {
      branch->set_link = 1;
      continue;
    }
    daedalus_v3d_token cond = name;
    const uint8_t msfign = name.length > 0 ? take_msfign(&cond) : 0;
    const int index = daedalus_v3d_name_index(daedalus_v3d_branch_cond_names,
                                              DAEDALUS_V3D_N_BRANCH_CONDS, cond.start, cond.length);
    if (index < 0 || branch->cond != 0 || branch->set_link != 0 || branch->msfign != 0)
      return daedalus_v3d_fail(as, start,
                               "`.%.*s` is no branch condition: one of .a0 .na0 .alla .anyna .anya "
                               ".allna, with p or q at its end or without, then .link or nothing",
                               DAEDALUS_V3D_TOKEN_ARGS(name));
    branch->cond = (uint8_t)index;
    branch->msfign = msfign;
  }
  return true;
}

/* A register of either destination; the instruction has room for one. */
static bool set_register(daedalus_v3d_assembler *as, const char *where, uint8_t index, bool again,
                         daedalus_v3d_branch *branch) {
  if (again && branch->reg != index)
    return daedalus_v3d_fail(
        as, where, "a branch has room for one register: both destinations have to use it");
  branch->reg = index;
  return true;
}

static bool check_offset(daedalus_v3d_assembler *as, const char *where, int64_t offset,
                         daedalus_v3d_branch *branch) {
  if (offset < INT32_MIN || offset > UINT32_MAX || offset % 8 != 0)
    return daedalus_v3d_fail(as, where, "a branch goes to a multiple of 8 bytes of 32 bits");
  branch->offset = (uint32_t)offset;
  return true;
}

static bool parse_absolute(daedalus_v3d_assembler *as, daedalus_v3d_branch *branch) {
  uint32_t address;
  branch->target = DAEDALUS_V3D_BRANCH_ABSOLUTE;
  if (!daedalus_v3d_accept(as, '+'))
    return daedalus_v3d_fail(as, as->at, "`+` and an address belong behind `zero_addr`");
  daedalus_v3d_skip_blanks(as);
  const char *where = as->at;
  return daedalus_v3d_take_u32(as, &address) && check_offset(as, where, address, branch);
}

static bool parse_target(daedalus_v3d_assembler *as, daedalus_v3d_branch *branch) {
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  uint8_t index;
  if (daedalus_v3d_token_is(name, DAEDALUS_V3D_TEXT_ABSOLUTE))
    return parse_absolute(as, branch);
  if (daedalus_v3d_token_is(name, DAEDALUS_V3D_TEXT_LINK)) {
    branch->target = DAEDALUS_V3D_BRANCH_LINK;
    return true;
  }
  if (daedalus_v3d_token_register(as, name, &index)) {
    branch->target = DAEDALUS_V3D_BRANCH_REGISTER;
    return set_register(as, start, index, false, branch);
  }
  as->at = start;
  daedalus_v3d_value value;
  branch->target = DAEDALUS_V3D_BRANCH_RELATIVE;
  if (!daedalus_v3d_take_expression(as, &value))
    return false;
  if (value.labels != 0 && value.labels != 1)
    return daedalus_v3d_fail(as, start, "the target is neither a label nor a number");
  if (value.labels == 1)
    value.number -= (int64_t)as->n_words * 8 + BRANCH_WINDOW;
  return check_offset(as, start, value.number, branch);
}

static bool parse_uniform_target(daedalus_v3d_assembler *as, daedalus_v3d_branch *branch) {
  daedalus_v3d_skip_blanks(as);
  const char *start = as->at;
  const daedalus_v3d_token name = daedalus_v3d_take_name(as);
  uint8_t index;
  if (daedalus_v3d_token_is(name, DAEDALUS_V3D_TEXT_LINK)) {
    branch->uniform_dest = DAEDALUS_V3D_BRANCH_LINK;
    return true;
  }
  if (daedalus_v3d_token_register(as, name, &index)) {
    branch->uniform_dest = DAEDALUS_V3D_BRANCH_REGISTER;
    return set_register(as, start, index, branch->target == DAEDALUS_V3D_BRANCH_REGISTER, branch);
  }
  if (daedalus_v3d_accept(as, ':'))
    (void)daedalus_v3d_take_name(as);
  const daedalus_v3d_token whole = {start, (size_t)(as->at - start)};
  if (daedalus_v3d_token_is(whole, DAEDALUS_V3D_TEXT_UNIFORM_ABSOLUTE))
    branch->uniform_dest = DAEDALUS_V3D_BRANCH_ABSOLUTE;
  else if (daedalus_v3d_token_is(whole, DAEDALUS_V3D_TEXT_UNIFORM_RELATIVE))
    branch->uniform_dest = DAEDALUS_V3D_BRANCH_RELATIVE;
  else
    return daedalus_v3d_fail(as, start,
                             "the uniform stream goes to a:unif, r:unif, lri or a register");
  return true;
}

bool daedalus_v3d_parse_branch(daedalus_v3d_assembler *as, daedalus_v3d_token name,
                               daedalus_v3d_instruction *instruction) {
  memset(instruction, 0, sizeof *instruction);
  instruction->is_branch = 1;
  daedalus_v3d_branch *branch = &instruction->branch;
  branch->uniforms = name.length > 1 && name.start[1] == 'u';
  branch->msfign = take_msfign(&name);
  if (!parse_suffixes(as, branch) || !parse_target(as, branch))
    return false;
  const bool more = daedalus_v3d_accept(as, ',');
  if (more && branch->uniforms == 0)
    return daedalus_v3d_fail(as, as->at, "only `bu` has a second target, of the uniform stream");
  if (!more && branch->uniforms != 0)
    return daedalus_v3d_fail(as, as->at,
                             "`bu` names where the uniform stream goes: write `, r:unif` or the "
                             "like, or `b` for a branch of instructions only");
  return !more || parse_uniform_target(as, branch);
}
