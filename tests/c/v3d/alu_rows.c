/* SPDX-License-Identifier: BSD-2-Clause */
#include "alu_rows.h"

#include <stdio.h>
#include <string.h>

#include "simulator/alu_semantics.h"

daedalus_v3d_lane_state alu_state(const daedalus_v3d_profile *profile) {
  daedalus_v3d_lane_state state = {
      .active = 0xffff, .participating = 0xffff, .profile = profile, .nnmode = 0};
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
    state.msf[i] = profile->msf_of_active_lane;
  return state;
}

uint32_t alu_random(uint64_t *seed) {
  /* xorshift64*, S. Vigna. */
  *seed ^= *seed >> 12;
  *seed ^= *seed << 25;
  *seed ^= *seed >> 27;
  return (uint32_t)(*seed * 2685821657736338717u >> 32);
}

uint32_t alu_random_hard(uint64_t *seed) {
  static const uint32_t hard[] = {
      0,          1,          2,          31,         32,         0xffffffff, 0x7fffffff,
      0x80000000, 0x80000001, 0x0000ffff, 0xffff0000, 0x00008000, 0x00007fff, 0x00ffffff,
      0x01000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x00800000,
      0x007fffff, 0x80800000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40200000, 0x4b000000,
      0x4f000000, 0x4f7fffff, 0x4f800000, 0xcf000000, 0xcf000001, 0x477fefff, 0x477ff000,
      0x38800000, 0x33000000, 0x7c007bff, 0x7e000400, 0x03ff8001, 0xfc00fe00, 0x3c00bc00};
  const uint32_t kind = alu_random(seed), word = alu_random(seed);
  switch (kind % 8) {
    case 0:
    case 1:
      return hard[word % (sizeof hard / sizeof hard[0])];
    case 2: /* Near the former. */
      return hard[word % (sizeof hard / sizeof hard[0])] + (word >> 16 & 7) - 3;
    case 3: /* A float of small exponent. */
      return (word & 0x83ffffff) | 0x3c000000;
    case 4: /* Small. */
      return word & 63;
    default:
      return word;
  }
}

unsigned alu_compilations(const daedalus_v3d_kernels *compilations[2]) {
  unsigned n = 0;
  compilations[n++] = &daedalus_v3d_kernels_of;
#ifdef DAEDALUS_V3D_ALU_HAS_AVX2
  if (__builtin_cpu_supports("avx2"))
    compilations[n++] = &daedalus_v3d_kernels_of_avx2;
#endif
  return n;
}

static void describe_flags(char text[4], int zero, int negative, int carry) {
  unsigned n = 0;
  if (zero)
    text[n++] = 'z';
  if (negative)
    text[n++] = 'n';
  if (carry)
    text[n++] = 'c';
  text[n] = 0;
}

int alu_row_holds(const alu_row *row, const char *file, const daedalus_v3d_semantics *semantics,
                  unsigned lane, daedalus_v3d_lane_state *state) {
  uint32_t a[DAEDALUS_V3D_LANES], b[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
  uint64_t seed = 1 + lane;
  for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
    a[i] = alu_random_hard(&seed);
    b[i] = alu_random_hard(&seed);
  }
  a[lane] = row->a;
  b[lane] = row->b;
  semantics->execute(out, a, b, state);
  char flags[4];
  describe_flags(flags, semantics->zero(out, a, b, state) >> lane & 1,
                 semantics->negative(out, a, b, state) >> lane & 1,
                 semantics->carry(out, a, b, state) >> lane & 1);
  if (out[lane] == row->result && !strcmp(flags, row->flags))
    return 1;
  fprintf(stderr, "%s:%d: lane %u: %s 0x%08x, 0x%08x is 0x%08x \"%s\", expected 0x%08x \"%s\"\n",
          file, row->line, lane, daedalus_v3d_operation_of(row->op)->text, row->a, row->b,
          out[lane], flags, row->result, row->flags);
  return 0;
}
