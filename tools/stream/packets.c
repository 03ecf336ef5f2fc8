/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packets.c - what a file gives a decoder, piece by piece.
 *
 * IVF: a header of 32 bytes, then for each packet its size (4 bytes), a time
 * (8 bytes) and the data.  H.264 byte stream (annex B): NAL units, each behind
 * the bytes 0 0 1; a packet is an access unit, found by the rules of H.264
 * 7.4.1.2.3 for the NAL units that can begin one.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IVF_HEADER = 32, IVF_PACKET = 12, START_CODE = 3 };

static uint8_t *read_all(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    stream_fail(EXIT_INPUT, path, strerror(errno));
  }
  const long end = ftell(file);
  uint8_t *data = end < 0 ? NULL : malloc((size_t)end + 1);
  if (!data || fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)end, file) != (size_t)end) {
    stream_fail(EXIT_INPUT, path, "cannot be read");
  }
  fclose(file);
  *size = (size_t)end;
  return data;
}

static size_t le32(const uint8_t *p) {
  return p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

stream_packets stream_open(const char *path) {
  stream_packets f = {0};
  f.data = read_all(path, &f.size);
  f.ivf = f.size >= IVF_HEADER && memcmp(f.data, "DKIF", 4) == 0;
  if (f.ivf) {
    f.at = IVF_HEADER;
  } else {
    static const uint8_t start[] = {0, 0, 0, 1};
    const bool is_long = f.size > 4 && memcmp(f.data, start, 4) == 0;
    if (!is_long && (f.size <= 4 || memcmp(f.data, start + 1, 3) != 0)) {
      stream_fail(EXIT_INPUT, path, "neither an IVF file nor an H.264 byte stream");
    }
  }
  return f;
}

void stream_close(stream_packets *file) {
  free(file->data);
}

static bool next_ivf(stream_packets *f, const uint8_t **data, size_t *size) {
  if (f->at == f->size) {
    return false;
  }
  if (f->size - f->at < IVF_PACKET || le32(f->data + f->at) > f->size - f->at - IVF_PACKET) {
    stream_fail(EXIT_INPUT, "the IVF file is cut off or damaged", "");
  }
  *size = le32(f->data + f->at);
  *data = f->data + f->at + IVF_PACKET;
  f->at += IVF_PACKET + *size;
  return true;
}

/* Where the first start code at or behind `from` lies; the file's size when there is none. */
static size_t start_code(const stream_packets *f, size_t from) {
  for (size_t i = from; i + START_CODE <= f->size; i++) {
    if (f->data[i] == 0 && f->data[i + 1] == 0 && f->data[i + 2] == 1) {
      return i;
    }
  }
  return f->size;
}

static bool next_access_unit(stream_packets *f, const uint8_t **data, size_t *size) {
  bool has_picture = false;
  const size_t first = f->at;
  size_t nal = start_code(f, first);
  if (nal == f->size) {
    return false;
  }
  for (; nal < f->size; nal = start_code(f, nal + START_CODE)) {
    const int type = nal + 3 < f->size ? f->data[nal + 3] & 31 : 0;
    /* First macroblock 0, the code word "1": first slice of a picture, or of another field. */
    const bool begins = nal + 4 < f->size && f->data[nal + 4] & 0x80;
    const bool is_slice = type == 1 || type == 2 || type == 5;
    const bool precedes = (type >= 6 && type <= 9) || (type >= 14 && type <= 18);
    if (has_picture && (precedes || (is_slice && begins))) {
      break;
    }
    has_picture = has_picture || is_slice;
  }
  *data = f->data + first;
  *size = nal - first;
  f->at = nal;
  return true;
}

bool stream_next(stream_packets *file, const uint8_t **data, size_t *size) {
  return file->ivf ? next_ivf(file, data, size) : next_access_unit(file, data, size);
}
