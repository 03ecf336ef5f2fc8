/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * h264.c - libavcodec's H.264 functions, as its own init functions choose them.
 */
#include "ffmpeg.h"

#include <string.h>

#include <daedalus/ffmpeg.h>

typedef void idct_fn(uint8_t *dst, int16_t *block, int stride);
typedef void filter_fn(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, int8_t *tc0);
typedef void qpel_fn(uint8_t *dst, const uint8_t *src, ptrdiff_t stride);

/* The function tables are arrays of pointers; these are the places of those used. */
enum {
  V_LUMA = 64 / sizeof(void *),
  IDCT_ADD = 168 / sizeof(void *),
  IDCT8_ADD = 176 / sizeof(void *),
  PUT8_MC20 = 144 / sizeof(void *) /* of the interpolation's table: 8 wide, x 2, y 0 */
};
enum { SLOTS = 128 };

void ff_h264dsp_init(oracle_target **table, int bit_depth, int chroma_format_idc);
void ff_h264qpel_init(oracle_target **table, int bit_depth);
void ff_h264_idct_add_8_c(uint8_t *dst, int16_t *block, int stride);
void ff_h264_idct8_add_8_c(uint8_t *dst, int16_t *block, int stride);

static void idct(oracle_target *const targets[2], const oracle_item *item, size_t n) {
  idct_fn *fn = (idct_fn *)targets[0];
  for (; n > 0; n--, item++) {
    fn(item->plane[0], item->block, (int)item->stride);
  }
}

static void deblock(oracle_target *const targets[2], const oracle_item *item, size_t n) {
  filter_fn *fn = (filter_fn *)targets[0];
  for (; n > 0; n--, item++) {
    const int32_t *p = item->params;
    int8_t tc0[4];
    /* One store: what reads them as one number would wait for several. */
    const uint32_t packed = (uint32_t)(p[2] & 0xff) | (uint32_t)(p[3] & 0xff) << 8 |
                            (uint32_t)(p[4] & 0xff) << 16 | (uint32_t)p[5] << 24;
    memcpy(tc0, &packed, sizeof(tc0));
    fn(item->plane[0], item->stride, p[0], p[1], tc0);
  }
}

static void interpolate(oracle_target *const targets[2], const oracle_item *item, size_t n) {
  qpel_fn *fn = (qpel_fn *)targets[0];
  for (; n > 0; n--, item++) {
    fn(item->plane[0], item->plane[1], item->stride);
  }
}

int oracle_h264_entries(oracle_entry *entries, int c_only) {
  oracle_target *dsp[SLOTS] = {NULL}, *qpel[SLOTS] = {NULL};
  ff_h264dsp_init(dsp, 8, 1);
  ff_h264qpel_init(qpel, 8);
  if (c_only && (dsp[IDCT_ADD] != (oracle_target *)ff_h264_idct_add_8_c ||
                 dsp[IDCT8_ADD] != (oracle_target *)ff_h264_idct8_add_8_c)) {
    return -1;
  }
  const oracle_entry made[ORACLE_H264_ENTRIES] = {
      {"h264_idct4", idct, {dsp[IDCT_ADD], NULL}, (oracle_target *)daedalus_ffmpeg_h264_idct4},
      {"h264_idct8", idct, {dsp[IDCT8_ADD], NULL}, (oracle_target *)daedalus_ffmpeg_h264_idct8},
      {"h264_deblock_luma_v",
       deblock,
       {dsp[V_LUMA], NULL},
       (oracle_target *)daedalus_ffmpeg_h264_deblock_luma_v},
      {"h264_qpel_mc20",
       interpolate,
       {qpel[PUT8_MC20], NULL},
       (oracle_target *)daedalus_ffmpeg_h264_qpel_mc20},
  };
  memcpy(entries, made, sizeof(made));
  return 0;
}
