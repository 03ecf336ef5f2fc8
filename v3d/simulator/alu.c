/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the compilation of the kernels that the host runs fastest. */
#include "simulator/alu_semantics.h"
#include "simulator/engine.h"

static const daedalus_v3d_kernels *kernels(void) {
#ifdef DAEDALUS_V3D_ALU_HAS_AVX2
  if (__builtin_cpu_supports("avx2"))
    return &daedalus_v3d_kernels_of_avx2;
#endif
  return &daedalus_v3d_kernels_of;
}

const daedalus_v3d_semantics *daedalus_v3d_semantics_of(unsigned op) {
  static const daedalus_v3d_semantics none = {0};
  return op < DAEDALUS_V3D_N_OPS ? &kernels()->semantics[op] : &none;
}

daedalus_v3d_unpack_fn *daedalus_v3d_unpack_of(unsigned unpack) {
  return unpack < DAEDALUS_V3D_N_UNPACKS ? kernels()->unpack[unpack] : NULL;
}

daedalus_v3d_pack_fn *daedalus_v3d_pack_of(unsigned pack) {
  return pack < DAEDALUS_V3D_N_PACKS ? kernels()->pack[pack] : NULL;
}

v3d_run_fn *daedalus_v3d_runner_of(const v3d_op *op, bool lane_operations) {
#ifdef DAEDALUS_V3D_ALU_HAS_AVX2
  if (__builtin_cpu_supports("avx2"))
    return daedalus_v3d_compiled_runner_of_avx2(op, lane_operations);
#endif
  return daedalus_v3d_compiled_runner_of(op, lane_operations);
}
