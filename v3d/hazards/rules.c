/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/v3d/rules.h>

#include <stddef.h>

#define LEVEL_STRICT true
#define LEVEL_TOLERANT false

static const struct {
  const char *name, *text;
  bool strict;
} rules[DAEDALUS_V3D_N_RULES] = {
#define ROW(id, level, text) {#id, text, LEVEL_##level},
    DAEDALUS_V3D_RULES(ROW)
#undef ROW
};

_Static_assert(DAEDALUS_V3D_N_RULES <= 64, "a set of rules is a uint64_t");

const char *daedalus_v3d_rule_name(daedalus_v3d_rule rule) {
  return (size_t)rule < DAEDALUS_V3D_N_RULES ? rules[rule].name : "UNKNOWN";
}

const char *daedalus_v3d_rule_text(daedalus_v3d_rule rule) {
  return (size_t)rule < DAEDALUS_V3D_N_RULES ? rules[rule].text : "no such rule";
}

bool daedalus_v3d_rule_is_strict(daedalus_v3d_rule rule) {
  return (size_t)rule < DAEDALUS_V3D_N_RULES && rules[rule].strict;
}
