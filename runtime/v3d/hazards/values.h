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
void daedalus_v3d_values_begin(daedalus_v3d_values *values, const daedalus_v3d_program_mode *mode);

/** How far constants are followed through registers. */
typedef enum daedalus_v3d_constants {
  DAEDALUS_V3D_CONSTANTS_NONE,
  /** Over a few operations, so that a register takes a few values in a loop. */
  DAEDALUS_V3D_CONSTANTS_SHORT,
  DAEDALUS_V3D_CONSTANTS_ALL
} daedalus_v3d_constants;

/**
 * The next instruction executes.  (Branches change no value but the place in the uniform stream:
 * daedalus_v3d_values_branch().)  Returns the config byte of its lookup, or
 * DAEDALUS_V3D_CONFIG_UNKNOWN.
 */
unsigned daedalus_v3d_values_step(daedalus_v3d_values *values,
                                  const daedalus_v3d_instruction *instruction,
                                  const daedalus_v3d_effects *effects,
                                  const daedalus_v3d_program_mode *mode,
                                  daedalus_v3d_constants constants);

/** A branch executes, taken or not. */
void daedalus_v3d_values_branch(daedalus_v3d_values *values, const daedalus_v3d_branch *branch,
                                const daedalus_v3d_program_mode *mode, bool taken);

#endif
