/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The validator: runs the automaton of hazards.h along every path.
 *
 * A path is a state: the next word and all that the rules remember.  States are compared where
 * paths may meet (at targets of branches and after the slots of branches), and each is gone on from
 * once; as all that is remembered is bounded, loops end by themselves.
 */
#include <daedalus/v3d/validate.h>

#include <stdlib.h>
#include <string.h>

#include "hazards/hazards.h"
#include "hazards/state_set.h"
#include "hazards/values.h"

#define RULE(name) ((daedalus_v3d_rules)1 << DAEDALUS_V3D_RULE_##name)

enum {
  /** Bounds of the search. A shader of Mesa's takes some hundred states, one to a block. */
  MAX_STATES = 1 << 17,
  MAX_STEPS = 1 << 25,
  BRANCH_SLOTS = 3
};

/** No word: a link register that is not known, no branch taken. */
#define NO_WORD UINT32_MAX

/** Compared with memcmp(): no padding, which the static assertion below sees to. */
typedef struct state {
  uint32_t pc;
  uint32_t target; /**< of the branch whose slots execute, or NO_WORD. */
  uint32_t slots;  /**< that are left of it. */
  uint32_t link;   /**< word that the link register points at, or NO_WORD. */
  daedalus_v3d_hazards hazards;
  daedalus_v3d_values values; /**< last, as its end may be left off. */
} state;

_Static_assert(sizeof(daedalus_v3d_hazards) == 24, "no padding between members");
_Static_assert(offsetof(state, values) == 4 * sizeof(uint32_t) + sizeof(daedalus_v3d_hazards) &&
                   sizeof(daedalus_v3d_values) ==
                       3 * sizeof(uint32_t) + 5 * (size_t)DAEDALUS_V3D_REGISTERS &&
                   sizeof(state) == offsetof(state, values) + sizeof(daedalus_v3d_values),
               "states are compared byte by byte");

typedef struct word {
  daedalus_v3d_instruction instruction;
  daedalus_v3d_effects effects;
  bool illegal;
  bool meeting; /**< paths may meet before it. */
  daedalus_v3d_rules found;
} word;

typedef struct search {
  const daedalus_v3d_program_mode *mode;
  word *words;
  uint32_t n;
  daedalus_v3d_followed followed;
  daedalus_v3d_state_set states;
  uint32_t steps;
} search;

/** The word that a relative branch at pc goes to, or NO_WORD: outside the program. */
static uint32_t relative_target(const search *search, uint32_t pc,
                                const daedalus_v3d_branch *branch) {
  const int64_t target = (int64_t)pc + 1 + BRANCH_SLOTS + (int32_t)branch->offset / 8;
  return target >= 0 && target < search->n ? (uint32_t)target : NO_WORD;
}

static void mark_meeting(search *search, uint64_t index) {
  if (index < search->n)
    search->words[index].meeting = true;
}

static void decode(search *search, const uint64_t *words) {
  for (uint32_t i = 0; i < search->n; i++) {
    word *word = &search->words[i];
    word->illegal = daedalus_v3d_unpack(words[i], &word->instruction) != NULL;
    if (word->illegal)
      continue;
    daedalus_v3d_effects_of(&word->instruction, &word->effects);
    if (!word->instruction.is_branch)
      continue;
    search->followed.shortly = true;
    mark_meeting(search, (uint64_t)i + 1 + BRANCH_SLOTS);
    if (word->instruction.branch.target == DAEDALUS_V3D_BRANCH_RELATIVE)
      mark_meeting(search, relative_target(search, i, &word->instruction.branch));
  }
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < search->n; i++)
      if (!search->words[i].illegal)
        more |= daedalus_v3d_values_follow(&search->followed, &search->words[i].instruction,
                                           &search->words[i].effects);
  }
}

/** The path of *state runs past the last word. */
static void note_end(search *search, const state *state) {
  search->words[search->n - 1].found |=
      state->hazards.last ? RULE(OFF_THE_END) : RULE(NO_LAST_THRSW);
}

/** Takes in *state to go on from later. Returns false when there is no memory. */
static bool add_state(search *search, const state *state) {
  if (state->pc >= search->n) {
    note_end(search, state);
    return true;
  }
  if (search->states.n >= MAX_STATES) {
    search->words[state->pc].found |= RULE(TOO_MANY_PATHS);
    return true;
  }
  return daedalus_v3d_state_set_add(&search->states, state);
}

/** Where the branch at state->pc goes if taken, or NO_WORD after noting why that is not known. */
static uint32_t branch_target(search *search, const state *state,
                              const daedalus_v3d_branch *branch) {
  word *word = &search->words[state->pc];
  uint32_t target = NO_WORD;
  if (branch->target == DAEDALUS_V3D_BRANCH_RELATIVE) {
    target = relative_target(search, state->pc, branch);
    if (target == NO_WORD)
      word->found |= RULE(BRANCH_OUTSIDE);
    return target;
  }
  if (branch->target == DAEDALUS_V3D_BRANCH_LINK)
    target = state->link;
  if (target == NO_WORD)
    word->found |= RULE(UNKNOWN_TARGET);
  return target;
}

/**
 * The branch at state->pc executes: *state goes on with it not taken, a state taken in besides with
 * it taken, the first of its slots being next in either.  Sets *ends where the branch is always
 * taken.  Returns false when there is no memory.
 */
static bool step_branch(search *search, state *state, bool *ends) {
  const daedalus_v3d_branch *branch = &search->words[state->pc].instruction.branch;
  const bool always = branch->cond == DAEDALUS_V3D_BRANCH_ALWAYS;
  const uint32_t after = state->pc + 1 + BRANCH_SLOTS;
  struct state taken = *state;
  if (state->slots) /* In another's slots: the rule is noted, the first one decides. */
    return true;
  *ends = always;
  taken.pc++;
  taken.target = branch_target(search, state, branch);
  taken.slots = BRANCH_SLOTS;
  daedalus_v3d_values_branch(&taken.values, branch, search->mode, true);
  if (!always)
    daedalus_v3d_values_branch(&state->values, branch, search->mode, false);
  if (branch->set_link) {
    taken.link = after < search->n ? after : NO_WORD;
    /* Whether one that is not taken sets it too is not settled. */
    if (state->link != taken.link)
      state->link = NO_WORD;
  }
  return taken.target == NO_WORD || add_state(search, &taken);
}

/** Follows one path until it ends or may meet others. Returns false when there is no memory. */
static bool follow(search *search, state *state) {
  for (;;) {
    if (state->pc >= search->n) {
      note_end(search, state);
      return true;
    }
    word *word = &search->words[state->pc];
    if (search->steps++ >= MAX_STEPS) {
      word->found |= RULE(TOO_MANY_PATHS);
      return true;
    }
    if (word->illegal) {
      word->found |= RULE(ILLEGAL_WORD);
      return true;
    }
    unsigned config = DAEDALUS_V3D_CONFIG_UNKNOWN;
    bool ends = false;
    if (!word->instruction.is_branch)
      config = daedalus_v3d_values_step(&state->values, &word->instruction, &word->effects,
                                        search->mode, &search->followed);
    if (word->effects.kinds & DAEDALUS_V3D_EFFECT_LOOKUP && config == DAEDALUS_V3D_CONFIG_UNKNOWN)
      word->found |= RULE(UNKNOWN_CONFIG);
    word->found |= daedalus_v3d_hazards_step(&state->hazards, &word->effects, config);
    if (daedalus_v3d_hazards_ended(&state->hazards))
      return true;
    if (word->instruction.is_branch && !step_branch(search, state, &ends))
      return false;
    if (ends)
      return true;
    state->pc++;
    if (state->slots && --state->slots == 0) {
      state->pc = state->target;
      state->target = NO_WORD;
    }
    if (state->pc < search->n && search->words[state->pc].meeting)
      return add_state(search, state);
  }
}

static bool explore(search *search) {
  state state;
  memset(&state, 0, sizeof state);
  state.target = state.link = NO_WORD;
  daedalus_v3d_hazards_begin(&state.hazards, search->mode);
  daedalus_v3d_values_begin(&state.values, search->mode, &search->followed);
  search->states.size =
      search->followed.registers
          ? sizeof state
          : offsetof(struct state, values) + offsetof(daedalus_v3d_values, register_value);
  if (!add_state(search, &state))
    return false;
  for (size_t i = 0; i < search->states.n; i++) {
    memcpy(&state, search->states.states + i * search->states.size, search->states.size);
    if (!follow(search, &state))
      return false;
  }
  return true;
}

/** The rules found, as findings in the order of words. */
static size_t report(const search *search, daedalus_v3d_finding *findings, size_t max) {
  size_t count = 0;
  for (size_t i = 0; i < search->n; i++)
    for (unsigned rule = 0; rule < DAEDALUS_V3D_N_RULES; rule++)
      if (search->words[i].found >> rule & 1) {
        if (count < max)
          findings[count] = (daedalus_v3d_finding){i, (daedalus_v3d_rule)rule};
        count++;
      }
  return count;
}

size_t daedalus_v3d_validate(const uint64_t *words, size_t n, const daedalus_v3d_program_mode *mode,
                             daedalus_v3d_finding *findings, size_t max) {
  if (n == 0) {
    if (max)
      findings[0] = (daedalus_v3d_finding){0, DAEDALUS_V3D_RULE_OFF_THE_END};
    return 1;
  }
  /* Device addresses have 32 bits, so no program is longer. */
  if (n > UINT32_MAX / sizeof *words)
    return SIZE_MAX;
  search search = {.mode = mode, .n = (uint32_t)n};
  search.words = calloc(n, sizeof *search.words);
  if (search.words == NULL)
    return SIZE_MAX;
  decode(&search, words);
  const size_t count = explore(&search) ? report(&search, findings, max) : SIZE_MAX;
  daedalus_v3d_state_set_free(&search.states);
  free(search.words);
  return count;
}
