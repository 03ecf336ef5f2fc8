/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same bits on every host, whatever its compiler, vector instructions and floating-point
 * modes: one digest over all operations and modifiers of hard and random operands.
 */
#include <stdio.h>

#include "alu_rows.h"
#include "check.h"
#include "simulator/alu_semantics.h"

#define VECTORS 300
/*
 * As found on x86-64 and AArch64, by gcc and clang.  Another means that some result is another, or
 * that an operation came, went or moved in operations.h.
 */
#define DIGEST 0xca61d62de89526a4u

/* FNV-1a. */
static uint64_t digest_of(uint64_t digest, const uint32_t *words, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    for (unsigned shift = 0; shift < 32; shift += 8)
      digest = (digest ^ (words[i] >> shift & 0xff)) * 0x100000001b3;
  return digest;
}

static uint64_t digest_of_kernels(const daedalus_v3d_kernels *kernels) {
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  uint64_t digest = 0xcbf29ce484222325, seed = 71;
  for (unsigned v = 0; v < VECTORS; v++) {
    daedalus_v3d_lane_state state = alu_state(&profile);
    uint32_t a[DAEDALUS_V3D_LANES], b[DAEDALUS_V3D_LANES], out[DAEDALUS_V3D_LANES];
    for (unsigned i = 0; i < DAEDALUS_V3D_LANES; i++) {
      a[i] = alu_random_hard(&seed);
      b[i] = alu_random_hard(&seed);
    }
    state.flag_a = (daedalus_v3d_lanes)alu_random(&seed);
    state.flag_b = (daedalus_v3d_lanes)alu_random(&seed);
    state.participating = (daedalus_v3d_lanes)alu_random(&seed);
    for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++) {
      const daedalus_v3d_semantics *semantics = &kernels->semantics[op];
      if (!semantics->execute)
        continue;
      semantics->execute(out, a, b, &state);
      const uint32_t flags[3] = {semantics->zero(out, a, b, &state),
                                 semantics->negative(out, a, b, &state),
                                 semantics->carry(out, a, b, &state)};
      digest = digest_of(digest_of(digest, out, DAEDALUS_V3D_LANES), flags, 3);
    }
    for (unsigned unpack = 1; unpack < DAEDALUS_V3D_N_UNPACKS; unpack++) {
      kernels->unpack[unpack](out, a, &profile);
      digest = digest_of(digest, out, DAEDALUS_V3D_LANES);
    }
    for (unsigned pack = 1; pack < DAEDALUS_V3D_N_PACKS; pack++) {
      kernels->pack[pack](out, a, b, &profile);
      digest = digest_of(digest, out, DAEDALUS_V3D_LANES);
    }
  }
  return digest;
}

static void test_digest(void) {
  const daedalus_v3d_kernels *compilations[2];
  const unsigned n = alu_compilations(compilations);
  const daedalus_v3d_float_modes modes = daedalus_v3d_float_begin();
  for (unsigned c = 0; c < n; c++) {
    const uint64_t digest = digest_of_kernels(compilations[c]);
    if (digest != DIGEST)
      fprintf(stderr, "compilation %u: the digest is 0x%016llx\n", c, (unsigned long long)digest);
    CHECK(digest == DIGEST);
  }
  daedalus_v3d_float_end(modes);
}

#if defined(__SSE2__)
#include <xmmintrin.h>

/* Toward zero, denormals flushed and taken as 0. */
static void disturb(void) {
  _mm_setcsr(0x1f80 | 0x6000 | 0x8000 | 0x0040);
}

static uint64_t modes_now(void) {
  return _mm_getcsr() & ~0x3fu; /* without the exceptions that have come about */
}
#else
/* Toward zero, denormals flushed. */
static void disturb(void) {
  __asm__ volatile("msr fpcr, %0" : : "r"(3ull << 22 | 1ull << 24));
}

static uint64_t modes_now(void) {
  uint64_t modes;
  __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
  return modes;
}
#endif

/* In modes that an application may have set; they are as before afterwards. */
static void test_modes_do_not_matter(void) {
  const daedalus_v3d_float_modes outer = daedalus_v3d_float_begin();
  disturb();
  const uint64_t disturbed = modes_now();
  CHECK(digest_of_kernels(&daedalus_v3d_kernels_of) != DIGEST); /* they do without _begin() */
  disturb();
  RUN(test_digest);
  CHECK(modes_now() == disturbed);
  daedalus_v3d_float_end(outer);
}

int main(void) {
  RUN(test_digest);
  RUN(test_modes_do_not_matter);
  return CHECK_RESULT();
}
