/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registry.c - lets one decoder of a static libavcodec be linked alone.
 *
 * The archive's own registry names every codec and so pulls in all of them,
 * with the libraries they need.  These definitions take its place: they know
 * the one decoder of this program.  Hardware decoding is never asked for; the
 * symbols it would need abort when they are called after all.
 */
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavcodec/codec.h>

#include "libav.h"

const AVCodec *av_codec_iterate(void **opaque) {
  if (*opaque) {
    return NULL;
  }
  *opaque = (void *)(uintptr_t)1;
  return stream_decoder();
}

const AVCodec *avcodec_find_decoder(enum AVCodecID id) {
  const AVCodec *decoder = stream_decoder();
  return decoder->id == id ? decoder : NULL;
}

const AVCodec *avcodec_find_decoder_by_name(const char *name) {
  const AVCodec *decoder = stream_decoder();
  return name && strcmp(decoder->name, name) == 0 ? decoder : NULL;
}

const AVCodec *avcodec_find_encoder(enum AVCodecID id) {
  (void)id;
  return NULL;
}

const AVCodec *avcodec_find_encoder_by_name(const char *name) {
  (void)name;
  return NULL;
}
