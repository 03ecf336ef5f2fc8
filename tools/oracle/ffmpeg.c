/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ffmpeg.c - libavcodec's functions for all codecs.
 */
#include "ffmpeg.h"

#include <libavutil/cpu.h>

const oracle_entry *oracle_entries(oracle_mode mode) {
  static oracle_entry entries[ORACLE_VP9_ENTRIES + ORACLE_H264_ENTRIES + 1];
  av_force_cpu_flags(mode == ORACLE_C ? 0 : -1);
  if (oracle_vp9_entries(entries) != 0 ||
      oracle_h264_entries(entries + ORACLE_VP9_ENTRIES, mode == ORACLE_C) != 0) {
    return NULL;
  }
  return entries;
}
