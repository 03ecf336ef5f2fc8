/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sand.c - plain conversions of the Raspberry Pi's column-tiled frames.
 */
#include "sand.h"

static uint8_t sand_byte(const uint8_t *frame, size_t lines, size_t x, size_t line) {
  const size_t column = x / 128;
  return frame[column * lines * 128 + line * 128 + x % 128];
}

/* Sample number x of a line: three to a little-endian word of 32 bits, from its lower end. */
static uint16_t sand_ten_bits(const uint8_t *frame, size_t lines, size_t x, size_t line) {
  const size_t word = x / 3 * 4;
  uint32_t bits = 0;
  for (size_t n = 0; n < 4; n++) {
    bits |= (uint32_t)sand_byte(frame, lines, word + n, line) << 8 * n;
  }
  return (uint16_t)(bits >> x % 3 * 10 & 0x3ff);
}

void sand_nc12_to_nv12(const sand_frame *f, uint8_t *luma, size_t luma_stride, uint8_t *chroma,
                       size_t chroma_stride) {
  for (size_t y = 0; y < f->height; y++) {
    for (size_t x = 0; x < f->width; x++) {
      luma[y * luma_stride + x] = sand_byte(f->data, f->lines, x, y);
    }
  }
  for (size_t y = 0; y < f->height / 2; y++) {
    for (size_t x = 0; x < f->width; x++) {
      chroma[y * chroma_stride + x] = sand_byte(f->data, f->lines, x, f->chroma + y);
    }
  }
}

static void put_ten_bits(uint8_t *at, uint16_t sample) {
  at[0] = (uint8_t)(sample << 6 & 0xff);
  at[1] = (uint8_t)(sample >> 2);
}

void sand_nc30_to_p010(const sand_frame *f, uint8_t *luma, size_t luma_stride, uint8_t *chroma,
                       size_t chroma_stride) {
  for (size_t y = 0; y < f->height; y++) {
    for (size_t x = 0; x < f->width; x++) {
      put_ten_bits(luma + y * luma_stride + 2 * x, sand_ten_bits(f->data, f->lines, x, y));
    }
  }
  for (size_t y = 0; y < f->height / 2; y++) {
    for (size_t x = 0; x < f->width; x++) {
      put_ten_bits(chroma + y * chroma_stride + 2 * x,
                   sand_ten_bits(f->data, f->lines, x, f->chroma + y));
    }
  }
}
