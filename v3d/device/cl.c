/* SPDX-License-Identifier: BSD-2-Clause */
#include "cl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

enum packet {
  HALT = 0,
  NOP = 1,
  FLUSH = 4,
  FLUSH_ALL_STATE = 5,
  START_TILE_BINNING = 6,
  END_OF_RENDERING = 13,
  RETURN = 18,
  FLUSH_VCD_CACHE = 19,
  GENERIC_TILE_LIST = 20,
  BRANCH_TO_IMPLICIT_TILE_LIST = 21,
  SUPERTILE_COORDINATES = 23,
  CLEAR_RENDER_TARGETS = 25,
  END_OF_LOADS = 26,
  END_OF_TILE = 27,
  STORE_TILE_BUFFER = 29,
  LOAD_TILE_BUFFER = 30,
  OCCLUSION_QUERY_COUNTER = 92,
  NUMBER_OF_LAYERS = 119,
  BINNING_MODE = 120,
  RENDERING_MODE = 121,
  SUPERTILE_CONFIGURATION = 122,
  TILE_LIST_BASE = 123,
  TILE_COORDINATES = 124,
  IMPLICIT_TILE_COORDINATES = 125,
  INITIAL_BLOCK_SIZE = 126
};

/* Bytes of each packet with its code; 0: not one that is known here. */
static const uint8_t render_packets[256] = {
    [END_OF_RENDERING] = 1,
    [RETURN] = 1,
    [FLUSH_VCD_CACHE] = 1,
    [GENERIC_TILE_LIST] = 9,
    [SUPERTILE_COORDINATES] = 3,
    [CLEAR_RENDER_TARGETS] = 1,
    [END_OF_LOADS] = 1,
    [END_OF_TILE] = 1,
    [STORE_TILE_BUFFER] = 13,
    [RENDERING_MODE] = 9,
    [SUPERTILE_CONFIGURATION] = 9,
    [TILE_LIST_BASE] = 5,
    [TILE_COORDINATES] = 4,
    [INITIAL_BLOCK_SIZE] = 2,
};
static const uint8_t tile_packets[256] = {
    [RETURN] = 1,
    [FLUSH_VCD_CACHE] = 1,
    [BRANCH_TO_IMPLICIT_TILE_LIST] = 2,
    [END_OF_LOADS] = 1,
    [CLEAR_RENDER_TARGETS] = 1,
    [END_OF_TILE] = 1,
    [STORE_TILE_BUFFER] = 13,
    [LOAD_TILE_BUFFER] = 13,
    [IMPLICIT_TILE_COORDINATES] = 1,
};
static const uint8_t binning_packets[256] = {
    [HALT] = 1,
    [NOP] = 1,
    [FLUSH] = 1,
    [FLUSH_ALL_STATE] = 1,
    [START_TILE_BINNING] = 1,
    [FLUSH_VCD_CACHE] = 1,
    [OCCLUSION_QUERY_COUNTER] = 5,
    [NUMBER_OF_LAYERS] = 2,
    [BINNING_MODE] = 9,
};

enum { N_TARGETS = 8, NO_TARGET = 8, MAX_SUPERTILES = 256 };

/* Bytes that a list moves: twice the address space. More would keep the queue for long. */
#define MOST_MOVED (UINT64_C(8) << 30)

/* Where the pixels of a render target come from or go to. */
struct surface {
  bool given;
  uint32_t format, stride, address;
};

struct walk {
  const struct dev_view *view;
  bool execute;
  uint64_t moves;
  uint32_t n_packets;
  char *message;
  size_t message_size;
  int error; /* of the message */

  uint32_t width, height; /* pixels of the frame */
  uint32_t clear_color;
  uint32_t columns, rows; /* supertiles of the frame */
  uint32_t tile_list, tile_list_end;
  bool ran;         /* the tile list has been walked, for all of the frame */
  size_t n_covered; /* supertiles that it was asked for */
  uint8_t covered[MAX_SUPERTILES * MAX_SUPERTILES / 8];
};

/* Of a list that does not make sense, to the hardware either. */
__attribute__((format(printf, 2, 3))) static int wrong(struct walk *walk, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(walk->message, walk->message_size, format, values);
  va_end(values);
  return walk->error = -EINVAL;
}

/* Of what the hardware would do, and this does not. */
__attribute__((format(printf, 2, 3))) static int not_simulated(struct walk *walk,
                                                               const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(walk->message, walk->message_size, format, values);
  va_end(values);
  return walk->error = -EOPNOTSUPP;
}

static uint32_t u16(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32(const uint8_t *at) {
  return u16(at) | u16(at + 2) << 16;
}

/* Bytes of a pixel; 0: a format that is not carried. */
static uint32_t pixel_bytes(uint32_t format) {
  enum { RGBA8UI = 34, RG8UI = 35, R8UI = 36 };
  return format == RGBA8UI ? 4 : format == RG8UI ? 2 : format == R8UI ? 1 : 0;
}

/* Reads a load or store packet: its target, or NO_TARGET for one that does nothing. */
static int read_surface(struct walk *walk, const uint8_t *packet, uint32_t at, uint32_t *target,
                        struct surface *surface) {
  const uint32_t word = u32(packet + 1), high = u32(packet + 5);
  *target = word & 0xf;
  if (*target == NO_TARGET)
    return 0;
  const uint32_t layout = word >> 4 & 7, format = word >> 12 & 0x3f;
  const uint32_t others = word >> 7 & 0x1f; /* flip, dither, decimation */
  if (*target >= N_TARGETS)
    return not_simulated(
        walk, "command list at 0x%08x: buffer %u (depth or stencil) is not simulated", at, *target);
  if (layout != 0 || pixel_bytes(format) == 0 || others != 0)
    return not_simulated(
        walk,
        "command list at 0x%08x: only raster buffers of 8-bit unsigned integer channels "
        "are simulated (memory format %u, pixel format %u, options 0x%x)",
        at, layout, format, others);
  *surface = (struct surface){.given = true,
                              .format = format,
                              .stride = word >> 28 | (high & 0xffff) << 4,
                              .address = u32(packet + 9)};
  return 0;
}

/* The memory of a surface's rows, all of which lie in one buffer; NULL with a message. */
static uint8_t *rows_of(struct walk *walk, const struct surface *surface, const char *what) {
  const uint64_t row = (uint64_t)walk->width * pixel_bytes(surface->format);
  const uint64_t all = row + (uint64_t)(walk->height - 1) * surface->stride;
  uint8_t *memory = dev_view_at(walk->view, surface->address, all);
  if (memory == NULL)
    wrong(walk, "command list: %s of %ux%u pixels at 0x%08x, stride %u: outside every buffer", what,
          walk->width, walk->height, surface->address, surface->stride);
  return memory;
}

static int store(struct walk *walk, const struct surface *to, const struct surface *from) {
  const uint32_t pixel = pixel_bytes(to->format);
  const size_t row = (size_t)walk->width * pixel;
  uint8_t *target = rows_of(walk, to, "store"), *source = NULL;
  if (target == NULL)
    return walk->error;
  if (from->given) {
    if (from->format != to->format)
      return not_simulated(walk, "command list: a copy from pixel format %u to %u is not simulated",
                           from->format, to->format);
    source = rows_of(walk, from, "load");
    if (source == NULL)
      return walk->error;
  }
  /* Here, and not after the list: one with a mistake is carried out as far as that, too. */
  walk->moves += (uint64_t)row * walk->height;
  if (walk->moves > MOST_MOVED)
    return not_simulated(walk, "command list: it moves more than %llu bytes",
                         (unsigned long long)MOST_MOVED);
  for (uint32_t y = 0; walk->execute && y < walk->height; y++) {
    uint8_t *out = target + (size_t)y * to->stride;
    if (source != NULL) {
      memmove(out, source + (size_t)y * from->stride, row);
      continue;
    }
    if (y > 0 && to->stride >= row) {
      memcpy(out, target, row);
      continue;
    }
    for (size_t i = 0; i < row; i++)
      out[i] = (uint8_t)(walk->clear_color >> 8 * (i % pixel));
  }
  return 0;
}

/* One packet of a list at *at, which is moved past it; NULL with a message. */
static const uint8_t *next_packet(struct walk *walk, const uint8_t sizes[256], uint32_t *at,
                                  uint32_t end, const char *list) {
  /* Tile lists counted as often as they are walked. The loop of the server goes through them. */
  enum { MAX_PACKETS = 1 << 20 };
  if (++walk->n_packets > MAX_PACKETS) {
    not_simulated(walk, "command list: it has more than %d packets", MAX_PACKETS);
    return NULL;
  }
  const uint8_t *packet = *at < end ? dev_view_at(walk->view, *at, 1) : NULL;
  if (packet == NULL) {
    wrong(walk, "command list at 0x%08x: the %s list ends without its last packet", *at, list);
    return NULL;
  }
  const uint32_t size = sizes[*packet];
  if (size == 0) {
    not_simulated(
        walk,
        "command list at 0x%08x: packet %u in a %s list is not simulated (of the 3D engine there "
        "are only copies and fills of buffers)",
        *at, *packet, list);
    return NULL;
  }
  if (end - *at < size || dev_view_at(walk->view, *at, size) == NULL) {
    wrong(walk, "command list at 0x%08x: packet %u is cut short", *at, *packet);
    return NULL;
  }
  *at += size;
  return packet;
}

/* The tile list, once for all of the frame instead of once a tile. */
static int run_tile_list(struct walk *walk) {
  struct surface loaded[N_TARGETS] = {{0}};
  uint32_t at = walk->tile_list;
  if (walk->width == 0 || walk->height == 0)
    return wrong(walk, "command list: tiles are rendered before the frame has a size");
  while (at < walk->tile_list_end) {
    const uint32_t here = at;
    const uint8_t *packet = next_packet(walk, tile_packets, &at, walk->tile_list_end, "tile");
    if (packet == NULL)
      return walk->error;
    uint32_t target = NO_TARGET;
    struct surface surface;
    int result = 0;
    switch (*packet) {
      case RETURN:
        return 0;
      case CLEAR_RENDER_TARGETS:
        memset(loaded, 0, sizeof loaded);
        break;
      case LOAD_TILE_BUFFER:
        result = read_surface(walk, packet, here, &target, &surface);
        if (result == 0 && target != NO_TARGET)
          loaded[target] = surface;
        break;
      case STORE_TILE_BUFFER:
        result = read_surface(walk, packet, here, &target, &surface);
        if (result != 0 || target == NO_TARGET)
          break;
        if (target != 0 && !loaded[target].given)
          return not_simulated(walk, "command list at 0x%08x: only target 0 can be cleared", here);
        result = store(walk, &surface, &loaded[target]);
        break;
      default:
        break;
    }
    if (result != 0)
      return result;
  }
  return 0;
}

/* A tile list has been left: it must have been asked for on all of the frame, or nowhere. */
static int leave_tile_list(struct walk *walk) {
  const size_t n = (size_t)walk->columns * walk->rows;
  if (walk->ran && walk->n_covered != n)
    return not_simulated(
        walk, "command list: a render list that covers %zu of %zu supertiles is not simulated",
        walk->n_covered, n);
  walk->ran = false;
  walk->n_covered = 0;
  memset(walk->covered, 0, sizeof walk->covered);
  return 0;
}

static int render_supertile(struct walk *walk, uint32_t column, uint32_t row) {
  if (walk->tile_list == walk->tile_list_end)
    return wrong(walk, "command list: supertile (%u, %u) comes before a tile list", column, row);
  if (column >= walk->columns || row >= walk->rows)
    return wrong(walk, "command list: supertile (%u, %u) of a frame of %ux%u", column, row,
                 walk->columns, walk->rows);
  const size_t bit = (size_t)row * MAX_SUPERTILES + column;
  if (!(walk->covered[bit / 8] >> bit % 8 & 1)) {
    walk->covered[bit / 8] |= (uint8_t)(1 << bit % 8);
    walk->n_covered++;
  }
  if (walk->ran)
    return 0;
  walk->ran = true;
  return run_tile_list(walk);
}

static int set_rendering_mode(struct walk *walk, const uint8_t *packet, uint32_t at) {
  enum { COMMON = 0, TARGET_PART1 = 2 };
  const uint32_t part = packet[1] & 7;
  if (part == COMMON) {
    walk->width = u16(packet + 2);
    walk->height = u16(packet + 4);
  } else if (part == TARGET_PART1) {
    if (packet[1] >> 3 & 0xf)
      return not_simulated(walk, "command list at 0x%08x: only render target 0 is simulated", at);
    walk->clear_color = u32(packet + 5);
  }
  return 0;
}

static int render_packet(struct walk *walk, const uint8_t *packet, uint32_t at) {
  int result = 0;
  switch (*packet) {
    case RENDERING_MODE:
      return set_rendering_mode(walk, packet, at);
    case SUPERTILE_CONFIGURATION:
      walk->columns = packet[3];
      walk->rows = packet[4];
      return 0;
    case GENERIC_TILE_LIST:
      result = leave_tile_list(walk);
      walk->tile_list = u32(packet + 1);
      walk->tile_list_end = u32(packet + 5);
      if (result == 0 && walk->tile_list_end < walk->tile_list)
        result = wrong(walk, "command list at 0x%08x: the tile list ends before it begins", at);
      return result;
    case SUPERTILE_COORDINATES:
      return render_supertile(walk, packet[1], packet[2]);
    case STORE_TILE_BUFFER: /* of the tile that drivers render first, to begin with clear buffers */
      if ((packet[1] & 0xf) != NO_TARGET)
        return not_simulated(
            walk, "command list at 0x%08x: stores outside tile lists are not simulated", at);
      return 0;
    default:
      return 0;
  }
}

int dev_cl_run(const struct dev_view *view, uint32_t start, uint32_t end, bool execute,
               uint64_t *moves, char *message, size_t message_size) {
  struct walk walk = {
      .view = view, .execute = execute, .message = message, .message_size = message_size};
  int result = 0;
  for (uint32_t at = start; result == 0;) {
    const uint32_t here = at;
    const uint8_t *packet = next_packet(&walk, render_packets, &at, end, "render");
    if (packet == NULL)
      return walk.error;
    if (*packet == END_OF_RENDERING) {
      result = leave_tile_list(&walk);
      break;
    }
    result = render_packet(&walk, packet, here);
  }
  if (moves != NULL)
    *moves = walk.moves;
  return result;
}

int dev_cl_check_binning(const struct dev_view *view, uint32_t start, uint32_t end, char *message,
                         size_t message_size) {
  struct walk walk = {.view = view, .message = message, .message_size = message_size};
  for (uint32_t at = start; at < end;) {
    const uint8_t *packet = next_packet(&walk, binning_packets, &at, end, "binning");
    if (packet == NULL)
      return walk.error;
    if (*packet == HALT)
      break;
  }
  return 0;
}
