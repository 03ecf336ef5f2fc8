/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules about instructions in sequence, as one small automaton a thread: fed the instructions in
 * the order in which they execute, it says which rules (daedalus/v3d/rules.h) each one breaks.
 * The validator runs it along every path of a program, the simulator along the one it takes.
 */
#ifndef DAEDALUS_V3D_HAZARDS_H
#define DAEDALUS_V3D_HAZARDS_H

#include <daedalus/v3d/instruction.h>
#include <daedalus/v3d/validate.h>

/** What of one instruction the rules look at; computed once a word. */
typedef struct daedalus_v3d_effects daedalus_v3d_effects;

/** What the rules remember of the instructions before. Compared with memcmp(). */
typedef struct daedalus_v3d_hazards daedalus_v3d_hazards;

/** A set of rules: bit r is daedalus_v3d_rule r. */
typedef uint64_t daedalus_v3d_rules;

struct daedalus_v3d_effects {
  uint64_t placeholder;
};

struct daedalus_v3d_hazards {
  uint64_t placeholder;
};

/** The effects of *instruction, among them the rules that it breaks by itself. */
void daedalus_v3d_effects_of(const daedalus_v3d_instruction *instruction,
                             daedalus_v3d_effects *effects);

/** The state at the first instruction of a thread. */
void daedalus_v3d_hazards_begin(daedalus_v3d_hazards *hazards,
                                const daedalus_v3d_program_mode *mode);

/**
 * The next instruction executes.  For a branch, taken says whether it is; its delay slots follow
 * as any other instructions.  Returns the rules that it breaks, limited to mode's strictness.
 */
daedalus_v3d_rules daedalus_v3d_hazards_step(daedalus_v3d_hazards *hazards,
                                             const daedalus_v3d_effects *effects, bool taken);

/** Whether the thread has ended with the instruction that was stepped last. */
bool daedalus_v3d_hazards_ended(const daedalus_v3d_hazards *hazards);

#endif
