/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of semantics as data, and the means to write its functions.  Used by simulator/alu*.c,
 * float*.c, sfu*.c and their tests; the engine sees alu.h only.
 *
 * The files that hold the functions ("the kernels") are compiled once for the baseline of the
 * host, and on x86-64 a second time with AVX2 (DAEDALUS_V3D_ALU_SUFFIX=_avx2); alu.c chooses.  Both
 * give the same bits: they do the same IEEE operations, without contraction (-ffp-contract=off).
 */
#ifndef DAEDALUS_V3D_ALU_SEMANTICS_H
#define DAEDALUS_V3D_ALU_SEMANTICS_H

#include <stdbool.h>

#include "simulator/alu.h"

/*
 * X(ID, execute, flags, carry): DAEDALUS_V3D_OP_<ID> computes execute_<execute>; its Z and N are
 * zero_<flags> and negative_<flags>, its C carry_<carry>.  Operations that compute jobs may not
 * use stand in none of the rows.
 */
#define DAEDALUS_V3D_SEMANTICS(X)                \
  X(NOP, nothing, integer, none)                 \
  X(ADD, add, integer, add)                      \
  X(SUB, sub, integer, sub)                      \
  X(MIN, min, integer, min)                      \
  X(MAX, max, integer, max)                      \
  X(UMIN, umin, integer, umax)                   \
  X(UMAX, umax, integer, umax)                   \
  X(SHL, shl, integer, none)                     \
  X(SHR, shr, integer, none)                     \
  X(ASR, asr, integer, none)                     \
  X(ROR, ror, integer, none)                     \
  X(AND, and, integer, none)                     \
  X(OR, or, integer, none)                       \
  X(XOR, xor, integer, none)                     \
  X(NOT, not, integer, none)                     \
  X(NEG, neg, integer, none)                     \
  X(CLZ, clz, integer, none)                     \
  X(MOV, mov, integer, none)                     \
  X(VADD, vadd, integer, none)                   \
  X(VSUB, vsub, integer, none)                   \
  X(UMUL24, umul24, integer, none)               \
  X(SMUL24, smul24, integer, none)               \
  X(MULTOP, multop, integer, none)               \
  X(V8DOT, v8dot, integer, none)                 \
  X(SETNNMODE_UU, setnnmode_uu, integer, none)   \
  X(SETNNMODE_SU, setnnmode_su, integer, none)   \
  X(SETNNMODE_US, setnnmode_us, integer, none)   \
  X(SETNNMODE_SS, setnnmode_ss, integer, none)   \
  /* Lanes, flags, state. */                     \
  X(ROT, rot, integer, none)                     \
  X(ROTQ, rotq, integer, none)                   \
  X(SHUFFLE, shuffle, integer, none)             \
  X(BALLOT, ballot, integer, none)               \
  X(BCASTF, bcastf, integer, none)               \
  X(ALLEQ, alleq, integer, none)                 \
  X(ALLFEQ, allfeq, integer, none)               \
  X(FLAPUSH, flapush, integer, none)             \
  X(FLBPUSH, flbpush, integer, none)             \
  X(FLPOP, flpop, integer, none)                 \
  X(VFLA, vfla, integer, none)                   \
  X(VFLNA, vflna, integer, none)                 \
  X(VFLB, vflb, integer, none)                   \
  X(VFLNB, vflnb, integer, none)                 \
  X(FLAFIRST, flafirst, integer, none)           \
  X(FLNAFIRST, flnafirst, integer, none)         \
  X(MSF, msf, integer, none)                     \
  X(SETMSF, setmsf, integer, none)               \
  X(TIDX, tidx, integer, none)                   \
  X(EIDX, eidx, integer, none)                   \
  X(LR, lr, integer, none)                       \
  X(BARRIERID, barrierid, integer, none)         \
  X(TMUWT, nothing, integer, none)               \
  /* fp32. */                                    \
  X(FADD, fadd, float, none)                     \
  X(FADDNF, faddnf, float, none)                 \
  X(FSUB, fsub, float, none)                     \
  X(FMUL, fmul, float, none)                     \
  X(FMIN, fmin, float, none)                     \
  X(FMAX, fmax, float, none)                     \
  X(FCMP, fsub, fcmp, fcmp)                      \
  X(FMOV, mov, float, none)                      \
  X(FROUND, fround, float, none)                 \
  X(FTRUNC, ftrunc, float, none)                 \
  X(FFLOOR, ffloor, float, none)                 \
  X(FCEIL, fceil, float, none)                   \
  X(FDX, fdx, float, none)                       \
  X(FDY, fdy, float, none)                       \
  X(RECIP, recip, float, none)                   \
  X(RSQRT, rsqrt, float, none)                   \
  X(RSQRT2, rsqrt, float, none)                  \
  X(EXP, exp, float, none)                       \
  X(LOG, log, float, none)                       \
  X(SIN, sin, float, none)                       \
  /* 2 x f16. */                                 \
  X(VFADD, vfadd, halves, none)                  \
  X(VFSUB, vfsub, halves, none)                  \
  X(VFMUL, vfmul, halves, none)                  \
  X(VFMIN, vfmin, halves, none)                  \
  X(VFMAX, vfmax, halves, none)                  \
  X(VFCMP, vfsub, vfcmp, vfcmp)                  \
  X(VFPACK, vfpack, halves, none)                \
  X(VFMOV, mov, halves, none)                    \
  X(VFABS, vfabs, halves, none)                  \
  X(VFNEG, vfneg, halves, none)                  \
  X(VFNAB, vfnab, halves, none)                  \
  /* Conversions and packing. */                 \
  X(FTOIN, ftoin, integer, none)                 \
  X(FTOIZ, ftoiz, integer, none)                 \
  X(FTOUZ, ftouz, integer, none)                 \
  X(ITOF, itof, float, none)                     \
  X(UTOF, utof, float, none)                     \
  X(VPACK, vpack, integer, none)                 \
  X(V8PACK, v8pack, integer, none)               \
  X(V10PACK, v10pack, integer, none)             \
  X(V11FPACK, v11fpack, integer, none)           \
  X(FTOUNORM16, ftounorm16, integer, none)       \
  X(FTOSNORM16, ftosnorm16, integer, none)       \
  X(VFTOUNORM8, vftounorm8, integer, none)       \
  X(VFTOSNORM8, vftosnorm8, integer, none)       \
  X(VFTOUNORM10LO, vftounorm10lo, integer, none) \
  X(VFTOUNORM10HI, vftounorm10hi, integer, none) \
  X(FUNPACKUNORMLO, funpackunormlo, float, none) \
  X(FUNPACKUNORMHI, funpackunormhi, float, none) \
  X(FUNPACKSNORMLO, funpacksnormlo, float, none) \
  X(FUNPACKSNORMHI, funpacksnormhi, float, none)

/** X(ID, name): DAEDALUS_V3D_UNPACK_<ID>, but NONE, is done by unpack_<name>. */
#define DAEDALUS_V3D_UNPACKERS(X) \
  X(ABS, abs)                     \
  X(L, l)                         \
  X(H, h)                         \
  X(SAT, sat)                     \
  X(NSAT, nsat)                   \
  X(MAX0, max0)                   \
  X(FF, ff)                       \
  X(LL, ll)                       \
  X(HH, hh)                       \
  X(SWP, swp)                     \
  X(UL, ul)                       \
  X(UH, uh)                       \
  X(IL, il)                       \
  X(IH, ih)

/** The name of a kernel in this compilation. */
#define DAEDALUS_V3D_PASTE_(name, suffix) daedalus_v3d_##name##suffix
#define DAEDALUS_V3D_PASTE(name, suffix) DAEDALUS_V3D_PASTE_(name, suffix)
#ifndef DAEDALUS_V3D_ALU_SUFFIX
#define DAEDALUS_V3D_ALU_SUFFIX
#endif
#define DAEDALUS_V3D_KERNEL(name) DAEDALUS_V3D_PASTE(name, DAEDALUS_V3D_ALU_SUFFIX)

/** What one compilation offers. */
typedef struct daedalus_v3d_kernels {
  daedalus_v3d_semantics semantics[DAEDALUS_V3D_N_OPS];
  daedalus_v3d_unpack_fn *unpack[DAEDALUS_V3D_N_UNPACKS];
  daedalus_v3d_pack_fn *pack[DAEDALUS_V3D_N_PACKS];
} daedalus_v3d_kernels;

extern const daedalus_v3d_kernels daedalus_v3d_kernels_of;
#ifdef DAEDALUS_V3D_ALU_HAS_AVX2
extern const daedalus_v3d_kernels daedalus_v3d_kernels_of_avx2;
#endif

/* Of this compilation. */
#define DAEDALUS_V3D_DECLARE(id, execute, flags, carry)           \
  daedalus_v3d_execute_fn DAEDALUS_V3D_KERNEL(execute_##execute); \
  daedalus_v3d_flag_fn DAEDALUS_V3D_KERNEL(zero_##flags);         \
  daedalus_v3d_flag_fn DAEDALUS_V3D_KERNEL(negative_##flags);     \
  daedalus_v3d_flag_fn DAEDALUS_V3D_KERNEL(carry_##carry);
DAEDALUS_V3D_SEMANTICS(DAEDALUS_V3D_DECLARE)
#undef DAEDALUS_V3D_DECLARE
#define DAEDALUS_V3D_DECLARE(id, name) daedalus_v3d_unpack_fn DAEDALUS_V3D_KERNEL(unpack_##name);
DAEDALUS_V3D_UNPACKERS(DAEDALUS_V3D_DECLARE)
#undef DAEDALUS_V3D_DECLARE
daedalus_v3d_pack_fn DAEDALUS_V3D_KERNEL(pack_l), DAEDALUS_V3D_KERNEL(pack_h);

/* The head of a function of each kind. */
#define DAEDALUS_V3D_EXECUTE(name)                                                             \
  void DAEDALUS_V3D_KERNEL(execute_##name)(uint32_t *restrict out, const uint32_t *restrict a, \
                                           const uint32_t *restrict b,                         \
                                           daedalus_v3d_lane_state *state)
#define DAEDALUS_V3D_FLAG(name)                                                           \
  daedalus_v3d_lanes DAEDALUS_V3D_KERNEL(name)(const uint32_t *result, const uint32_t *a, \
                                               const uint32_t *b,                         \
                                               const daedalus_v3d_lane_state *state)

/* Loops over all lanes; plain counted loops over arrays, which compilers turn into vectors. */
#define DAEDALUS_V3D_EACH_LANE for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)

/** An operation whose lanes are an expression in x (source a) and y (source b). */
#define DAEDALUS_V3D_EXECUTE_2(name, expression) \
  DAEDALUS_V3D_EXECUTE(name) {                   \
    (void)state;                                 \
    DAEDALUS_V3D_EACH_LANE {                     \
      const uint32_t x = a[i], y = b[i];         \
      out[i] = (expression);                     \
    }                                            \
  }

/** The same of x alone. */
#define DAEDALUS_V3D_EXECUTE_1(name, expression) \
  DAEDALUS_V3D_EXECUTE(name) {                   \
    (void)state, (void)b;                        \
    DAEDALUS_V3D_EACH_LANE {                     \
      const uint32_t x = a[i];                   \
      out[i] = (expression);                     \
    }                                            \
  }

/** The same of nothing but the state and the lane i. */
#define DAEDALUS_V3D_EXECUTE_0(name, expression)  \
  DAEDALUS_V3D_EXECUTE(name) {                    \
    (void)state, (void)a, (void)b;                \
    DAEDALUS_V3D_EACH_LANE out[i] = (expression); \
  }

/**
 * The lanes i in which condition holds.  Weights come from an array, as the vectoriser keeps them
 * in registers: compare, and, or, one horizontal or at the end.
 */
#define DAEDALUS_V3D_COLLECT(lanes, condition)                                         \
  do {                                                                                 \
    static const uint32_t weight[DAEDALUS_V3D_LANES] = {                               \
        1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,   \
        1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15}; \
    uint32_t collected = 0;                                                            \
    DAEDALUS_V3D_EACH_LANE collected |= (condition) ? weight[i] : 0;                   \
    (lanes) = (daedalus_v3d_lanes)collected;                                           \
  } while (0)

/** Bit i of a set of lanes as 0 or 1. */
static inline uint32_t daedalus_v3d_has_lane(daedalus_v3d_lanes lanes, unsigned i) {
  return (uint32_t)lanes >> i & 1;
}

/** The lowest lane of a set, or DAEDALUS_V3D_LANES. */
static inline unsigned daedalus_v3d_first_lane(daedalus_v3d_lanes lanes) {
  unsigned i = 0;
  while (i < DAEDALUS_V3D_LANES && !daedalus_v3d_has_lane(lanes, i))
    i++;
  return i;
}

#endif
