/* SPDX-License-Identifier: BSD-2-Clause */
/* A GPU that fails: each call of the driver once, each way that it can, and while it works. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

static add_work work;
static uint8_t expected[sizeof(work.plane)];

/* ------------------------------------------------------------------ every call, copied memory */

/* How a scenario went. */
typedef struct story {
  int error;        /* the first that a call gave */
  bool done;        /* every batch gave 0 */
  bool right;       /* memory is as after those batches that gave 0 */
  unsigned n_right; /* batches that gave 0 */
} story;

enum { BATCHES = 3 };

/* Opens a context, does three batches of copied memory one after the other. */
static story run_story(fixture *f) {
  story s = {.done = true};
  fixture_open(f, NULL);
  add_fill(&work, 1);
  memcpy(expected, work.plane, sizeof(expected));
  for (int i = 0; i < BATCHES; i++) {
    const int error = f->ctx != NULL ? add_run(f->ctx, &work) : -ENODEV;
    if (error == 0) {
      add_expect(&work, expected, 0, N_BLOCKS);
      s.n_right++;
    } else {
      s.done = false;
      s.error = s.error != 0 ? s.error : error;
    }
  }
  s.right = memcmp(work.plane, expected, sizeof(expected)) == 0;
  return s;
}

static unsigned long items_of_a_story; /* that the GPU does when nothing fails */

/*
 * Results are right whatever fails.  A batch may be refused only where no device could be opened
 * at all, and then all are; else the CPU takes over.  What failed is logged, unless the GPU did all
 * the same, by another way.
 */
static void check_story(const char *function, unsigned long nth, VkResult result) {
  fixture f;
  stub_reset();
  stub_fail(function, nth, result);
  const story s = run_story(&f);
  CHECK(stub_failed());
  const bool refused = s.n_right == 0 && s.error == -ENODEV;
  const bool told = f.log.n >= 1 || f.executor.items >= items_of_a_story;
  const bool good = s.right && (s.done || refused) && told;
  const int closed = fixture_close(&f);
  if (!good || closed != 0) {
    fprintf(stderr, "%s, call %lu, gives %d: error %d, %u of %d batches, %s, %d messages: %s\n",
            function, nth, (int)result, s.error, s.n_right, BATCHES, s.right ? "right" : "WRONG",
            f.log.n, f.log.n != 0 ? f.log.message : "");
  }
  CHECK(good);
  CHECK_INT(closed, 0);
}

static bool can_lose_the_device(const char *function) {
  static const char *const names[] = {"vkQueueSubmit", "vkWaitForFences", "vkGetFenceStatus",
                                      "vkDeviceWaitIdle", "vkCreateDevice"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcmp(function, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

static void test_every_call_fails_once(void) {
  enum { MOST_FUNCTIONS = 128 };
  unsigned long calls[MOST_FUNCTIONS] = {0}, n_stories = 0;
  const char *const *names = stub_functions();
  fixture f;
  stub_reset();
  const story whole = run_story(&f);
  CHECK(whole.done && whole.right);
  CHECK_INT(f.log.n, 0);
  items_of_a_story = f.executor.items;
  CHECK(items_of_a_story >= BATCHES * N_BLOCKS);
  for (size_t i = 0; names[i] != NULL && i < MOST_FUNCTIONS; i++) {
    calls[i] = stub_can_fail(names[i]) ? stub_calls(names[i]) : 0;
  }
  CHECK_INT(fixture_close(&f), 0);
  for (size_t i = 0; names[i] != NULL && i < MOST_FUNCTIONS; i++) {
    for (unsigned long nth = 0; nth < calls[i]; nth++) {
      if (strcmp(names[i], "vkGetFenceStatus") != 0) {
        check_story(names[i], nth, VK_ERROR_OUT_OF_HOST_MEMORY);
        check_story(names[i], nth, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        n_stories += 2;
      }
      if (can_lose_the_device(names[i])) {
        check_story(names[i], nth, VK_ERROR_DEVICE_LOST);
        n_stories++;
      }
    }
  }
  CHECK(n_stories > 50);
  printf("%lu failing calls\n", n_stories);
}

/*
 * The runtime's own allocations: one batch is refused at most, nothing is changed, the next works.
 * All are refused where the memory was for opening the device, which is tried once.
 */
static void test_every_allocation_fails_once(void) {
  fixture f;
  stub_reset();
  CHECK(run_story(&f).done);
  const long n = f.memory.n_allocations;
  CHECK_INT(fixture_close(&f), 0);
  for (long i = 1; i < n; i++) {
    stub_reset();
    fixture_open(&f, NULL);
    f.memory.fail_at = i;
    add_fill(&work, 1);
    memcpy(expected, work.plane, sizeof(expected));
    unsigned no_memory = 0, no_device = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
      const int error = add_run(f.ctx, &work);
      if (error == 0) {
        add_expect(&work, expected, 0, N_BLOCKS);
      } else {
        CHECK(error == -ENOMEM || error == -ENODEV);
        *(error == -ENOMEM ? &no_memory : &no_device) += 1;
      }
    }
    CHECK_INT(daedalus_ctx_has_qpu(f.ctx), no_device < BATCHES);
    CHECK(no_memory + no_device <= (no_device < BATCHES ? 1 : BATCHES));
    CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
    CHECK_INT(fixture_close(&f), 0);
  }
}

/* A variant whose packed text is none is told of and not used; another of the GPU's is. */
static void test_damaged_code(void) {
  fixture f;
  const daedalus_gpu_code *had = fixture_exchange(ADD_GPU_WORD, NULL);
  daedalus_gpu_code damaged = *had;
  static const char *const none[] = {"*", NULL};
  damaged.packed = none;
  fixture_exchange(ADD_GPU_WORD, &damaged);
  stub_reset();
  fixture_open(&f, NULL);
  add_fill(&work, 2);
  memcpy(expected, work.plane, sizeof(expected));
  CHECK_INT(add_run(f.ctx, &work), 0);
  add_expect(&work, expected, 0, N_BLOCKS);
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  CHECK_INT(f.log.n, 1);
  CHECK_INT(f.log.level, DAEDALUS_LOG_ERROR);
  CHECK(strstr(f.log.message, "daedalus_fake_add__glsl_full_word") != NULL);
  CHECK(strstr(f.log.message, "its packed code is damaged") != NULL);
  CHECK(f.executor.items > 0);
  fixture_exchange(ADD_GPU_WORD, had);
  CHECK_INT(fixture_close(&f), 0);
}

/* --------------------------------------------------------------------- while the GPU works */

static void test_lost_in_flight(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  stub_reset();
  fixture_open(&f, NULL);
  add_fill(&work, 2);
  CHECK_INT(add_run(f.ctx, &work), 0);
  memcpy(expected, work.plane, sizeof(expected));
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  for (int i = 0; i < 3; i++) {
    CHECK_INT(add_append(batch, &work, i == 1 ? DAEDALUS_SUBSTRATE_CPU : DAEDALUS_SUBSTRATE_QPU, 0,
                         N_BLOCKS),
              0);
    add_expect(&work, expected, 0, N_BLOCKS);
  }
  stub_fail("vkWaitForFences", 1, VK_ERROR_DEVICE_LOST);
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  CHECK(stub_failed());
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  CHECK_INT(f.log.n, 1);
  CHECK_INT(f.log.level, DAEDALUS_LOG_ERROR);
  CHECK_INT(daedalus_batch_undefined_count(batch), 0);
  /* Later ones: the CPU, without a further word, and without a try. */
  const unsigned long submits = stub_calls("vkQueueSubmit");
  CHECK_INT(add_run(f.ctx, &work), 0);
  add_expect(&work, expected, 0, N_BLOCKS);
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  CHECK_INT(f.log.n, 1);
  CHECK_INT(stub_calls("vkQueueSubmit") - submits, 0);
  CHECK_INT(fixture_close(&f), 0);
}

/* Of the leak sanitizer, where the program is built with it. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void ignore_leaks(bool begin) {
  void (*const fn)(void) = begin ? __lsan_disable : __lsan_enable;
  if (fn != NULL) {
    fn();
  }
}

static void test_hang(void) {
  const daedalus_config config = {.cache_dir = "", .timeout_ms = 20};
  fixture f;
  stub_reset();
  ignore_leaks(true);
  fixture_open(&f, &config);
  add_fill(&work, 3);
  CHECK_INT(add_run(f.ctx, &work), 0);
  memcpy(expected, work.plane, sizeof(expected));
  stub.hang = true;
  CHECK_INT(add_run(f.ctx, &work), 0);
  add_expect(&work, expected, 0, N_BLOCKS);
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  CHECK_INT(f.log.n, 1);
  CHECK_INT(f.log.level, DAEDALUS_LOG_ERROR);
  CHECK_INT(add_run(f.ctx, &work), 0);
  /* What hung may still write: all that it uses stays, which is said. */
  daedalus_ctx_destroy(f.ctx);
  CHECK_INT(f.log.n, 2);
  CHECK_INT(f.log.level, DAEDALUS_LOG_WARNING);
  CHECK(stub_live(false) > 0);
  CHECK_INT(stub_misuses(), 0);
  CHECK_INT(f.executor.faults, 0);
  stub_abandon();
  ignore_leaks(false);
}

/* ------------------------------------------------------------------- memory used in place */

/* An item that reads and writes a plane in place, and its blocks copied. */
typedef struct in_place {
  fixture f;
  daedalus_memory *memory;
  uint8_t *plane;
  daedalus_batch *batch;
  int fd;
} in_place;

static void open_in_place(in_place *p, bool imported, uint32_t flags) {
  stub_reset();
  fixture_open(&p->f, NULL);
  add_fill(&work, 4);
  CHECK_INT(add_run(p->f.ctx, &work), 0);
  p->fd = -1;
  if (imported) {
    p->fd = memfd_create("frame", MFD_CLOEXEC);
    CHECK_INT(ftruncate(p->fd, 2 * sizeof(work.plane)), 0);
    CHECK_INT(
        daedalus_memory_import_dmabuf(p->f.ctx, p->fd, 2 * sizeof(work.plane), NULL, &p->memory),
        0);
  } else {
    CHECK_INT(daedalus_memory_create(p->f.ctx, 2 * sizeof(work.plane), &p->memory), 0);
  }
  CHECK_INT(daedalus_memory_size(p->memory), 2 * sizeof(work.plane));
  p->plane = (uint8_t *)daedalus_memory_data(p->memory) + 64;
  memcpy(p->plane, work.plane, sizeof(work.plane));
  CHECK_INT(daedalus_memory_flush(p->memory, 0, 2 * sizeof(work.plane)), 0);
  memcpy(expected, work.plane, sizeof(expected));
  CHECK_INT(daedalus_batch_begin(p->f.ctx, &p->batch), 0);
  CHECK_INT(daedalus_batch_set_flags(p->batch, flags), 0);
  for (int i = 0; i < 2; i++) {
    daedalus_buffer buffers[2];
    add_buffers(&work, p->plane, 5, buffers);
    CHECK_INT(daedalus_append(p->batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, N_BLOCKS - 5,
                              work.meta + 5),
              0);
    add_expect(&work, expected, 5, N_BLOCKS);
  }
}

static bool right_in_place(const in_place *p) {
  CHECK_INT(daedalus_memory_invalidate(p->memory, 0, 2 * sizeof(work.plane)), 0);
  return memcmp(p->plane, expected, sizeof(expected)) == 0;
}

static void close_in_place(in_place *p) {
  daedalus_batch_destroy(p->batch);
  daedalus_memory_destroy(p->memory);
  if (p->fd >= 0) {
    close(p->fd);
  }
  CHECK_INT(fixture_close(&p->f), 0);
}

static void test_in_place(void) {
  for (int imported = 0; imported < 2; imported++) {
    in_place p;
    open_in_place(&p, imported != 0, 0);
    const unsigned long items = p.f.executor.items;
    CHECK_INT(daedalus_batch_submit(p.batch), 0);
    CHECK_INT(daedalus_batch_wait(p.batch, -1), 0);
    CHECK_INT(p.f.executor.items - items, 2 * (N_BLOCKS - 5));
    CHECK(right_in_place(&p));
    CHECK_INT(p.f.log.n, 0);
    if (imported != 0) { /* others see it through the descriptor */
      uint8_t seen[sizeof(expected)];
      CHECK_INT(pread(p.fd, seen, sizeof(seen), 64), sizeof(seen));
      CHECK(memcmp(seen, expected, sizeof(seen)) == 0);
    }
    close_in_place(&p);
  }
}

/* Loses the device while the batch is in flight. */
static int fail_in_place(in_place *p) {
  stub_fail("vkWaitForFences", 0, VK_ERROR_DEVICE_LOST);
  int error = daedalus_batch_submit(p->batch);
  if (error == 0) {
    error = daedalus_batch_wait(p->batch, -1);
  }
  CHECK(stub_failed());
  return error;
}

static void test_imported_memory_is_named(void) {
  in_place p;
  open_in_place(&p, true, 0);
  CHECK_INT(fail_in_place(&p), -EIO);
  CHECK_INT(daedalus_batch_wait(p.batch, -1), -EIO);
  CHECK_INT(daedalus_batch_poll(p.batch), -EIO);
  const size_t n = daedalus_batch_undefined_count(p.batch);
  CHECK_INT(n, 2 * (N_BLOCKS - 5));
  static unsigned seen[2][N_BLOCKS];
  memset(seen, 0, sizeof(seen));
  for (size_t i = 0; i < n; i++) {
    daedalus_undefined_item item;
    CHECK_INT(daedalus_batch_undefined(p.batch, i, &item), 0);
    CHECK_STR(item.kernel, KERNEL(ADD)->id);
    CHECK(item.append < 2 && item.item < N_BLOCKS - 5);
    if (item.append < 2 && item.item < N_BLOCKS) {
      seen[item.append][item.item]++;
    }
  }
  for (size_t i = 0; i < N_BLOCKS - 5; i++) {
    CHECK(seen[0][i] == 1 && seen[1][i] == 1);
  }
  daedalus_undefined_item item;
  CHECK_INT(daedalus_batch_undefined(p.batch, n, &item), -EINVAL);
  CHECK_INT(p.f.log.n, 2); /* the device, and what is undefined */
  /* The batch can be used again, by the CPU now. */
  CHECK_INT(daedalus_batch_reset(p.batch), 0);
  CHECK_INT(daedalus_batch_undefined_count(p.batch), 0);
  close_in_place(&p);
}

static void test_a_shadow_saves_imported_memory(void) {
  in_place p;
  open_in_place(&p, true, DAEDALUS_BATCH_SHADOW);
  CHECK_INT(fail_in_place(&p), 0);
  CHECK_INT(daedalus_batch_undefined_count(p.batch), 0);
  CHECK(right_in_place(&p));
  CHECK_INT(p.f.log.n, 1);
  close_in_place(&p);
}

static void test_own_memory_is_saved_by_default(void) {
  in_place p;
  open_in_place(&p, false, 0);
  CHECK_INT(fail_in_place(&p), 0);
  CHECK(right_in_place(&p));
  close_in_place(&p);
  open_in_place(&p, false, DAEDALUS_BATCH_NO_SHADOW);
  CHECK_INT(fail_in_place(&p), -EIO);
  CHECK_INT(daedalus_batch_undefined_count(p.batch), 2 * (N_BLOCKS - 5));
  close_in_place(&p);
}

/*
 * Two batches in flight, of which the second overwrites what the first one read.  When neither is
 * known to be done, both are done again: the first from what the second kept of that, and not at
 * all where it kept nothing.
 */
static void test_a_later_batch_overwrites(void) {
  for (int keep = 0; keep < 2; keep++) {
    enum { SIDE = 8 };
    fixture f;
    stub_reset();
    fixture_open(&f, NULL);
    daedalus_memory *memory;
    daedalus_batch *reader, *writer;
    CHECK_INT(daedalus_memory_create(f.ctx, SIDE * SIDE, &memory), 0);
    uint8_t *shared = daedalus_memory_data(memory);
    uint8_t read[SIDE * SIDE] = {0}, fresh[SIDE * SIDE];
    memset(shared, 1, sizeof(fresh));
    memset(fresh, 2, sizeof(fresh));
    CHECK_INT(daedalus_batch_begin(f.ctx, &reader), 0);
    CHECK_INT(daedalus_batch_begin(f.ctx, &writer), 0);
    CHECK_INT(daedalus_batch_set_flags(writer, keep != 0 ? 0 : DAEDALUS_BATCH_NO_SHADOW), 0);
    const daedalus_fake_copy_meta meta = {.rows = SIDE};
    const daedalus_buffer from_shared[] = {{read, SIDE}, {shared, SIDE}};
    const daedalus_buffer to_shared[] = {{shared, SIDE}, {fresh, SIDE}};
    const daedalus_substrate qpu = DAEDALUS_SUBSTRATE_QPU;
    CHECK_INT(daedalus_append(reader, KERNEL(COPY), qpu, from_shared, 1, &meta), 0);
    CHECK_INT(daedalus_append(writer, KERNEL(COPY), qpu, to_shared, 1, &meta), 0);
    stub.deferred = false;
    CHECK_INT(daedalus_batch_submit(reader), 0);
    CHECK_INT(daedalus_batch_submit(writer), 0);
    stub_fail("vkGetFenceStatus", 0, VK_ERROR_DEVICE_LOST);
    CHECK_INT(daedalus_batch_wait(writer, -1), 0);
    CHECK(stub_failed());
    CHECK_INT(daedalus_batch_wait(reader, -1), keep != 0 ? 0 : -EIO);
    CHECK_INT(daedalus_batch_undefined_count(reader), keep != 0 ? 0 : 1);
    CHECK_INT(read[0], keep != 0 ? 1 : 0);
    CHECK_INT(shared[0], 2);
    daedalus_batch_destroy(reader);
    daedalus_batch_destroy(writer);
    daedalus_memory_destroy(memory);
    CHECK_INT(fixture_close(&f), 0);
  }
}

/* A dma-buf that the device does not take, or that is not there: refused, the fd is the caller's.
 */
static void test_imports_that_fail(void) {
  fixture f;
  daedalus_memory *memory = (daedalus_memory *)&f;
  stub_reset();
  fixture_open(&f, NULL);
  const int fd = memfd_create("frame", MFD_CLOEXEC);
  CHECK_INT(ftruncate(fd, 4096), 0);
  CHECK(daedalus_memory_import_dmabuf(f.ctx, -1, 4096, NULL, &memory) < 0);
  CHECK(memory == NULL);
  CHECK(daedalus_memory_import_dmabuf(f.ctx, fd, 0, NULL, &memory) < 0);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, 1 << 20, NULL, &memory), -EINVAL);
  static const char *const calls[] = {"vkGetMemoryFdPropertiesKHR", "vkCreateBuffer",
                                      "vkAllocateMemory", "vkBindBufferMemory"};
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    stub_fail(calls[i], 0, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(daedalus_memory_import_dmabuf(f.ctx, fd, 4096, NULL, &memory) < 0);
    CHECK(memory == NULL);
    CHECK(stub_failed());
  }
  stub_fail(NULL, 0, VK_SUCCESS);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, fd, 4096, NULL, &memory), 0);
  daedalus_memory_destroy(memory);
  CHECK_INT(fcntl(fd, F_GETFD) >= 0, 1);
  close(fd);
  CHECK_INT(fixture_close(&f), 0);

  stub_reset();
  stub.devices[0].no_external = true;
  fixture_open(&f, NULL);
  const int other = memfd_create("frame", MFD_CLOEXEC);
  CHECK_INT(ftruncate(other, 4096), 0);
  CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, other, 4096, NULL, &memory), -ENOTSUP);
  close(other);
  CHECK_INT(fixture_close(&f), 0);
}

/* Only the GPU can use it; nothing else is tried. */
static void test_a_dmabuf_that_cannot_be_mapped(void) {
  for (int scenario = 0; scenario < 3; scenario++) { /* the GPU, the CPU, a lost GPU */
    fixture f;
    stub_reset();
    fixture_open(&f, NULL);
    add_fill(&work, 5);
    CHECK_INT(add_run(f.ctx, &work), 0);
    memcpy(expected, work.plane, sizeof(expected));
    const int fd = memfd_create("frame", MFD_CLOEXEC);
    CHECK_INT(pwrite(fd, work.plane, sizeof(work.plane), 0), sizeof(work.plane));
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const int read_only = open(path, O_RDONLY | O_CLOEXEC);
    daedalus_memory *memory;
    daedalus_batch *batch;
    CHECK_INT(daedalus_memory_import_dmabuf(f.ctx, read_only, sizeof(work.plane), NULL, &memory),
              0);
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(daedalus_batch_set_flags(batch, DAEDALUS_BATCH_SHADOW), 0);
    daedalus_buffer buffers[2];
    add_buffers(&work, daedalus_memory_data(memory), 0, buffers);
    CHECK_INT(daedalus_append(batch, KERNEL(ADD),
                              scenario == 1 ? DAEDALUS_SUBSTRATE_CPU : DAEDALUS_SUBSTRATE_QPU,
                              buffers, N_BLOCKS, work.meta),
              0);
    if (scenario == 2) {
      stub_fail("vkWaitForFences", 0, VK_ERROR_DEVICE_LOST);
    }
    int error = daedalus_batch_submit(batch);
    if (error == 0) {
      error = daedalus_batch_wait(batch, -1);
    }
    CHECK_INT(error, scenario == 0 ? 0 : -EIO);
    CHECK_INT(daedalus_batch_undefined_count(batch), scenario == 0 ? 0 : N_BLOCKS);
    CHECK_INT(f.log.n, scenario);
    if (scenario == 0) {
      uint8_t seen[sizeof(expected)];
      add_expect(&work, expected, 0, N_BLOCKS);
      CHECK_INT(pread(fd, seen, sizeof(seen), 0), sizeof(seen));
      CHECK(memcmp(seen, expected, sizeof(seen)) == 0);
    }
    daedalus_batch_destroy(batch);
    daedalus_memory_destroy(memory);
    close(read_only);
    close(fd);
    CHECK_INT(fixture_close(&f), 0);
  }
}

int main(void) {
  RUN(test_every_call_fails_once);
  RUN(test_every_allocation_fails_once);
  RUN(test_damaged_code);
  RUN(test_lost_in_flight);
  RUN(test_hang);
  RUN(test_in_place);
  RUN(test_imported_memory_is_named);
  RUN(test_a_shadow_saves_imported_memory);
  RUN(test_own_memory_is_saved_by_default);
  RUN(test_a_later_batch_overwrites);
  RUN(test_imports_that_fail);
  RUN(test_a_dmabuf_that_cannot_be_mapped);
  return CHECK_RESULT();
}
