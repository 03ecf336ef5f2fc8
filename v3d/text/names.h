/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of the assembly text, as tables that the formatter and the assembler both go by. */
#ifndef DAEDALUS_V3D_TEXT_NAMES_H
#define DAEDALUS_V3D_TEXT_NAMES_H

#include <daedalus/v3d/instruction.h>

/* By the enumerations of daedalus/v3d/instruction.h; "" says itself by saying nothing. */
extern const char *const daedalus_v3d_cond_names[DAEDALUS_V3D_N_CONDS];
extern const char *const daedalus_v3d_flags_names[DAEDALUS_V3D_N_FLAGS];
extern const char *const daedalus_v3d_pack_names[DAEDALUS_V3D_N_PACKS];
extern const char *const daedalus_v3d_unpack_names[DAEDALUS_V3D_N_UNPACKS];
#define DAEDALUS_V3D_N_BRANCH_CONDS 8
extern const char *const daedalus_v3d_branch_cond_names[DAEDALUS_V3D_N_BRANCH_CONDS];
#define DAEDALUS_V3D_N_MSFIGNS 3
extern const char *const daedalus_v3d_msfign_names[DAEDALUS_V3D_N_MSFIGNS];

/** By write address; NULL where it is reserved. */
#define DAEDALUS_V3D_N_WADDRS 64
extern const char *const daedalus_v3d_waddr_names[DAEDALUS_V3D_N_WADDRS];

/** Signals in the order in which they are printed. */
typedef struct daedalus_v3d_signal_name {
  uint16_t bit; /**< DAEDALUS_V3D_SIGNAL_* */
  const char *text;
} daedalus_v3d_signal_name;
#define DAEDALUS_V3D_N_SIGNALS 11
extern const daedalus_v3d_signal_name daedalus_v3d_signal_names[DAEDALUS_V3D_N_SIGNALS];

/* Branch destinations that are words. */
#define DAEDALUS_V3D_TEXT_LINK "lri"
#define DAEDALUS_V3D_TEXT_ABSOLUTE "zero_addr"
#define DAEDALUS_V3D_TEXT_UNIFORM_ABSOLUTE "a:unif"
#define DAEDALUS_V3D_TEXT_UNIFORM_RELATIVE "r:unif"
/** Suffix of a branch that sets the link register; not known to Mesa. */
#define DAEDALUS_V3D_TEXT_SET_LINK "link"

/** Index of the n names that text of length bytes is, or -1; NULL and "" are never it. */
int daedalus_v3d_name_index(const char *const *names, size_t n, const char *text, size_t length);

/** The daedalus_v3d_op of a mnemonic, umul24_rtop0 being another one for umul24; or -1. */
int daedalus_v3d_op_index(const char *text, size_t length);

/** Index into daedalus_v3d_signal_names, or -1. */
int daedalus_v3d_signal_index(const char *text, size_t length);

#endif
