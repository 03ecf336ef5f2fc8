/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------ table */

/* Not SPIR-V that any driver would take: the stub compares words and executes nothing. */
#define FAKE_SPIRV(number) {0x07230203, 0x00010300, 0, 8, 0, (number)}
static const uint32_t word_spirv[] = FAKE_SPIRV(1), byte_spirv[] = FAKE_SPIRV(2),
                      copy_spirv[] = FAKE_SPIRV(3);
/* dst_off, count and gain in the second word, the item's index. */
static const uint16_t add_record[] = {0, 1, DAEDALUS_RECORD_INDEX, DAEDALUS_RECORD_INDEX};
static const uint16_t copy_record[] = {0, 1, 2, 2};
static const uint32_t constants[] = {3, 1, 4, 1, 5};
static const uint8_t bytes_2[] = {1, 1}, words_2[] = {4, 4};

static const daedalus_gpu_code add_word = {.spirv = word_spirv,
                                           .n_words = 6,
                                           .record = add_record,
                                           .n_record = 4,
                                           .align = words_2,
                                           .invocations = 4,
                                           .items = 1,
                                           .workgroup = 64,
                                           .workgroup_min = 4,
                                           .shared_bytes = 64,
                                           .features = DAEDALUS_GPU_STORAGE16};
static const daedalus_gpu_code add_byte = {
    .spirv = byte_spirv,
    .n_words = 6,
    .record = add_record,
    .n_record = 4,
    .align = bytes_2,
    .invocations = 16,
    .items = 2,
    .workgroup = 64,
    .workgroup_min = 16,
    .constants = constants,
    .n_constants = 5,
    .features = DAEDALUS_GPU_STORAGE8 | DAEDALUS_GPU_STORAGE16};
static const daedalus_gpu_code copy_byte = {.spirv = copy_spirv,
                                            .n_words = 6,
                                            .record = copy_record,
                                            .n_record = 4,
                                            .align = bytes_2,
                                            .invocations = 1,
                                            .items = 1,
                                            .workgroup = 32,
                                            .workgroup_min = 1,
                                            .features = DAEDALUS_GPU_STORAGE8};

static const daedalus_qpu_code never_started;

static daedalus_variant add_variants[ADD_N] = {
    [ADD_GPU_WORD] = {.name = "daedalus_fake_add__glsl_full_word",
                      .target = "glsl",
                      .class_index = 1,
                      .prod = true,
                      .rank = 10,
                      .reason = "words",
                      .gpu = &add_word},
    [ADD_GPU_BYTE] = {.name = "daedalus_fake_add__glsl_full",
                      .target = "glsl",
                      .class_index = 1,
                      .prod = true,
                      .rank = 20,
                      .reason = "bytes",
                      .gpu = &add_byte},
    [ADD_OTHER_ROUTE] = {.name = "daedalus_fake_add__qpu_full",
                         .target = "qpu",
                         .class_index = 1,
                         .prod = true,
                         .rank = 5,
                         .reason = "not by this route",
                         .qpu = &never_started},
};
static daedalus_variant copy_variants[COPY_N] = {
    [COPY_GPU] = {.name = "daedalus_fake_copy__glsl_full",
                  .target = "glsl",
                  .prod = true,
                  .rank = 10,
                  .reason = "bytes",
                  .gpu = &copy_byte},
};
static daedalus_kernel_desc kernels[2];
const daedalus_kernel_table fixture_table = {.version = DAEDALUS_TABLE_VERSION,
                                             .generator = "written by hand",
                                             .kernels = kernels,
                                             .n_kernels = 2};

static const daedalus_variant *named(const daedalus_kernel_desc *kernel, const char *name) {
  for (size_t i = 0; i < kernel->n_variants; i++) {
    if (strcmp(kernel->variants[i].name, name) == 0) {
      return &kernel->variants[i];
    }
  }
  abort();
}

/* The CPU's part is that of the generated table. */
static void make_table(void) {
  const daedalus_kernel_desc *add = daedalus_find_kernel("fake_add");
  const daedalus_kernel_desc *copy = daedalus_find_kernel("fake_copy");
  add_variants[ADD_C_DC] = *named(add, "daedalus_fake_add__c_dc");
  add_variants[ADD_C_FULL] = *named(add, "daedalus_fake_add__c_full");
  copy_variants[COPY_C] = *named(copy, "daedalus_fake_copy__c_full");
  kernels[ADD] = *add;
  kernels[ADD].variants = add_variants;
  kernels[ADD].n_variants = ADD_N;
  kernels[COPY] = *copy;
  kernels[COPY].variants = copy_variants;
  kernels[COPY].n_variants = COPY_N;
}

const daedalus_gpu_code *fixture_exchange(int variant, const daedalus_gpu_code *code) {
  const daedalus_gpu_code *had = add_variants[variant].gpu;
  add_variants[variant].gpu = code;
  return had;
}

/* ---------------------------------------------------------------------------- context */

/* Those of level INFO are no news here; with STUB_LOG in the environment all are printed. */
static void log_message(void *user, daedalus_log_level level, const char *message) {
  if (getenv("STUB_LOG") != NULL) {
    fprintf(stderr, "logged: %s\n", message);
  }
  if (level != DAEDALUS_LOG_INFO) {
    logged_fn(user, level, message);
  }
}

static daedalus_vulkan_fn loader(void *instance, const char *name) {
  return (daedalus_vulkan_fn)stub_get_proc_addr((VkInstance)instance, name);
}

void fixture_open(fixture *f, const daedalus_config *config) {
  make_table();
  *f = (fixture){.memory = {.fail_at = -1}, .executor = {.table = &fixture_table, .spoil = -1}};
  stub.execute = executor_run;
  stub.user = &f->executor;
  daedalus_config own = {.cache_dir = ""};
  if (config != NULL) {
    own = *config;
  }
  own.size = sizeof(own);
  own.log = log_message;
  own.log_user = &f->log;
  own.get_instance_proc_addr = loader;
  const daedalus_allocator allocator = counting_allocator(&f->memory);
  f->ctx = daedalus_rt_ctx_create(&own, &fixture_table, &allocator);
}

int fixture_close(fixture *f) {
  daedalus_ctx_destroy(f->ctx);
  f->ctx = NULL;
  int wrong = 0;
  if (f->memory.n_live != 0) {
    fprintf(stderr, "%ld of the runtime's allocations are left\n", f->memory.n_live);
    wrong++;
  }
  wrong += stub_live(true) != 0;
  wrong += stub_misuses() != 0;
  wrong += f->executor.faults != 0;
  return wrong;
}

/* ------------------------------------------------------------------------------- work */

static uint32_t next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

void add_fill(add_work *w, uint32_t seed) {
  uint32_t state = seed;
  unsigned char *bytes = (unsigned char *)w;
  for (size_t i = 0; i < sizeof(*w); i++) {
    bytes[i] = (unsigned char)next(&state);
  }
  for (size_t i = 0; i < N_BLOCKS; i++) {
    const size_t row = i / (WIDTH / 4) * 4, column = i % (WIDTH / 4) * 4;
    w->meta[i] = (daedalus_fake_add_meta){.dst_off = (uint32_t)(row * WIDTH + column),
                                          .count = (uint8_t)(2 + next(&state) % 15),
                                          .gain = (int8_t)(next(&state) % 5 - 2)};
  }
}

void add_buffers(const add_work *w, uint8_t *plane, size_t begin, daedalus_buffer *buffers) {
  buffers[0] = (daedalus_buffer){plane, WIDTH};
  buffers[1] = (daedalus_buffer){(void *)(uintptr_t)(w->blocks + begin * BLOCK), 0};
}

void add_expect(const add_work *w, uint8_t *plane, size_t begin, size_t end) {
  daedalus_buffer buffers[2];
  add_buffers(w, plane, 0, buffers);
  for (size_t i = begin; i < end; i++) {
    VARIANT(ADD, ADD_C_FULL)->cpu(buffers, w->meta, &(uint32_t){(uint32_t)i}, 1);
  }
}

int add_append(daedalus_batch *batch, const add_work *w, daedalus_substrate substrate, size_t begin,
               size_t end) {
  daedalus_buffer buffers[2];
  add_buffers(w, (uint8_t *)(uintptr_t)w->plane, begin, buffers);
  return daedalus_append(batch, KERNEL(ADD), substrate, buffers, end - begin, w->meta + begin);
}

int add_run(daedalus_ctx *ctx, const add_work *w) {
  daedalus_buffer buffers[2];
  add_buffers(w, (uint8_t *)(uintptr_t)w->plane, 0, buffers);
  return daedalus_dispatch(ctx, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, N_BLOCKS, w->meta);
}
