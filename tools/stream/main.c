/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - decodes an IVF file and prints the MD5 of every frame.
 *
 *   stream [--ours] [--fault KERNEL:N] [--frames N] FILE
 *
 * --ours puts daedalus' functions into the decoder; --fault spoils one pixel
 * of every Nth call's output of one of them.  Output, a fact a line:
 *   slots GOOD           entries of the decoder's table found where expected
 *   frame INDEX MD5      of the cropped planes, as FFmpeg's framemd5 computes it
 *   calls KERNEL N CLASS
 * Exit status: 0; 2 bad arguments or file; 3 decoding failed; 4 the decoder is
 * not the one this program knows.
 */
#include "stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/md5.h>

enum { EXIT_INPUT = 2, EXIT_DECODE = 3, IVF_HEADER = 32, IVF_FRAME = 12 };

bool stream_replace;
unsigned stream_slots_good;
unsigned stream_slots_bad;

typedef struct options {
  const char *path;
  long frames; /* stop after so many; negative: all */
} options;

static _Noreturn void fail(int status, const char *what, const char *detail) {
  fflush(stdout);
  fprintf(stderr, "%s%s%s\n", what, *detail ? ": " : "", detail);
  exit(status);
}

static void set_fault(const char *text) {
  const char *colon = strchr(text, ':');
  for (size_t i = 0; colon && i < stream_n_kernels; i++) {
    const char *id = stream_kernels[i].id;
    if (strlen(id) == (size_t)(colon - text) && strncmp(id, text, strlen(id)) == 0) {
      stream_kernels[i].fault_every = strtoull(colon + 1, NULL, 10);
      return;
    }
  }
  fail(EXIT_INPUT, "--fault takes KERNEL:N", text);
}

static options parse(int argc, char **argv) {
  options o = {.path = NULL, .frames = -1};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--ours") == 0) {
      stream_replace = true;
    } else if (strcmp(argv[i], "--fault") == 0 && i + 1 < argc) {
      set_fault(argv[++i]);
    } else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc) {
      o.frames = strtol(argv[++i], NULL, 10);
    } else if (argv[i][0] != '-' && !o.path) {
      o.path = argv[i];
    } else {
      fail(EXIT_INPUT, "bad argument", argv[i]);
    }
  }
  if (!o.path) {
    fail(EXIT_INPUT, "usage: stream [--ours] [--fault KERNEL:N] [--frames N] FILE", "");
  }
  return o;
}

static uint32_t le32(const unsigned char *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Reads the next packet of an IVF file into `packet`; false at its end. */
static bool read_packet(FILE *file, AVPacket *packet) {
  unsigned char header[IVF_FRAME];
  const size_t got = fread(header, 1, sizeof(header), file);
  if (got == 0) {
    return false;
  }
  if (got != sizeof(header) || le32(header) > INT32_MAX / 2 ||
      av_new_packet(packet, (int)le32(header)) < 0) {
    fail(EXIT_INPUT, "the IVF file is cut off or damaged", "");
  }
  if (fread(packet->data, 1, (size_t)packet->size, file) != (size_t)packet->size) {
    fail(EXIT_INPUT, "the IVF file is cut off", "");
  }
  return true;
}

static void print_frame(const AVFrame *frame, long index) {
  static uint8_t *pixels;
  static int capacity;
  uint8_t digest[16];
  const int size = av_image_get_buffer_size(frame->format, frame->width, frame->height, 1);
  if (size < 0) {
    fail(EXIT_DECODE, "a frame of unknown format", "");
  }
  if (size > capacity) {
    av_free(pixels);
    pixels = av_malloc((size_t)size);
    capacity = size;
  }
  if (!pixels ||
      av_image_copy_to_buffer(pixels, size, (const uint8_t *const *)frame->data, frame->linesize,
                              frame->format, frame->width, frame->height, 1) < 0) {
    fail(EXIT_DECODE, "out of memory", "");
  }
  av_md5_sum(digest, pixels, (size_t)size);
  printf("frame %ld ", index);
  for (size_t i = 0; i < sizeof(digest); i++) {
    printf("%02x", digest[i]);
  }
  putchar('\n');
}

/* Takes every frame that is ready; returns how many there are now. */
static long drain(AVCodecContext *decoder, AVFrame *frame, long count, long limit) {
  int error = 0;
  while (count != limit && (error = avcodec_receive_frame(decoder, frame)) == 0) {
    print_frame(frame, count++);
    av_frame_unref(frame);
  }
  if (error < 0 && error != AVERROR(EAGAIN) && error != AVERROR_EOF) {
    fail(EXIT_DECODE, "decoding failed", av_err2str(error));
  }
  return count;
}

static long decode(AVCodecContext *decoder, FILE *file, long limit) {
  AVPacket *packet = av_packet_alloc();
  AVFrame *frame = av_frame_alloc();
  long count = 0;
  if (!packet || !frame) {
    fail(EXIT_DECODE, "out of memory", "");
  }
  while (count != limit && read_packet(file, packet)) {
    const int error = avcodec_send_packet(decoder, packet);
    if (error < 0) {
      fail(EXIT_DECODE, "decoding failed", av_err2str(error));
    }
    av_packet_unref(packet);
    count = drain(decoder, frame, count, limit);
  }
  if (count != limit && avcodec_send_packet(decoder, NULL) == 0) {
    count = drain(decoder, frame, count, limit);
  }
  av_frame_free(&frame);
  av_packet_free(&packet);
  return count;
}

int main(int argc, char **argv) {
  const options o = parse(argc, argv);
  unsigned char header[IVF_HEADER];
  FILE *file = fopen(o.path, "rb");
  if (!file) {
    fail(EXIT_INPUT, o.path, strerror(errno));
  }
  if (fread(header, 1, sizeof(header), file) != sizeof(header) || memcmp(header, "DKIF", 4) != 0) {
    fail(EXIT_INPUT, o.path, "no IVF file");
  }
  AVCodecContext *decoder = avcodec_alloc_context3(stream_decoder());
  if (!decoder) {
    fail(EXIT_DECODE, "out of memory", "");
  }
  decoder->thread_count = 1; /* so that calls are counted exactly */
  if (avcodec_open2(decoder, stream_decoder(), NULL) < 0) {
    fail(EXIT_DECODE, "the decoder does not open", "");
  }
  if (decode(decoder, file, o.frames) == 0) {
    fail(EXIT_DECODE, o.path, "holds no frame");
  }
  printf("slots %u\n", stream_slots_good);
  for (size_t i = 0; i < stream_n_kernels; i++) {
    const stream_kernel *k = &stream_kernels[i];
    for (int c = 0; c < STREAM_MAX_CLASSES && k->classes[c]; c++) {
      printf("calls %s %" PRIu64 " %s\n", k->id, k->calls[c], k->classes[c]);
    }
  }
  avcodec_free_context(&decoder);
  fclose(file);
  return 0;
}
