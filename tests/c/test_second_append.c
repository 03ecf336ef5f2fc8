/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second append of a kernel for a substrate opens, tests, compiles and allocates nothing: not
 * by the context's allocator, nor by libc, the system, or Vulkan.  Of the library as it is shipped.
 *
 * A batch's arrays grow with what is appended, so what is counted is an append of as many items to
 * a batch that had them before it was reset: as a decoder appends to its next frame.
 *
 * Arguments: "qpu" where there is a GPU, which is then part of it.
 */
#define _GNU_SOURCE
#include <daedalus.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "batch/context.h"
#include "check.h"
#include "recorder.h"

#if SECOND_APPEND_VULKAN
#include "../../tools/bench/counting.h"
#endif

/* ------------------------------------------------------------------------- counting */

typedef struct counts {
  unsigned long opens;       /* of files and libraries, and look-ups of Vulkan's functions */
  unsigned long requests;    /* ioctl(), by which the kernel is asked for anything at all */
  unsigned long calls;       /* of functions of the Vulkan device: compiling, submitting, waiting */
  unsigned long allocations; /* of libc, mmap() among them */
  unsigned long of_context;  /* by the context's allocator */
} counts;

static counts so_far;
static counting memory = {.fail_at = -1};

/* What the linker puts in the place of libc's, for all that this program is linked of. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *data, size_t size);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__real_dlopen(const char *name, int flags);
int __real_open(const char *path, int flags, mode_t mode);

void *__wrap_malloc(size_t size) {
  so_far.allocations++;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
  so_far.allocations++;
  return __real_calloc(n, size);
}

void *__wrap_realloc(void *data, size_t size) {
  so_far.allocations++;
  return __real_realloc(data, size);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset) {
  so_far.allocations++;
  return __real_mmap(at, size, prot, flags, fd, offset);
}

void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset) {
  return __wrap_mmap(at, size, prot, flags, fd, offset); /* whose off_t is as wide here */
}

void *__wrap_dlopen(const char *name, int flags) {
  so_far.opens++;
  return __real_dlopen(name, flags);
}

int __wrap_open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  so_far.opens++;
  return __real_open(path, flags, mode);
}

/* In the place of libc's for libraries, too: libdrm asks the kernel for the runtime. */
DAEDALUS_API int ioctl(int fd, unsigned long request, ...) {
  static int (*next)(int, unsigned long, ...);
  if (next == NULL) {
    *(void **)&next = dlsym(RTLD_NEXT, "ioctl");
  }
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  so_far.requests++;
  return next(fd, request, argument);
}

static counts count(void) {
#if SECOND_APPEND_VULKAN
  so_far.calls = counted_so_far().calls;
#endif
  so_far.of_context = (unsigned long)memory.n_allocations;
  return so_far;
}

static void check_nothing_since(const counts *before) {
  const counts now = count();
  CHECK_INT(now.opens, before->opens);
  CHECK_INT(now.requests, before->requests);
  CHECK_INT(now.calls, before->calls);
  CHECK_INT(now.allocations, before->allocations);
  CHECK_INT(now.of_context, before->of_context);
}

#if SECOND_APPEND_VULKAN
static daedalus_vulkan_fn look_up(void *instance, const char *name) {
  so_far.opens++;
  return counting_loader()(instance, name);
}
#endif

/* ------------------------------------------------------------------------- contexts */

static daedalus_ctx *open_context(const char *recipe, uint32_t flags) {
  daedalus_config config = {.size = sizeof(config), .cache_dir = "", .flags = flags};
  config.recipe = recipe == NULL ? "none" : written(recipe, strlen(recipe));
#if SECOND_APPEND_VULKAN
  config.get_instance_proc_addr = counting_loader() == NULL ? NULL : look_up;
#endif
  const daedalus_allocator allocator = counting_allocator(&memory);
  return daedalus_rt_ctx_create(&config, &daedalus_kernels, &allocator);
}

enum { STRIDE = 64, ITEMS = STRIDE / 4 * 8 };
static const char kernel_id[] = "h264_idct4";
static _Alignas(64) uint8_t plane[STRIDE * 4 * 9];
static _Alignas(64) int16_t coeffs[ITEMS * 16];
static daedalus_h264_idct4_meta meta[ITEMS];

/* The plane's first byte `shift` bytes further: of what it is aligned to depends who takes it. */
static int append(daedalus_batch *batch, daedalus_substrate substrate, size_t shift) {
  for (size_t i = 0; i < ITEMS; i++) {
    meta[i].dst_off = (uint32_t)(i / (STRIDE / 4) * 4 * STRIDE + i % (STRIDE / 4) * 4);
  }
  return daedalus_append_h264_idct4(batch, substrate, plane + shift, STRIDE, coeffs, ITEMS, meta);
}

static daedalus_choice finish(daedalus_batch *batch) {
  daedalus_choice choice = {.variant = "none"};
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  CHECK_INT(daedalus_batch_reset(batch), 0);
  return choice;
}

/* @return what both took */
static daedalus_choice append_twice(daedalus_ctx *ctx, daedalus_substrate substrate) {
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(append(batch, substrate, 0), 0);
  const daedalus_choice first = finish(batch);
  for (size_t shift = 0; shift < 2; shift++) { /* what other alignment needs is there, too */
    const counts before = count();
    CHECK_INT(append(batch, substrate, shift), 0);
    check_nothing_since(&before);
    const daedalus_choice second = finish(batch);
    CHECK_INT(second.substrate, first.substrate);
    if (shift == 0) {
      CHECK_STR(second.variant, first.variant);
    }
  }
  daedalus_batch_destroy(batch);
  return first;
}

/* After daedalus_ctx_prepare() the first append is as straight; the batch's room is the CPU's. */
static void append_prepared(const char *recipe, daedalus_substrate substrate) {
  daedalus_ctx *ctx = open_context(recipe, 0);
  daedalus_batch *batch = NULL;
  CHECK_INT(daedalus_batch_begin(ctx, &batch), 0);
  CHECK_INT(append(batch, DAEDALUS_SUBSTRATE_CPU, 0), 0);
  finish(batch);
  CHECK_INT(daedalus_ctx_prepare(ctx, kernel_id, substrate), 0);
  const counts before = count();
  CHECK_INT(append(batch, substrate, 0), 0);
  check_nothing_since(&before);
  CHECK_INT(finish(batch).substrate, DAEDALUS_SUBSTRATE_QPU);
  daedalus_ctx_destroy(ctx);
}

/* ---------------------------------------------------------------------------- tests */

static void test_cpu(void) {
  daedalus_ctx *ctx = open_context(NULL, 0);
  const counts before = count();
  CHECK_INT(append_twice(ctx, DAEDALUS_SUBSTRATE_CPU).substrate, DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(append_twice(ctx, DAEDALUS_SUBSTRATE_AUTO).substrate, DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(count().opens, before.opens); /* nobody looked for a GPU */
  daedalus_ctx_destroy(ctx);
}

/* Without a GPU, wanted or there, as the configuration says. */
static void test_stands_in(uint32_t flags) {
  daedalus_ctx *ctx = open_context(NULL, flags | DAEDALUS_CONFIG_QPU_FALLBACK_CPU);
  const counts before = count();
  CHECK_INT(append_twice(ctx, DAEDALUS_SUBSTRATE_QPU).substrate, DAEDALUS_SUBSTRATE_CPU);
  if ((flags & DAEDALUS_CONFIG_NO_QPU) != 0) {
    CHECK_INT(count().opens, before.opens);
  }
  daedalus_ctx_destroy(ctx);
}

static void test_prepare_refuses(void) {
  daedalus_ctx *ctx = open_context(NULL, DAEDALUS_CONFIG_NO_QPU);
  CHECK_INT(daedalus_ctx_prepare(NULL, kernel_id, DAEDALUS_SUBSTRATE_CPU), -EINVAL);
  CHECK_INT(daedalus_ctx_prepare(ctx, NULL, DAEDALUS_SUBSTRATE_CPU), -EINVAL);
  CHECK_INT(daedalus_ctx_prepare(ctx, "no such kernel", DAEDALUS_SUBSTRATE_CPU), -EINVAL);
  CHECK_INT(daedalus_ctx_prepare(ctx, kernel_id, (daedalus_substrate)7), -EINVAL);
  CHECK_INT(daedalus_ctx_prepare(ctx, kernel_id, DAEDALUS_SUBSTRATE_QPU), -ENODEV);
  CHECK_INT(daedalus_ctx_prepare(ctx, kernel_id, DAEDALUS_SUBSTRATE_AUTO), 0);
  daedalus_ctx_destroy(ctx);
}

static void test_gpu(void) {
  daedalus_ctx *ctx = open_context(NULL, 0);
  const counts before = count();
  const daedalus_choice choice = append_twice(ctx, DAEDALUS_SUBSTRATE_QPU);
  CHECK_INT(choice.substrate, DAEDALUS_SUBSTRATE_QPU);
  const counts after = count(); /* what is counted does occur */
  CHECK(after.opens > before.opens);
  CHECK(after.requests + after.calls > before.requests + before.calls);
  CHECK(after.allocations > before.allocations && after.of_context > before.of_context);
  daedalus_device_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_ctx_device(ctx, &info), 0);
  char recipe[512];
  snprintf(recipe, sizeof(recipe),
           "daedalus-recipe 1\ngenerator %s\nchoose %s full qpu %s %s 0 ; of this test\n",
           daedalus_kernels.generator, kernel_id, choice.variant, info.route);
  daedalus_ctx_destroy(ctx);

  ctx = open_context(recipe, 0);
  CHECK_INT(append_twice(ctx, DAEDALUS_SUBSTRATE_AUTO).substrate, DAEDALUS_SUBSTRATE_QPU);
  daedalus_ctx_destroy(ctx);
  append_prepared(recipe, DAEDALUS_SUBSTRATE_AUTO);
  append_prepared(NULL, DAEDALUS_SUBSTRATE_QPU);

  ctx = open_context(recipe, DAEDALUS_CONFIG_NO_QPU);
  const counts unwanted = count();
  CHECK_INT(append_twice(ctx, DAEDALUS_SUBSTRATE_AUTO).substrate, DAEDALUS_SUBSTRATE_CPU);
  CHECK_INT(count().opens, unwanted.opens);
  daedalus_ctx_destroy(ctx);
  unlink(written_path());
}

int main(int argc, char **argv) {
  const bool gpu = argc > 1 && strcmp(argv[1], "qpu") == 0;
  unsetenv("DAEDALUS_RECIPE");
  test_cpu();
  test_stands_in(DAEDALUS_CONFIG_NO_QPU);
  test_prepare_refuses();
  if (gpu) {
    test_gpu();
  } else {
    test_stands_in(0);
  }
  CHECK_INT(memory.n_live, 0);
  return CHECK_RESULT();
}
