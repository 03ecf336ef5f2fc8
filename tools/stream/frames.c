/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c - prints a frame as one line.
 */
#include "stream.h"

#include <libavutil/md5.h>
#include <libavutil/mem.h>

void stream_print_frame(long index, const stream_plane *planes, int n_planes) {
  if (stream_quiet) {
    return;
  }
  static struct AVMD5 *md5;
  uint8_t digest[16];
  if (!md5 && !(md5 = av_md5_alloc())) {
    stream_fail(EXIT_DECODE, "out of memory", "");
  }
  av_md5_init(md5);
  for (int p = 0; p < n_planes; p++) {
    for (int y = 0; y < planes[p].rows; y++) {
      av_md5_update(md5, planes[p].data + y * planes[p].stride, (size_t)planes[p].width);
    }
  }
  av_md5_final(md5, digest);
  printf("frame %ld ", index);
  for (size_t i = 0; i < sizeof(digest); i++) {
    printf("%02x", digest[i]);
  }
  putchar('\n');
}
