/* SPDX-License-Identifier: BSD-2-Clause */
/* The table; FAKE_WITH_ALL adds the variants that are not prod. */
#include <daedalus/fake.h>

#include "variants.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const daedalus_buffer_desc add_buffers[] = {
    {.name = "dst",
     .type = DAEDALUS_TYPE_U8,
     .is_plane = true,
     .access = DAEDALUS_ACCESS_READ | DAEDALUS_ACCESS_WRITE,
     .meta_offset = offsetof(daedalus_fake_add_meta, dst_off),
     .lo = 0,
     .hi = 255,
     .reads = {0, 4, 0, 4},
     .writes = {0, 4, 0, 4}},
    {.name = "src",
     .type = DAEDALUS_TYPE_I16,
     .access = DAEDALUS_ACCESS_READ,
     .item_stride = 16,
     .lo = -32768,
     .hi = 32767,
     .reads = {0, 1, 0, 16}},
};
static const daedalus_param_desc add_params[] = {
    {.name = "count",
     .type = DAEDALUS_TYPE_U8,
     .meta_offset = offsetof(daedalus_fake_add_meta, count),
     .lo = 0,
     .hi = 16},
    {.name = "gain",
     .type = DAEDALUS_TYPE_I8,
     .meta_offset = offsetof(daedalus_fake_add_meta, gain),
     .lo = -2,
     .hi = 2},
};
static const daedalus_condition add_dc[] = {{.param = 0, .lo = 1, .hi = 1}};
static const daedalus_class_desc add_classes[] = {
    {.name = "dc", .conditions = add_dc, .n_conditions = COUNT(add_dc)},
    {.name = "full"},
};
static const daedalus_variant add_variants[] = {
#ifdef FAKE_WITH_ALL
    {.name = "daedalus_fake_add__c_dc",
     .target = "c",
     .class_index = 0,
     .rank = 100,
     .reason = "the only one of its class",
     .cpu = daedalus_fake_add__c_dc},
#endif
    {.name = "daedalus_fake_add__c_full",
     .target = "c",
     .class_index = 1,
     .prod = true,
     .rank = 100,
     .reason = "the only one of its class",
     .cpu = daedalus_fake_add__c_full},
};

static const daedalus_buffer_desc copy_buffers[] = {
    {.name = "dst",
     .type = DAEDALUS_TYPE_U8,
     .is_plane = true,
     .access = DAEDALUS_ACCESS_WRITE,
     .meta_offset = offsetof(daedalus_fake_copy_meta, dst_off),
     .lo = 0,
     .hi = 255,
     .writes = {0, 8, 0, 8},
     .rows_param = 1},
    {.name = "src",
     .type = DAEDALUS_TYPE_U8,
     .is_plane = true,
     .access = DAEDALUS_ACCESS_READ,
     .meta_offset = offsetof(daedalus_fake_copy_meta, src_off),
     .lo = 0,
     .hi = 255,
     .reads = {0, 8, 0, 8},
     .rows_param = 1},
};
static const daedalus_param_desc copy_params[] = {
    {.name = "rows",
     .type = DAEDALUS_TYPE_U8,
     .meta_offset = offsetof(daedalus_fake_copy_meta, rows),
     .lo = 1,
     .hi = 8},
};
static const daedalus_class_desc copy_classes[] = {{.name = "full"}};
static const daedalus_variant copy_variants[] = {
#ifdef DAEDALUS_HAVE_NEON
    {.name = "daedalus_fake_copy__neon_full",
     .target = "neon",
     .prod = true,
     .rank = 50,
     .reason = "vectors",
     .cpu = daedalus_fake_copy__neon_full},
#endif
    {.name = "daedalus_fake_copy__c_full",
     .target = "c",
     .prod = true,
     .rank = 100,
     .reason = "runs everywhere",
     .cpu = daedalus_fake_copy__c_full},
};

#define KERNEL(kernel)                                                                          \
  .id = "fake_" #kernel, .meta_size = sizeof(daedalus_fake_##kernel##_meta),                    \
  .buffers = kernel##_buffers, .n_buffers = COUNT(kernel##_buffers), .params = kernel##_params, \
  .n_params = COUNT(kernel##_params), .classes = kernel##_classes,                              \
  .n_classes = COUNT(kernel##_classes), .variants = kernel##_variants,                          \
  .n_variants = COUNT(kernel##_variants)

static const daedalus_kernel_desc kernels[] = {{KERNEL(add)}, {KERNEL(copy)}};
static const daedalus_alias aliases[] = {{.alias = "fake_copy_put", .kernel = 1}};

const daedalus_kernel_table daedalus_kernels = {
    .version = DAEDALUS_TABLE_VERSION,
    .generator = "written by hand",
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .aliases = aliases,
    .n_aliases = COUNT(aliases),
};
