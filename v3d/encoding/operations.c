/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/v3d/instruction.h>

static const daedalus_v3d_operation operations[DAEDALUS_V3D_N_OPS] = {
#define ROW(id, text, sources, unpack, pack, traits, add, mul) \
  [DAEDALUS_V3D_OP_##id] = {text,                              \
                            DAEDALUS_V3D_HAS_##add,            \
                            DAEDALUS_V3D_HAS_##mul,            \
                            sources,                           \
                            DAEDALUS_V3D_UNPACKS_##unpack,     \
                            DAEDALUS_V3D_PACKS_##pack,         \
                            DAEDALUS_V3D_TRAITS_##traits},
    DAEDALUS_V3D_OPERATIONS(ROW)
#undef ROW
};

const daedalus_v3d_operation *daedalus_v3d_operation_of(unsigned op) {
  return op < DAEDALUS_V3D_N_OPS ? &operations[op] : &operations[DAEDALUS_V3D_OP_NOP];
}

uint32_t daedalus_v3d_small_immediate(unsigned index) {
  if (index < 16)
    return index;
  if (index < 32)
    return (uint32_t)index - 32;
  /* 2^-8 has the biased exponent 127 - 8. */
  return (uint32_t)(index - 32 + 127 - 8) << 23;
}

int daedalus_v3d_small_immediate_index(uint32_t bits) {
  for (unsigned index = 0; index < DAEDALUS_V3D_SMALL_IMMEDIATES; index++)
    if (daedalus_v3d_small_immediate(index) == bits)
      return (int)index;
  return -1;
}
