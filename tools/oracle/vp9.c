/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp9.c - libavcodec's VP9 functions, as its own init function chooses them.
 */
#include "ffmpeg.h"

#include <string.h>

#include <daedalus/ffmpeg.h>

#include "vp9dsp.h"

void ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact);

enum { WIDTH_8 = 3 }; /* in mc: 64, 32, 16, 8, 4 */

static vp9_dsp dsp;

static void idct8(oracle_target *const targets[2], const oracle_item *item, size_t n) {
  itxfm_fn *fn = (itxfm_fn *)targets[0];
  for (; n > 0; n--, item++) {
    fn(item->plane[0], item->stride, item->block, item->params[0]);
  }
}

static void filter(oracle_target *const targets[2], const oracle_item *item, size_t n) {
  filter_fn *fn = (filter_fn *)targets[0];
  for (; n > 0; n--, item++) {
    fn(item->plane[0], item->stride, item->params[0], item->params[1], item->params[2]);
  }
}

/* rows, mx; the decoder has another function for whole positions. */
static void predict(oracle_target *const targets[2], const oracle_item *item, size_t n) {
  for (; n > 0; n--, item++) {
    const int32_t rows = item->params[0], mx = item->params[1];
    mc_fn *fn = (mc_fn *)targets[mx == 0];
    fn(item->plane[0], item->stride, item->plane[1], item->stride, rows, mx, 0);
  }
}

static oracle_entry mc(const char *name, int bank, int average, mc_fn *ours) {
  mc_fn *(*const fns)[2] = dsp.mc[WIDTH_8][bank][average];
  return (oracle_entry){name,
                        predict,
                        {(oracle_target *)fns[1][0], (oracle_target *)fns[0][0]},
                        (oracle_target *)ours};
}

static oracle_entry edge(const char *name, int wide, int direction, filter_fn *ours) {
  return (oracle_entry){name,
                        filter,
                        {(oracle_target *)dsp.loop_filter_8[wide][direction], NULL},
                        (oracle_target *)ours};
}

int oracle_vp9_entries(oracle_entry *entries) {
  static union {
    vp9_dsp dsp;
    unsigned char bytes[VP9_DSP_SIZE + 256];
  } trial;
  /* The table must be exactly as large as declared; results tell whether its order is right. */
  memset(&trial, 0xa5, sizeof(trial));
  ff_vp9dsp_init(&trial.dsp, 8, 0);
  for (size_t i = VP9_DSP_SIZE; i < sizeof(trial.bytes); i++) {
    if (trial.bytes[i] != 0xa5) {
      return -1;
    }
  }
  dsp = trial.dsp;
  const oracle_entry made[ORACLE_VP9_ENTRIES] = {
      {"vp9_idct8",
       idct8,
       {(oracle_target *)dsp.itxfm_add[1][0], NULL},
       (oracle_target *)daedalus_ffmpeg_vp9_idct8},
      edge("vp9_lpf4_h", 0, 0, daedalus_ffmpeg_vp9_lpf4_h),
      edge("vp9_lpf4_v", 0, 1, daedalus_ffmpeg_vp9_lpf4_v),
      edge("vp9_lpf8_h", 1, 0, daedalus_ffmpeg_vp9_lpf8_h),
      edge("vp9_lpf8_v", 1, 1, daedalus_ffmpeg_vp9_lpf8_v),
      mc("vp9_mc_8h_smooth", 0, 0, daedalus_ffmpeg_vp9_mc_8h_smooth),
      mc("vp9_mc_8h_regular", 1, 0, daedalus_ffmpeg_vp9_mc_8h_regular),
      mc("vp9_mc_8h_sharp", 2, 0, daedalus_ffmpeg_vp9_mc_8h_sharp),
      mc("vp9_mc_8h_bilinear", 3, 0, daedalus_ffmpeg_vp9_mc_8h_bilinear),
      mc("vp9_mc_8h_avg_smooth", 0, 1, daedalus_ffmpeg_vp9_mc_8h_avg_smooth),
      mc("vp9_mc_8h_avg_regular", 1, 1, daedalus_ffmpeg_vp9_mc_8h_avg_regular),
      mc("vp9_mc_8h_avg_sharp", 2, 1, daedalus_ffmpeg_vp9_mc_8h_avg_sharp),
      mc("vp9_mc_8h_avg_bilinear", 3, 1, daedalus_ffmpeg_vp9_mc_8h_avg_bilinear),
  };
  memcpy(entries, made, sizeof(made));
  return 0;
}
