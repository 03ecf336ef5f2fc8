/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dav1d.c - dav1d's functions, 8 bits a sample, as its own init functions choose them.
 */
#include "oracle.h"

#include <string.h>

#include <daedalus/dav1d.h>

typedef void cdef_fn(uint8_t *dst, ptrdiff_t stride, const uint8_t (*left)[2], const uint8_t *top,
                     const uint8_t *bottom, int pri_strength, int sec_strength, int dir,
                     int damping, int edges);

enum { RIGHT = 2 }; /* of edges */

/* dav1d's table of CDEF functions, declared anew: the search, then filters for luma, 4:2:2, 4:2:0.
 */
typedef struct cdef_dsp {
  oracle_target *dir;
  oracle_target *fb[3];
} cdef_dsp;

void dav1d_init_cpu(void);
void dav1d_set_cpu_flags_mask(unsigned mask);
void dav1d_cdef_dsp_init_8bpc(cdef_dsp *dsp);

/*
 * Planes: dst, src with what surrounds the block. dav1d filters in place, where right of the block
 * lies what is still unfiltered, and takes left, top and bottom from buffers of its own. They hold
 * what src has there also where `edges` says that there is nothing.
 */
static void filter(cdef_fn *fn, const oracle_item *item) {
  static _Alignas(64) uint8_t lines[4 * ORACLE_MAX_STRIDE]; /* above and below */
  static _Alignas(16) uint8_t left[8][2];
  enum { AT = 64 }; /* column of the block in `lines` */
  const ptrdiff_t stride = item->stride;
  uint8_t *dst = item->plane[0];
  const uint8_t *src = item->plane[1];
  const int32_t *p = item->params; /* pri, sec, damping, dir, edges */
  uint8_t before[8][2];            /* what surrounds the block in dst */
  for (int y = 0; y < 8; y++) {
    memcpy(left[y], src + y * stride - 2, 2);
    memcpy(dst + y * stride, src + y * stride, 8);
    memcpy(before[y], dst + y * stride + 8, 2);
    if (p[4] & RIGHT) {
      memcpy(dst + y * stride + 8, src + y * stride + 8, 2);
    }
  }
  uint8_t *top = &lines[AT], *bottom = &lines[2 * stride + AT];
  for (int y = 0; y < 2; y++) {
    memcpy(top + y * stride - 2, src + (y - 2) * stride - 2, 12);
    memcpy(bottom + y * stride - 2, src + (y + 8) * stride - 2, 12);
  }
  fn(dst, stride, (const uint8_t(*)[2])left, top, bottom, p[0], p[1], p[3], p[2], p[4]);
  for (int y = 0; y < 8; y++) {
    /* Put back what was there, unless it was written, which must be seen. */
    if (p[4] & RIGHT && memcmp(dst + y * stride + 8, src + y * stride + 8, 2) == 0) {
      memcpy(dst + y * stride + 8, before[y], 2);
    }
  }
}

static void cdef8(oracle_target *const targets[2], const oracle_item *item, size_t n) {
  for (; n > 0; n--, item++) {
    filter((cdef_fn *)targets[0], item);
  }
}

const oracle_entry *oracle_entries(oracle_mode mode) {
  static union {
    cdef_dsp dsp;
    unsigned char bytes[sizeof(cdef_dsp) + 64];
  } trial;
  static oracle_entry entries[2];
  dav1d_init_cpu();
  dav1d_set_cpu_flags_mask(mode == ORACLE_C ? 0 : ~0u);
  /* The table must be exactly as large as declared; results tell whether its order is right. */
  memset(&trial, 0xa5, sizeof(trial));
  dav1d_cdef_dsp_init_8bpc(&trial.dsp);
  for (size_t i = sizeof(trial.dsp); i < sizeof(trial.bytes); i++) {
    if (trial.bytes[i] != 0xa5) {
      return NULL;
    }
  }
  entries[0] = (oracle_entry){
      "av1_cdef8", cdef8, {trial.dsp.fb[0], NULL}, (oracle_target *)daedalus_dav1d_av1_cdef8};
  return entries;
}
