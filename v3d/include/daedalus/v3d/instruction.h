/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/instruction.h - one QPU instruction of V3D 7.1 as a plain struct, and its 64-bit
 * word.
 *
 * A word is either an ALU instruction (an operation on the add ALU, one on the mul ALU, and
 * signals) or a branch.  daedalus_v3d_pack() and daedalus_v3d_unpack() convert; both refuse with
 * a reason what the hardware has no encoding for, and know nothing of the instructions around
 * (daedalus/v3d/validate.h does).
 *
 * Canonical words: what an instruction does not use is encoded in one way (an unused destination
 * is `-`, an unused source 0).  unpack(pack(x)) == x for every x that packs, pack(unpack(w)) == w
 * for every canonical w; a word that is not canonical unpacks to the same struct as its canonical
 * form.
 *
 * The structs are compared with memcmp(): zero them before filling them in.
 */
#ifndef DAEDALUS_V3D_INSTRUCTION_H
#define DAEDALUS_V3D_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <daedalus/v3d/operations.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Registers a thread has at two threads a QPU; at four it is half of them. */
#define DAEDALUS_V3D_REGISTERS 64
/** Elements of a register: the width of the SIMD machine. */
#define DAEDALUS_V3D_LANES 16
/** Small immediates: index 0..47 of daedalus_v3d_small_immediate(). */
#define DAEDALUS_V3D_SMALL_IMMEDIATES 48

/** What happens to an operand on its way in. Which ones an operation takes stands in its kind. */
typedef enum daedalus_v3d_operand_unpack {
  DAEDALUS_V3D_UNPACK_NONE = 0,
  DAEDALUS_V3D_UNPACK_ABS,  /**< f32: magnitude. */
  DAEDALUS_V3D_UNPACK_L,    /**< f32 from the f16 in bits 15:0. */
  DAEDALUS_V3D_UNPACK_H,    /**< f32 from the f16 in bits 31:16. */
  DAEDALUS_V3D_UNPACK_SAT,  /**< f32 clamped to [0, 1]. */
  DAEDALUS_V3D_UNPACK_NSAT, /**< f32 clamped to [-1, 1]. */
  DAEDALUS_V3D_UNPACK_MAX0, /**< f32 clamped to [0, inf]. */
  DAEDALUS_V3D_UNPACK_FF,   /**< 2 x f16: the f32, converted, in both halves. */
  DAEDALUS_V3D_UNPACK_LL,   /**< 2 x f16: the low half twice. */
  DAEDALUS_V3D_UNPACK_HH,   /**< 2 x f16: the high half twice. */
  DAEDALUS_V3D_UNPACK_SWP,  /**< 2 x f16: halves exchanged. */
  DAEDALUS_V3D_UNPACK_UL,   /**< bits 15:0, zero-extended. */
  DAEDALUS_V3D_UNPACK_UH,   /**< bits 31:16, zero-extended. */
  DAEDALUS_V3D_UNPACK_IL,   /**< bits 15:0, sign-extended. */
  DAEDALUS_V3D_UNPACK_IH,   /**< bits 31:16, sign-extended. */
  DAEDALUS_V3D_N_UNPACKS
} daedalus_v3d_operand_unpack;

/** What happens to a result on its way out. */
typedef enum daedalus_v3d_result_pack {
  DAEDALUS_V3D_PACK_NONE = 0,
  DAEDALUS_V3D_PACK_L, /**< as f16 into bits 15:0; bits 31:16 of the destination stay. */
  DAEDALUS_V3D_PACK_H, /**< as f16 into bits 31:16; bits 15:0 of the destination stay. */
  DAEDALUS_V3D_N_PACKS
} daedalus_v3d_result_pack;

/** Lanes whose result is written. */
typedef enum daedalus_v3d_cond {
  DAEDALUS_V3D_COND_NONE = 0, /**< all. */
  DAEDALUS_V3D_COND_IFA,
  DAEDALUS_V3D_COND_IFB,
  DAEDALUS_V3D_COND_IFNA,
  DAEDALUS_V3D_COND_IFNB,
  DAEDALUS_V3D_N_CONDS
} daedalus_v3d_cond;

/** What a result does to the flags: push (B := A, A := flag) or update (A := f(A, flag)). */
typedef enum daedalus_v3d_flags {
  DAEDALUS_V3D_FLAGS_NONE = 0,
  DAEDALUS_V3D_FLAGS_PUSHZ,
  DAEDALUS_V3D_FLAGS_PUSHN,
  DAEDALUS_V3D_FLAGS_PUSHC,
  DAEDALUS_V3D_FLAGS_ANDZ, /**< A & Z */
  DAEDALUS_V3D_FLAGS_ANDNZ,
  DAEDALUS_V3D_FLAGS_NORNZ,
  DAEDALUS_V3D_FLAGS_NORZ, /**< !(A | Z) */
  DAEDALUS_V3D_FLAGS_ANDN,
  DAEDALUS_V3D_FLAGS_ANDNN,
  DAEDALUS_V3D_FLAGS_NORNN,
  DAEDALUS_V3D_FLAGS_NORN,
  DAEDALUS_V3D_FLAGS_ANDC,
  DAEDALUS_V3D_FLAGS_ANDNC,
  DAEDALUS_V3D_FLAGS_NORNC,
  DAEDALUS_V3D_FLAGS_NORC,
  DAEDALUS_V3D_N_FLAGS
} daedalus_v3d_flags;

/** Write addresses beyond the registers ("magic"). */
typedef enum daedalus_v3d_waddr {
  DAEDALUS_V3D_WADDR_QUAD = 5, /**< rf0: lane 0 of each quad over its quad. */
  DAEDALUS_V3D_WADDR_NOP = 6,  /**< `-`: nowhere. */
  DAEDALUS_V3D_WADDR_TLB = 7,
  DAEDALUS_V3D_WADDR_TLBU = 8,
  DAEDALUS_V3D_WADDR_UNIFA = 9,
  DAEDALUS_V3D_WADDR_TMUL = 10,
  DAEDALUS_V3D_WADDR_TMUD = 11,
  DAEDALUS_V3D_WADDR_TMUA = 12,
  DAEDALUS_V3D_WADDR_TMUAU = 13,
  DAEDALUS_V3D_WADDR_VPM = 14,
  DAEDALUS_V3D_WADDR_VPMU = 15,
  DAEDALUS_V3D_WADDR_SYNC = 16,
  DAEDALUS_V3D_WADDR_SYNCU = 17,
  DAEDALUS_V3D_WADDR_SYNCB = 18,
  DAEDALUS_V3D_WADDR_TMUC = 32,
  DAEDALUS_V3D_WADDR_TMUS = 33,
  DAEDALUS_V3D_WADDR_TMUT = 34,
  DAEDALUS_V3D_WADDR_TMUR = 35,
  DAEDALUS_V3D_WADDR_TMUI = 36,
  DAEDALUS_V3D_WADDR_TMUB = 37,
  DAEDALUS_V3D_WADDR_TMUDREF = 38,
  DAEDALUS_V3D_WADDR_TMUOFF = 39,
  DAEDALUS_V3D_WADDR_TMUSCM = 40,
  DAEDALUS_V3D_WADDR_TMUSF = 41,
  DAEDALUS_V3D_WADDR_TMUSLOD = 42,
  DAEDALUS_V3D_WADDR_TMUHS = 43,
  DAEDALUS_V3D_WADDR_TMUHSCM = 44,
  DAEDALUS_V3D_WADDR_TMUHSF = 45,
  DAEDALUS_V3D_WADDR_TMUHSLOD = 46,
  DAEDALUS_V3D_WADDR_REP = 55 /**< rf0: lane 0 over all lanes. */
} daedalus_v3d_waddr;

/** Bits of daedalus_v3d_instruction.signals. Small immediates are no bits: operands say them. */
enum {
  DAEDALUS_V3D_SIGNAL_THRSW = 1u << 0,
  DAEDALUS_V3D_SIGNAL_LDUNIF = 1u << 1,
  DAEDALUS_V3D_SIGNAL_LDUNIFRF = 1u << 2,
  DAEDALUS_V3D_SIGNAL_LDUNIFA = 1u << 3,
  DAEDALUS_V3D_SIGNAL_LDUNIFARF = 1u << 4,
  DAEDALUS_V3D_SIGNAL_LDTMU = 1u << 5,
  DAEDALUS_V3D_SIGNAL_LDVARY = 1u << 6,
  DAEDALUS_V3D_SIGNAL_LDTLB = 1u << 7,
  DAEDALUS_V3D_SIGNAL_LDTLBU = 1u << 8,
  DAEDALUS_V3D_SIGNAL_WRTMUC = 1u << 9,
  DAEDALUS_V3D_SIGNAL_UCB = 1u << 10,
  /** Those that name a destination, and so exclude conditions and flags. */
  DAEDALUS_V3D_SIGNALS_WITH_ADDRESS = DAEDALUS_V3D_SIGNAL_LDUNIFRF | DAEDALUS_V3D_SIGNAL_LDUNIFARF |
                                      DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_LDVARY |
                                      DAEDALUS_V3D_SIGNAL_LDTLB | DAEDALUS_V3D_SIGNAL_LDTLBU
};

typedef struct daedalus_v3d_operand {
  uint8_t small;  /**< 1: index is a small immediate 0..47; 0: a register 0..63. */
  uint8_t index;  /**< 0 where the operation has no such source. */
  uint8_t unpack; /**< daedalus_v3d_operand_unpack */
} daedalus_v3d_operand;

typedef struct daedalus_v3d_dest {
  uint8_t magic; /**< 1: waddr is a daedalus_v3d_waddr; 0: a register 0..63. */
  uint8_t waddr;
} daedalus_v3d_dest;

/** One operation. Without a destination of its own (nop, setnnmode_*) dest is `-`. */
typedef struct daedalus_v3d_alu {
  uint8_t op;    /**< daedalus_v3d_op */
  uint8_t cond;  /**< daedalus_v3d_cond */
  uint8_t flags; /**< daedalus_v3d_flags */
  uint8_t pack;  /**< daedalus_v3d_result_pack */
  daedalus_v3d_dest dest;
  daedalus_v3d_operand src[2];
} daedalus_v3d_alu;

typedef enum daedalus_v3d_branch_cond {
  DAEDALUS_V3D_BRANCH_ALWAYS = 0,
  DAEDALUS_V3D_BRANCH_A0 = 2, /**< flag A of lane 0. */
  DAEDALUS_V3D_BRANCH_NA0 = 3,
  DAEDALUS_V3D_BRANCH_ALLA = 4,
  DAEDALUS_V3D_BRANCH_ANYNA = 5,
  DAEDALUS_V3D_BRANCH_ANYA = 6,
  DAEDALUS_V3D_BRANCH_ALLNA = 7
} daedalus_v3d_branch_cond;

/** Lanes that a branch condition leaves out of account. */
typedef enum daedalus_v3d_msfign {
  DAEDALUS_V3D_MSFIGN_NONE = 0,
  DAEDALUS_V3D_MSFIGN_P = 1, /**< lanes without multisample flags. */
  DAEDALUS_V3D_MSFIGN_Q = 2  /**< quads without any. */
} daedalus_v3d_msfign;

/** Where a branch, or the uniform stream, goes. */
typedef enum daedalus_v3d_branch_dest {
  DAEDALUS_V3D_BRANCH_ABSOLUTE = 0,
  DAEDALUS_V3D_BRANCH_RELATIVE = 1, /**< to the instruction after the delay slots. */
  DAEDALUS_V3D_BRANCH_LINK = 2,
  DAEDALUS_V3D_BRANCH_REGISTER = 3
} daedalus_v3d_branch_dest;

typedef struct daedalus_v3d_branch {
  uint8_t cond;         /**< daedalus_v3d_branch_cond */
  uint8_t msfign;       /**< daedalus_v3d_msfign */
  uint8_t set_link;     /**< 1: the link register takes the address after the delay slots. */
  uint8_t target;       /**< daedalus_v3d_branch_dest */
  uint8_t uniforms;     /**< 1: the uniform stream branches too. */
  uint8_t uniform_dest; /**< daedalus_v3d_branch_dest; 0 where uniforms is 0. */
  uint8_t reg;          /**< register of either destination; 0 where none uses it. */
  uint8_t reserved;
  uint32_t offset; /**< bytes, a multiple of 8; 0 where target needs none. */
} daedalus_v3d_branch;

typedef struct daedalus_v3d_instruction {
  uint8_t is_branch; /**< 1: branch is valid, all else 0. */
  uint8_t reserved[3];
  uint16_t signals; /**< DAEDALUS_V3D_SIGNAL_* */
  daedalus_v3d_dest signal_dest;
  daedalus_v3d_alu add;
  daedalus_v3d_alu mul;
  daedalus_v3d_branch branch;
} daedalus_v3d_instruction;

/** What is fixed of an operation (daedalus/v3d/operations.h). */
typedef struct daedalus_v3d_operation {
  const char *text;
  uint8_t on_add;  /**< 1: the add ALU has it. */
  uint8_t on_mul;  /**< 1: the mul ALU has it. */
  uint8_t sources; /**< 0, 1 or 2. */
  uint8_t unpack;  /**< daedalus_v3d_unpack_kind */
  uint8_t pack;    /**< daedalus_v3d_pack_kind */
  uint16_t traits; /**< DAEDALUS_V3D_TRAIT_* */
} daedalus_v3d_operation;

/** The operation op, a daedalus_v3d_op; never NULL for a valid one. */
const daedalus_v3d_operation *daedalus_v3d_operation_of(unsigned op);

/** The pattern of small immediate index (0..47): integers -16..15 and powers of two 2^-8..2^7. */
uint32_t daedalus_v3d_small_immediate(unsigned index);

/** The index of the small immediate with these bits, or -1. */
int daedalus_v3d_small_immediate_index(uint32_t bits);

/**
 * The word of *instruction into *word.  NULL when done, otherwise the reason (static text, one
 * sentence without a full stop) why there is none; then *word is left alone.
 */
const char *daedalus_v3d_pack(const daedalus_v3d_instruction *instruction, uint64_t *word);

/**
 * The instruction of a word into *instruction.  NULL, or the reason (as above) why the word is
 * illegal; *instruction means nothing then.
 */
const char *daedalus_v3d_unpack(uint64_t word, daedalus_v3d_instruction *instruction);

/**
 * fadd and faddnf share a code, and so do fmin and fmax: which of the two it is says the order of
 * the sources.  Puts those of *alu into the order that its operation needs; pack() refuses the
 * other one.  Results do not depend on it.  Other operations stay as they are.
 */
void daedalus_v3d_order_sources(daedalus_v3d_alu *alu);

/** nop; nop. */
daedalus_v3d_instruction daedalus_v3d_nop(void);

#ifdef __cplusplus
}
#endif

#endif
