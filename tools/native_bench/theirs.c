/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * theirs.c - FFmpeg's and dav1d's functions, as their own init functions choose them, called item
 * by item as a decoder does.
 */
#include "bench.h"

#include <string.h>

#include <daedalus/av1.h>
#include <daedalus/h264.h>
#include <daedalus/vp9.h>
#include <libavutil/cpu.h>

#include "vp9dsp.h"

typedef void idct_fn(uint8_t *dst, int16_t *block, int stride);
typedef void luma_fn(uint8_t *pixels, ptrdiff_t stride, int alpha, int beta, int8_t *tc0);
typedef void qpel_fn(uint8_t *dst, const uint8_t *src, ptrdiff_t stride);
typedef void cdef_fn(uint8_t *dst, ptrdiff_t stride, const uint8_t (*left)[2], const uint8_t *top,
                     const uint8_t *bottom, int pri, int sec, int dir, int damping, int edges);

/* The function tables are arrays of pointers; these are the places of those used. */
enum {
  V_LUMA = 64 / sizeof(void *),
  IDCT_ADD = 168 / sizeof(void *),
  IDCT8_ADD = 176 / sizeof(void *),
  PUT8_MC20 = 144 / sizeof(void *), /* of the interpolation's table: 8 wide, x 2, y 0 */
  SLOTS = 128
};
enum { WIDTH_8 = 3 }; /* in mc: 64, 32, 16, 8, 4 */

void ff_vp9dsp_init(vp9_dsp *dsp, int bpp, int bitexact);
void ff_h264dsp_init(any_fn **table, int bit_depth, int chroma_format_idc);
void ff_h264qpel_init(any_fn **table, int bit_depth);
void dav1d_init_cpu(void);
void dav1d_set_cpu_flags_mask(unsigned mask);

/* dav1d's table of CDEF functions, declared anew: the search, then filters for luma, 4:2:2, 4:2:0.
 */
typedef struct cdef_dsp {
  any_fn *dir;
  any_fn *fb[3];
} cdef_dsp;
void dav1d_cdef_dsp_init_8bpc(cdef_dsp *dsp);

static uint8_t *at(const job *j, size_t buffer) {
  return j->images[buffer].work + j->images[buffer].origin;
}

/* Buffers: dst, coeffs. */
static void run_vp9_idct8(const contender *c, const job *j) {
  itxfm_fn *fn = (itxfm_fn *)c->theirs;
  const daedalus_vp9_idct8_meta *meta = (const void *)j->meta;
  int16_t *block = (int16_t *)(void *)at(j, 1);
  for (size_t i = 0; i < j->n_items; i++, block += 64) {
    fn(at(j, 0) + meta[i].dst_off, j->images[0].stride, block, meta[i].eob);
  }
}

/* Buffers: dst. The meta of all four filters is the same. */
static void run_vp9_filter(const contender *c, const job *j) {
  filter_fn *fn = (filter_fn *)c->theirs;
  const daedalus_vp9_lpf4_h_meta *meta = (const void *)j->meta;
  for (size_t i = 0; i < j->n_items; i++) {
    fn(at(j, 0) + meta[i].dst_off, j->images[0].stride, meta[i].blimit, meta[i].limit,
       meta[i].thresh);
  }
}
_Static_assert(sizeof(daedalus_vp9_lpf4_h_meta) == sizeof(daedalus_vp9_lpf8_v_meta) &&
                   offsetof(daedalus_vp9_lpf4_h_meta, blimit) ==
                       offsetof(daedalus_vp9_lpf8_v_meta, blimit),
               "one layout");

/* Buffers: dst, src. All items have one filter: that of the first. */
static void run_vp9_mc(const contender *c, const job *j) {
  mc_fn *fn = (mc_fn *)c->theirs;
  const daedalus_vp9_mc_8h_meta *meta = (const void *)j->meta;
  for (size_t i = 0; i < j->n_items; i++) {
    fn(at(j, 0) + meta[i].dst_off, j->images[0].stride, at(j, 1) + meta[i].src_off,
       j->images[1].stride, meta[i].rows, meta[i].mx, 0);
  }
}

/* Buffers: dst, coeffs. */
static void run_h264_idct4(const contender *c, const job *j) {
  idct_fn *fn = (idct_fn *)c->theirs;
  const daedalus_h264_idct4_meta *meta = (const void *)j->meta;
  int16_t *block = (int16_t *)(void *)at(j, 1);
  for (size_t i = 0; i < j->n_items; i++, block += 16) {
    fn(at(j, 0) + meta[i].dst_off, block, (int)j->images[0].stride);
  }
}

static void run_h264_idct8(const contender *c, const job *j) {
  idct_fn *fn = (idct_fn *)c->theirs;
  const daedalus_h264_idct8_meta *meta = (const void *)j->meta;
  int16_t *block = (int16_t *)(void *)at(j, 1);
  for (size_t i = 0; i < j->n_items; i++, block += 64) {
    fn(at(j, 0) + meta[i].dst_off, block, (int)j->images[0].stride);
  }
}

static void run_h264_luma(const contender *c, const job *j) {
  luma_fn *fn = (luma_fn *)c->theirs;
  const daedalus_h264_deblock_luma_v_meta *meta = (const void *)j->meta;
  for (size_t i = 0; i < j->n_items; i++) {
    int8_t tc0[4];
    memcpy(tc0, meta[i].tc0, sizeof(tc0));
    fn(at(j, 0) + meta[i].dst_off, j->images[0].stride, meta[i].alpha, meta[i].beta, tc0);
  }
}

/* Both planes have one stride, as the function takes one. */
static void run_h264_qpel(const contender *c, const job *j) {
  qpel_fn *fn = (qpel_fn *)c->theirs;
  const daedalus_h264_qpel_mc20_meta *meta = (const void *)j->meta;
  for (size_t i = 0; i < j->n_items; i++) {
    fn(at(j, 0) + meta[i].dst_off, at(j, 1) + meta[i].src_off, j->images[0].stride);
  }
}

/*
 * CDEF works in place: in the memory of src, where the interpreter's result stands in dst. What is
 * left of a block it takes from an array that its decoder keeps; above and below it reads what src
 * has there, which no block here overlaps.
 */
enum { MAX_ITEMS = 1024 };
static uint8_t left[MAX_ITEMS][8][2];

static void prepare_cdef(const job *j) {
  const daedalus_av1_cdef8_meta *meta = (const void *)j->meta;
  for (size_t i = 0; i < j->n_items; i++) {
    const uint8_t *block = at(j, 1) + meta[i].src_off;
    for (int y = 0; y < 8; y++) {
      memcpy(left[i][y], block + y * j->images[1].stride - 2, 2);
    }
  }
}

static void run_cdef(const contender *c, const job *j) {
  cdef_fn *fn = (cdef_fn *)c->theirs;
  const daedalus_av1_cdef8_meta *meta = (const void *)j->meta;
  const ptrdiff_t stride = j->images[1].stride;
  for (size_t i = 0; i < j->n_items; i++) {
    uint8_t *block = at(j, 1) + meta[i].src_off;
    fn(block, stride, (const uint8_t(*)[2])left[i], block - 2 * stride, block + 8 * stride,
       meta[i].pri, meta[i].sec, meta[i].dir, meta[i].damping, meta[i].edges);
  }
}

static int cdef_right(const job *j) {
  const daedalus_av1_cdef8_meta *meta = (const void *)j->meta;
  const image *dst = &j->images[0], *src = &j->images[1];
  for (size_t i = 0; i < j->n_items; i++) {
    for (int y = 0; y < 8; y++) {
      if (memcmp(dst->after + dst->origin + meta[i].dst_off + y * dst->stride,
                 at(j, 1) + meta[i].src_off + y * src->stride, 8) != 0) {
        return 0;
      }
    }
  }
  return 1;
}

static any_fn *vp9_function(const job *j, void (**run)(const contender *, const job *)) {
  static union {
    vp9_dsp dsp;
    unsigned char bytes[VP9_DSP_SIZE + 256];
  } table;
  memset(&table, 0xa5, sizeof(table));
  ff_vp9dsp_init(&table.dsp, 8, 0);
  for (size_t i = VP9_DSP_SIZE; i < sizeof(table.bytes); i++) {
    if (table.bytes[i] != 0xa5) {
      die("libavcodec", "its table for VP9 is not as declared");
    }
  }
  const vp9_dsp *dsp = &table.dsp;
  if (strcmp(j->kernel, "vp9_idct8") == 0) {
    *run = run_vp9_idct8;
    return (any_fn *)dsp->itxfm_add[1][0];
  }
  if (strncmp(j->kernel, "vp9_lpf", 7) == 0) {
    *run = run_vp9_filter;
    return (any_fn *)dsp->loop_filter_8[j->kernel[7] == '8'][strstr(j->kernel, "_v") != NULL];
  }
  if (strcmp(j->kernel, "vp9_mc_8h") == 0 || strcmp(j->kernel, "vp9_mc_8h_avg") == 0) {
    const daedalus_vp9_mc_8h_meta *meta = (const void *)j->meta;
    *run = run_vp9_mc;
    return (any_fn *)dsp->mc[WIDTH_8][meta[0].filter][strstr(j->kernel, "_avg") != NULL][1][0];
  }
  return NULL;
}

static any_fn *h264_function(const job *j, void (**run)(const contender *, const job *)) {
  any_fn *dsp[SLOTS] = {NULL}, *qpel[SLOTS] = {NULL};
  ff_h264dsp_init(dsp, 8, 1);
  ff_h264qpel_init(qpel, 8);
  if (strcmp(j->kernel, "h264_idct4") == 0) {
    *run = run_h264_idct4;
    return dsp[IDCT_ADD];
  }
  if (strcmp(j->kernel, "h264_idct8") == 0) {
    *run = run_h264_idct8;
    return dsp[IDCT8_ADD];
  }
  if (strcmp(j->kernel, "h264_deblock_luma_v") == 0) {
    *run = run_h264_luma;
    return dsp[V_LUMA];
  }
  if (strcmp(j->kernel, "h264_qpel_mc20") == 0) {
    *run = run_h264_qpel;
    return qpel[PUT8_MC20];
  }
  return NULL;
}

int find_theirs(const char *which, const job *j, contender *found) {
  const int c_only = strstr(which, "-c") != NULL;
  *found = (contender){.right = is_right};
  if (strncmp(which, "dav1d", 5) == 0 && strcmp(j->kernel, "av1_cdef8") == 0) {
    cdef_dsp dsp = {0};
    dav1d_init_cpu();
    dav1d_set_cpu_flags_mask(c_only ? 0 : ~0u);
    dav1d_cdef_dsp_init_8bpc(&dsp);
    if (j->n_items > MAX_ITEMS) {
      die("the job", "has too many items");
    }
    *found = (contender){NULL, run_cdef, NULL, dsp.fb[0], prepare_cdef, cdef_right};
  } else if (strncmp(which, "ffmpeg", 6) == 0) {
    av_force_cpu_flags(c_only ? 0 : -1);
    const int vp9 = strncmp(j->kernel, "vp9", 3) == 0;
    found->theirs = vp9 ? vp9_function(j, &found->run) : h264_function(j, &found->run);
  }
  return found->theirs ? 0 : -1;
}
