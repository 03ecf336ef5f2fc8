/* SPDX-License-Identifier: BSD-2-Clause */
#include "encoding/tables.h"

/* Operations with two sources, those with fewer, those with a destination of another kind. */
#define ENCODED_TWO(op) {.opcode = (op)}
#define ENCODED_SECOND(op) {.opcode = (op), .second = 1}
#define ENCODED_ONE(op, select) {.opcode = (op), .selector = (select)}
#define ENCODED_DEST(op, select, kind) \
  {.opcode = (op), .selector = (select), .dest = DAEDALUS_V3D_DEST_##kind}
#define ENCODED_WADDR(op, at) {.opcode = (op), .dest = DAEDALUS_V3D_DEST_OPERATION, .waddr = (at)}
#define ENCODED_NO {0}

const daedalus_v3d_encoding daedalus_v3d_add_encodings[DAEDALUS_V3D_N_OPS] = {
#define ROW(id, text, sources, unpack, pack, traits, add, mul) \
  [DAEDALUS_V3D_OP_##id] = ENCODED_##add,
    DAEDALUS_V3D_OPERATIONS(ROW)
#undef ROW
};

const daedalus_v3d_encoding daedalus_v3d_mul_encodings[DAEDALUS_V3D_N_OPS] = {
#define ROW(id, text, sources, unpack, pack, traits, add, mul) \
  [DAEDALUS_V3D_OP_##id] = ENCODED_##mul,
    DAEDALUS_V3D_OPERATIONS(ROW)
#undef ROW
};

/* Modifiers by code; -1 where the code is reserved. */
#define CODES 8
static const int8_t modifiers[][CODES] = {
#define U(name) DAEDALUS_V3D_UNPACK_##name
    [DAEDALUS_V3D_UNPACKS_NONE] = {U(NONE), -1, -1, -1, -1, -1, -1, -1},
    [DAEDALUS_V3D_UNPACKS_F32] = {U(ABS), U(NONE), U(L), U(H), -1, -1, -1, -1},
    [DAEDALUS_V3D_UNPACKS_F32_HALVES] = {-1, U(NONE), U(L), U(H), -1, -1, -1, -1},
    [DAEDALUS_V3D_UNPACKS_FMOV] = {U(ABS), U(NONE), U(L), U(H), U(SAT), U(NSAT), U(MAX0), -1},
    [DAEDALUS_V3D_UNPACKS_F16] = {U(NONE), U(FF), U(LL), U(HH), U(SWP), -1, -1, -1},
    [DAEDALUS_V3D_UNPACKS_MOV] = {U(NONE), U(UL), U(UH), U(IL), U(IH), -1, -1, -1},
#undef U
};

int daedalus_v3d_modifier_of(unsigned kind, unsigned code) {
  return code < CODES ? modifiers[kind][code] : -1;
}

int daedalus_v3d_modifier_code(unsigned kind, unsigned unpack) {
  for (int code = 0; code < CODES; code++)
    if (modifiers[kind][code] == (int)unpack)
      return code;
  return -1;
}

#define SET(set) {.signals = (set)}
#define S(name) DAEDALUS_V3D_SIGNAL_##name
const daedalus_v3d_signal_set daedalus_v3d_signal_sets[DAEDALUS_V3D_SIGNAL_SETS] = {
    [0] = {0},
    [1] = SET(S(THRSW)),
    [2] = SET(S(LDUNIF)),
    [3] = SET(S(THRSW) | S(LDUNIF)),
    [4] = SET(S(LDTMU)),
    [5] = SET(S(THRSW) | S(LDTMU)),
    [6] = SET(S(LDTMU) | S(LDUNIF)),
    [7] = SET(S(THRSW) | S(LDTMU) | S(LDUNIF)),
    [8] = SET(S(LDVARY)),
    [9] = SET(S(THRSW) | S(LDVARY)),
    [10] = SET(S(LDVARY) | S(LDUNIF)),
    [11] = SET(S(THRSW) | S(LDVARY) | S(LDUNIF)),
    [12] = SET(S(LDUNIFRF)),
    [13] = SET(S(THRSW) | S(LDUNIFRF)),
    [14] = {.small_port = 1},
    [15] = {.small_port = 2},
    [16] = SET(S(LDTLB)),
    [17] = SET(S(LDTLBU)),
    [18] = SET(S(WRTMUC)),
    [19] = SET(S(THRSW) | S(WRTMUC)),
    [20] = SET(S(LDVARY) | S(WRTMUC)),
    [21] = SET(S(THRSW) | S(LDVARY) | S(WRTMUC)),
    [22] = SET(S(UCB)),
    [23] = {.reserved = 1},
    [24] = SET(S(LDUNIFA)),
    [25] = SET(S(LDUNIFARF)),
    [26] = SET(S(LDTMU) | S(WRTMUC)),
    [27] = SET(S(THRSW) | S(LDTMU) | S(WRTMUC)),
    [28] = {.reserved = 1},
    [29] = {.reserved = 1},
    [30] = {.small_port = 3},
    [31] = {.small_port = 4},
};

bool daedalus_v3d_is_magic_waddr(unsigned waddr) {
  return (waddr >= DAEDALUS_V3D_WADDR_QUAD && waddr <= DAEDALUS_V3D_WADDR_SYNCB) ||
         (waddr >= DAEDALUS_V3D_WADDR_TMUC && waddr <= DAEDALUS_V3D_WADDR_TMUHSLOD) ||
         waddr == DAEDALUS_V3D_WADDR_REP;
}

static unsigned pair_key(const daedalus_v3d_operand *operand) {
  const int code = daedalus_v3d_modifier_code(DAEDALUS_V3D_UNPACKS_F32, operand->unpack);
  return 256u * operand->small + 64u * (unsigned)(code < 0 ? 0 : code) + operand->index;
}

bool daedalus_v3d_is_second_of_pair(const daedalus_v3d_alu *alu) {
  return pair_key(&alu->src[0]) > pair_key(&alu->src[1]);
}
