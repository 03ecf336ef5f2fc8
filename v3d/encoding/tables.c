/* SPDX-License-Identifier: BSD-2-Clause */
#include "encoding/tables.h"

#define OP(id) [DAEDALUS_V3D_OP_##id]
/* Operations with two sources, those with fewer, those with a destination of another kind. */
#define TWO(op) {.opcode = (op)}
#define ONE(op, select) {.opcode = (op), .selector = (select)}
#define DEST(op, select, kind) \
  {.opcode = (op), .selector = (select), .dest = DAEDALUS_V3D_DEST_##kind}

const daedalus_v3d_encoding daedalus_v3d_add_encodings[DAEDALUS_V3D_N_OPS] = {
    OP(FADD) = TWO(0),
    OP(FADDNF) = {.opcode = 0, .second = 1},
    OP(VFADD) = TWO(48),
    OP(VFPACK) = TWO(48), /* No modifier code is 0: 53..55, 57..59, 61..63. */
    OP(ADD) = TWO(56),
    OP(SUB) = TWO(60),
    OP(FSUB) = TWO(64),
    OP(VFSUB) = TWO(112),
    OP(MIN) = TWO(120),
    OP(MAX) = TWO(121),
    OP(UMIN) = TWO(122),
    OP(UMAX) = TWO(123),
    OP(SHL) = TWO(124),
    OP(SHR) = TWO(125),
    OP(ASR) = TWO(126),
    OP(ROR) = TWO(127),
    OP(FMIN) = TWO(128),
    OP(FMAX) = {.opcode = 128, .second = 1},
    OP(VFMIN) = TWO(176),
    OP(AND) = TWO(181),
    OP(OR) = TWO(182),
    OP(XOR) = TWO(183),
    OP(VADD) = TWO(184),
    OP(VSUB) = TWO(185),
    OP(NOT) = ONE(186, 0),
    OP(NEG) = ONE(186, 1),
    OP(FLAPUSH) = ONE(186, 2),
    OP(FLBPUSH) = ONE(186, 3),
    OP(FLPOP) = ONE(186, 4),
    OP(CLZ) = ONE(186, 5),
    OP(SETMSF) = ONE(186, 6),
    OP(SETREVF) = ONE(186, 7),
    OP(NOP) = DEST(187, 0, NONE),
    OP(TIDX) = ONE(187, 1),
    OP(EIDX) = ONE(187, 2),
    OP(LR) = ONE(187, 3),
    OP(VFLA) = ONE(187, 4),
    OP(VFLNA) = ONE(187, 5),
    OP(VFLB) = ONE(187, 6),
    OP(VFLNB) = ONE(187, 7),
    OP(XCD) = ONE(187, 8),
    OP(YCD) = ONE(187, 9),
    OP(MSF) = ONE(187, 10),
    OP(REVF) = ONE(187, 11),
    OP(IID) = ONE(187, 12),
    OP(SAMPID) = ONE(187, 13),
    OP(BARRIERID) = ONE(187, 14),
    OP(TMUWT) = ONE(187, 15),
    OP(VPMWT) = ONE(187, 16),
    OP(FLAFIRST) = ONE(187, 17),
    OP(FLNAFIRST) = ONE(187, 18),
    OP(FXCD) = ONE(187, 32),
    OP(FYCD) = ONE(187, 36),
    OP(SETNNMODE_UU) = DEST(187, 48, NONE),
    OP(SETNNMODE_SU) = DEST(187, 49, NONE),
    OP(SETNNMODE_US) = DEST(187, 50, NONE),
    OP(SETNNMODE_SS) = DEST(187, 51, NONE),
    OP(LDVPMV_IN) = DEST(188, 0, REGISTER),
    OP(LDVPMV_OUT) = DEST(188, 0, OUT),
    OP(LDVPMD_IN) = DEST(188, 1, REGISTER),
    OP(LDVPMD_OUT) = DEST(188, 1, OUT),
    OP(LDVPMP) = DEST(188, 2, REGISTER),
    OP(RECIP) = ONE(188, 32),
    OP(RSQRT) = ONE(188, 33),
    OP(EXP) = ONE(188, 34),
    OP(LOG) = ONE(188, 35),
    OP(SIN) = ONE(188, 36),
    OP(RSQRT2) = ONE(188, 37),
    OP(BALLOT) = ONE(188, 38),
    OP(BCASTF) = ONE(188, 39),
    OP(ALLEQ) = ONE(188, 40),
    OP(ALLFEQ) = ONE(188, 41),
    OP(LDVPMG_IN) = DEST(189, 0, REGISTER),
    OP(LDVPMG_OUT) = DEST(189, 0, OUT),
    OP(STVPMV) = {.opcode = 190, .dest = DAEDALUS_V3D_DEST_OPERATION, .waddr = 0},
    OP(STVPMD) = {.opcode = 190, .dest = DAEDALUS_V3D_DEST_OPERATION, .waddr = 1},
    OP(STVPMP) = {.opcode = 190, .dest = DAEDALUS_V3D_DEST_OPERATION, .waddr = 2},
    OP(VFMOV) = ONE(191, 0),
    OP(VFABS) = ONE(191, 5),
    OP(VFNEG) = ONE(191, 10),
    OP(VFNAB) = ONE(191, 15),
    OP(FCMP) = TWO(192),
    OP(VFCMP) = TWO(208),
    OP(VFMAX) = TWO(240),
    OP(FROUND) = ONE(245, 0),
    OP(FTOIN) = ONE(245, 3),
    OP(FTRUNC) = ONE(245, 16),
    OP(FTOIZ) = ONE(245, 19),
    OP(FFLOOR) = ONE(245, 32),
    OP(FTOUZ) = ONE(245, 35),
    OP(FCEIL) = ONE(245, 48),
    OP(FTOC) = ONE(245, 51),
    OP(FDX) = ONE(246, 0),
    OP(FDY) = ONE(246, 16),
    OP(ITOF) = ONE(246, 32),
    OP(UTOF) = ONE(246, 36),
    OP(VPACK) = TWO(247),
    OP(V8PACK) = TWO(248),
    OP(FMOV) = ONE(249, 0),
    OP(MOV) = ONE(249, 3),
    OP(V10PACK) = TWO(250),
    OP(V11FPACK) = TWO(251),
    OP(ROTQ) = TWO(252),
    OP(ROT) = TWO(253),
    OP(SHUFFLE) = TWO(254),
};

const daedalus_v3d_encoding daedalus_v3d_mul_encodings[DAEDALUS_V3D_N_OPS] = {
    OP(ADD) = TWO(1),
    OP(SUB) = TWO(2),
    OP(UMUL24) = TWO(3),
    OP(VFMUL) = TWO(4),
    OP(SMUL24) = TWO(9),
    OP(MULTOP) = TWO(10),
    OP(V8DOT) = TWO(11),
    OP(FMOV) = ONE(14, 0),
    OP(MOV) = ONE(14, 3),
    OP(FTOUNORM16) = ONE(14, 32),
    OP(FTOSNORM16) = ONE(14, 33),
    OP(VFTOUNORM8) = ONE(14, 34),
    OP(VFTOSNORM8) = ONE(14, 35),
    OP(FUNPACKUNORMLO) = ONE(14, 36),
    OP(FUNPACKUNORMHI) = ONE(14, 37),
    OP(FUNPACKSNORMLO) = ONE(14, 38),
    OP(FUNPACKSNORMHI) = ONE(14, 39),
    OP(VFTOUNORM10LO) = ONE(14, 48),
    OP(VFTOUNORM10HI) = ONE(14, 49),
    OP(NOP) = DEST(14, 63, NONE),
    OP(FMUL) = TWO(16),
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
