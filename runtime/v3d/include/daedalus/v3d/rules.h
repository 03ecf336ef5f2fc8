/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/rules.h - the rules that a QPU program has to keep, one line each.
 *
 * DAEDALUS_V3D_RULES(X) calls X(ID, level, text): level is STRICT where hardware is known to accept
 * what the rule forbids (Mesa keeps it all the same), else TOLERANT: broken in either strictness.
 * At most 64 rules: a set of them is a uint64_t.
 */
#ifndef DAEDALUS_V3D_RULES_H
#define DAEDALUS_V3D_RULES_H

#define DAEDALUS_V3D_RULES(X)                             \
  X(ILLEGAL_WORD, TOLERANT, "the word is no instruction") \
  X(OFF_THE_END, TOLERANT, "execution runs past the last word")

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

#endif
