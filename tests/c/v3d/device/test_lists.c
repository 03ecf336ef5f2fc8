/* SPDX-License-Identifier: BSD-2-Clause */
/* Command lists and the memory's allocator, without a server. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cl.h"
#include "device.h"
#include "memory.h"

/* One buffer with the lists, one with pixels. */
enum { LISTS = 0x10000, PIXELS = 0x20000, SIZE = 4096 };
static uint8_t lists[SIZE], pixels[SIZE];
static daedalus_v3d_buffer buffers[] = {{LISTS, SIZE, lists}, {PIXELS, SIZE, pixels}};
static const struct dev_view view = {.refs = 1, .n = 2, .buffers = buffers};
static char message[256];

static uint8_t *surface(uint8_t *at, uint8_t code, uint32_t word, uint32_t stride,
                        uint32_t address) {
  const uint64_t bits = word | (uint64_t)stride << 28;
  *at++ = code;
  memcpy(at, &bits, 8);
  memcpy(at + 8, &address, 4);
  return at + 12;
}

/* A tile list at LISTS of n bytes, and a frame that asks for it; runs it. */
static int run(const uint8_t *tile, size_t n, uint32_t width, uint32_t height, uint8_t supertiles,
               bool execute, uint64_t *moves) {
  const uint32_t start = LISTS, end = LISTS + (uint32_t)n;
  uint8_t *at = lists + 1024;
  memcpy(lists, tile, n);
  memcpy(at,
         (const uint8_t[]){121, 0, (uint8_t)width, (uint8_t)(width >> 8), (uint8_t)height,
                           (uint8_t)(height >> 8), 0, 0, 0},
         9);
  memcpy(at + 9, (const uint8_t[]){121, 2, 0, 0, 0, 0x11, 0x22, 0x33, 0x44}, 9);
  memcpy(at + 18, (const uint8_t[]){122, 0, 0, 1, 1, 0, 0, 0, 0}, 9);
  at += 27;
  *at++ = 20;
  memcpy(at, &start, 4);
  memcpy(at + 4, &end, 4);
  at += 8;
  memcpy(at, (const uint8_t[]){23, supertiles, 0, 13}, 4);
  at += 4;
  return dev_cl_run(&view, LISTS + 1024, LISTS + (uint32_t)(at - lists), execute, moves, message,
                    sizeof message);
}

enum { RGBA8UI = 34 << 12, RG8UI = 35 << 12, R8UI = 36 << 12 };

static int store_only(uint32_t word, uint32_t stride, uint32_t address, uint32_t width,
                      uint32_t height) {
  uint8_t tile[32], *at = tile;
  *at++ = 26;
  at = surface(at, 29, word, stride, address);
  *at++ = 18;
  return run(tile, (size_t)(at - tile), width, height, 0, true, NULL);
}

static void fills(void) {
  memset(pixels, 0xee, sizeof pixels);
  CHECK_INT(store_only(RGBA8UI, 16, PIXELS + 64, 3, 2), 0);
  CHECK_INT(memcmp(pixels + 64, "\x11\x22\x33\x44\x11\x22\x33\x44\x11\x22\x33\x44\xee", 13), 0);
  CHECK_INT(memcmp(pixels + 80, "\x11\x22\x33\x44\x11\x22\x33\x44\x11\x22\x33\x44\xee", 13), 0);
  CHECK_INT(pixels[63], 0xee);
  CHECK_INT(store_only(RG8UI, 4, PIXELS, 2, 1), 0);
  CHECK_INT(memcmp(pixels, "\x11\x22\x11\x22\xee", 5), 0);
  CHECK_INT(store_only(R8UI, 4, PIXELS + 9, 3, 1), 0);
  CHECK_INT(memcmp(pixels + 8, "\xee\x11\x11\x11\xee", 5), 0);
}

static void bounds(void) {
  memset(pixels, 0xee, sizeof pixels);
  CHECK_INT(store_only(RGBA8UI, 64, PIXELS, 16, 64), 0); /* all of the buffer */
  CHECK_INT(pixels[SIZE - 1], 0x44);
  CHECK_INT(store_only(RGBA8UI, 64, PIXELS + 4, 16, 64), -EINVAL);
  CHECK(strstr(message, "outside every buffer") != NULL);
  CHECK_INT(store_only(RGBA8UI, 64, PIXELS, 16, 65), -EINVAL);
  CHECK_INT(store_only(RGBA8UI, 0xfffff, PIXELS, 65535, 65535), -EINVAL);
  CHECK_INT(store_only(RGBA8UI, 64, 0xfffffff0, 16, 1), -EINVAL);
  CHECK_INT(store_only(RGBA8UI, 64, PIXELS, 0, 1), -EINVAL);
  CHECK(strstr(message, "before the frame has a size") != NULL);
}

static void unsupported(void) {
  CHECK_INT(store_only(RGBA8UI | 1 << 4, 64, PIXELS, 1, 1), -EOPNOTSUPP); /* tiled */
  CHECK(strstr(message, "only raster buffers") != NULL);
  CHECK_INT(store_only(1 << 12, 64, PIXELS, 1, 1), -EOPNOTSUPP);
  CHECK_INT(store_only(RGBA8UI | 1 << 7, 64, PIXELS, 1, 1), -EOPNOTSUPP); /* flipped */
  CHECK_INT(store_only(RGBA8UI | 9, 64, PIXELS, 1, 1), -EOPNOTSUPP);
  CHECK(strstr(message, "depth or stencil") != NULL);
  CHECK_INT(store_only(RGBA8UI | 1, 64, PIXELS, 1, 1), -EOPNOTSUPP);
  CHECK(strstr(message, "only target 0") != NULL);
  CHECK_INT(run((const uint8_t[]){36, 18}, 2, 1, 1, 0, true, NULL), -EOPNOTSUPP);
  CHECK(strstr(message, "packet 36 in a tile list") != NULL);
}

/* What the hardware would not do either. */
static void mistakes(void) {
  CHECK_INT(run((const uint8_t[]){29}, 1, 1, 1, 0, true, NULL), -EINVAL);
  CHECK(strstr(message, "cut short") != NULL);
  CHECK_INT(run((const uint8_t[]){18}, 1, 1, 1, 5, true, NULL), -EINVAL);
  CHECK(strstr(message, "supertile (5, 0) of a frame of 1x1") != NULL);
  CHECK_INT(dev_cl_run(&view, LISTS + 2048, LISTS + 2048, true, NULL, message, sizeof message),
            -EINVAL);
  CHECK_INT(dev_cl_run(&view, 0, 0xffffffff, true, NULL, message, sizeof message), -EINVAL);
}

/* Stores of all pixels that a frame can have, into one row, and perhaps a mistake behind them. */
static int store_all(int n, uint32_t format, bool wrong, bool execute) {
  uint8_t tile[128], *at = tile;
  for (int i = 0; i < n; i++)
    at = surface(at, 29, format, 0, PIXELS);
  *at++ = wrong ? 29 : 18;
  return run(tile, (size_t)(at - tile), 65535, 65535, 0, execute, NULL);
}

/* What would keep the queue for long is not begun, whatever follows it in the list. */
static void too_large(void) {
  enum { ROW = 4 * 65535 };
  static uint8_t row[ROW];
  const daedalus_v3d_buffer kept = buffers[1];
  buffers[1] = (daedalus_v3d_buffer){PIXELS, ROW, row};
  for (int i = 0; i < 4; i++) {
    CHECK_INT(store_all(1, RGBA8UI, i & 1, i >> 1), -EOPNOTSUPP);
    CHECK_STR(message, "command list: it moves more than 8589934592 bytes");
  }
  CHECK_INT(row[0] | row[ROW - 1], 0);
  CHECK_INT(store_all(2, R8UI, false, false), 0); /* a little less */
  CHECK_INT(store_all(2, R8UI, true, false), -EINVAL);
  CHECK_INT(store_all(3, R8UI, true, false), -EOPNOTSUPP);
  buffers[1] = kept;
}

static void check_writes_nothing(void) {
  uint8_t tile[64], *at = tile;
  uint64_t moves = 0;
  memset(pixels, 0xee, sizeof pixels);
  memset(pixels, 0x55, 64);
  at = surface(at, 30, RGBA8UI, 16, PIXELS);
  *at++ = 26;
  at = surface(at, 29, RGBA8UI, 32, PIXELS + 1024);
  *at++ = 18;
  CHECK_INT(run(tile, (size_t)(at - tile), 4, 4, 0, false, &moves), 0);
  CHECK_INT(moves, 64);
  CHECK_INT(pixels[1024], 0xee);
  CHECK_INT(run(tile, (size_t)(at - tile), 4, 4, 0, true, &moves), 0);
  CHECK_INT(pixels[1024], 0x55);
  CHECK_INT(pixels[1024 + 16], 0xee);
  CHECK_INT(pixels[1024 + 32], 0x55);
}

static void binning(void) {
  memcpy(lists, (const uint8_t[]){119, 0, 120, 0, 0, 0, 0, 0, 0, 0, 0, 19, 6, 4, 36}, 15);
  CHECK_INT(dev_cl_check_binning(&view, LISTS, LISTS + 14, message, sizeof message), 0);
  CHECK_INT(dev_cl_check_binning(&view, LISTS, LISTS + 15, message, sizeof message), -EOPNOTSUPP);
  CHECK(strstr(message, "packet 36 in a binning list") != NULL);
  CHECK_INT(dev_cl_check_binning(&view, LISTS, LISTS + 5, message, sizeof message), -EINVAL);
  CHECK(strstr(message, "cut short") != NULL);
}

/* Random lists: any answer, no crash (buffers are exactly as large as they say). */
static void random_lists(void) {
  uint8_t *exact = malloc(SIZE);
  buffers[0].data = exact;
  uint64_t state = 12345;
  for (int round = 0; round < 20000 && exact != NULL; round++) {
    static const uint8_t codes[] = {13, 18, 19, 20, 21, 23, 25, 26, 27, 29, 30, 121, 122, 125};
    for (int i = 0; i < 256; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const uint32_t random = (uint32_t)(state >> 33);
      exact[i] = random % 3 == 0 ? codes[random / 3 % sizeof codes] : (uint8_t)(random >> 8) & 3;
    }
    for (int i = 0; i < SIZE - 256; i++)
      exact[256 + i] = exact[i];
    memcpy(exact + 1, (const uint8_t[]){20, 0, 0, 1, 0, 64, 0, 1, 0}, 9);
    exact[0] = 19;
    dev_cl_run(&view, LISTS, LISTS + SIZE, true, NULL, message, sizeof message);
    dev_cl_check_binning(&view, LISTS, LISTS + SIZE, message, sizeof message);
  }
  buffers[0].data = lists;
  free(exact);
}

/* Ranges never touch, are found again and are given out again. */
static void allocator(void) {
  struct dev_memory memory;
  struct dev_range ranges[64] = {{0}};
  uint64_t state = 99;
  CHECK_INT(dev_memory_init(&memory, 256 << 20), 0);
  for (int round = 0; round < 5000; round++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    struct dev_range *range = &ranges[state >> 40 & 63];
    if (range->bytes != 0) {
      dev_memory_give(&memory, *range);
      *range = (struct dev_range){0};
      continue;
    }
    const uint64_t bytes = (state >> 50) * 1024 + 1;
    if (dev_memory_take(&memory, bytes, range) != 0) {
      CHECK(memory.used + bytes > (256 << 20) - 4096);
      *range = (struct dev_range){0};
      continue;
    }
    CHECK(range->address != 0 && range->bytes >= bytes && range->address % memory.page == 0);
    CHECK_INT(memory.base[range->address] | memory.base[range->address + range->bytes - 1], 0);
    memory.base[range->address] = memory.base[range->address + range->bytes - 1] = 1;
    for (size_t i = 1; i < memory.n_live; i++)
      CHECK((uint64_t)memory.live[i - 1].address + memory.live[i - 1].bytes + memory.page <=
            memory.live[i].address);
  }
  struct dev_range range;
  CHECK_INT(dev_memory_take(&memory, UINT64_MAX / 2, &range), -ENOMEM);
  dev_memory_destroy(&memory);
}

/* What is written there is seen there alone, and until it is dropped. */
static void scratch(void) {
  struct dev_memory memory;
  struct dev_range range = {0, 0};
  CHECK_INT(dev_memory_init(&memory, 1 << 20), 0);
  CHECK_INT(dev_memory_take(&memory, 8192, &range), 0);
  uint8_t *own = memory.base + range.address, *other;
  memset(own, 1, 8192);
  uint8_t *base = dev_memory_scratch(&memory);
  CHECK(base != NULL);
  if (base == NULL)
    return;
  other = base + range.address;
  CHECK_INT(other[5], 1);
  other[5] = 2;
  CHECK_INT(own[5], 1);
  own[4096] = 3;
  CHECK_INT(other[4096], 3);
  dev_memory_drop_scratch(&memory);
  CHECK_INT(other[5], 1);
  CHECK(dev_memory_scratch(&memory) == base);
  dev_memory_destroy(&memory);
}

int main(void) {
  RUN(fills);
  RUN(bounds);
  RUN(unsupported);
  RUN(mistakes);
  RUN(too_large);
  RUN(check_writes_nothing);
  RUN(binning);
  RUN(random_lists);
  RUN(allocator);
  RUN(scratch);
  return CHECK_RESULT();
}
