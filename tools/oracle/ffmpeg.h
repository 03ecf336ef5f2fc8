/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ffmpeg.h - the codecs of the program for FFmpeg.
 */
#ifndef ORACLE_FFMPEG_H
#define ORACLE_FFMPEG_H

#include "oracle.h"

enum { ORACLE_VP9_ENTRIES = 13, ORACLE_H264_ENTRIES = 4 };

/*
 * Fill the function tables for the CPU flags that are in force (c_only: none)
 * and write that many entries. 0; -1 when the tables are not as they were declared.
 */
int oracle_vp9_entries(oracle_entry *entries);
int oracle_h264_entries(oracle_entry *entries, int c_only);

#endif /* ORACLE_FFMPEG_H */
