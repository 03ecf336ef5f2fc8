/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The condition field.  AC, MC: condition of the add, the mul result; AF, MF: its flag change.
 * With cc a condition code 0..3, p a push 0..3 (0 none), u an update 4..15, f any of them:
 *   000ffff AF     001ffff MF, not 0     010ccpp AC MF     011ccpp MC AF
 *   1mm00aa MC AC  1mmuuuu MC AF
 */
#include "encoding/tables.h"

/* Codes of flag changes are the values of daedalus_v3d_flags. */
_Static_assert(DAEDALUS_V3D_FLAGS_PUSHC == 3 && DAEDALUS_V3D_FLAGS_ANDZ == 4, "codes");
_Static_assert(DAEDALUS_V3D_FLAGS_NORC == 15, "codes");
/* Codes of conditions are those of daedalus_v3d_cond less 1. */
_Static_assert(DAEDALUS_V3D_COND_IFA == 1 && DAEDALUS_V3D_COND_IFNB == 4, "codes");

enum { ONE_MUL_FLAGS = 0x10, ADD_COND = 0x20, MUL_COND = 0x30, BOTH_MUL_COND = 0x40 };

const char *daedalus_v3d_encode_condition(const daedalus_v3d_condition *condition,
                                          unsigned *field) {
  const unsigned ac = condition->add_cond, mc = condition->mul_cond;
  const unsigned af = condition->add_flags, mf = condition->mul_flags;
  if (ac >= DAEDALUS_V3D_N_CONDS || mc >= DAEDALUS_V3D_N_CONDS)
    return "there is no such condition";
  if (af >= DAEDALUS_V3D_N_FLAGS || mf >= DAEDALUS_V3D_N_FLAGS)
    return "there is no such flag change";
  if ((ac != 0 && af != 0) || (mc != 0 && mf != 0))
    return "an operation has a condition or changes flags, not both";
  if (af != 0 && mf != 0)
    return "only one of the two operations can change flags";
  if (ac != 0 && mf >= DAEDALUS_V3D_FLAGS_ANDZ)
    return "beside a condition on the add operation the mul operation can push flags, not update "
           "them";
  if (ac != 0 && mc != 0)
    *field = BOTH_MUL_COND | (mc - 1) << 4 | (ac - 1);
  else if (ac != 0)
    *field = ADD_COND | (ac - 1) << 2 | mf;
  else if (mc != 0 && af >= DAEDALUS_V3D_FLAGS_ANDZ)
    *field = BOTH_MUL_COND | (mc - 1) << 4 | af;
  else if (mc != 0)
    *field = MUL_COND | (mc - 1) << 2 | af;
  else
    *field = mf != 0 ? ONE_MUL_FLAGS | mf : af;
  return NULL;
}

const char *daedalus_v3d_decode_condition(unsigned field, daedalus_v3d_condition *condition) {
  const unsigned high = (field >> 2 & 3) + 1, flags = field & 15, push = field & 3;
  *condition = (daedalus_v3d_condition){0};
  switch (field & 0x70) {
    case 0:
      condition->add_flags = (uint8_t)flags;
      return NULL;
    case ONE_MUL_FLAGS:
      condition->mul_flags = (uint8_t)flags;
      return flags == 0 ? "value 16 of the condition field is reserved" : NULL;
    case ADD_COND:
      condition->add_cond = (uint8_t)high;
      condition->mul_flags = (uint8_t)push;
      return NULL;
    case MUL_COND:
      condition->mul_cond = (uint8_t)high;
      condition->add_flags = (uint8_t)push;
      return NULL;
    default:
      condition->mul_cond = (uint8_t)((field >> 4 & 3) + 1);
      if (flags < DAEDALUS_V3D_FLAGS_ANDZ)
        condition->add_cond = (uint8_t)(flags + 1);
      else
        condition->add_flags = (uint8_t)flags;
      return NULL;
  }
}
