/* SPDX-License-Identifier: BSD-2-Clause */
#include "text/names.h"

#include <string.h>

const char *const daedalus_v3d_cond_names[DAEDALUS_V3D_N_CONDS] = {
    "", "ifa", "ifb", "ifna", "ifnb",
};

const char *const daedalus_v3d_flags_names[DAEDALUS_V3D_N_FLAGS] = {
    "",     "pushz", "pushn", "pushc", "andz", "andnz", "nornz", "norz",
    "andn", "andnn", "nornn", "norn",  "andc", "andnc", "nornc", "norc",
};

const char *const daedalus_v3d_pack_names[DAEDALUS_V3D_N_PACKS] = {"", "l", "h"};

const char *const daedalus_v3d_unpack_names[DAEDALUS_V3D_N_UNPACKS] = {
    "", "abs", "l", "h", "sat", "nsat", "max0", "ff", "ll", "hh", "swp", "ul", "uh", "il", "ih",
};

const char *const daedalus_v3d_branch_cond_names[DAEDALUS_V3D_N_BRANCH_CONDS] = {
    "", NULL, "a0", "na0", "alla", "anyna", "anya", "allna",
};

const char *const daedalus_v3d_msfign_names[DAEDALUS_V3D_N_MSFIGNS] = {"", "p", "q"};

#define W(name) [DAEDALUS_V3D_WADDR_##name]
const char *const daedalus_v3d_waddr_names[DAEDALUS_V3D_N_WADDRS] = {
    W(QUAD) = "quad",         W(NOP) = "-",         W(TLB) = "tlb",         W(TLBU) = "tlbu",
    W(UNIFA) = "unifa",       W(TMUL) = "tmul",     W(TMUD) = "tmud",       W(TMUA) = "tmua",
    W(TMUAU) = "tmuau",       W(VPM) = "vpm",       W(VPMU) = "vpmu",       W(SYNC) = "sync",
    W(SYNCU) = "syncu",       W(SYNCB) = "syncb",   W(TMUC) = "tmuc",       W(TMUS) = "tmus",
    W(TMUT) = "tmut",         W(TMUR) = "tmur",     W(TMUI) = "tmui",       W(TMUB) = "tmub",
    W(TMUDREF) = "tmudref",   W(TMUOFF) = "tmuoff", W(TMUSCM) = "tmuscm",   W(TMUSF) = "tmusf",
    W(TMUSLOD) = "tmuslod",   W(TMUHS) = "tmuhs",   W(TMUHSCM) = "tmuhscm", W(TMUHSF) = "tmuhsf",
    W(TMUHSLOD) = "tmuhslod", W(REP) = "rep",
};
#undef W

#define S(name) DAEDALUS_V3D_SIGNAL_##name
const daedalus_v3d_signal_name daedalus_v3d_signal_names[DAEDALUS_V3D_N_SIGNALS] = {
    {S(THRSW), "thrsw"},       {S(LDVARY), "ldvary"},   {S(LDTMU), "ldtmu"},
    {S(LDTLB), "ldtlb"},       {S(LDTLBU), "ldtlbu"},   {S(LDUNIF), "ldunif"},
    {S(LDUNIFRF), "ldunifrf"}, {S(LDUNIFA), "ldunifa"}, {S(LDUNIFARF), "ldunifarf"},
    {S(WRTMUC), "wrtmuc"},     {S(UCB), "ucb"},
};
#undef S

static bool is(const char *name, const char *text, size_t length) {
  return strlen(name) == length && memcmp(name, text, length) == 0;
}

int daedalus_v3d_name_index(const char *const *names, size_t n, const char *text, size_t length) {
  for (size_t i = 0; i < n && length > 0; i++)
    if (names[i] != NULL && is(names[i], text, length))
      return (int)i;
  return -1;
}

int daedalus_v3d_op_index(const char *text, size_t length) {
  if (is("umul24_rtop0", text, length))
    return DAEDALUS_V3D_OP_UMUL24;
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++)
    if (is(daedalus_v3d_operation_of(op)->text, text, length))
      return (int)op;
  return -1;
}

int daedalus_v3d_signal_index(const char *text, size_t length) {
  for (int i = 0; i < DAEDALUS_V3D_N_SIGNALS; i++)
    if (is(daedalus_v3d_signal_names[i].text, text, length))
      return i;
  return -1;
}
