/* SPDX-License-Identifier: BSD-2-Clause */
/* sum.s, assembled; and what its uniforms are. */
#include "sum.h"

#include <string.h>

static const uint64_t sum_words[] = {
    UINT64_C(0x398180c0bb0c7002), UINT64_C(0x39e021837c03f0c4), UINT64_C(0x0be00209381810c0),
    UINT64_C(0x3980a1807a03f248), UINT64_C(0x39e021807c03f004), UINT64_C(0x04203346bb080000),
    UINT64_C(0x39807186bb03f000), UINT64_C(0x39817186bb03f000), UINT64_C(0x3880f186bb03f000),
    UINT64_C(0x38803186bb03f000), UINT64_C(0x048012c6bb040000), UINT64_C(0x39e02180b503f003),
    UINT64_C(0x39e021807c03f002), UINT64_C(0x05803306bb140000), UINT64_C(0x0580d286bb003000),
    UINT64_C(0x39e023477c2c30c4), UINT64_C(0x05a0d246bb247000), UINT64_C(0x05811306bb283000),
    UINT64_C(0x3891b186bb03f000), UINT64_C(0x3883a18d7a03f248), UINT64_C(0x3883f346bb283000),
    UINT64_C(0x38843186bb03f000), UINT64_C(0x38847186bb03f000), UINT64_C(0x3884b186bb03f000),
    UINT64_C(0x04203346bb2c4000), UINT64_C(0x39e0218d7c03f344), UINT64_C(0x38003186bb03f000),
    UINT64_C(0x3882f186bb03f000), UINT64_C(0x0482d3c6bb3cb000), UINT64_C(0x0482d406bb40b000),
    UINT64_C(0x0482d446bb44b000), UINT64_C(0x04a2d48df948b303), UINT64_C(0x3884f186bb03f00f),
    UINT64_C(0x38853186bb03f000), UINT64_C(0x0483f2c6bb3ce000), UINT64_C(0x048432c6bb40e000),
    UINT64_C(0x0482d40b382d044e), UINT64_C(0x0482d48b384cb48e), UINT64_C(0x048292cdf950b283),
    UINT64_C(0x0420234d3808d3ca), UINT64_C(0x38003186bb03f000), UINT64_C(0x38003186bb03f000),
    UINT64_C(0x048432c6bb40e000), UINT64_C(0x0484128b3801048e), UINT64_C(0x048412cb380502ce),
    UINT64_C(0x05e022cdb534e403), UINT64_C(0x39e0234c7c303342), UINT64_C(0x0804f18c3824614c),
    UINT64_C(0x04b1930df92832c3), UINT64_C(0x38003186bb03f000), UINT64_C(0x38003186bb03f000),
    UINT64_C(0x02fffee2ff00d000), UINT64_C(0x04001246bb247000), UINT64_C(0x38003186bb03f000),
    UINT64_C(0x38003186bb03f000), UINT64_C(0x3891b186bb03f000), UINT64_C(0x3891b186bb03f000),
    UINT64_C(0x3891b186bb03f000), UINT64_C(0x3891b186bb03f000), UINT64_C(0x3891b186bb03f000),
    UINT64_C(0x38203186bb03f000), UINT64_C(0x38203186bb03f000), UINT64_C(0x38003186bb03f000),
    UINT64_C(0x38003186bb03f000), UINT64_C(0x38203186bb03f000), UINT64_C(0x38003186bb03f000),
    UINT64_C(0x38003186bb03f000),
};

#define VEC4 {.kind = DAEDALUS_QPU_CONSTANT, .value = UINT32_C(0xfffffffc)}
static const daedalus_qpu_uniform sum_uniforms[] = {
    {.kind = DAEDALUS_QPU_ITEMS},
    {.kind = DAEDALUS_QPU_RECORDS},
    VEC4,
    {.kind = DAEDALUS_QPU_BASE, .index = SUM_SRC},
    {.kind = DAEDALUS_QPU_TABLE, .value = 4},
    {.kind = DAEDALUS_QPU_BASE, .index = SUM_DST},
    {.kind = DAEDALUS_QPU_THREADS},
    VEC4,
    {.kind = DAEDALUS_QPU_STRIDE, .index = SUM_DST},
    {.kind = DAEDALUS_QPU_STRIDE, .index = SUM_SRC},
    VEC4,
    VEC4,
    VEC4,
    VEC4,
    VEC4,
    VEC4,
    VEC4,
    {.kind = DAEDALUS_QPU_CONSTANT, .value = UINT32_C(0xffffffe0)}, /* back over eight words */
};

/* The table begins behind a word that is not its own. */
static const uint32_t constants[] = {0xbad, 0, 1, 1000, 0x10000};
static const uint32_t wrong_constants[] = {0xbad, 0, 1, 1000, 0x10001};
static const uint16_t record[] = {0, 1, 2, 2};
static const uint8_t align[] = {16, 16};

static const daedalus_qpu_code good = {
    .words = sum_words,
    .n_words = sizeof(sum_words) / sizeof(sum_words[0]),
    .uniforms = sum_uniforms,
    .n_uniforms = sizeof(sum_uniforms) / sizeof(sum_uniforms[0]),
    .record = record,
    .n_record = 4,
    .constants = constants,
    .n_constants = 5,
    .align = align,
    .threads = 2,
    .items = 16,
    .clocks = 40,
};
static daedalus_qpu_code wrong, uncertain, four;

static void sum_cpu(const daedalus_buffer *buffers, const void *meta, const uint32_t *items,
                    size_t n_items) {
  for (size_t i = 0; i < n_items; i++) {
    const sum_meta *m = (const sum_meta *)meta + items[i];
    for (int row = 0; row < 2; row++) {
      uint32_t dst[4], src[4];
      unsigned char *at =
          (unsigned char *)buffers[SUM_DST].data + m->dst_off + row * buffers[SUM_DST].stride;
      memcpy(dst, at, sizeof(dst));
      memcpy(
          src,
          (const unsigned char *)buffers[SUM_SRC].data + m->src_off + row * buffers[SUM_SRC].stride,
          sizeof(src));
      for (int k = 0; k < 4; k++) {
        dst[k] += src[k] + constants[1 + m->choice];
      }
      memcpy(at, dst, sizeof(dst));
    }
  }
}

static const daedalus_buffer_desc buffers[] = {
    [SUM_DST] = {.name = "dst",
                 .type = DAEDALUS_TYPE_U32,
                 .is_plane = true,
                 .access = DAEDALUS_ACCESS_READ | DAEDALUS_ACCESS_WRITE,
                 .meta_offset = offsetof(sum_meta, dst_off),
                 .hi = UINT32_MAX,
                 .reads = {0, 2, 0, 4},
                 .writes = {0, 2, 0, 4}},
    [SUM_SRC] = {.name = "src",
                 .type = DAEDALUS_TYPE_U32,
                 .is_plane = true,
                 .access = DAEDALUS_ACCESS_READ,
                 .meta_offset = offsetof(sum_meta, src_off),
                 .hi = UINT32_MAX,
                 .reads = {0, 2, 0, 4}},
};
static const daedalus_param_desc params[] = {
    {.name = "choice",
     .type = DAEDALUS_TYPE_U32,
     .meta_offset = offsetof(sum_meta, choice),
     .hi = 3},
};
static const daedalus_class_desc classes[] = {{.name = "full"}};

static const daedalus_variant variants[SUM_N] = {
    [SUM_C] = {.name = "daedalus_sum__c_full",
               .target = "c",
               .prod = true,
               .rank = 100,
               .reason = "the only one",
               .cpu = sum_cpu},
    [SUM_WRONG] = {.name = "daedalus_sum__qpu_full_wrong",
                   .target = "qpu",
                   .prod = true,
                   .rank = 5,
                   .reason = "as good as guessed",
                   .qpu = &wrong},
    [SUM_UNCERTAIN] = {.name = "daedalus_sum__qpu_full_carry",
                       .target = "qpu",
                       .prod = true,
                       .rank = 10,
                       .reason = "right where it is what is supposed",
                       .qpu = &uncertain},
    [SUM_GOOD] = {.name = "daedalus_sum__qpu_full",
                  .target = "qpu",
                  .prod = true,
                  .rank = 20,
                  .reason = "without what is uncertain",
                  .qpu = &good},
    [SUM_FOUR] = {.name = "daedalus_sum__qpu_full_four",
                  .target = "qpu",
                  .prod = true,
                  .rank = 30,
                  .reason = "with four threads a QPU",
                  .qpu = &four},
};

static const daedalus_kernel_desc kernel = {
    .id = "sum",
    .meta_size = sizeof(sum_meta),
    .buffers = buffers,
    .n_buffers = 2,
    .params = params,
    .n_params = 1,
    .classes = classes,
    .n_classes = 1,
    .variants = variants,
    .n_variants = SUM_N,
};

static const daedalus_kernel_table table = {
    .version = DAEDALUS_TABLE_VERSION, .generator = "by hand", .kernels = &kernel, .n_kernels = 1};

const daedalus_kernel_table *sum_table(void) {
  wrong = uncertain = good;
  wrong.constants = wrong_constants;
  uncertain.words = sum_carry_words;
  uncertain.n_words = sum_carry_n_words;
  uncertain.forms = DAEDALUS_QPU_FORM_CARRY;
  four = sum_four(&good);
  return &table;
}
