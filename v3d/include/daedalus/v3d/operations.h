/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/operations.h - the ALU operations of V3D 7.1, as data.
 *
 * DAEDALUS_V3D_OPERATIONS(X) calls X(ID, text, sources, unpack, pack, traits, add, mul) for each:
 *   ID       DAEDALUS_V3D_OP_<ID>
 *   text     the mnemonic
 *   sources  0, 1 or 2 operands
 *   unpack   what may be done to the operands on their way in (daedalus_v3d_unpack_kind)
 *   pack     what may be done to the result on its way out (daedalus_v3d_pack_kind)
 *   traits   DAEDALUS_V3D_TRAITS_##traits is its DAEDALUS_V3D_TRAIT_* bits
 *   add, mul DAEDALUS_V3D_HAS_##add is 1 where the add ALU has the operation, else 0; as for mul
 *
 * The last three are no expressions: X pastes a prefix to them, of which those two are defined
 * here. Another one is to be defined for NO (the ALU has not the operation), TWO(opcode),
 * SECOND(opcode), ONE(opcode, selector), DEST(opcode, selector, kind of destination) and
 * WADDR(opcode, write address), as encoding/tables.c does.
 *
 * What operations compute stands in simulator/alu*.c, which goes by these names.  Source: Mesa's
 * qpu_pack.c and qpu_instr.h (25.0.7 and later), py-videocore7.
 */
#ifndef DAEDALUS_V3D_OPERATIONS_H
#define DAEDALUS_V3D_OPERATIONS_H

/** Which operand modifiers an operation takes. */
typedef enum daedalus_v3d_unpack_kind {
  DAEDALUS_V3D_UNPACKS_NONE = 0,
  /** .abs, .l, .h on either source. */
  DAEDALUS_V3D_UNPACKS_F32,
  /** .l, .h on either source (vfpack: no .abs), or on the only one (conversions, fdx, fdy). */
  DAEDALUS_V3D_UNPACKS_F32_HALVES,
  /** fmov: .abs, .l, .h, .sat, .nsat, .max0. */
  DAEDALUS_V3D_UNPACKS_FMOV,
  /** 2 x f16: .ff, .ll, .hh, .swp on the first source. */
  DAEDALUS_V3D_UNPACKS_F16,
  /** mov: .ul, .uh, .il, .ih. */
  DAEDALUS_V3D_UNPACKS_MOV
} daedalus_v3d_unpack_kind;

/** Which result modifiers an operation takes. */
typedef enum daedalus_v3d_pack_kind {
  DAEDALUS_V3D_PACKS_NONE = 0,
  /** .l, .h: to f16, into one half of the destination. */
  DAEDALUS_V3D_PACKS_F32
} daedalus_v3d_pack_kind;

/** Bits of an operation's traits. */
enum {
  /** Writes no destination register (setnnmode_*, stvpm*). */
  DAEDALUS_V3D_TRAIT_NO_DEST = 1u << 0,
  /** Uses the special function unit: result one slot later, destination a register or `-`. */
  DAEDALUS_V3D_TRAIT_SFU = 1u << 1,
  /** Z, N and C are those of float values. */
  DAEDALUS_V3D_TRAIT_FLOAT = 1u << 2,
  /** Swapping the sources leaves the result, and the order of operands tells two operations apart.
   */
  DAEDALUS_V3D_TRAIT_ORDERED_PAIR = 1u << 3,
  /** Reads or writes the vertex pipe memory (graphics). */
  DAEDALUS_V3D_TRAIT_VPM = 1u << 4,
  /** Only graphics shaders give it a meaning; the simulator refuses it in compute jobs. */
  DAEDALUS_V3D_TRAIT_GRAPHICS = 1u << 5,
  /** Reads the flags A or B as data. */
  DAEDALUS_V3D_TRAIT_READS_FLAGS = 1u << 6,
  /** Writes the flags besides what the condition field asks for (flpop). */
  DAEDALUS_V3D_TRAIT_WRITES_FLAGS = 1u << 7,
  /** Combines values of several lanes. */
  DAEDALUS_V3D_TRAIT_LANES = 1u << 8
};

#define DAEDALUS_V3D_TRAITS_0 0
#define DAEDALUS_V3D_TRAITS_T1(a) DAEDALUS_V3D_TRAIT_##a
#define DAEDALUS_V3D_TRAITS_T2(a, b) (DAEDALUS_V3D_TRAIT_##a | DAEDALUS_V3D_TRAIT_##b)
#define DAEDALUS_V3D_TRAITS_T3(a, b, c) \
  (DAEDALUS_V3D_TRAIT_##a | DAEDALUS_V3D_TRAIT_##b | DAEDALUS_V3D_TRAIT_##c)

#define DAEDALUS_V3D_HAS_NO 0
#define DAEDALUS_V3D_HAS_TWO(opcode) 1
#define DAEDALUS_V3D_HAS_SECOND(opcode) 1
#define DAEDALUS_V3D_HAS_ONE(opcode, selector) 1
#define DAEDALUS_V3D_HAS_DEST(opcode, selector, kind) 1
#define DAEDALUS_V3D_HAS_WADDR(opcode, waddr) 1

#define DAEDALUS_V3D_OPERATIONS(X)                                                        \
  X(NOP, "nop", 0, NONE, NONE, 0, DEST(187, 0, NONE), DEST(14, 63, NONE))                 \
  /* Add ALU, two sources. */                                                             \
  X(FADD, "fadd", 2, F32, F32, T2(FLOAT, ORDERED_PAIR), TWO(0), NO)                       \
  X(FADDNF, "faddnf", 2, F32, F32, T2(FLOAT, ORDERED_PAIR), SECOND(0), NO)                \
  X(VFADD, "vfadd", 2, F16, NONE, T1(FLOAT), TWO(48), NO)                                 \
  /* No modifier code is 0: 53..55, 57..59, 61..63. */                                    \
  X(VFPACK, "vfpack", 2, F32_HALVES, NONE, T1(FLOAT), TWO(48), NO)                        \
  X(ADD, "add", 2, NONE, NONE, 0, TWO(56), TWO(1))                                        \
  X(SUB, "sub", 2, NONE, NONE, 0, TWO(60), TWO(2))                                        \
  X(FSUB, "fsub", 2, F32, F32, T1(FLOAT), TWO(64), NO)                                    \
  X(VFSUB, "vfsub", 2, F16, NONE, T1(FLOAT), TWO(112), NO)                                \
  X(MIN, "min", 2, NONE, NONE, 0, TWO(120), NO)                                           \
  X(MAX, "max", 2, NONE, NONE, 0, TWO(121), NO)                                           \
  X(UMIN, "umin", 2, NONE, NONE, 0, TWO(122), NO)                                         \
  X(UMAX, "umax", 2, NONE, NONE, 0, TWO(123), NO)                                         \
  X(SHL, "shl", 2, NONE, NONE, 0, TWO(124), NO)                                           \
  X(SHR, "shr", 2, NONE, NONE, 0, TWO(125), NO)                                           \
  X(ASR, "asr", 2, NONE, NONE, 0, TWO(126), NO)                                           \
  X(ROR, "ror", 2, NONE, NONE, 0, TWO(127), NO)                                           \
  X(FMIN, "fmin", 2, F32, F32, T2(FLOAT, ORDERED_PAIR), TWO(128), NO)                     \
  X(FMAX, "fmax", 2, F32, F32, T2(FLOAT, ORDERED_PAIR), SECOND(128), NO)                  \
  X(VFMIN, "vfmin", 2, F16, NONE, T1(FLOAT), TWO(176), NO)                                \
  X(VFMAX, "vfmax", 2, F16, NONE, T1(FLOAT), TWO(240), NO)                                \
  X(AND, "and", 2, NONE, NONE, 0, TWO(181), NO)                                           \
  X(OR, "or", 2, NONE, NONE, 0, TWO(182), NO)                                             \
  X(XOR, "xor", 2, NONE, NONE, 0, TWO(183), NO)                                           \
  X(VADD, "vadd", 2, NONE, NONE, 0, TWO(184), NO)                                         \
  X(VSUB, "vsub", 2, NONE, NONE, 0, TWO(185), NO)                                         \
  X(FCMP, "fcmp", 2, F32, NONE, T1(FLOAT), TWO(192), NO)                                  \
  X(VFCMP, "vfcmp", 2, F16, NONE, T1(FLOAT), TWO(208), NO)                                \
  X(VPACK, "vpack", 2, NONE, NONE, 0, TWO(247), NO)                                       \
  X(V8PACK, "v8pack", 2, NONE, NONE, 0, TWO(248), NO)                                     \
  X(V10PACK, "v10pack", 2, NONE, NONE, 0, TWO(250), NO)                                   \
  X(V11FPACK, "v11fpack", 2, NONE, NONE, 0, TWO(251), NO)                                 \
  X(ROTQ, "rotq", 2, NONE, NONE, T2(SFU, LANES), TWO(252), NO)                            \
  X(ROT, "rot", 2, NONE, NONE, T2(SFU, LANES), TWO(253), NO)                              \
  X(SHUFFLE, "shuffle", 2, NONE, NONE, T2(SFU, LANES), TWO(254), NO)                      \
  X(LDVPMG_IN, "ldvpmg_in", 2, NONE, NONE, T2(VPM, GRAPHICS), DEST(189, 0, REGISTER), NO) \
  X(LDVPMG_OUT, "ldvpmg_out", 2, NONE, NONE, T2(VPM, GRAPHICS), DEST(189, 0, OUT), NO)    \
  X(STVPMV, "stvpmv", 2, NONE, NONE, T3(VPM, GRAPHICS, NO_DEST), WADDR(190, 0), NO)       \
  X(STVPMD, "stvpmd", 2, NONE, NONE, T3(VPM, GRAPHICS, NO_DEST), WADDR(190, 1), NO)       \
  X(STVPMP, "stvpmp", 2, NONE, NONE, T3(VPM, GRAPHICS, NO_DEST), WADDR(190, 2), NO)       \
  /* Add ALU, one source. */                                                              \
  X(NOT, "not", 1, NONE, NONE, 0, ONE(186, 0), NO)                                        \
  X(NEG, "neg", 1, NONE, NONE, 0, ONE(186, 1), NO)                                        \
  X(FLAPUSH, "flapush", 1, NONE, NONE, T1(READS_FLAGS), ONE(186, 2), NO)                  \
  X(FLBPUSH, "flbpush", 1, NONE, NONE, T1(READS_FLAGS), ONE(186, 3), NO)                  \
  X(FLPOP, "flpop", 1, NONE, NONE, T1(WRITES_FLAGS), ONE(186, 4), NO)                     \
  X(CLZ, "clz", 1, NONE, NONE, 0, ONE(186, 5), NO)                                        \
  X(SETMSF, "setmsf", 1, NONE, NONE, 0, ONE(186, 6), NO)                                  \
  X(SETREVF, "setrevf", 1, NONE, NONE, T1(GRAPHICS), ONE(186, 7), NO)                     \
  X(LDVPMV_IN, "ldvpmv_in", 1, NONE, NONE, T2(VPM, GRAPHICS), DEST(188, 0, REGISTER), NO) \
  X(LDVPMV_OUT, "ldvpmv_out", 1, NONE, NONE, T2(VPM, GRAPHICS), DEST(188, 0, OUT), NO)    \
  X(LDVPMD_IN, "ldvpmd_in", 1, NONE, NONE, T2(VPM, GRAPHICS), DEST(188, 1, REGISTER), NO) \
  X(LDVPMD_OUT, "ldvpmd_out", 1, NONE, NONE, T2(VPM, GRAPHICS), DEST(188, 1, OUT), NO)    \
  X(LDVPMP, "ldvpmp", 1, NONE, NONE, T2(VPM, GRAPHICS), DEST(188, 2, REGISTER), NO)       \
  X(RECIP, "recip", 1, NONE, NONE, T2(SFU, FLOAT), ONE(188, 32), NO)                      \
  X(RSQRT, "rsqrt", 1, NONE, NONE, T2(SFU, FLOAT), ONE(188, 33), NO)                      \
  X(EXP, "exp", 1, NONE, NONE, T2(SFU, FLOAT), ONE(188, 34), NO)                          \
  X(LOG, "log", 1, NONE, NONE, T2(SFU, FLOAT), ONE(188, 35), NO)                          \
  X(SIN, "sin", 1, NONE, NONE, T2(SFU, FLOAT), ONE(188, 36), NO)                          \
  X(RSQRT2, "rsqrt2", 1, NONE, NONE, T2(SFU, FLOAT), ONE(188, 37), NO)                    \
  X(BALLOT, "ballot", 1, NONE, NONE, T2(SFU, LANES), ONE(188, 38), NO)                    \
  X(BCASTF, "bcastf", 1, NONE, NONE, T2(SFU, LANES), ONE(188, 39), NO)                    \
  X(ALLEQ, "alleq", 1, NONE, NONE, T2(SFU, LANES), ONE(188, 40), NO)                      \
  X(ALLFEQ, "allfeq", 1, NONE, NONE, T2(SFU, LANES), ONE(188, 41), NO)                    \
  X(VFMOV, "vfmov", 1, NONE, NONE, T1(FLOAT), ONE(191, 0), NO)                            \
  X(VFABS, "vfabs", 1, NONE, NONE, T1(FLOAT), ONE(191, 5), NO)                            \
  X(VFNEG, "vfneg", 1, NONE, NONE, T1(FLOAT), ONE(191, 10), NO)                           \
  X(VFNAB, "vfnab", 1, NONE, NONE, T1(FLOAT), ONE(191, 15), NO)                           \
  X(FROUND, "fround", 1, F32_HALVES, F32, T1(FLOAT), ONE(245, 0), NO)                     \
  X(FTRUNC, "ftrunc", 1, F32_HALVES, F32, T1(FLOAT), ONE(245, 16), NO)                    \
  X(FFLOOR, "ffloor", 1, F32_HALVES, F32, T1(FLOAT), ONE(245, 32), NO)                    \
  X(FCEIL, "fceil", 1, F32_HALVES, F32, T1(FLOAT), ONE(245, 48), NO)                      \
  X(FTOIN, "ftoin", 1, F32_HALVES, NONE, 0, ONE(245, 3), NO)                              \
  X(FTOIZ, "ftoiz", 1, F32_HALVES, NONE, 0, ONE(245, 19), NO)                             \
  X(FTOUZ, "ftouz", 1, F32_HALVES, NONE, 0, ONE(245, 35), NO)                             \
  X(FTOC, "ftoc", 1, F32_HALVES, NONE, T1(GRAPHICS), ONE(245, 51), NO)                    \
  X(FDX, "fdx", 1, F32_HALVES, F32, T2(FLOAT, LANES), ONE(246, 0), NO)                    \
  X(FDY, "fdy", 1, F32_HALVES, F32, T2(FLOAT, LANES), ONE(246, 16), NO)                   \
  X(ITOF, "itof", 1, NONE, F32, T1(FLOAT), ONE(246, 32), NO)                              \
  X(UTOF, "utof", 1, NONE, F32, T1(FLOAT), ONE(246, 36), NO)                              \
  X(FMOV, "fmov", 1, FMOV, F32, T1(FLOAT), ONE(249, 0), ONE(14, 0))                       \
  X(MOV, "mov", 1, MOV, NONE, 0, ONE(249, 3), ONE(14, 3))                                 \
  /* Add ALU, no source. */                                                               \
  X(TIDX, "tidx", 0, NONE, NONE, 0, ONE(187, 1), NO)                                      \
  X(EIDX, "eidx", 0, NONE, NONE, 0, ONE(187, 2), NO)                                      \
  X(LR, "lr", 0, NONE, NONE, 0, ONE(187, 3), NO)                                          \
  X(VFLA, "vfla", 0, NONE, NONE, T1(READS_FLAGS), ONE(187, 4), NO)                        \
  X(VFLNA, "vflna", 0, NONE, NONE, T1(READS_FLAGS), ONE(187, 5), NO)                      \
  X(VFLB, "vflb", 0, NONE, NONE, T1(READS_FLAGS), ONE(187, 6), NO)                        \
  X(VFLNB, "vflnb", 0, NONE, NONE, T1(READS_FLAGS), ONE(187, 7), NO)                      \
  X(XCD, "xcd", 0, NONE, NONE, T1(GRAPHICS), ONE(187, 8), NO)                             \
  X(YCD, "ycd", 0, NONE, NONE, T1(GRAPHICS), ONE(187, 9), NO)                             \
  X(MSF, "msf", 0, NONE, NONE, 0, ONE(187, 10), NO)                                       \
  X(REVF, "revf", 0, NONE, NONE, T1(GRAPHICS), ONE(187, 11), NO)                          \
  X(IID, "iid", 0, NONE, NONE, T1(GRAPHICS), ONE(187, 12), NO)                            \
  X(SAMPID, "sampid", 0, NONE, NONE, T1(GRAPHICS), ONE(187, 13), NO)                      \
  X(BARRIERID, "barrierid", 0, NONE, NONE, 0, ONE(187, 14), NO)                           \
  X(TMUWT, "tmuwt", 0, NONE, NONE, 0, ONE(187, 15), NO)                                   \
  X(VPMWT, "vpmwt", 0, NONE, NONE, T2(VPM, GRAPHICS), ONE(187, 16), NO)                   \
  X(FLAFIRST, "flafirst", 0, NONE, NONE, T2(READS_FLAGS, LANES), ONE(187, 17), NO)        \
  X(FLNAFIRST, "flnafirst", 0, NONE, NONE, T2(READS_FLAGS, LANES), ONE(187, 18), NO)      \
  X(FXCD, "fxcd", 0, NONE, F32, T2(GRAPHICS, FLOAT), ONE(187, 32), NO)                    \
  X(FYCD, "fycd", 0, NONE, F32, T2(GRAPHICS, FLOAT), ONE(187, 36), NO)                    \
  X(SETNNMODE_UU, "setnnmode_uu", 0, NONE, NONE, T1(NO_DEST), DEST(187, 48, NONE), NO)    \
  X(SETNNMODE_SU, "setnnmode_su", 0, NONE, NONE, T1(NO_DEST), DEST(187, 49, NONE), NO)    \
  X(SETNNMODE_US, "setnnmode_us", 0, NONE, NONE, T1(NO_DEST), DEST(187, 50, NONE), NO)    \
  X(SETNNMODE_SS, "setnnmode_ss", 0, NONE, NONE, T1(NO_DEST), DEST(187, 51, NONE), NO)    \
  /* Mul ALU. */                                                                          \
  X(UMUL24, "umul24", 2, NONE, NONE, 0, NO, TWO(3))                                       \
  X(SMUL24, "smul24", 2, NONE, NONE, 0, NO, TWO(9))                                       \
  X(MULTOP, "multop", 2, NONE, NONE, 0, NO, TWO(10))                                      \
  X(V8DOT, "v8dot", 2, NONE, NONE, 0, NO, TWO(11))                                        \
  X(VFMUL, "vfmul", 2, F16, NONE, T1(FLOAT), NO, TWO(4))                                  \
  X(FMUL, "fmul", 2, F32, F32, T1(FLOAT), NO, TWO(16))                                    \
  X(FTOUNORM16, "ftounorm16", 1, NONE, NONE, 0, NO, ONE(14, 32))                          \
  X(FTOSNORM16, "ftosnorm16", 1, NONE, NONE, 0, NO, ONE(14, 33))                          \
  X(VFTOUNORM8, "vftounorm8", 1, NONE, NONE, 0, NO, ONE(14, 34))                          \
  X(VFTOSNORM8, "vftosnorm8", 1, NONE, NONE, 0, NO, ONE(14, 35))                          \
  X(FUNPACKUNORMLO, "funpackunormlo", 1, NONE, NONE, T1(FLOAT), NO, ONE(14, 36))          \
  X(FUNPACKUNORMHI, "funpackunormhi", 1, NONE, NONE, T1(FLOAT), NO, ONE(14, 37))          \
  X(FUNPACKSNORMLO, "funpacksnormlo", 1, NONE, NONE, T1(FLOAT), NO, ONE(14, 38))          \
  X(FUNPACKSNORMHI, "funpacksnormhi", 1, NONE, NONE, T1(FLOAT), NO, ONE(14, 39))          \
  X(VFTOUNORM10LO, "vftounorm10lo", 1, NONE, NONE, 0, NO, ONE(14, 48))                    \
  X(VFTOUNORM10HI, "vftounorm10hi", 1, NONE, NONE, 0, NO, ONE(14, 49))

typedef enum daedalus_v3d_op {
#define DAEDALUS_V3D_ENUMERATE(id, text, sources, unpack, pack, traits, add, mul) \
  DAEDALUS_V3D_OP_##id,
  DAEDALUS_V3D_OPERATIONS(DAEDALUS_V3D_ENUMERATE)
#undef DAEDALUS_V3D_ENUMERATE
      DAEDALUS_V3D_N_OPS
} daedalus_v3d_op;

#endif
