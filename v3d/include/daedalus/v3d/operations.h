/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/operations.h - the ALU operations of V3D 7.1, as data.
 *
 * DAEDALUS_V3D_OPERATIONS(X) calls X(ID, text, units, sources, unpack, pack, traits) for each:
 *   ID       DAEDALUS_V3D_OP_<ID>
 *   text     the mnemonic
 *   units    A add ALU only, M mul ALU only, AM either
 *   sources  0, 1 or 2 operands
 *   unpack   what may be done to the operands on their way in (daedalus_v3d_unpack_kind)
 *   pack     what may be done to the result on its way out (daedalus_v3d_pack_kind)
 *   traits   DAEDALUS_V3D_TRAIT_* bits
 *
 * How operations are encoded stands in encoding/tables.c, what they compute in simulator/alu*.c;
 * both go by these names.  Source: Mesa's qpu_pack.c and qpu_instr.h (25.0.7 and later),
 * py-videocore7.
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

#define DAEDALUS_V3D_OPERATIONS(X)                                                                \
  X(NOP, "nop", AM, 0, NONE, NONE, 0)                                                             \
  /* Add ALU, two sources. */                                                                     \
  X(FADD, "fadd", A, 2, F32, F32, DAEDALUS_V3D_TRAIT_FLOAT | DAEDALUS_V3D_TRAIT_ORDERED_PAIR)     \
  X(FADDNF, "faddnf", A, 2, F32, F32, DAEDALUS_V3D_TRAIT_FLOAT | DAEDALUS_V3D_TRAIT_ORDERED_PAIR) \
  X(VFADD, "vfadd", A, 2, F16, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                    \
  X(VFPACK, "vfpack", A, 2, F32_HALVES, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                           \
  X(ADD, "add", AM, 2, NONE, NONE, 0)                                                             \
  X(SUB, "sub", AM, 2, NONE, NONE, 0)                                                             \
  X(FSUB, "fsub", A, 2, F32, F32, DAEDALUS_V3D_TRAIT_FLOAT)                                       \
  X(VFSUB, "vfsub", A, 2, F16, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                    \
  X(MIN, "min", A, 2, NONE, NONE, 0)                                                              \
  X(MAX, "max", A, 2, NONE, NONE, 0)                                                              \
  X(UMIN, "umin", A, 2, NONE, NONE, 0)                                                            \
  X(UMAX, "umax", A, 2, NONE, NONE, 0)                                                            \
  X(SHL, "shl", A, 2, NONE, NONE, 0)                                                              \
  X(SHR, "shr", A, 2, NONE, NONE, 0)                                                              \
  X(ASR, "asr", A, 2, NONE, NONE, 0)                                                              \
  X(ROR, "ror", A, 2, NONE, NONE, 0)                                                              \
  X(FMIN, "fmin", A, 2, F32, F32, DAEDALUS_V3D_TRAIT_FLOAT | DAEDALUS_V3D_TRAIT_ORDERED_PAIR)     \
  X(FMAX, "fmax", A, 2, F32, F32, DAEDALUS_V3D_TRAIT_FLOAT | DAEDALUS_V3D_TRAIT_ORDERED_PAIR)     \
  X(VFMIN, "vfmin", A, 2, F16, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                    \
  X(VFMAX, "vfmax", A, 2, F16, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                    \
  X(AND, "and", A, 2, NONE, NONE, 0)                                                              \
  X(OR, "or", A, 2, NONE, NONE, 0)                                                                \
  X(XOR, "xor", A, 2, NONE, NONE, 0)                                                              \
  X(VADD, "vadd", A, 2, NONE, NONE, 0)                                                            \
  X(VSUB, "vsub", A, 2, NONE, NONE, 0)                                                            \
  X(FCMP, "fcmp", A, 2, F32, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                      \
  X(VFCMP, "vfcmp", A, 2, F16, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                    \
  X(VPACK, "vpack", A, 2, NONE, NONE, 0)                                                          \
  X(V8PACK, "v8pack", A, 2, NONE, NONE, 0)                                                        \
  X(V10PACK, "v10pack", A, 2, NONE, NONE, 0)                                                      \
  X(V11FPACK, "v11fpack", A, 2, NONE, NONE, 0)                                                    \
  X(ROTQ, "rotq", A, 2, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_LANES)            \
  X(ROT, "rot", A, 2, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_LANES)              \
  X(SHUFFLE, "shuffle", A, 2, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_LANES)      \
  X(LDVPMG_IN, "ldvpmg_in", A, 2, NONE, NONE,                                                     \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)                                         \
  X(LDVPMG_OUT, "ldvpmg_out", A, 2, NONE, NONE,                                                   \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)                                         \
  X(STVPMV, "stvpmv", A, 2, NONE, NONE,                                                           \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS | DAEDALUS_V3D_TRAIT_NO_DEST)            \
  X(STVPMD, "stvpmd", A, 2, NONE, NONE,                                                           \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS | DAEDALUS_V3D_TRAIT_NO_DEST)            \
  X(STVPMP, "stvpmp", A, 2, NONE, NONE,                                                           \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS | DAEDALUS_V3D_TRAIT_NO_DEST)            \
  /* Add ALU, one source. */                                                                      \
  X(NOT, "not", A, 1, NONE, NONE, 0)                                                              \
  X(NEG, "neg", A, 1, NONE, NONE, 0)                                                              \
  X(FLAPUSH, "flapush", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_READS_FLAGS)                         \
  X(FLBPUSH, "flbpush", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_READS_FLAGS)                         \
  X(FLPOP, "flpop", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_WRITES_FLAGS)                            \
  X(CLZ, "clz", A, 1, NONE, NONE, 0)                                                              \
  X(SETMSF, "setmsf", A, 1, NONE, NONE, 0)                                                        \
  X(SETREVF, "setrevf", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_GRAPHICS)                            \
  X(LDVPMV_IN, "ldvpmv_in", A, 1, NONE, NONE,                                                     \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)                                         \
  X(LDVPMV_OUT, "ldvpmv_out", A, 1, NONE, NONE,                                                   \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)                                         \
  X(LDVPMD_IN, "ldvpmd_in", A, 1, NONE, NONE,                                                     \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)                                         \
  X(LDVPMD_OUT, "ldvpmd_out", A, 1, NONE, NONE,                                                   \
    DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)                                         \
  X(LDVPMP, "ldvpmp", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)     \
  X(RECIP, "recip", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_FLOAT)          \
  X(RSQRT, "rsqrt", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_FLOAT)          \
  X(EXP, "exp", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_FLOAT)              \
  X(LOG, "log", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_FLOAT)              \
  X(SIN, "sin", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_FLOAT)              \
  X(RSQRT2, "rsqrt2", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_FLOAT)        \
  X(BALLOT, "ballot", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_LANES)        \
  X(BCASTF, "bcastf", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_LANES)        \
  X(ALLEQ, "alleq", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_LANES)          \
  X(ALLFEQ, "allfeq", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_SFU | DAEDALUS_V3D_TRAIT_LANES)        \
  X(VFMOV, "vfmov", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                   \
  X(VFABS, "vfabs", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                   \
  X(VFNEG, "vfneg", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                   \
  X(VFNAB, "vfnab", A, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                   \
  X(FROUND, "fround", A, 1, F32_HALVES, F32, DAEDALUS_V3D_TRAIT_FLOAT)                            \
  X(FTRUNC, "ftrunc", A, 1, F32_HALVES, F32, DAEDALUS_V3D_TRAIT_FLOAT)                            \
  X(FFLOOR, "ffloor", A, 1, F32_HALVES, F32, DAEDALUS_V3D_TRAIT_FLOAT)                            \
  X(FCEIL, "fceil", A, 1, F32_HALVES, F32, DAEDALUS_V3D_TRAIT_FLOAT)                              \
  X(FTOIN, "ftoin", A, 1, F32_HALVES, NONE, 0)                                                    \
  X(FTOIZ, "ftoiz", A, 1, F32_HALVES, NONE, 0)                                                    \
  X(FTOUZ, "ftouz", A, 1, F32_HALVES, NONE, 0)                                                    \
  X(FTOC, "ftoc", A, 1, F32_HALVES, NONE, DAEDALUS_V3D_TRAIT_GRAPHICS)                            \
  X(FDX, "fdx", A, 1, F32_HALVES, F32, DAEDALUS_V3D_TRAIT_FLOAT | DAEDALUS_V3D_TRAIT_LANES)       \
  X(FDY, "fdy", A, 1, F32_HALVES, F32, DAEDALUS_V3D_TRAIT_FLOAT | DAEDALUS_V3D_TRAIT_LANES)       \
  X(ITOF, "itof", A, 1, NONE, F32, DAEDALUS_V3D_TRAIT_FLOAT)                                      \
  X(UTOF, "utof", A, 1, NONE, F32, DAEDALUS_V3D_TRAIT_FLOAT)                                      \
  X(FMOV, "fmov", AM, 1, FMOV, F32, DAEDALUS_V3D_TRAIT_FLOAT)                                     \
  X(MOV, "mov", AM, 1, MOV, NONE, 0)                                                              \
  /* Add ALU, no source. */                                                                       \
  X(TIDX, "tidx", A, 0, NONE, NONE, 0)                                                            \
  X(EIDX, "eidx", A, 0, NONE, NONE, 0)                                                            \
  X(LR, "lr", A, 0, NONE, NONE, 0)                                                                \
  X(VFLA, "vfla", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_READS_FLAGS)                               \
  X(VFLNA, "vflna", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_READS_FLAGS)                             \
  X(VFLB, "vflb", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_READS_FLAGS)                               \
  X(VFLNB, "vflnb", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_READS_FLAGS)                             \
  X(XCD, "xcd", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_GRAPHICS)                                    \
  X(YCD, "ycd", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_GRAPHICS)                                    \
  X(MSF, "msf", A, 0, NONE, NONE, 0)                                                              \
  X(REVF, "revf", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_GRAPHICS)                                  \
  X(IID, "iid", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_GRAPHICS)                                    \
  X(SAMPID, "sampid", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_GRAPHICS)                              \
  X(BARRIERID, "barrierid", A, 0, NONE, NONE, 0)                                                  \
  X(TMUWT, "tmuwt", A, 0, NONE, NONE, 0)                                                          \
  X(VPMWT, "vpmwt", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_VPM | DAEDALUS_V3D_TRAIT_GRAPHICS)       \
  X(FLAFIRST, "flafirst", A, 0, NONE, NONE,                                                       \
    DAEDALUS_V3D_TRAIT_READS_FLAGS | DAEDALUS_V3D_TRAIT_LANES)                                    \
  X(FLNAFIRST, "flnafirst", A, 0, NONE, NONE,                                                     \
    DAEDALUS_V3D_TRAIT_READS_FLAGS | DAEDALUS_V3D_TRAIT_LANES)                                    \
  X(FXCD, "fxcd", A, 0, NONE, F32, DAEDALUS_V3D_TRAIT_GRAPHICS | DAEDALUS_V3D_TRAIT_FLOAT)        \
  X(FYCD, "fycd", A, 0, NONE, F32, DAEDALUS_V3D_TRAIT_GRAPHICS | DAEDALUS_V3D_TRAIT_FLOAT)        \
  X(SETNNMODE_UU, "setnnmode_uu", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_NO_DEST)                   \
  X(SETNNMODE_SU, "setnnmode_su", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_NO_DEST)                   \
  X(SETNNMODE_US, "setnnmode_us", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_NO_DEST)                   \
  X(SETNNMODE_SS, "setnnmode_ss", A, 0, NONE, NONE, DAEDALUS_V3D_TRAIT_NO_DEST)                   \
  /* Mul ALU. */                                                                                  \
  X(UMUL24, "umul24", M, 2, NONE, NONE, 0)                                                        \
  X(SMUL24, "smul24", M, 2, NONE, NONE, 0)                                                        \
  X(MULTOP, "multop", M, 2, NONE, NONE, 0)                                                        \
  X(V8DOT, "v8dot", M, 2, NONE, NONE, 0)                                                          \
  X(VFMUL, "vfmul", M, 2, F16, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                                    \
  X(FMUL, "fmul", M, 2, F32, F32, DAEDALUS_V3D_TRAIT_FLOAT)                                       \
  X(FTOUNORM16, "ftounorm16", M, 1, NONE, NONE, 0)                                                \
  X(FTOSNORM16, "ftosnorm16", M, 1, NONE, NONE, 0)                                                \
  X(VFTOUNORM8, "vftounorm8", M, 1, NONE, NONE, 0)                                                \
  X(VFTOSNORM8, "vftosnorm8", M, 1, NONE, NONE, 0)                                                \
  X(FUNPACKUNORMLO, "funpackunormlo", M, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                 \
  X(FUNPACKUNORMHI, "funpackunormhi", M, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                 \
  X(FUNPACKSNORMLO, "funpacksnormlo", M, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                 \
  X(FUNPACKSNORMHI, "funpacksnormhi", M, 1, NONE, NONE, DAEDALUS_V3D_TRAIT_FLOAT)                 \
  X(VFTOUNORM10LO, "vftounorm10lo", M, 1, NONE, NONE, 0)                                          \
  X(VFTOUNORM10HI, "vftounorm10hi", M, 1, NONE, NONE, 0)

typedef enum daedalus_v3d_op {
#define DAEDALUS_V3D_ENUMERATE(id, text, units, sources, unpack, pack, traits) DAEDALUS_V3D_OP_##id,
  DAEDALUS_V3D_OPERATIONS(DAEDALUS_V3D_ENUMERATE)
#undef DAEDALUS_V3D_ENUMERATE
      DAEDALUS_V3D_N_OPS
} daedalus_v3d_op;

#endif
