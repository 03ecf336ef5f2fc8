/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of one compilation. */
#include "simulator/alu_semantics.h"

const daedalus_v3d_kernels DAEDALUS_V3D_KERNEL(kernels_of) = {
    .semantics =
        {
#define ROW(id, execute, flags, carry)                                                  \
  [DAEDALUS_V3D_OP_##                                                                   \
      id] = {DAEDALUS_V3D_KERNEL(execute_##execute), DAEDALUS_V3D_KERNEL(zero_##flags), \
             DAEDALUS_V3D_KERNEL(negative_##flags), DAEDALUS_V3D_KERNEL(carry_##carry)},
            DAEDALUS_V3D_SEMANTICS(ROW)
#undef ROW
        },
};
