/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/rules.h - the rules that a QPU program has to keep, one line each.
 *
 * DAEDALUS_V3D_RULES(X) calls X(ID, level, text): text says what is wrong and, after a colon, what
 * to do.  level is STRICT where hardware is known to accept what the rule forbids, or where nobody
 * has seen it mind (Mesa keeps the rule all the same); else TOLERANT: broken in either strictness.
 * At most 64 rules: a set of them is a uint64_t.  docs/v3d-rules.md shows them as a table.
 *
 * Words used: slots are the instructions that still execute after a branch (3) or a thrsw (2)
 * before it acts; the switch, or the end, is after the second slot of a thrsw.
 */
#ifndef DAEDALUS_V3D_RULES_H
#define DAEDALUS_V3D_RULES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAEDALUS_V3D_RULES(X)                                                                      \
  /* Where execution goes; found by the validator alone. */                                        \
  X(ILLEGAL_WORD, TOLERANT, "the word is no instruction: assemble it anew")                        \
  X(OFF_THE_END, TOLERANT,                                                                         \
    "execution runs past the last word: end the program with thrsw and its two slots")             \
  X(NO_LAST_THRSW, TOLERANT,                                                                       \
    "the last word is reached and no last thrsw was marked: put two thrsw in a row before the "    \
    "ending one, or start the program as a single segment")                                        \
  X(BRANCH_OUTSIDE, TOLERANT, "the branch leaves the program: correct its offset")                 \
  X(UNKNOWN_TARGET, TOLERANT,                                                                      \
    "the target is not known before the program runs: branch relatively, or to a link register "   \
    "that a branch has set")                                                                       \
  X(UNKNOWN_CONFIG, TOLERANT,                                                                      \
    "the lookup's config is not known before the program runs, so neither how many words it "      \
    "returns: make it from immediates, or give the uniforms' values")                              \
  X(TOO_MANY_PATHS, TOLERANT,                                                                      \
    "more paths lead here than the validator follows: use fewer branches with differing state")    \
  /* One instruction by itself. */                                                                 \
  X(WRITTEN_TWICE, TOLERANT,                                                                       \
    "two writes go to one register: change a destination (ldunif, ldunifa, rep and quad write "    \
    "rf0)")                                                                                        \
  X(PERIPHERALS, TOLERANT,                                                                         \
    "two of TMU write, wrtmuc, sync write, TLB read, SFU operation, VPM access in one "            \
    "instruction: use two (wrtmuc may go with a TMU write other than tmuc)")                       \
  X(SFU_DEST, TOLERANT,                                                                            \
    "an SFU operation writes a magic address: give it a register and move the result on")          \
  X(UNIFORM_TWICE, TOLERANT,                                                                       \
    "one instruction consumes two uniforms, or one beside ldunifa: use two instructions")          \
  X(GRAPHICS, TOLERANT,                                                                            \
    "only graphics programs can use this: a compute program has no TLB or VPM")                    \
  X(TEXTURE, TOLERANT,                                                                             \
    "a texture register is written: use the general lookups of tmud, tmuc, tmua and tmuau")        \
  X(REP_PREDICATED, STRICT,                                                                        \
    "a condition on rep or quad: nobody knows which lanes it spares, write all of them")           \
  X(UCB, STRICT, "the signal ucb: nobody knows what it does, leave it out")                        \
  X(HIGH_REGISTER, TOLERANT, "rf32 and above exist with two threads a QPU only: use rf0..rf31")    \
  /* Around a branch. */                                                                           \
  X(BRANCH_IN_BRANCH, TOLERANT, "a branch in the slots of a branch: move it out")                  \
  X(THRSW_IN_BRANCH, TOLERANT, "thrsw in the slots of a branch: move it out")                      \
  X(UNIFORM_IN_BRANCH, STRICT,                                                                     \
    "a uniform is consumed in the slots of a branch: move it before or after them")                \
  X(UNIFA_IN_BRANCH, STRICT, "unifa is written in the slots of a branch: move it out")             \
  X(BRANCH_IN_THRSW, TOLERANT, "a branch in the slots of thrsw: move it out")                      \
  /* Around a thread switch. */                                                                    \
  X(THRSW_TOO_CLOSE, STRICT,                                                                       \
    "thrsw in the second slot of thrsw: leave two instructions between, or none to mark the last") \
  X(THRSW_TRIPLE, TOLERANT, "a third thrsw in a row: two mark the last, then come two slots")      \
  X(LAST_THRSW_TWICE, TOLERANT,                                                                    \
    "two thrsw in a row where the last has been marked: the first of them ends the program")       \
  X(SFU_IN_THRSW, TOLERANT,                                                                        \
    "an SFU operation in the slots of thrsw: its result would land in another thread")             \
  X(RF0_LOST, TOLERANT,                                                                            \
    "rf0 is undefined since the thread switch, as signals wrote registers beside its load and "    \
    "right before the switch: load it anew")                                                       \
  X(FLAGS_UNSET, STRICT,                                                                           \
    "flags are used that nothing has set since the thread began, or, if switches lose them, "      \
    "since "                                                                                       \
    "the last one: set them")                                                                      \
  X(RTOP_LOST, TOLERANT, "the thread switches between multop and umul24: keep both on one side")   \
  X(RTOP_OVERWRITTEN, TOLERANT,                                                                    \
    "multop before umul24 took the last one's result: do not interleave the pairs")                \
  X(NNMODE_UNSET, STRICT, "v8dot and no setnnmode before: the mode at start is not known")         \
  X(LDVARY_RF0, TOLERANT,                                                                          \
    "rf0 is written right after ldvary, which does so itself then: wait an instruction")           \
  /* The second uniform stream. */                                                                 \
  X(UNIFA_TOO_EARLY, TOLERANT,                                                                     \
    "ldunifa less than four instructions after unifa was written: put three between")              \
  X(UNIFA_BRANCH, STRICT,                                                                          \
    "a branch less than four instructions after unifa was written: put three between")             \
  X(UNIFA_SWITCH, TOLERANT,                                                                        \
    "the thread switches less than four instructions after unifa was written: thrsw may come in "  \
    "the next instruction at the earliest")                                                        \
  X(UNIFA_UNSET, TOLERANT, "ldunifa and no write of unifa before: write it")                       \
  /* Memory lookups. */                                                                            \
  X(LOOKUP_CONFIG, TOLERANT,                                                                       \
    "the config's operation is reserved, lacks its data, or is atomic and on a vector: change "    \
    "the "                                                                                         \
    "config byte")                                                                                 \
  X(LOOKUP_DATA, TOLERANT,                                                                         \
    "not as many data words as the config takes: vectors as many as they have, cmpxchg two, all "  \
    "else one")                                                                                    \
  X(STORE_SHORT, STRICT,                                                                           \
    "a store has fewer data words than its vector: hardware goes on, but whether it leaves the "   \
    "others alone is not known, change the config byte")                                           \
  X(LDTMU_EMPTY, TOLERANT, "ldtmu and no result is on its way: start a lookup that returns one")   \
  X(OUTPUT_FIFO, TOLERANT,                                                                         \
    "more result words on their way than the thread's 8 (4 at four threads): pop some by ldtmu "   \
    "before the lookup (in the lookup's instruction counts only if it is the first since a "       \
    "switch)")                                                                                     \
  X(INPUT_FIFO, STRICT,                                                                            \
    "a lookup of more words than 8 (4 at four threads), its address included: split it")           \
  X(INPUT_OVERFLOW, TOLERANT,                                                                      \
    "more data words than 8 (4 at four threads) wait for one lookup: there is no room for them "   \
    "until it starts, start it")                                                                   \
  X(LOOKUPS, STRICT, "more than 8 lookups on their way: wait for some by ldtmu or tmuwt")          \
  X(SEQUENCE_SPLIT, STRICT,                                                                        \
    "the thread switches between tmud and tmua: keep the sequence on one side")                    \
  X(SEQUENCE_UNFINISHED, TOLERANT, "the program ends between tmud and tmua: start the lookup")     \
  X(RESULTS_LEFT, TOLERANT, "the program ends and results are left over: pop them by ldtmu")       \
  /* Synchronisation. */                                                                           \
  X(BARRIER_OUTSTANDING, STRICT,                                                                   \
    "syncb while lookups are on their way: pop results by ldtmu, wait for writes by tmuwt")        \
  X(SYNC_NO_SWITCH, STRICT,                                                                        \
    "a lookup or sync write before the thread switch at which the last sync write waits: "         \
    "thrsw and its slots come first")                                                              \
  /* The three instructions from the ending thrsw on. */                                           \
  X(END_WRITES, TOLERANT,                                                                          \
    "add or mul write a register in the instruction of the ending thrsw: move them up")            \
  X(END_RF2_RF3, TOLERANT,                                                                         \
    "rf2 or rf3 used in the program's last three instructions: they hold the next payload")        \
  X(END_LDVARY, TOLERANT, "ldvary in the program's last three instructions: move it up")           \
  X(END_UNIFORM, TOLERANT, "a uniform is consumed in the slots of the ending thrsw: move it up")   \
  /* Found by the simulator alone. */                                                              \
  X(STALE_UNIFORM, STRICT,                                                                         \
    "ldunif or ldunifa read what the job has stored before: uniforms go through a cache that "     \
    "stores do not reach, use a lookup")                                                           \
  X(STREAM_BIT_2, STRICT,                                                                          \
    "a branch takes the uniform stream to a register's address with bit 2 set: it seems to be "    \
    "ignored, use a multiple of 8")                                                                \
  X(BARRIER_PARTLY, STRICT,                                                                        \
    "a barrier where some batches of a supergroup come and others have ended: hardware may wait "  \
    "for ever, let all of them come")

typedef enum daedalus_v3d_rule {
#define DAEDALUS_V3D_ENUMERATE(id, level, text) DAEDALUS_V3D_RULE_##id,
  DAEDALUS_V3D_RULES(DAEDALUS_V3D_ENUMERATE)
#undef DAEDALUS_V3D_ENUMERATE
      DAEDALUS_V3D_N_RULES
} daedalus_v3d_rule;

/** The short name of a rule, such as "OFF_THE_END". */
const char *daedalus_v3d_rule_name(daedalus_v3d_rule rule);

/** The sentence of a rule, without a full stop. */
const char *daedalus_v3d_rule_text(daedalus_v3d_rule rule);

/** Whether the rule is of STRICT checking alone. */
bool daedalus_v3d_rule_is_strict(daedalus_v3d_rule rule);

#ifdef __cplusplus
}
#endif

#endif
