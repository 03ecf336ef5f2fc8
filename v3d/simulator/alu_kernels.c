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
    .unpack =
        {
#define ROW(id, name) [DAEDALUS_V3D_UNPACK_##id] = DAEDALUS_V3D_KERNEL(unpack_##name),
            DAEDALUS_V3D_UNPACKERS(ROW)
#undef ROW
        },
    .pack =
        {
            [DAEDALUS_V3D_PACK_L] = DAEDALUS_V3D_KERNEL(pack_l),
            [DAEDALUS_V3D_PACK_H] = DAEDALUS_V3D_KERNEL(pack_h),
        },
};
