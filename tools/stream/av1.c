/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * av1.c - dav1d with its luma CDEF filter replaced.
 *
 * Linked with --wrap=dav1d_cdef_dsp_init_8bpc: the decoder's call of that
 * function comes here, the real one fills the table, then the entry for luma
 * blocks is exchanged.  The table is private to dav1d; this is a declaration of
 * our own, for dav1d 1.5.
 */
#include <daedalus/dav1d.h>
#include <string.h>

#include "stream.h"

/* Filters an 8x8 block in place; edges: 1 left, 2 right, 4 above, 8 below are there. */
typedef void filter_fn(uint8_t *dst, ptrdiff_t stride, const uint8_t (*left)[2], const uint8_t *top,
                       const uint8_t *bottom, int primary, int secondary, int direction,
                       int damping, int edges);

typedef struct cdef_dsp {
  stream_any_fn *dir;
  filter_fn *filter[3]; /* 8x8, 4x8, 4x4 */
} cdef_dsp;

enum { CDEF_DSP_SIZE = 32, ALL_EDGES = 15 };
_Static_assert(sizeof(cdef_dsp) == CDEF_DSP_SIZE, "size of Dav1dCdefDSPContext");

void __real_dav1d_cdef_dsp_init_8bpc(cdef_dsp *dsp);
void __wrap_dav1d_cdef_dsp_init_8bpc(cdef_dsp *dsp);

stream_function stream_functions[] = {
    {.id = "av1_cdef8",
     .classes = {"primary", "secondary", "both", "primary, at the border",
                 "secondary, at the border", "both, at the border"}},
};
const size_t stream_n_functions = 1;

static void cdef8(uint8_t *dst, ptrdiff_t stride, const uint8_t (*left)[2], const uint8_t *top,
                  const uint8_t *bottom, int primary, int secondary, int direction, int damping,
                  int edges) {
  const int strengths = secondary == 0 ? 0 : primary == 0 ? 1 : 2;
  daedalus_dav1d_av1_cdef8(dst, stride, left, top, bottom, primary, secondary, direction, damping,
                           edges);
  if (stream_count(&stream_functions[0], strengths + (edges == ALL_EDGES ? 0 : 3))) {
    dst[3 * stride + 5] ^= 1;
  }
}

/* ------------------------------------------------------------------------- the self-check */

#if defined(__aarch64__)
/* The entries for filters are functions that cannot be named from outside. */
#define OCCUPANTS(X) X(dir, dav1d_cdef_find_dir_8bpc_neon)
#elif defined(__x86_64__)
#define OCCUPANTS(X)                             \
  X(dir, dav1d_cdef_dir_8bpc_ssse3)              \
  X(dir, dav1d_cdef_dir_8bpc_sse4)               \
  X(dir, dav1d_cdef_dir_8bpc_avx2)               \
  X(filter[0], dav1d_cdef_filter_8x8_8bpc_sse2)  \
  X(filter[0], dav1d_cdef_filter_8x8_8bpc_ssse3) \
  X(filter[0], dav1d_cdef_filter_8x8_8bpc_sse4)  \
  X(filter[0], dav1d_cdef_filter_8x8_8bpc_avx2)  \
  X(filter[0], dav1d_cdef_filter_8x8_8bpc_avx512icl)
#else
#error "the decoder's table is known for aarch64 and x86-64 only"
#endif

#define DECLARE(slot, name) void name(void);
#define OCCUPANT(slot, name) {offsetof(cdef_dsp, slot), name},
OCCUPANTS(DECLARE)
static const stream_occupant occupants[] = {OCCUPANTS(OCCUPANT)};

static void check_layout(void) {
  static union {
    cdef_dsp dsp;
    unsigned char bytes[CDEF_DSP_SIZE + STREAM_GUARD];
  } trial;
  memset(&trial, STREAM_PATTERN, sizeof(trial));
  __real_dav1d_cdef_dsp_init_8bpc(&trial.dsp);
  stream_check_table("Dav1dCdefDSPContext", &trial, CDEF_DSP_SIZE, occupants,
                     sizeof(occupants) / sizeof(occupants[0]));
}

void __wrap_dav1d_cdef_dsp_init_8bpc(cdef_dsp *dsp) {
  __real_dav1d_cdef_dsp_init_8bpc(dsp);
  if (stream_slots_good == 0) {
    check_layout();
  }
  if (stream_replace) {
    dsp->filter[0] = cdef8;
  }
}
