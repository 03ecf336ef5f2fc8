/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/validate.h - whether a QPU program keeps the rules of V3D 7.1, found without
 * running it: every path through its branches is followed.
 *
 * The rules stand in daedalus/v3d/rules.h, one line each.  STRICT means all of them, those that
 * Mesa's compiler keeps; TOLERANT leaves out those that programs are known to break on real
 * hardware without harm.  The simulator (daedalus/v3d/simulate.h) raises the same rules along the
 * one path that it takes: what STRICT accepts raises none there.
 */
#ifndef DAEDALUS_V3D_VALIDATE_H
#define DAEDALUS_V3D_VALIDATE_H

#include <daedalus/v3d/instruction.h>
#include <daedalus/v3d/rules.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum daedalus_v3d_strictness {
  DAEDALUS_V3D_STRICT = 0,
  DAEDALUS_V3D_TOLERANT = 1
} daedalus_v3d_strictness;

/** How the program will be started: bits of a compute job's cfg[5]. */
typedef struct daedalus_v3d_program_mode {
  daedalus_v3d_strictness strictness;
  unsigned threads;    /**< a QPU: 2 (64 registers) or 4 (32 registers). */
  bool single_segment; /**< the next thread switch ends the program. */
  bool flags_lost;     /**< FLAGS_UNSET also of flags that were set before a thread switch. */
  /**
   * The words of its uniform stream, or NULL where they are not known.  How many words a TMU lookup
   * takes and returns depends on a config word, which may be a uniform: where it is, the program
   * is refused without them.  Words that are no such configs and no jumps of the stream may be
   * anything.
   */
  const uint32_t *uniforms;
  size_t n_uniforms;
} daedalus_v3d_program_mode;

typedef struct daedalus_v3d_finding {
  size_t index;           /**< of the word at which the rule is broken. */
  daedalus_v3d_rule rule; /**< text by daedalus_v3d_rule_text(). */
} daedalus_v3d_finding;

/**
 * Validates n words as one program, entered at word 0.  Returns the number of findings (0: it
 * keeps the rules), one for each pair of word and rule, ordered by word; the first max of them go
 * into findings.  Returns SIZE_MAX when there is no memory.
 */
size_t daedalus_v3d_validate(const uint64_t *words, size_t n, const daedalus_v3d_program_mode *mode,
                             daedalus_v3d_finding *findings, size_t max);

#ifdef __cplusplus
}
#endif

#endif
