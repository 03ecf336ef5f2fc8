/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-checked values of every operand and result modifier, by every compilation. */
#include <stdio.h>

#include "alu_rows.h"
#include "check.h"
#include "simulator/alu_semantics.h"

typedef struct modifier_row {
  int line;
  uint8_t unpack;
  uint32_t in, out;
} modifier_row;

#define UNPACK(id, in, out) {__LINE__, DAEDALUS_V3D_UNPACK_##id, in, out}
#define INF 0x7f800000u
#define NANC 0x7fc00000u

static const modifier_row rows[] = {
    UNPACK(ABS, 0xbf800000, 0x3f800000),
    UNPACK(ABS, 0x80000000, 0),
    UNPACK(ABS, 0xffc12345, 0x7fc12345), /* a bit operation: the payload stays */
    UNPACK(L, 0xaaaa3c00, 0x3f800000),
    UNPACK(L, 0xaaaa8000, 0x80000000),
    UNPACK(L, 0xaaaa0001, 0x33800000), /* 2^-24 */
    UNPACK(L, 0xaaaa83ff, 0xb87fc000),
    UNPACK(L, 0xaaaa0400, 0x38800000),
    UNPACK(L, 0xaaaa7bff, 0x477fe000), /* 65504 */
    UNPACK(L, 0xaaaafc00, 0xff800000),
    UNPACK(L, 0xaaaafc01, NANC),
    UNPACK(H, 0xbc00aaaa, 0xbf800000),
    UNPACK(H, 0x0000ffff, 0),
    UNPACK(H, 0x7e00aaaa, NANC),
    UNPACK(SAT, 0x3f000000, 0x3f000000),
    UNPACK(SAT, 0x3f800001, 0x3f800000),
    UNPACK(SAT, 0xbf000000, 0),
    UNPACK(SAT, 0x80000000, 0),
    UNPACK(SAT, INF, 0x3f800000),
    UNPACK(SAT, 0xffc00000, 0),
    UNPACK(SAT, 0x00000001, 0x00000001),
    UNPACK(NSAT, 0x3f000000, 0x3f000000),
    UNPACK(NSAT, 0x40000000, 0x3f800000),
    UNPACK(NSAT, 0xbf800001, 0xbf800000),
    UNPACK(NSAT, 0x80000000, 0x80000000),
    UNPACK(NSAT, NANC, 0xbf800000),
    UNPACK(MAX0, 0x40000000, 0x40000000),
    UNPACK(MAX0, INF, INF),
    UNPACK(MAX0, 0xff800000, 0),
    UNPACK(MAX0, 0x80000000, 0),
    UNPACK(MAX0, NANC, 0),
    UNPACK(FF, 0x3f800000, 0x3c003c00),
    UNPACK(FF, 0xc77ff000, 0xfc00fc00), /* -65520: to even */
    UNPACK(FF, 0x33000001, 0x00010001),
    UNPACK(FF, 0xff800001, 0x7e007e00),
    UNPACK(LL, 0x12345678, 0x56785678),
    UNPACK(HH, 0x12345678, 0x12341234),
    UNPACK(SWP, 0x12345678, 0x56781234),
    UNPACK(UL, 0x1234ffff, 0x0000ffff),
    UNPACK(UH, 0xffff1234, 0x0000ffff),
    UNPACK(IL, 0x12348000, 0xffff8000),
    UNPACK(IL, 0xffff7fff, 0x00007fff),
    UNPACK(IH, 0x80001234, 0xffff8000),
    UNPACK(IH, 0x7fffffff, 0x00007fff),
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static const daedalus_v3d_kernels *compilations[2];
static unsigned n_compilations;
static daedalus_v3d_profile profile;

static void test_unpack(void) {
  for (unsigned c = 0; c < n_compilations; c++)
    for (size_t r = 0; r < N_ROWS; r++)
      for (unsigned lane = 0; lane < DAEDALUS_V3D_LANES; lane++) {
        uint32_t in[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
        uint64_t seed = 1 + lane;
        for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
          in[i] = alu_random_hard(&seed);
        in[lane] = rows[r].in;
        compilations[c]->unpack[rows[r].unpack](out, in, &profile);
        if (out[lane] != rows[r].out) {
          fprintf(stderr, "%s:%d: lane %u is 0x%08x\n", __FILE__, rows[r].line, lane, out[lane]);
          CHECK(0);
        }
      }
}

static void test_every_unpack_has_a_row(void) {
  unsigned n[DAEDALUS_V3D_N_UNPACKS] = {0};
  for (size_t r = 0; r < N_ROWS; r++)
    n[rows[r].unpack]++;
  for (unsigned unpack = 1; unpack < DAEDALUS_V3D_N_UNPACKS; unpack++) {
    CHECK(n[unpack] != 0);
    CHECK(daedalus_v3d_unpack_of(unpack) != NULL);
  }
  CHECK(daedalus_v3d_unpack_of(DAEDALUS_V3D_UNPACK_NONE) == NULL);
  CHECK(daedalus_v3d_unpack_of(DAEDALUS_V3D_N_UNPACKS) == NULL);
}

/* Results 1, -0, 65520, a NaN, 2^-25 and a little more, in lanes 0 and 10 to 15. */
static void test_pack(void) {
  uint32_t old[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
  const uint32_t result[DAEDALUS_V3D_LANES] = {
      [0] = 0x3f800000,  [10] = 0x80000000, [11] = 0x477ff000,
      [12] = 0xff800001, [13] = 0x33000001, [15] = 0xc0000000};
  const uint32_t half[DAEDALUS_V3D_LANES] = {
      [0] = 0x3c00, [10] = 0x8000, [11] = 0x7c00, [12] = 0x7e00, [13] = 0x0001, [15] = 0xc000};
  for (unsigned c = 0; c < n_compilations; c++) {
    for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
      old[i] = 0xa5a50000 + 0x5a5a + i * 0x00010001;
    compilations[c]->pack[DAEDALUS_V3D_PACK_L](out, old, result, &profile);
    for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
      CHECK(out[i] == (half[i] | (old[i] & 0xffff0000)));
    compilations[c]->pack[DAEDALUS_V3D_PACK_H](out, old, result, &profile);
    for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++)
      CHECK(out[i] == (half[i] << 16 | (old[i] & 0xffff)));
  }
  CHECK(daedalus_v3d_pack_of(DAEDALUS_V3D_PACK_L) && daedalus_v3d_pack_of(DAEDALUS_V3D_PACK_H));
  CHECK(!daedalus_v3d_pack_of(DAEDALUS_V3D_PACK_NONE));
  CHECK(!daedalus_v3d_pack_of(DAEDALUS_V3D_N_PACKS));
}

int main(void) {
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  n_compilations = alu_compilations(compilations);
  profile = daedalus_v3d_profile_default();
  RUN(test_unpack);
  RUN(test_every_unpack_has_a_row);
  RUN(test_pack);
  daedalus_v3d_float_end(modes);
  return CHECK_RESULT();
}
