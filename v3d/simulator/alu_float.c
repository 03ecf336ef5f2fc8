/* SPDX-License-Identifier: BSD-2-Clause */
/* fp32 operations: IEEE, to nearest even, denormals kept (float32.h). There is no fused one. */
#include "simulator/alu_semantics.h"
#include "simulator/float32.h"

/* A float expression in p (source a) and q (source b). */
#define FLOAT_2(name, expression)                       \
  DAEDALUS_V3D_EXECUTE(name) {                          \
    (void)state;                                        \
    DAEDALUS_V3D_EACH_LANE {                            \
      const float p = daedalus_v3d_float_of(a[i]);      \
      const float q = daedalus_v3d_float_of(b[i]);      \
      out[i] = daedalus_v3d_bits_of_result(expression); \
    }                                                   \
  }

#define FLOAT_1(name, expression)                       \
  DAEDALUS_V3D_EXECUTE(name) {                          \
    (void)state, (void)b;                               \
    DAEDALUS_V3D_EACH_LANE {                            \
      const float p = daedalus_v3d_float_of(a[i]);      \
      out[i] = daedalus_v3d_bits_of_result(expression); \
    }                                                   \
  }

FLOAT_2(fadd, p + q)
FLOAT_2(fsub, p - q)
FLOAT_2(fmul, p *q)
FLOAT_1(fround, daedalus_v3d_round_even(p))
FLOAT_1(ftrunc, daedalus_v3d_truncate(p))
FLOAT_1(ffloor, daedalus_v3d_floor(p))
FLOAT_1(fceil, daedalus_v3d_ceiling(p))

/* What sets it apart from fadd is not known; by its name it may flush. */
DAEDALUS_V3D_EXECUTE(faddnf) {
  DAEDALUS_V3D_KERNEL(execute_fadd)(out, a, b, state);
  if (state->profile->faddnf_flushes)
    DAEDALUS_V3D_EACH_LANE {
      const bool denormal = (out[i] & DAEDALUS_V3D_INFINITY) == 0;
      out[i] &= denormal ? DAEDALUS_V3D_SIGN : ~0u;
    }
}

DAEDALUS_V3D_EXECUTE(fmin) {
  const bool nan_wins = state->profile->fmin_nan;
  DAEDALUS_V3D_EACH_LANE out[i] = daedalus_v3d_minimum(a[i], b[i], false, nan_wins);
}

DAEDALUS_V3D_EXECUTE(fmax) {
  const bool nan_wins = state->profile->fmin_nan;
  DAEDALUS_V3D_EACH_LANE out[i] = daedalus_v3d_minimum(a[i], b[i], true, nan_wins);
}

static inline uint32_t difference(uint32_t x, uint32_t y) {
  return daedalus_v3d_bits_of_result(daedalus_v3d_float_of(x) - daedalus_v3d_float_of(y));
}

/* Along a row of a quad: both lanes get right minus left. */
DAEDALUS_V3D_EXECUTE(fdx) {
  (void)state, (void)b;
  DAEDALUS_V3D_EACH_LANE out[i] = difference(a[i | 1], a[i & ~1u]);
}

/* Along a column of a quad: both lanes get lower minus upper. */
DAEDALUS_V3D_EXECUTE(fdy) {
  (void)state, (void)b;
  DAEDALUS_V3D_EACH_LANE out[i] = difference(a[i | 2], a[i & ~2u]);
}
