/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoding of V3D 7.1 as data: what pack.c and unpack.c both go by, so that they cannot
 * disagree.  Sources as in daedalus/v3d/operations.h.
 */
#ifndef DAEDALUS_V3D_ENCODING_TABLES_H
#define DAEDALUS_V3D_ENCODING_TABLES_H

#include <daedalus/v3d/instruction.h>

/** A field of the 64-bit word: the lowest bit and the number of bits. */
#define DAEDALUS_V3D_FIELDS(X)  \
  X(OP_MUL, 58, 6)              \
  X(SIG, 53, 5)                 \
  X(COND, 46, 7)                \
  X(MAGIC_MUL, 45, 1)           \
  X(MAGIC_ADD, 44, 1)           \
  X(WADDR_MUL, 38, 6)           \
  X(WADDR_ADD, 32, 6)           \
  X(OP_ADD, 24, 8)              \
  X(RADDR_C, 18, 6)             \
  X(RADDR_D, 12, 6)             \
  X(RADDR_A, 6, 6)              \
  X(RADDR_B, 0, 6)              \
  X(BRANCH_MARK, 56, 2)         \
  X(BRANCH_OFFSET_LOW, 35, 21)  \
  X(BRANCH_COND, 32, 3)         \
  X(BRANCH_OFFSET_HIGH, 24, 8)  \
  X(BRANCH_SET_LINK, 23, 1)     \
  X(BRANCH_MSFIGN, 21, 2)       \
  X(BRANCH_UNIFORM_DEST, 15, 3) \
  X(BRANCH_UNIFORMS, 14, 1)     \
  X(BRANCH_TARGET, 12, 2)

enum {
#define DAEDALUS_V3D_ENUMERATE(name, low, bits) \
  DAEDALUS_V3D_##name##_LOW = low, DAEDALUS_V3D_##name##_BITS = bits,
  DAEDALUS_V3D_FIELDS(DAEDALUS_V3D_ENUMERATE)
#undef DAEDALUS_V3D_ENUMERATE
};

#define DAEDALUS_V3D_GET(word, field) \
  ((unsigned)((word) >> DAEDALUS_V3D_##field##_LOW) & ((1u << DAEDALUS_V3D_##field##_BITS) - 1))
#define DAEDALUS_V3D_PUT(value, field) ((uint64_t)(value) << DAEDALUS_V3D_##field##_LOW)

/** BRANCH_MARK of a branch; OP_MUL is 0 then. */
#define DAEDALUS_V3D_IS_BRANCH 2u

/** How an operation names its destination. */
enum {
  DAEDALUS_V3D_DEST_ANY = 0,   /**< register or magic. */
  DAEDALUS_V3D_DEST_REGISTER,  /**< a register, magic bit 0. */
  DAEDALUS_V3D_DEST_OUT,       /**< a register, magic bit 1: tells ldvpm*_out from ldvpm*_in. */
  DAEDALUS_V3D_DEST_NONE,      /**< none: waddr is ignored. */
  DAEDALUS_V3D_DEST_OPERATION, /**< none: waddr tells operations apart. */
};

/**
 * How one operation is encoded on one ALU.  Modifiers (daedalus_v3d_modifier_code()) are added to
 * these: with two sources to the opcode, as 16 * pack + 4 * a + b, or just + a where only the
 * first source takes one (2 x f16); else to the selector, as 4 * a + pack.
 */
typedef struct daedalus_v3d_encoding {
  uint8_t opcode;
  uint8_t selector; /**< what stands in the field of the second source if there is none. */
  uint8_t dest;     /**< DAEDALUS_V3D_DEST_* */
  uint8_t waddr;    /**< of DEST_OPERATION. */
  uint8_t second;   /**< 1: the one of an ordered pair whose first source has the higher key. */
} daedalus_v3d_encoding;

/** Rows by daedalus_v3d_op; only those with on_add, on_mul of the operation mean something. */
extern const daedalus_v3d_encoding daedalus_v3d_add_encodings[DAEDALUS_V3D_N_OPS];
extern const daedalus_v3d_encoding daedalus_v3d_mul_encodings[DAEDALUS_V3D_N_OPS];

/** The code of a daedalus_v3d_operand_unpack in a daedalus_v3d_unpack_kind, -1 where not taken. */
int daedalus_v3d_modifier_code(unsigned kind, unsigned unpack);

/** The reverse; -1 for a reserved code. */
int daedalus_v3d_modifier_of(unsigned kind, unsigned code);

/** What one value of the signal field means. */
typedef struct daedalus_v3d_signal_set {
  uint16_t signals;
  uint8_t small_port; /**< 1..4: the source at a, b, c, d is a small immediate. */
  uint8_t reserved;   /**< 1: illegal. */
} daedalus_v3d_signal_set;

#define DAEDALUS_V3D_SIGNAL_SETS 32
extern const daedalus_v3d_signal_set daedalus_v3d_signal_sets[DAEDALUS_V3D_SIGNAL_SETS];

/** Conditions and flag changes of one instruction: what the condition field holds. */
typedef struct daedalus_v3d_condition {
  uint8_t add_cond, mul_cond;   /**< daedalus_v3d_cond */
  uint8_t add_flags, mul_flags; /**< daedalus_v3d_flags */
} daedalus_v3d_condition;

/** NULL, or why there is no field for *condition. */
const char *daedalus_v3d_encode_condition(const daedalus_v3d_condition *condition, unsigned *field);

/** NULL, or why field is illegal. */
const char *daedalus_v3d_decode_condition(unsigned field, daedalus_v3d_condition *condition);

/** Whether waddr is one of daedalus_v3d_waddr. */
bool daedalus_v3d_is_magic_waddr(unsigned waddr);

/**
 * Whether the sources of an operation with ORDERED_PAIR stand in the order of the pair's second
 * operation (faddnf, fmax).
 */
bool daedalus_v3d_is_second_of_pair(const daedalus_v3d_alu *alu);

#endif
