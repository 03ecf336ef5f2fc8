/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp9.c - libavcodec's VP9 functions, as its own init function chooses them.
 */
#include "oracle.h"

#include <string.h>

#include "vp9dsp.h"

void ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact);

static vp9_dsp dsp;

static void idct8(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  dsp.itxfm_add[1][0](plane, stride, block, params[0]);
}

static void lpf4_h(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  (void)block;
  dsp.loop_filter_8[0][0](plane, stride, params[0], params[1], params[2]);
}

static void lpf4_v(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  (void)block;
  dsp.loop_filter_8[0][1](plane, stride, params[0], params[1], params[2]);
}

static void lpf8_h(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  (void)block;
  dsp.loop_filter_8[1][0](plane, stride, params[0], params[1], params[2]);
}

static void lpf8_v(uint8_t *plane, ptrdiff_t stride, int16_t *block, const int32_t *params) {
  (void)block;
  dsp.loop_filter_8[1][1](plane, stride, params[0], params[1], params[2]);
}

const oracle_entry *oracle_vp9_entries(int c_only) {
  static oracle_entry entries[6];
  static union {
    vp9_dsp dsp;
    unsigned char bytes[VP9_DSP_SIZE + 256];
  } trial;
  (void)c_only;
  /* The table must be exactly as large as declared; results tell whether its order is right. */
  memset(&trial, 0xa5, sizeof(trial));
  ff_vp9dsp_init(&trial.dsp, 8, 0);
  for (size_t i = VP9_DSP_SIZE; i < sizeof(trial.bytes); i++) {
    if (trial.bytes[i] != 0xa5) {
      return NULL;
    }
  }
  dsp = trial.dsp;
  entries[0] = (oracle_entry){"vp9_idct8", idct8, (oracle_target *)dsp.itxfm_add[1][0]};
  entries[1] = (oracle_entry){"vp9_lpf4_h", lpf4_h, (oracle_target *)dsp.loop_filter_8[0][0]};
  entries[2] = (oracle_entry){"vp9_lpf4_v", lpf4_v, (oracle_target *)dsp.loop_filter_8[0][1]};
  entries[3] = (oracle_entry){"vp9_lpf8_h", lpf8_h, (oracle_target *)dsp.loop_filter_8[1][0]};
  entries[4] = (oracle_entry){"vp9_lpf8_v", lpf8_v, (oracle_target *)dsp.loop_filter_8[1][1]};
  return entries;
}
