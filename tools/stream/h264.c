/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * h264.c - libavcodec's H.264 decoder with some functions replaced.
 *
 * Linked with --wrap=ff_h264dsp_init,--wrap=ff_h264qpel_init: the decoder's
 * calls come here, the real functions fill the tables, then entries are
 * exchanged.  Most transforms are done by entries that take a macroblock's
 * blocks and have the transform inside them; therefore these are replaced, too.
 */
#include "h264dsp.h"

#include <daedalus/ffmpeg.h>
#include <stdbool.h>
#include <string.h>

#include "libav.h"
#include "stream.h"

void __real_ff_h264dsp_init(h264_dsp *dsp, int bit_depth, int chroma_format_idc);
void __wrap_ff_h264dsp_init(h264_dsp *dsp, int bit_depth, int chroma_format_idc);
void __real_ff_h264qpel_init(h264_qpel *qpel, int bit_depth);
void __wrap_ff_h264qpel_init(h264_qpel *qpel, int bit_depth);

/* Its first member is what libavcodec's interface calls the decoder. */
extern const struct AVCodec ff_h264_decoder;

const struct AVCodec *stream_decoder(void) {
  return &ff_h264_decoder;
}

/* Functions, and the classes of the transforms: the entries that they are called through. */
enum { IDCT4, IDCT8, DEBLOCK, QPEL };
enum { IDCT_ADD, IDCT_DC_ADD, ADD16, ADD16_INTRA, ADD8 };
enum { IDCT8_ADD, IDCT8_DC_ADD, ADD4 };

stream_function stream_functions[] = {
    [IDCT4] = {.id = "h264_idct4",
               .classes = {[IDCT_ADD] = "idct_add",
                           [IDCT_DC_ADD] = "idct_dc_add",
                           [ADD16] = "idct_add16",
                           [ADD16_INTRA] = "idct_add16intra",
                           [ADD8] = "idct_add8"}},
    [IDCT8] =
        {.id = "h264_idct8",
         .classes =
             {[IDCT8_ADD] = "idct8_add", [IDCT8_DC_ADD] = "idct8_dc_add", [ADD4] = "idct8_add4"}},
    [DEBLOCK] = {.id = "h264_deblock_luma_v",
                 .classes = {"all quarters filtered", "some quarters off"}},
    [QPEL] = {.id = "h264_qpel_mc20", .classes = {"8 wide", "quarter of 16 wide"}},
};
const size_t stream_n_functions = sizeof(stream_functions) / sizeof(stream_functions[0]);

/* --------------------------------------------------------------------- single transforms */

static void do_idct4(uint8_t *dst, int16_t *block, int stride, int class_index) {
  daedalus_ffmpeg_h264_idct4(dst, block, stride);
  if (stream_count(&stream_functions[IDCT4], class_index)) {
    dst[2 * stride + 1] ^= 1;
  }
}

static void do_idct8(uint8_t *dst, int16_t *block, int stride, int class_index) {
  daedalus_ffmpeg_h264_idct8(dst, block, stride);
  if (stream_count(&stream_functions[IDCT8], class_index)) {
    dst[3 * stride + 5] ^= 1;
  }
}

static void idct_add(uint8_t *dst, int16_t *block, int stride) {
  do_idct4(dst, block, stride, IDCT_ADD);
}

/* A block with nothing but its first coefficient: the whole transform comes to the same. */
static void idct_dc_add(uint8_t *dst, int16_t *block, int stride) {
  do_idct4(dst, block, stride, IDCT_DC_ADD);
}

static void idct8_add(uint8_t *dst, int16_t *block, int stride) {
  do_idct8(dst, block, stride, IDCT8_ADD);
}

static void idct8_dc_add(uint8_t *dst, int16_t *block, int stride) {
  do_idct8(dst, block, stride, IDCT8_DC_ADD);
}

/* -------------------------------------------------------------------- a macroblock's blocks */

/*
 * Blocks are in the order of the standard (6.4.3: quarters, and quarters of
 * these, by rows); their numbers of coefficients lie in rows of 8, luma from
 * row 1, Cb from row 6 and Cr from row 11 on, column 4 being the leftmost.
 */
static int count_of_luma(const uint8_t *counts, int block) {
  const int x = (block & 1) + (block >> 2 & 1) * 2;
  const int y = (block >> 1 & 1) + (block >> 3) * 2;
  return counts[(1 + y) * 8 + 4 + x];
}

static int count_of_chroma(const uint8_t *counts, int plane, int block) {
  return counts[(6 + 5 * plane + (block >> 1)) * 8 + 4 + (block & 1)];
}

static void idct_add16(uint8_t *dst, const int *offsets, int16_t *block, int stride,
                       const uint8_t counts[5 * 8]) {
  for (int i = 0; i < 16; i++) {
    if (count_of_luma(counts, i) != 0) {
      do_idct4(dst + offsets[i], block + 16 * i, stride, ADD16);
    }
  }
}

/* The first coefficient is not counted: it comes from a transform of its own. */
static void idct_add16intra(uint8_t *dst, const int *offsets, int16_t *block, int stride,
                            const uint8_t counts[5 * 8]) {
  for (int i = 0; i < 16; i++) {
    if (count_of_luma(counts, i) != 0 || block[16 * i] != 0) {
      do_idct4(dst + offsets[i], block + 16 * i, stride, ADD16_INTRA);
    }
  }
}

static void idct_add8(uint8_t **dst, const int *offsets, int16_t *block, int stride,
                      const uint8_t counts[15 * 8]) {
  for (int plane = 0; plane < 2; plane++) {
    for (int i = 0; i < 4; i++) {
      const int n = 16 * (plane + 1) + i;
      if (count_of_chroma(counts, plane, i) != 0 || block[16 * n] != 0) {
        do_idct4(dst[plane] + offsets[n], block + 16 * n, stride, ADD8);
      }
    }
  }
}

static void idct8_add4(uint8_t *dst, const int *offsets, int16_t *block, int stride,
                       const uint8_t counts[5 * 8]) {
  for (int i = 0; i < 16; i += 4) {
    if (count_of_luma(counts, i) != 0) {
      do_idct8(dst + offsets[i], block + 16 * i, stride, ADD4);
    }
  }
}

/* --------------------------------------------------------- the loop filter and prediction */

static void v_luma(uint8_t *dst, ptrdiff_t stride, int alpha, int beta, int8_t *tc0) {
  const bool off = tc0[0] < 0 || tc0[1] < 0 || tc0[2] < 0 || tc0[3] < 0;
  daedalus_ffmpeg_h264_deblock_luma_v(dst, stride, alpha, beta, tc0);
  if (stream_count(&stream_functions[DEBLOCK], off)) {
    dst[7] ^= 1;
  }
}

static void mc20(uint8_t *dst, const uint8_t *src, ptrdiff_t stride, int class_index) {
  daedalus_ffmpeg_h264_qpel_mc20(dst, src, stride);
  if (stream_count(&stream_functions[QPEL], class_index)) {
    dst[2 * stride + 3] ^= 1;
  }
}

static void qpel8_mc20(uint8_t *dst, const uint8_t *src, ptrdiff_t stride) {
  mc20(dst, src, stride, 0);
}

static void qpel16_mc20(uint8_t *dst, const uint8_t *src, ptrdiff_t stride) {
  for (int y = 0; y < 16; y += 8) {
    for (int x = 0; x < 16; x += 8) {
      mc20(dst + y * stride + x, src + y * stride + x, stride, 1);
    }
  }
}

/* ------------------------------------------------------------------------- the self-check */

#if defined(__aarch64__)
#define DSP_OCCUPANTS(X)                     \
  X(v_luma, ff_h264_v_loop_filter_luma_neon) \
  X(idct_add, ff_h264_idct_add_neon)         \
  X(idct8_add, ff_h264_idct8_add_neon)       \
  X(idct_dc_add, ff_h264_idct_dc_add_neon)   \
  X(idct8_dc_add, ff_h264_idct8_dc_add_neon) \
  X(idct_add16, ff_h264_idct_add16_neon)     \
  X(idct8_add4, ff_h264_idct8_add4_neon)     \
  X(idct_add8, ff_h264_idct_add8_neon)       \
  X(idct_add16intra, ff_h264_idct_add16intra_neon)
#define QPEL_OCCUPANTS(X)                    \
  X(put[0][2], ff_put_h264_qpel16_mc20_neon) \
  X(put[1][2], ff_put_h264_qpel8_mc20_neon)  \
  X(avg[0][2], ff_avg_h264_qpel16_mc20_neon)
#elif defined(__x86_64__)
#define DSP_OCCUPANTS(X)                         \
  X(v_luma, ff_deblock_v_luma_8_sse2)            \
  X(v_luma, ff_deblock_v_luma_8_avx)             \
  X(idct_add, ff_h264_idct_add_8_sse2)           \
  X(idct_add, ff_h264_idct_add_8_avx)            \
  X(idct8_add, ff_h264_idct8_add_8_sse2)         \
  X(idct_dc_add, ff_h264_idct_dc_add_8_sse2)     \
  X(idct_dc_add, ff_h264_idct_dc_add_8_avx)      \
  X(idct8_dc_add, ff_h264_idct8_dc_add_8_mmxext) \
  X(idct_add16, ff_h264_idct_add16_8_sse2)       \
  X(idct8_add4, ff_h264_idct8_add4_8_sse2)       \
  X(idct_add8, ff_h264_idct_add8_8_sse2)         \
  X(idct_add16intra, ff_h264_idct_add16intra_8_sse2)
/* The 8-bit entries are functions that cannot be named from outside; the 10-bit ones can. */
#define QPEL_OCCUPANTS(X)
#else
#error "the decoder's tables are known for aarch64 and x86-64 only"
#endif

#define DECLARE(slot, name) void name(void);
#define DSP_OCCUPANT(slot, name) {offsetof(h264_dsp, slot), name},
#define QPEL_OCCUPANT(slot, name) {offsetof(h264_qpel, slot), name},
DSP_OCCUPANTS(DECLARE)
QPEL_OCCUPANTS(DECLARE)

static void check_dsp(void) {
  static const stream_occupant occupants[] = {DSP_OCCUPANTS(DSP_OCCUPANT)};
  static union {
    h264_dsp dsp;
    unsigned char bytes[H264_DSP_SIZE + STREAM_GUARD];
  } trial;
  memset(&trial, STREAM_PATTERN, sizeof(trial));
  __real_ff_h264dsp_init(&trial.dsp, 8, 1);
  stream_check_table("H264DSPContext", &trial, H264_DSP_SIZE, occupants,
                     sizeof(occupants) / sizeof(occupants[0]));
}

static void check_qpel(void) {
  static const stream_occupant occupants[] = {QPEL_OCCUPANTS(QPEL_OCCUPANT){0, NULL}};
  static union {
    h264_qpel qpel;
    unsigned char bytes[H264_QPEL_SIZE + STREAM_GUARD];
  } trial;
  memset(&trial, STREAM_PATTERN, sizeof(trial));
  __real_ff_h264qpel_init(&trial.qpel, 8);
  stream_check_table("H264QpelContext", &trial, H264_QPEL_SIZE, occupants,
                     sizeof(occupants) / sizeof(occupants[0]) - 1);
}

void __wrap_ff_h264dsp_init(h264_dsp *dsp, int bit_depth, int chroma_format_idc) {
  static bool checked;
  __real_ff_h264dsp_init(dsp, bit_depth, chroma_format_idc);
  if (bit_depth != 8) {
    return;
  }
  if (!checked) {
    check_dsp();
    checked = true;
  }
  if (!stream_replace) {
    return;
  }
  dsp->idct_add = idct_add;
  dsp->idct_dc_add = idct_dc_add;
  dsp->idct8_add = idct8_add;
  dsp->idct8_dc_add = idct8_dc_add;
  dsp->idct_add16 = idct_add16;
  dsp->idct_add16intra = idct_add16intra;
  dsp->idct8_add4 = idct8_add4;
  if (chroma_format_idc <= 1) {
    dsp->idct_add8 = idct_add8; /* 4:2:2 has eight blocks a plane */
  }
  dsp->v_luma = v_luma;
}

void __wrap_ff_h264qpel_init(h264_qpel *qpel, int bit_depth) {
  static bool checked;
  __real_ff_h264qpel_init(qpel, bit_depth);
  if (bit_depth != 8) {
    return;
  }
  if (!checked) {
    check_qpel();
    checked = true;
  }
  if (stream_replace) {
    qpel->put[0][2] = qpel16_mc20;
    qpel->put[1][2] = qpel8_mc20;
  }
}
