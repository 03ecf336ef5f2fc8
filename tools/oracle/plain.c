/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain.c - plain implementations, written for the comparison alone.
 */
#include "oracle.h"

#include <string.h>

#include "sand.h"

enum { LINE = 128 };

/* Planes: dst, dst_uv, src, src_uv; an item is a frame of one column, two luma lines and one. */
static sand_frame column(const oracle_item *item, uint8_t frame[3][LINE]) {
  memcpy(frame[0], item->plane[2], LINE);
  memcpy(frame[1], item->plane[2] + item->stride, LINE);
  memcpy(frame[2], item->plane[3], LINE);
  return (sand_frame){frame[0], 3, 2, (size_t)item->params[0], 2};
}

static void nv12(oracle_target *const *targets, const oracle_item *item, size_t n) {
  (void)targets;
  for (; n > 0; n--, item++) {
    uint8_t frame[3][LINE];
    const sand_frame f = column(item, frame);
    const size_t stride = (size_t)item->stride;
    sand_nc12_to_nv12(&f, item->plane[0], stride, item->plane[1], stride);
  }
}

static void p010(oracle_target *const *targets, const oracle_item *item, size_t n) {
  (void)targets;
  for (; n > 0; n--, item++) {
    uint8_t frame[3][LINE];
    const sand_frame f = column(item, frame);
    const size_t stride = (size_t)item->stride;
    sand_nc30_to_p010(&f, item->plane[0], stride, item->plane[1], stride);
  }
}

const oracle_entry *oracle_entries(oracle_mode mode, const char **wrong) {
  static const oracle_entry entries[] = {
      {.name = "sand128_nv12", .fn = nv12},
      {.name = "sand128_p010", .fn = p010},
      {.name = NULL},
  };
  *wrong = "there is no assembly of this";
  return mode == ORACLE_C ? entries : NULL;
}
