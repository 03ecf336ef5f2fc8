/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The route through DRM on a simulated device: batches, memory, fences, choices.  Run by
 * daedalus-v3d-device with DAEDALUS_QPU_ROUTE=drm.
 */
#define _GNU_SOURCE
#include <daedalus.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "recorder.h"
#include "sum.h"

enum { ROW = 64, ITEMS_A_ROW = ROW / 16, ITEMS = 5000, ROWS = 2 * (ITEMS / ITEMS_A_ROW) };
enum { SIZE = ROW * ROWS };

typedef struct fixture {
  daedalus_ctx *ctx;
  const daedalus_kernel_desc *kernel;
  counting memory;
  logged log;
  uint8_t *dst, *src, *expected;
  sum_meta *meta;
} fixture;

static void log_all(void *user, daedalus_log_level level, const char *message) {
  if (getenv("DRM_LOG") != NULL) {
    fprintf(stderr, "logged: %s\n", message);
  }
  if (level != DAEDALUS_LOG_INFO) {
    logged_fn(user, level, message);
  }
}

static void open_fixture(fixture *f) {
  *f = (fixture){.memory = {.fail_at = -1}};
  const daedalus_config config = {
      .size = sizeof(config), .log = log_all, .log_user = &f->log, .cache_dir = ""};
  const daedalus_allocator allocator = counting_allocator(&f->memory);
  const daedalus_kernel_table *table = sum_table();
  f->kernel = &table->kernels[0];
  f->ctx = daedalus_rt_ctx_create(&config, table, &allocator);
  f->dst = malloc(SIZE);
  f->src = malloc(SIZE);
  f->expected = malloc(SIZE);
  f->meta = malloc(ITEMS * sizeof(*f->meta));
  if (f->ctx == NULL || f->dst == NULL || f->src == NULL || f->expected == NULL ||
      f->meta == NULL) {
    abort();
  }
  uint32_t state = 1;
  for (size_t i = 0; i < SIZE; i++) {
    state = state * 1664525u + 1013904223u;
    f->dst[i] = (uint8_t)(state >> 24);
    f->src[i] = (uint8_t)(state >> 16);
  }
  for (uint32_t i = 0; i < ITEMS; i++) {
    const uint32_t at = i / ITEMS_A_ROW * 2 * ROW + i % ITEMS_A_ROW * 16;
    f->meta[i] = (sum_meta){.dst_off = at,
                            .src_off = SIZE - 2 * ROW - (at - at % ROW) + at % ROW,
                            .choice = state >> (i % 24) & 3};
  }
}

static void close_fixture(fixture *f) {
  daedalus_ctx_destroy(f->ctx);
  CHECK_INT(f->memory.n_live, 0);
  free(f->dst);
  free(f->src);
  free(f->expected);
  free(f->meta);
}

/* What items begin..end make of `expected`. */
static void expect(fixture *f, const uint8_t *src, size_t begin, size_t end) {
  const daedalus_buffer buffers[] = {{f->expected, ROW}, {(void *)(uintptr_t)src, ROW}};
  for (size_t i = begin; i < end; i++) {
    f->kernel->variants[SUM_C].cpu(buffers, f->meta, &(uint32_t){(uint32_t)i}, 1);
  }
}

static int append(fixture *f, daedalus_batch *batch, uint8_t *dst, uint8_t *src, size_t begin,
                  size_t end) {
  const daedalus_buffer buffers[] = {{dst, ROW}, {src, ROW}};
  return daedalus_append(batch, f->kernel, DAEDALUS_SUBSTRATE_QPU, buffers, end - begin,
                         f->meta + begin);
}

/* One item by a variant: what appending it says. */
static int append_one(fixture *f, size_t variant) {
  const daedalus_buffer buffers[] = {{f->dst, ROW}, {f->src, ROW}};
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(f->ctx, &batch), 0);
  const int error = daedalus_append_variant(batch, f->kernel, &f->kernel->variants[variant], 0,
                                            buffers, 1, f->meta);
  daedalus_batch_destroy(batch);
  return error;
}

/* Whether the device makes another C of an xor than is supposed (other_carry.profile). */
static bool other_carry(void) {
  return getenv("DRM_OTHER_CARRY") != NULL;
}

/* What passes its self-test with the lowest rank. */
static size_t expected_variant(void) {
  return other_carry() ? SUM_GOOD : SUM_UNCERTAIN;
}

/* One batch of items begin..end, waited for. */
static void run(fixture *f, uint8_t *dst, uint8_t *src, size_t begin, size_t end) {
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(f->ctx, &batch), 0);
  CHECK_INT(append(f, batch, dst, src, begin, end), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  daedalus_choice choice;
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_STR(choice.variant, f->kernel->variants[expected_variant()].name);
  CHECK_INT(choice.substrate, DAEDALUS_SUBSTRATE_QPU);
  daedalus_batch_destroy(batch);
}

static void test_the_device(void) {
  fixture f;
  open_fixture(&f);
  daedalus_device_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_device(f.ctx, &info), 0);
  CHECK_STR(info.route, "drm");
  CHECK(strncmp(info.name, "V3D 7.1.", 8) == 0);
  CHECK_INT(info.kind, DAEDALUS_DEVICE_V3D);
  CHECK(info.exports_fence && info.imports_dmabuf && info.in_place && info.timestamps);
  CHECK_INT(f.log.n, 0);
  close_fixture(&f);
}

/* The variant that is wrong is never used, whatever its rank. */
static void test_numbers_of_items(void) {
  static const size_t numbers[] = {1, 15, 16, 17, 384, 385, 400, 1000, ITEMS};
  fixture f;
  open_fixture(&f);
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    const size_t begin = ITEMS - numbers[i];
    memcpy(f.expected, f.dst, SIZE);
    expect(&f, f.src, begin, ITEMS);
    run(&f, f.dst, f.src, begin, ITEMS);
    CHECK(memcmp(f.dst, f.expected, SIZE) == 0);
  }
  CHECK_INT(f.log.n, other_carry() ? 2 : 1);
  CHECK(strstr(f.log.message, "is not used: its self-test failed: ") != NULL);
  close_fixture(&f);
}

/* A variant whose self-test fails is refused by name, with what it differs in. */
static void test_the_wrong_variant(void) {
  fixture f;
  open_fixture(&f);
  CHECK_INT(append_one(&f, SUM_WRONG), -ENODEV);
  CHECK(strstr(f.log.message, "daedalus_sum__qpu_full_wrong cannot run on V3D 7.1.") != NULL);
  CHECK(strstr(f.log.message, "items (the first is ") != NULL);
  CHECK(strstr(f.log.message, "instruction forms") == NULL);
  close_fixture(&f);
}

/* Whether an instruction of which nobody knows what it makes is used, this very device decides. */
static void test_an_uncertain_form(void) {
  fixture f;
  open_fixture(&f);
  CHECK_INT(append_one(&f, SUM_UNCERTAIN), other_carry() ? -ENODEV : 0);
  if (other_carry()) {
    CHECK(strstr(f.log.message, "daedalus_sum__qpu_full_carry cannot run on V3D 7.1.") != NULL);
    CHECK(strstr(f.log.message, "; it has instruction forms of which no public source") != NULL);
  } else {
    CHECK_INT(f.log.n, 0);
  }
  close_fixture(&f);
}

/* A job of so many threads, 0 for all that there are; so many items. */
static void run_threads(fixture *f, size_t variant, uint32_t threads, size_t n_items) {
  daedalus_batch *batch = NULL;
  const daedalus_buffer buffers[] = {{f->dst, ROW}, {f->src, ROW}};
  memcpy(f->expected, f->dst, SIZE);
  expect(f, f->src, 0, n_items);
  CHECK_INT(daedalus_batch_begin(f->ctx, &batch), 0);
  CHECK_INT(daedalus_append_variant(batch, f->kernel, &f->kernel->variants[variant], threads,
                                    buffers, n_items, f->meta),
            0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  CHECK(memcmp(f->dst, f->expected, SIZE) == 0);
  daedalus_batch_destroy(batch);
}

static void test_numbers_of_threads(void) {
  static const uint32_t threads[] = {0, 1, 2, 15, 16, 17, 23, 24, 25, 32, 33, 47, 48};
  static const size_t variants[] = {SUM_GOOD, SUM_FOUR};
  for (size_t v = 0; v < 2; v++) {
    fixture f;
    open_fixture(&f);
    const uint32_t most = 12 * f.kernel->variants[variants[v]].qpu->threads;
    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]) && threads[i] <= most; i++) {
      run_threads(&f, variants[v], threads[i], 1000);
    }
    run_threads(&f, variants[v], 0, ITEMS);
    const daedalus_buffer buffers[] = {{f.dst, ROW}, {f.src, ROW}};
    daedalus_batch *batch = NULL;
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(daedalus_append_variant(batch, f.kernel, &f.kernel->variants[variants[v]], most + 1,
                                      buffers, 1, f.meta),
              -ENODEV);
    CHECK(strstr(f.log.message, "the device does not have so many threads") != NULL);
    close_fixture(&f);
  }
}

/* Appends of a batch take effect in their order, as do batches; memory is the device's. */
static void test_order_in_place(void) {
  fixture f;
  open_fixture(&f);
  daedalus_memory *memory = NULL;
  daedalus_batch *batches[3];
  CHECK_INT(daedalus_memory_create(f.ctx, 2 * SIZE, &memory), 0);
  uint8_t *dst = daedalus_memory_data(memory), *src = dst + SIZE;
  memcpy(dst, f.dst, SIZE);
  memcpy(src, f.src, SIZE);
  CHECK_INT(daedalus_memory_flush(memory, 0, 2 * SIZE), 0);
  memcpy(f.expected, f.dst, SIZE);
  for (int i = 0; i < 3; i++) {
    CHECK_INT(daedalus_batch_begin(f.ctx, &batches[i]), 0);
    for (int k = 0; k < 3; k++) {
      CHECK_INT(append(&f, batches[i], dst, src, 0, ITEMS - 7), 0);
      expect(&f, f.src, 0, ITEMS - 7);
    }
    CHECK_INT(daedalus_batch_submit(batches[i]), 0);
  }
  int fd = -1;
  CHECK_INT(daedalus_batch_export_fence(batches[2], &fd), 0);
  struct pollfd one = {.fd = fd, .events = POLLIN};
  CHECK_INT(poll(&one, 1, 60000), 1);
  close(fd);
  for (int i = 2; i >= 0; i--) {
    CHECK_INT(daedalus_batch_poll(batches[i]), 1);
    daedalus_batch_destroy(batches[i]);
  }
  CHECK_INT(daedalus_memory_invalidate(memory, 0, 2 * SIZE), 0);
  CHECK(memcmp(dst, f.expected, SIZE) == 0);
  daedalus_memory_destroy(memory);
  close_fixture(&f);
}

static int heap_buffer(size_t size) {
  const int heap = open("/dev/dma_heap/linux,cma", O_RDWR | O_CLOEXEC);
  struct dma_heap_allocation_data data = {.len = size, .fd_flags = O_RDWR | O_CLOEXEC};
  CHECK(heap >= 0 && ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) == 0);
  close(heap);
  return (int)data.fd;
}

/* A decoder's frame, imported twice: one buffer object, closed with the last of them. */
static void test_imports(void) {
  fixture f;
  open_fixture(&f);
  daedalus_memory *frame = NULL, *again = NULL;
  const int fd = heap_buffer(2 * SIZE);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, 2 * SIZE, NULL, &frame), 0);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, 2 * SIZE, NULL, &again), 0);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, 64 * SIZE, NULL, &(daedalus_memory *){0}),
            -EINVAL);
  f.memory.fail_at = f.memory.n_allocations + 1; /* the block's */
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, 2 * SIZE, NULL, &(daedalus_memory *){0}),
            -ENOMEM);
  CHECK(strstr(f.log.message, "cannot import the dma-buf: out of memory") != NULL);
  f.memory.fail_at = -1;
  close(fd);
  uint8_t *dst = daedalus_memory_data(frame), *src = dst + SIZE;
  memcpy(dst, f.dst, SIZE);
  memcpy(src, f.src, SIZE);
  memcpy(f.expected, f.dst, SIZE);
  run(&f, dst, src, 0, ITEMS);
  expect(&f, f.src, 0, ITEMS);
  daedalus_memory_destroy(frame);
  dst = daedalus_memory_data(again);
  CHECK_INT(daedalus_memory_invalidate(again, 0, SIZE), 0);
  CHECK(memcmp(dst, f.expected, SIZE) == 0);
  run(&f, dst, f.src, 0, ITEMS); /* with a source that is copied */
  expect(&f, f.src, 0, ITEMS);
  CHECK(memcmp(dst, f.expected, SIZE) == 0);
  daedalus_memory_destroy(again);
  close_fixture(&f);
}

/* What is exported and imported again is the same memory. */
static void test_an_export(void) {
  fixture f;
  open_fixture(&f);
  daedalus_memory *made = NULL, *back = NULL;
  int fd = -1;
  CHECK_INT(daedalus_memory_create(f.ctx, SIZE, &made), 0);
  CHECK_INT(daedalus_memory_export_dmabuf(made, &fd), 0);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, SIZE, NULL, &back), 0);
  close(fd);
  memcpy(daedalus_memory_data(made), f.dst, SIZE);
  run(&f, daedalus_memory_data(back), f.src, 0, 100);
  memcpy(f.expected, f.dst, SIZE);
  expect(&f, f.src, 0, 100);
  CHECK(memcmp(daedalus_memory_data(made), f.expected, SIZE) == 0);
  daedalus_memory_destroy(back);
  run(&f, daedalus_memory_data(made), f.src, 0, 100);
  expect(&f, f.src, 0, 100);
  CHECK(memcmp(daedalus_memory_data(made), f.expected, SIZE) == 0);
  fd = memfd_create("no dma-buf", MFD_CLOEXEC);
  CHECK_INT(ftruncate(fd, SIZE), 0);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, SIZE, NULL, &back), -ENOTSUP);
  close(fd);
  CHECK(strstr(f.log.message, "cannot import the dma-buf: DRM_IOCTL_PRIME_FD_TO_HANDLE") != NULL);
  close_fixture(&f);
}

/* In modelled time (--timed) a larger batch takes longer; in that of the wall anything can happen.
 */
static void test_gpu_time(void) {
  fixture f;
  open_fixture(&f);
  uint64_t times[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    daedalus_batch *batch = NULL;
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(daedalus_batch_set_flags(batch, DAEDALUS_BATCH_TIMESTAMPS), 0);
    memcpy(f.expected, f.dst, SIZE);
    for (int k = 0; k < 1 + 7 * i; k++) {
      CHECK_INT(append(&f, batch, f.dst, f.src, 0, ITEMS), 0);
      expect(&f, f.src, 0, ITEMS);
    }
    CHECK_INT(daedalus_batch_submit(batch), 0);
    CHECK_INT(daedalus_batch_wait(batch, -1), 0);
    CHECK_INT(daedalus_batch_gpu_time(batch, &times[i]), 0);
    CHECK(memcmp(f.dst, f.expected, SIZE) == 0);
    daedalus_batch_destroy(batch);
  }
  CHECK(times[0] > 0);
  if (getenv("DRM_TIMED") != NULL) {
    printf("modelled: %llu ns, eight times that work: %llu ns\n", (unsigned long long)times[0],
           (unsigned long long)times[1]);
    CHECK(times[1] > 6 * times[0] && times[1] < 10 * times[0]);
  }
  close_fixture(&f);
}

/* A variant of the other route is refused by name. */
static void test_a_shader(void) {
  fixture f;
  open_fixture(&f);
  static const daedalus_gpu_code code = {.n_words = 0};
  const daedalus_variant shader = {.name = "daedalus_sum__glsl_full", .gpu = &code};
  const daedalus_buffer buffers[] = {{f.dst, ROW}, {f.src, ROW}};
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(daedalus_append_variant(batch, f.kernel, &shader, 0, buffers, 1, f.meta), -ENODEV);
  CHECK(strstr(f.log.message, "it is not for the route drm") != NULL);
  close_fixture(&f);
}

/* Code whose description does not fit the kernel is refused before it is run. */
static void test_unfit_code(void) {
  fixture f;
  open_fixture(&f);
  const daedalus_buffer buffers[] = {{f.dst, ROW}, {f.src, ROW}};
  static const daedalus_qpu_uniform third = {.kind = DAEDALUS_QPU_BASE, .index = 2};
  const daedalus_qpu_code *good = f.kernel->variants[SUM_GOOD].qpu;
  daedalus_qpu_code codes[] = {*good, *good, *good};
  codes[0].uniforms = &third;
  codes[0].n_uniforms = 1;
  codes[1].items = 0;
  codes[2].clocks = 0;
  static const char *const reasons[] = {"it needs uniforms that this library does not know",
                                        "it does no items",
                                        "it does not say how long an item takes"};
  for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
    daedalus_variant variant = f.kernel->variants[SUM_GOOD];
    variant.qpu = &codes[i];
    daedalus_batch *batch = NULL;
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(
        daedalus_append_variant(batch, f.kernel, &variant, (uint32_t)i + 1, buffers, 1, f.meta),
        -ENODEV);
    CHECK(strstr(f.log.message, reasons[i]) != NULL);
    daedalus_batch_destroy(batch);
  }
  close_fixture(&f);
}

/* A steady caller: nothing is allocated, nothing created. */
static void test_warm_batches(void) {
  fixture f;
  open_fixture(&f);
  daedalus_batch *batch = NULL;
  daedalus_pool_info before = {.size = sizeof(before)}, after = before;
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  long n = 0;
  for (int i = 0; i < 20; i++) {
    if (i == 4) {
      n = f.memory.n_allocations;
      CHECK_INT(daedalus_ctx_pool(f.ctx, &before), 0);
    }
    CHECK_INT(append(&f, batch, f.dst, f.src, 0, 500), 0);
    CHECK_INT(append(&f, batch, f.dst, f.src, 0, 300), 0);
    CHECK_INT(daedalus_batch_submit(batch), 0);
    CHECK_INT(daedalus_batch_wait(batch, -1), 0);
    CHECK_INT(daedalus_batch_reset(batch), 0);
  }
  CHECK_INT(f.memory.n_allocations - n, 0);
  CHECK_INT(daedalus_ctx_pool(f.ctx, &after), 0);
  CHECK_INT(after.requests - before.requests, after.hits - before.hits);
  CHECK_INT(after.reserved, before.reserved);
  CHECK_INT(after.reserved % (uint64_t)sysconf(_SC_PAGESIZE), 0); /* a block is whole pages */
  daedalus_ctx_pool_trim(f.ctx);
  CHECK_INT(daedalus_ctx_pool(f.ctx, &after), 0);
  CHECK_INT(after.reserved, after.in_use);
  close_fixture(&f);
}

/* What the code cannot count or multiply with, the CPU does. */
static void test_beyond_the_codes_limits(void) {
  fixture f;
  open_fixture(&f);
  const ptrdiff_t stride = (1 << 23) + 16;
  uint8_t *wide = calloc(1, (size_t)stride + 64);
  if (wide == NULL) {
    abort();
  }
  daedalus_batch *batch = NULL;
  run(&f, f.dst, f.src, 0, 1);
  memcpy(wide, f.dst, 16);
  memcpy(wide + stride, f.dst + ROW, 16);
  memcpy(f.expected, f.dst, SIZE);
  expect(&f, f.src, 0, 1);
  const daedalus_buffer buffers[] = {{wide, stride}, {f.src, ROW}};
  f.log.n = 0;
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(daedalus_append(batch, f.kernel, DAEDALUS_SUBSTRATE_QPU, buffers, 1, f.meta), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  CHECK_INT(f.log.n, 1);
  CHECK(strstr(f.log.message, "8 MiB") != NULL);
  CHECK(memcmp(wide, f.expected, 16) == 0 && memcmp(wide + stride, f.expected + ROW, 16) == 0);
  free(wide);
  close_fixture(&f);
}

int main(void) {
  RUN(test_the_device);
  RUN(test_numbers_of_items);
  RUN(test_the_wrong_variant);
  RUN(test_an_uncertain_form);
  RUN(test_numbers_of_threads);
  RUN(test_order_in_place);
  RUN(test_imports);
  RUN(test_an_export);
  RUN(test_gpu_time);
  RUN(test_a_shader);
  RUN(test_unfit_code);
  RUN(test_warm_batches);
  RUN(test_beyond_the_codes_limits);
  return CHECK_RESULT();
}
