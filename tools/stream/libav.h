/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libav.h - what a codec's file tells of libavcodec's decoder for it.
 */
#ifndef LIBAV_H
#define LIBAV_H

struct AVCodec;

/* The one decoder of the program. */
const struct AVCodec *stream_decoder(void);

#endif /* LIBAV_H */
