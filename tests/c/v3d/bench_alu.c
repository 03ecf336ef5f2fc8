/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nanoseconds that each operation, flag function, unpack and pack takes for 16 lanes, a column a
 * compilation of the kernels: the fastest of several runs, call included.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>

#include "alu_rows.h"
#include "simulator/alu_semantics.h"

#define CALLS 20000
#define RUNS 15

static uint32_t a[DAEDALUS_V3D_LANES], b[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
static daedalus_v3d_profile profile;
static daedalus_v3d_lane_state state;
static volatile unsigned sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* One kind of function each; index says which one. */
typedef void run_fn(const daedalus_v3d_kernels *kernels, unsigned index);

static void run_execute(const daedalus_v3d_kernels *kernels, unsigned op) {
  daedalus_v3d_execute_fn *const execute = kernels->semantics[op].execute;
  for (unsigned n = 0; n < CALLS; n++)
    execute(out, a, b, &state);
}

/* 3 * op + 0, 1, 2: Z, N, C. */
static void run_flag(const daedalus_v3d_kernels *kernels, unsigned index) {
  const daedalus_v3d_semantics *semantics = &kernels->semantics[index / 3];
  daedalus_v3d_flag_fn *const flag = index % 3 == 0   ? semantics->zero
                                     : index % 3 == 1 ? semantics->negative
                                                      : semantics->carry;
  for (unsigned n = 0; n < CALLS; n++)
    sink = flag(out, a, b, &state);
}

static void run_unpack(const daedalus_v3d_kernels *kernels, unsigned index) {
  for (unsigned n = 0; n < CALLS; n++)
    kernels->unpack[index](out, a, &profile);
}

static void run_pack(const daedalus_v3d_kernels *kernels, unsigned index) {
  for (unsigned n = 0; n < CALLS; n++)
    kernels->pack[index](out, a, b, &profile);
}

static void measure(const char *kind, const char *name, run_fn *run, unsigned index) {
  const daedalus_v3d_kernels *compilations[2];
  const unsigned n = alu_compilations(compilations);
  printf("%-8s %-16s", kind, name);
  for (unsigned c = 0; c < n; c++) {
    double best = 1e300;
    for (unsigned r = 0; r < RUNS; r++) {
      const double start = now();
      run(compilations[c], index);
      const double taken = now() - start;
      best = taken < best ? taken : best;
    }
    printf(" %7.2f", best / CALLS);
  }
  printf("\n");
}

int main(void) {
  daedalus_v3d_float_begin();
  profile = daedalus_v3d_profile_default();
  state = alu_state(&profile);
  /* Ordinary floats, and as integers anything. */
  uint64_t seed = 1;
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
    a[i] = (alu_random(&seed) & 0x81ffffff) | 0x3e000000;
    b[i] = (alu_random(&seed) & 0x81ffffff) | 0x3e000000;
  }
  printf("# ns for 16 lanes: baseline%s\n",
         alu_compilations((const daedalus_v3d_kernels *[2]){0}) == 2 ? ", AVX2" : "");
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++)
    if (daedalus_v3d_semantics_of(op)->execute)
      measure("op", daedalus_v3d_operation_of(op)->text, run_execute, op);
  static const struct {
    const char *name;
    unsigned op, flag;
  } flags[] = {
      {"zero integer", DAEDALUS_V3D_OP_ADD, 0},  {"zero float", DAEDALUS_V3D_OP_FADD, 0},
      {"zero halves", DAEDALUS_V3D_OP_VFADD, 0}, {"zero fcmp", DAEDALUS_V3D_OP_FCMP, 0},
      {"zero vfcmp", DAEDALUS_V3D_OP_VFCMP, 0},  {"negative integer", DAEDALUS_V3D_OP_ADD, 1},
      {"carry none", DAEDALUS_V3D_OP_OR, 2},     {"carry add", DAEDALUS_V3D_OP_ADD, 2},
      {"carry sub", DAEDALUS_V3D_OP_SUB, 2},     {"carry min", DAEDALUS_V3D_OP_MIN, 2},
      {"carry fcmp", DAEDALUS_V3D_OP_FCMP, 2}};
  for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
    measure("flag", flags[i].name, run_flag, 3 * flags[i].op + flags[i].flag);
#define UNPACK(id, name) measure("unpack", #name, run_unpack, DAEDALUS_V3D_UNPACK_##id);
  DAEDALUS_V3D_UNPACKERS(UNPACK)
#undef UNPACK
  measure("pack", "l", run_pack, DAEDALUS_V3D_PACK_L);
  measure("pack", "h", run_pack, DAEDALUS_V3D_PACK_H);
  return 0;
}
