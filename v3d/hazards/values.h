/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a program's values before it runs, as far as the TMU's config word needs it: the
 * place in the uniform stream, the config word itself, and registers that hold constants.  A value
 * is known only where it is the same in all lanes and on every run.
 */
#ifndef DAEDALUS_V3D_VALUES_H
#define DAEDALUS_V3D_VALUES_H

#include "hazards/hazards.h"

/** A uniform_index that is not known. */
#define DAEDALUS_V3D_NOWHERE UINT32_MAX

/** What can reach the config word, and so has to be followed. Zeroed: nothing. */
typedef struct daedalus_v3d_followed {
  uint64_t registers; /**< bit i: rf<i>. */
  bool uniforms;      /**< the place in the uniform stream. */
  /** Constants are followed over a few operations only, so that they are few in a loop. */
  bool shortly;
} daedalus_v3d_followed;

/**
 * Adds what *instruction needs to *followed.  To be repeated over all instructions until it returns
 * false for each: nothing was added.
 */
bool daedalus_v3d_values_follow(daedalus_v3d_followed *followed,
                                const daedalus_v3d_instruction *instruction,
                                const daedalus_v3d_effects *effects);

/** Compared with memcmp(); register_* last, as programs that need none leave them off. */
typedef struct daedalus_v3d_values {
  uint32_t uniform_index;  /**< of the next uniform, or DAEDALUS_V3D_NOWHERE. */
  uint32_t config;         /**< the TMU's config word. */
  uint32_t config_unknown; /**< how many of its bytes, from the lowest, are not known. */
  uint32_t register_value[DAEDALUS_V3D_REGISTERS]; /**< 0 where not known. */
  /** Operations on the way from immediates and uniforms to the value, or 0: not known. */
  uint8_t register_depth[DAEDALUS_V3D_REGISTERS];
} daedalus_v3d_values;

/** What is known at the first instruction. */
void daedalus_v3d_values_begin(daedalus_v3d_values *values, const daedalus_v3d_program_mode *mode,
                               const daedalus_v3d_followed *followed);

/**
 * The next instruction executes.  (Branches change no value but the place in the uniform stream:
 * daedalus_v3d_values_branch().)  Returns the config byte of its lookup, or
 * DAEDALUS_V3D_CONFIG_UNKNOWN.
 */
unsigned daedalus_v3d_values_step(daedalus_v3d_values *values,
                                  const daedalus_v3d_instruction *instruction,
                                  const daedalus_v3d_effects *effects,
                                  const daedalus_v3d_program_mode *mode,
                                  const daedalus_v3d_followed *followed);

/** A branch executes, taken or not. */
void daedalus_v3d_values_branch(daedalus_v3d_values *values, const daedalus_v3d_branch *branch,
                                const daedalus_v3d_program_mode *mode, bool taken);

#endif
