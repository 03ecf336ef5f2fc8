/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libav.c - decodes by libavcodec.
 */
#include "libav.h"

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <string.h>

#include "stream.h"

static void print_frame(const AVFrame *frame, long index) {
  if (stream_quiet) {
    return;
  }
  static uint8_t *pixels;
  static int capacity;
  const int size = av_image_get_buffer_size(frame->format, frame->width, frame->height, 1);
  if (size < 0) {
    stream_fail(EXIT_DECODE, "a frame of unknown format", "");
  }
  if (size > capacity) {
    av_free(pixels);
    pixels = av_malloc((size_t)size);
    capacity = size;
  }
  if (!pixels ||
      av_image_copy_to_buffer(pixels, size, (const uint8_t *const *)frame->data, frame->linesize,
                              frame->format, frame->width, frame->height, 1) < 0) {
    stream_fail(EXIT_DECODE, "out of memory", "");
  }
  stream_print_frame(index, &(stream_plane){pixels, size, size, 1}, 1);
}

/* Ends the program, or tells what was refused. */
static void refused(int error) {
  if (!stream_goes_on) {
    stream_fail(EXIT_DECODE, "decoding failed", av_err2str(error));
  }
  printf("error %s\n", av_err2str(error));
}

/* Takes every frame that is ready; returns how many there are now. */
static long drain(AVCodecContext *decoder, AVFrame *frame, long count, long limit) {
  int error = 0;
  while (count != limit && error != AVERROR(EAGAIN) && error != AVERROR_EOF) {
    error = avcodec_receive_frame(decoder, frame);
    if (error == 0) {
      print_frame(frame, count++);
      av_frame_unref(frame);
    } else if (error != AVERROR(EAGAIN) && error != AVERROR_EOF) {
      refused(error);
    }
  }
  return count;
}

static void send(AVCodecContext *decoder, AVPacket *packet, const uint8_t *data, size_t size) {
  if (size > INT32_MAX / 2 || av_new_packet(packet, (int)size) < 0) {
    stream_fail(EXIT_INPUT, "a packet is too large", "");
  }
  memcpy(packet->data, data, size);
  const int error = avcodec_send_packet(decoder, packet);
  if (error < 0) {
    refused(error);
  }
  av_packet_unref(packet);
}

static AVCodecContext *open_decoder(int reorder) {
  AVCodecContext *decoder = avcodec_alloc_context3(stream_decoder());
  if (!decoder) {
    stream_fail(EXIT_DECODE, "out of memory", "");
  }
  decoder->thread_count = stream_threads;
  decoder->thread_type = stream_in_slices ? FF_THREAD_SLICE : FF_THREAD_FRAME;
  if (reorder >= 0) {
    decoder->has_b_frames = reorder;
  }
  if (avcodec_open2(decoder, stream_decoder(), NULL) < 0) {
    stream_fail(EXIT_DECODE, "the decoder does not open", "");
  }
  return decoder;
}

long stream_decode(stream_packets *file, long limit, int reorder) {
  AVCodecContext *decoder = open_decoder(reorder);
  AVPacket *packet = av_packet_alloc();
  AVFrame *frame = av_frame_alloc();
  const uint8_t *data;
  size_t size;
  long count = 0;
  if (!packet || !frame) {
    stream_fail(EXIT_DECODE, "out of memory", "");
  }
  while (count != limit && stream_next(file, &data, &size)) {
    send(decoder, packet, data, size);
    count = drain(decoder, frame, count, limit);
  }
  if (count != limit && avcodec_send_packet(decoder, NULL) == 0) {
    count = drain(decoder, frame, count, limit);
  }
  av_frame_free(&frame);
  av_packet_free(&packet);
  avcodec_free_context(&decoder);
  return count;
}
