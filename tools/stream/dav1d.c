/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dav1d.c - decodes by dav1d.
 */
#include <dav1d/dav1d.h>
#include <errno.h>
#include <string.h>

#include "stream.h"

static void print_picture(const Dav1dPicture *picture, long index) {
  const int halved_x =
      picture->p.layout == DAV1D_PIXEL_LAYOUT_I420 || picture->p.layout == DAV1D_PIXEL_LAYOUT_I422;
  const int halved_y = picture->p.layout == DAV1D_PIXEL_LAYOUT_I420;
  const int n_planes = picture->p.layout == DAV1D_PIXEL_LAYOUT_I400 ? 1 : 3;
  stream_plane planes[3];
  for (int p = 0; p < n_planes; p++) {
    const int ss_x = p > 0 && halved_x;
    const int ss_y = p > 0 && halved_y;
    planes[p] = (stream_plane){picture->data[p], picture->stride[p > 0],
                               (picture->p.w + ss_x) >> ss_x, (picture->p.h + ss_y) >> ss_y};
  }
  stream_print_frame(index, planes, n_planes);
}

static _Noreturn void refuse(int error) {
  stream_fail(EXIT_DECODE, "decoding failed",
              error == DAV1D_ERR(ENOPROTOOPT) ? "more than 8 bits a sample" : strerror(-error));
}

/* Takes every picture that is ready; returns how many there are now. */
static long drain(Dav1dContext *decoder, long count, long limit) {
  while (count != limit) {
    Dav1dPicture picture = {0};
    const int error = dav1d_get_picture(decoder, &picture);
    if (error == DAV1D_ERR(EAGAIN)) {
      break;
    }
    if (error < 0) {
      refuse(error);
    }
    print_picture(&picture, count++);
    dav1d_picture_unref(&picture);
  }
  return count;
}

static long decode_packet(Dav1dContext *decoder, const uint8_t *data, size_t size, long count,
                          long limit) {
  Dav1dData packet = {0};
  uint8_t *copy = size == 0 ? NULL : dav1d_data_create(&packet, size);
  if (!copy) {
    stream_fail(size == 0 ? EXIT_INPUT : EXIT_DECODE,
                size == 0 ? "a packet is empty" : "out of memory", "");
  }
  memcpy(copy, data, size);
  while (packet.sz > 0 && count != limit) {
    const int error = dav1d_send_data(decoder, &packet);
    if (error < 0 && error != DAV1D_ERR(EAGAIN)) {
      refuse(error);
    }
    count = drain(decoder, count, limit);
  }
  dav1d_data_unref(&packet);
  return count;
}

long stream_decode(stream_packets *file, long limit, int reorder) {
  Dav1dSettings settings;
  Dav1dContext *decoder;
  const uint8_t *data;
  size_t size;
  long count = 0;
  (void)reorder; /* an AV1 stream says itself when a frame is shown */
  dav1d_default_settings(&settings);
  settings.n_threads = stream_threads;
  settings.max_frame_delay = stream_threads > 1 && !stream_in_slices ? stream_threads : 1;
  settings.all_layers = 0; /* the highest layer only, as ffmpeg does */
  if (dav1d_open(&decoder, &settings) < 0) {
    stream_fail(EXIT_DECODE, "the decoder does not open", "");
  }
  while (count != limit && stream_next(file, &data, &size)) {
    count = decode_packet(decoder, data, size, count, limit);
  }
  count = drain(decoder, count, limit);
  dav1d_close(&decoder);
  return count;
}
