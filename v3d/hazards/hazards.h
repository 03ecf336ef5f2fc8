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

/** A set of rules: bit r is daedalus_v3d_rule r. */
typedef uint64_t daedalus_v3d_rules;

/** Bits of daedalus_v3d_effects.kinds: what an instruction does. */
enum {
  DAEDALUS_V3D_EFFECT_READS_A = 1u << 0, /**< flag A, and so on. */
  DAEDALUS_V3D_EFFECT_READS_B = 1u << 1,
  DAEDALUS_V3D_EFFECT_SETS_A = 1u << 2,
  DAEDALUS_V3D_EFFECT_PUSHES = 1u << 3, /**< B := A; A := flag. */
  DAEDALUS_V3D_EFFECT_SFU = 1u << 4,
  DAEDALUS_V3D_EFFECT_MULTOP = 1u << 5,
  DAEDALUS_V3D_EFFECT_UMUL24 = 1u << 6,
  DAEDALUS_V3D_EFFECT_V8DOT = 1u << 7,
  DAEDALUS_V3D_EFFECT_NNMODE = 1u << 8,  /**< sets v8dot's mode. */
  DAEDALUS_V3D_EFFECT_UNIFORM = 1u << 9, /**< consumes a word of the uniform stream. */
  DAEDALUS_V3D_EFFECT_LDUNIFA = 1u << 10,
  DAEDALUS_V3D_EFFECT_LDTMU = 1u << 11,
  DAEDALUS_V3D_EFFECT_TMUWT = 1u << 12,
  DAEDALUS_V3D_EFFECT_TMU_DATA = 1u << 13,       /**< tmud, tmudref, tmuoff. */
  DAEDALUS_V3D_EFFECT_TMU_CONFIG = 1u << 14,     /**< tmuc. */
  DAEDALUS_V3D_EFFECT_UNIFORM_CONFIG = 1u << 15, /**< wrtmuc, tmuau: the uniform is the config. */
  DAEDALUS_V3D_EFFECT_LOOKUP = 1u << 16,         /**< tmua, tmuau. */
  DAEDALUS_V3D_EFFECT_BARRIER = 1u << 17,        /**< syncb. */
  DAEDALUS_V3D_EFFECT_HIGH_REGISTER = 1u << 18,  /**< rf32 and above. */
  DAEDALUS_V3D_EFFECT_READS_RF0 = 1u << 19,
  DAEDALUS_V3D_EFFECT_WRITES_RF0 = 1u << 20,  /**< some of its lanes and bits. */
  DAEDALUS_V3D_EFFECT_DEFINES_RF0 = 1u << 21, /**< all of them. */
  /** A signal loads rf0 (ldunif, ldunifa, ldvary), and another writes a register too. */
  DAEDALUS_V3D_EFFECT_RF0_SHARED = 1u << 22,
  DAEDALUS_V3D_EFFECT_SIGNAL_WRITES = 1u << 23, /**< a signal writes a register. */
  DAEDALUS_V3D_EFFECT_ALU_WRITES = 1u << 24,    /**< add or mul write a register. */
  DAEDALUS_V3D_EFFECT_RF2_RF3 = 1u << 25,       /**< either is read or written. */
  DAEDALUS_V3D_EFFECT_SYNC = 1u << 26           /**< sync, syncu, syncb. */
};

/**
 * Bits of daedalus_v3d_effects.events: what is remembered for three instructions.  Each has four
 * bits of a history: event << n is "n + 1 instructions ago" there.
 */
enum {
  DAEDALUS_V3D_EVENT_THRSW = 1u << 0, /**< in a history: one that switches, or ends. */
  DAEDALUS_V3D_EVENT_MARK = 1u << 4,  /**< the thrsw that marks the last (in a history only). */
  DAEDALUS_V3D_EVENT_END = 1u << 8,   /**< the thrsw that ends (in a history only). */
  DAEDALUS_V3D_EVENT_BRANCH = 1u << 12,
  DAEDALUS_V3D_EVENT_UNIFA = 1u << 16,
  DAEDALUS_V3D_EVENT_LDVARY = 1u << 20
};

/** What of one instruction the rules look at; computed once a word. */
typedef struct daedalus_v3d_effects {
  daedalus_v3d_rules rules; /**< those that it breaks by itself. */
  uint64_t reads, writes;   /**< registers: bit i is rf<i>. */
  uint32_t kinds;           /**< DAEDALUS_V3D_EFFECT_* */
  uint32_t events;          /**< DAEDALUS_V3D_EVENT_* */
} daedalus_v3d_effects;

/** What the rules remember of the instructions before. Compared with memcmp(). */
typedef struct daedalus_v3d_hazards {
  uint32_t history;     /**< DAEDALUS_V3D_EVENT_* of the last three instructions. */
  uint16_t result_ends; /**< bit i: result word i on its way is the last of its lookup. */
  uint8_t strict;       /**< 1: rules of STRICT too. */
  uint8_t fifo;         /**< words of the thread's share of each FIFO: 8, or 4 at four threads. */
  uint8_t last;         /**< 1: the next thrsw ends the program. */
  uint8_t ended;
  uint8_t flags;      /**< those that have been set: 1 A, 2 B. */
  uint8_t flags_lost; /**< 1: not those set before the last switch. */
  uint8_t rtop;       /**< 1: multop waits for umul24. */
  uint8_t nnmode;     /**< 1: set. */
  uint8_t unifa;      /**< 1: written. */
  uint8_t rf0_shared; /**< 1: the last write of rf0 was RF0_SHARED. */
  uint8_t rf0_lost;   /**< 1: rf0 is undefined. */
  uint8_t sequence;   /**< data words for the next lookup. */
  uint8_t results;    /**< result words on their way. */
  uint8_t reads;      /**< lookups on their way that return words. */
  uint8_t writes;     /**< those since the last tmuwt that return none. */
  uint8_t prompt;     /**< 1: the next ldtmu cannot stall: the first since a switch. */
  uint8_t sync;       /**< 1: a sync write waits for a switch. */

} daedalus_v3d_hazards;

/** In place of a config byte that is not known; counts as that of a 32-bit read or write. */
#define DAEDALUS_V3D_CONFIG_UNKNOWN 256u

/**
 * Words that a lookup with this config byte returns (0 to 4), with data (tmud) or without.  The
 * same for the simulator, which must count them alike.
 */
unsigned daedalus_v3d_lookup_results(unsigned config, bool data);

/** The effects of *instruction, among them the rules that it breaks by itself. */
void daedalus_v3d_effects_of(const daedalus_v3d_instruction *instruction,
                             daedalus_v3d_effects *effects);

/** The state at the first instruction of a thread. */
void daedalus_v3d_hazards_begin(daedalus_v3d_hazards *hazards,
                                const daedalus_v3d_program_mode *mode);

/**
 * The next instruction executes.  A branch's slots follow as any other instructions, whether it is
 * taken or not.  config is the byte of the TMU's config word that the lookup takes where the
 * instruction starts one (DAEDALUS_V3D_EFFECT_LOOKUP), or DAEDALUS_V3D_CONFIG_UNKNOWN; else it is
 * of no account.  Returns the rules that it breaks, limited to the mode's strictness.
 */
daedalus_v3d_rules daedalus_v3d_hazards_step(daedalus_v3d_hazards *hazards,
                                             const daedalus_v3d_effects *effects, unsigned config);

/** Whether the thread has ended with the instruction that was stepped last. */
static inline bool daedalus_v3d_hazards_ended(const daedalus_v3d_hazards *hazards) {
  return hazards->ended != 0;
}

#endif
