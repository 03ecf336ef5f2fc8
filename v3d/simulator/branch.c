/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches: of the program, and of the uniform stream with it. */
#include "simulator/engine.h"

/* Instructions between a branch and the instruction where it goes, itself included. */
enum { SLOTS_BYTES = 4 * 8 };

/* The lanes that the condition looks at. */
static daedalus_v3d_lanes considered(const v3d_thread *thread, unsigned msfign) {
  daedalus_v3d_lanes active = thread->state.active;
  if (msfign == DAEDALUS_V3D_MSFIGN_P)
    return active;
  if (msfign == DAEDALUS_V3D_MSFIGN_Q) {
    daedalus_v3d_lanes quads = 0;
    for (unsigned quad = 0; quad < V3D_LANES; quad += 4)
      if (active >> quad & 0xf)
        quads |= (daedalus_v3d_lanes)(0xfu << quad);
    return quads;
  }
  return V3D_ALL_LANES;
}

/* Whether the branch op would be taken now. */
static bool is_taken(const v3d_thread *thread, const v3d_op *op) {
  const daedalus_v3d_lanes a = thread->state.flag_a, lanes = considered(thread, op->branch.msfign);
  switch (op->branch.cond) {
    case DAEDALUS_V3D_BRANCH_A0:
      return a & 1;
    case DAEDALUS_V3D_BRANCH_NA0:
      return !(a & 1);
    case DAEDALUS_V3D_BRANCH_ALLA:
      return (lanes & ~a) == 0;
    case DAEDALUS_V3D_BRANCH_ANYNA:
      return (lanes & ~a) != 0;
    case DAEDALUS_V3D_BRANCH_ANYA:
      return (lanes & a) != 0;
    case DAEDALUS_V3D_BRANCH_ALLNA:
      return (lanes & a) == 0;
    default:
      return true;
  }
}

/*
 * The stream goes to the register's second element.  In one test on hardware that lies 4 bytes
 * behind a multiple of 8, and the word read is the one there.  False: the report is written.
 */
static bool stream_of_register(v3d_thread *thread, const v3d_op *op) {
  struct daedalus_v3d_machine *machine = thread->machine;
  const uint32_t address = thread->rows[op->branch.reg][1];
  if ((address & 4) && machine->strict) {
    machine->report->rule = DAEDALUS_V3D_RULE_STREAM_BIT_2;
    daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BROKEN_RULE, 1, address, "%s: %s",
                          daedalus_v3d_rule_name(DAEDALUS_V3D_RULE_STREAM_BIT_2),
                          daedalus_v3d_rule_text(DAEDALUS_V3D_RULE_STREAM_BIT_2));
    return false;
  }
  thread->uniforms = machine->profile.register_stream_ignores_bit_2 ? address & ~7u : address;
  return true;
}

/* Moves the uniform stream; a word of it is used up whether the branch is taken or not. */
static bool branch_uniforms(v3d_thread *thread, const v3d_op *op, bool taken) {
  uint32_t word = 0;
  const daedalus_v3d_branch *branch = &op->branch;
  if ((branch->uniform_dest == DAEDALUS_V3D_BRANCH_ABSOLUTE ||
       branch->uniform_dest == DAEDALUS_V3D_BRANCH_RELATIVE) &&
      !daedalus_v3d_next_uniform(thread, op, &word))
    return false;
  if (!taken)
    return true;
  switch (branch->uniform_dest) {
    case DAEDALUS_V3D_BRANCH_ABSOLUTE:
      thread->uniforms = word;
      break;
    case DAEDALUS_V3D_BRANCH_RELATIVE:
      thread->uniforms += word;
      break;
    case DAEDALUS_V3D_BRANCH_LINK:
      thread->uniforms = thread->state.link;
      break;
    default:
      if (!stream_of_register(thread, op))
        return false;
      break;
  }
  thread->uniforms &= ~3u;
  return true;
}

unsigned daedalus_v3d_run_branch(v3d_thread *thread, v3d_op *op) {
  const daedalus_v3d_branch *branch = &op->branch;
  const bool taken = is_taken(thread, op);
  const uint32_t after = op->address + SLOTS_BYTES, link = thread->state.link;
  if (branch->uniforms && !branch_uniforms(thread, op, taken))
    return V3D_EVENT_FAULT;
  if (branch->set_link && (taken || thread->state.profile->link_when_not_taken))
    thread->state.link = after;
  if (!taken)
    return 0;
  uint32_t target = branch->offset;
  if (branch->target == DAEDALUS_V3D_BRANCH_RELATIVE)
    target = after + branch->offset;
  else if (branch->target == DAEDALUS_V3D_BRANCH_LINK)
    target = link;
  else if (branch->target == DAEDALUS_V3D_BRANCH_REGISTER)
    target = thread->rows[branch->reg][thread->state.profile->register_branch_lane];
  if (target & 7)
    return daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BAD_FETCH, 0, target,
                                 "a branch to 0x%08x, which is no multiple of 8", target);
  if (thread->branch_at != UINT64_MAX)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "a branch is taken in the delay slots of a taken branch");
  thread->branch_target = target;
  return V3D_EVENT_BRANCH;
}
