/* SPDX-License-Identifier: BSD-2-Clause */
/* dma-bufs: who has them when, and several daedalus_memory in one of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

enum { SIDE = 8, CELL = SIDE * SIDE, N_CELLS = 64, SIZE = N_CELLS * CELL };

/* A file of cells of 8x8, imported once or more often. */
typedef struct frame {
  fixture f;
  int fd;
  daedalus_batch *batch;
} frame;

static void open_frame(frame *t) {
  fixture_open(&t->f, NULL);
  t->fd = memfd_create("frame", MFD_CLOEXEC);
  uint8_t bytes[SIZE];
  for (size_t i = 0; i < SIZE; i++) {
    bytes[i] = (uint8_t)(i / CELL);
  }
  CHECK_INT(pwrite(t->fd, bytes, SIZE, 0), SIZE);
  CHECK_INT(daedalus_batch_begin(t->f.ctx, &t->batch), 0);
}

static daedalus_memory *import(const frame *t, size_t size) {
  daedalus_memory *memory = NULL;
  CHECK_INT(daedalus_memory_import_dmabuf(t->f.ctx, t->fd, size, NULL, &memory), 0);
  return memory;
}

static bool is_mapped(void) {
  char line[512];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
    found = found || strstr(line, "memfd:frame") != NULL;
  }
  CHECK(maps != NULL);
  if (maps != NULL) {
    fclose(maps);
  }
  return found;
}

static void close_frame(frame *t) {
  daedalus_batch_destroy(t->batch);
  CHECK_INT(fixture_close(&t->f), 0);
  CHECK(!is_mapped());
  close(t->fd);
}

static uint8_t *cell(const daedalus_memory *memory, size_t number) {
  return (uint8_t *)daedalus_memory_data(memory) + number * CELL;
}

static int seen(const frame *t, size_t number) {
  uint8_t byte = 0xff;
  CHECK_INT(pread(t->fd, &byte, 1, (off_t)(number * CELL)), 1);
  return byte;
}

static void copy(daedalus_batch *batch, daedalus_substrate substrate, uint8_t *to, uint8_t *from) {
  const daedalus_fake_copy_meta meta = {.rows = SIDE};
  const daedalus_buffer buffers[] = {{to, SIDE}, {from, SIDE}};
  CHECK_INT(daedalus_append(batch, KERNEL(COPY), substrate, buffers, 1, &meta), 0);
}

static int run(daedalus_batch *batch) {
  int error = daedalus_batch_submit(batch);
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1);
  }
  CHECK_INT(daedalus_batch_reset(batch), 0);
  return error;
}

static const daedalus_substrate qpu = DAEDALUS_SUBSTRATE_QPU, cpu = DAEDALUS_SUBSTRATE_CPU;

/* ------------------------------------------------------------------------------ who has it */

/* Each submission takes over what it uses and gives it back, and nothing else; the stub driver sees
 * to it that nothing is used otherwise. */
static void test_submissions_take_and_give_back(void) {
  for (int foreign = 0; foreign < 2; foreign++) {
    frame t;
    stub_reset();
    stub.devices[0].no_foreign = foreign == 0;
    open_frame(&t);
    daedalus_memory *used = import(&t, SIZE), *other = import(&t, SIZE);
    uint8_t own[CELL];
    unsigned long recorded = 0;
    for (int i = 0; i < 4; i++) { /* from the second one on, what was recorded is submitted again */
      const stub_work before = stub_done;
      copy(t.batch, qpu, cell(used, 0), cell(used, 3));
      copy(t.batch, qpu, cell(used, 1), cell(used, 4));
      CHECK_INT(run(t.batch), 0);
      CHECK_INT(stub_done.submits - before.submits,
                i == 0 ? 2 : 1); /* the first time a self-test */
      CHECK_INT(stub_done.acquires - before.acquires, 1);
      CHECK_INT(stub_done.releases - before.releases, 1);
      if (i > 1) {
        CHECK_INT(stub_calls("vkBeginCommandBuffer"), recorded);
      }
      recorded = stub_calls("vkBeginCommandBuffer");
    }
    CHECK(seen(&t, 0) == 3 && seen(&t, 1) == 4);
    stub_work before = stub_done;
    copy(t.batch, qpu, own, cell(used, 3));
    copy(t.batch, qpu, cell(other, 2), own);
    CHECK_INT(run(t.batch), 0);
    CHECK_INT(stub_done.acquires - before.acquires, 2);
    CHECK_INT(stub_done.releases - before.releases, 2);
    CHECK_INT(seen(&t, 2), 3);
    before = stub_done;
    uint8_t more[CELL];
    copy(t.batch, qpu, more, own);
    CHECK_INT(run(t.batch), 0);
    CHECK_INT(stub_done.submits - before.submits, 1);
    CHECK_INT(stub_done.acquires - before.acquires, 0);
    daedalus_memory_destroy(used);
    daedalus_memory_destroy(other);
    close_frame(&t);
  }
}

/* A job of several submissions: others may look between them. */
static void test_each_submission_of_a_job(void) {
  enum { MANY = 150000 };
  frame t;
  stub_reset();
  open_frame(&t);
  daedalus_memory *memory = import(&t, SIZE);
  uint8_t *copies = malloc((size_t)MANY * CELL);
  daedalus_fake_copy_meta *metas = calloc(MANY, sizeof(*metas));
  for (uint32_t i = 0; i < MANY; i++) {
    metas[i] =
        (daedalus_fake_copy_meta){.dst_off = i * CELL, .src_off = i % N_CELLS * CELL, .rows = SIDE};
  }
  copy(t.batch, qpu, cell(memory, 0), cell(memory, 1)); /* has the self-test done */
  CHECK_INT(run(t.batch), 0);
  const stub_work before = stub_done;
  const daedalus_buffer buffers[] = {{copies, SIDE}, {cell(memory, 0), SIDE}};
  CHECK_INT(daedalus_append(t.batch, KERNEL(COPY), qpu, buffers, MANY, metas), 0);
  CHECK_INT(run(t.batch), 0);
  CHECK_INT(stub_done.submits - before.submits, 2);
  CHECK_INT(stub_done.acquires - before.acquires, 2);
  CHECK_INT(stub_done.releases - before.releases, 2);
  CHECK_INT(copies[(size_t)(MANY - 1) * CELL], (MANY - 1) % N_CELLS);
  free(copies);
  free(metas);
  daedalus_memory_destroy(memory);
  close_frame(&t);
}

/* The library's own memory belongs to the queue until it is exported. */
static void test_exporting_gives_it_away(void) {
  for (int fails = 0; fails < 3; fails++) { /* not at all, without memory, for good */
    frame t;
    stub_reset();
    open_frame(&t);
    daedalus_memory *memory = NULL;
    CHECK_INT(daedalus_memory_create(t.f.ctx, SIZE, &memory), 0);
    memset(daedalus_memory_data(memory), 7, CELL);
    copy(t.batch, qpu, cell(memory, 1), cell(memory, 0));
    CHECK_INT(run(t.batch), 0);
    CHECK_INT(stub_done.acquires + stub_done.releases, 0);
    int fd = -2;
    if (fails != 0) {
      stub_fail("vkQueueSubmit", 0,
                fails == 1 ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_ERROR_DEVICE_LOST);
      CHECK_INT(daedalus_memory_export_dmabuf(memory, &fd), fails == 1 ? -ENOMEM : 0);
      CHECK(stub_failed() && (fd < 0) == (fails == 1));
      CHECK_INT(t.f.log.n, fails - 1);
      if (fd >= 0) {
        close(fd);
      }
    }
    CHECK_INT(daedalus_memory_export_dmabuf(memory, &fd), 0);
    CHECK_INT(stub_done.releases, fails == 2 ? 0 : 1);
    copy(t.batch, qpu, cell(memory, 2), cell(memory, 1));
    CHECK_INT(run(t.batch), 0);
    CHECK_INT(stub_done.acquires, fails == 2 ? 0 : 1);
    CHECK_INT(stub_done.releases, fails == 2 ? 0 : 2);
    uint8_t byte = 0;
    CHECK_INT(pread(fd, &byte, 1, 2 * CELL), 1);
    CHECK_INT(byte, 7);
    close(fd);
    daedalus_memory_destroy(memory);
    close_frame(&t);
  }
}

/* ------------------------------------------------------------------- one of them, two memories */

/* A batch that reads through one what it wrote through the other has a barrier there. */
static void test_groups_of_a_batch(void) {
  for (int apart = 0; apart < 2; apart++) {
    frame t;
    stub_reset();
    open_frame(&t);
    daedalus_memory *a = import(&t, SIZE / 2), *b = import(&t, SIZE);
    CHECK(daedalus_memory_data(a) != daedalus_memory_data(b));
    unsigned long barriers = 0;
    for (int i = 0; i < 2; i++) { /* the second time without self-test */
      barriers = stub_done.barriers;
      copy(t.batch, qpu, cell(a, 5), cell(a, 1));
      copy(t.batch, qpu, cell(b, 40), cell(b, apart != 0 ? 6 : 5));
      CHECK_INT(run(t.batch), 0);
    }
    CHECK_INT(stub_done.barriers - barriers, (apart != 0 ? 1 : 2) + 1); /* and one for the CPU */
    CHECK_INT(seen(&t, 40), apart != 0 ? 6 : 1);
    daedalus_memory_destroy(a);
    daedalus_memory_destroy(b);
    close_frame(&t);
  }
}

/* The CPU's groups wait for what is in flight, whichever memory it uses; one that the first came
 * from may be gone. */
static void test_the_cpu_waits(void) {
  for (int scenario = 0; scenario < 4; scenario++) {
    const bool apart = scenario % 2 != 0, reimported = scenario / 2 != 0;
    frame t;
    stub_reset();
    open_frame(&t);
    daedalus_memory *a = import(&t, SIZE), *b = import(&t, SIZE);
    if (reimported) { /* whose addresses both were compared by */
      daedalus_memory_destroy(a);
      a = import(&t, SIZE);
    }
    daedalus_batch *second;
    CHECK_INT(daedalus_batch_begin(t.f.ctx, &second), 0);
    copy(t.batch, qpu, cell(a, 5), cell(a, 1));
    copy(second, cpu, cell(b, 6), cell(b, apart ? 7 : 5));
    CHECK_INT(run(t.batch), 0);
    copy(t.batch, qpu, cell(a, 5), cell(a, 2));
    CHECK_INT(daedalus_batch_submit(t.batch), 0);
    const unsigned long items = t.f.executor.items;
    CHECK_INT(daedalus_batch_submit(second), 0);
    CHECK_INT(t.f.executor.items - items, apart ? 0 : 1);
    CHECK_INT(daedalus_batch_wait(second, -1), 0);
    CHECK_INT(seen(&t, 6), apart ? 7 : 2);
    CHECK_INT(daedalus_batch_wait(t.batch, -1), 0);
    CHECK_INT(seen(&t, 5), 2);
    daedalus_batch_destroy(second);
    daedalus_memory_destroy(a);
    daedalus_memory_destroy(b);
    close_frame(&t);
  }
}

/* A batch reads through one what it then overwrites through the other, and is not known to be
 * done: what was there is kept, or what depends on it named. */
static void test_a_failure(void) {
  for (int keep = 0; keep < 2; keep++) {
    frame t;
    stub_reset();
    open_frame(&t);
    daedalus_memory *a = import(&t, SIZE), *b = import(&t, SIZE);
    copy(t.batch, qpu, cell(a, 60), cell(a, 61));
    CHECK_INT(run(t.batch), 0);
    CHECK_INT(daedalus_batch_set_flags(t.batch, keep != 0 ? DAEDALUS_BATCH_SHADOW : 0), 0);
    uint8_t first[CELL] = {0}, last[CELL] = {0}, fresh[CELL];
    memset(fresh, 0xee, sizeof(fresh));
    copy(t.batch, qpu, first, cell(a, 5));
    copy(t.batch, qpu, cell(b, 5), fresh);
    copy(t.batch, qpu, last, cell(a, 5));
    stub.deferred = false;
    CHECK_INT(daedalus_batch_submit(t.batch), 0);
    stub_fail("vkGetFenceStatus", 0, VK_ERROR_DEVICE_LOST);
    CHECK_INT(daedalus_batch_wait(t.batch, -1), keep != 0 ? 0 : -EIO);
    CHECK(stub_failed());
    CHECK_INT(daedalus_batch_undefined_count(t.batch), keep != 0 ? 0 : 3);
    CHECK_INT(first[0], keep != 0 ? 5 : 0);
    CHECK_INT(last[0], keep != 0 ? 0xee : 0);
    daedalus_memory_destroy(b);
    daedalus_memory_destroy(a);
    close_frame(&t);
  }
}

/* Exported and imported again. */
static void test_its_own_export(void) {
  frame t;
  stub_reset();
  open_frame(&t);
  daedalus_memory *made = NULL, *again = NULL;
  int fd = -1;
  CHECK_INT(daedalus_memory_create(t.f.ctx, SIZE, &made), 0);
  CHECK_INT(daedalus_memory_export_dmabuf(made, &fd), 0);
  CHECK_INT(daedalus_memory_import_dmabuf(t.f.ctx, fd, SIZE, NULL, &again), 0);
  CHECK(daedalus_memory_data(made) != daedalus_memory_data(again));
  memset(cell(made, 0), 9, CELL);
  unsigned long barriers = 0;
  for (int i = 0; i < 2; i++) {
    barriers = stub_done.barriers;
    copy(t.batch, qpu, cell(made, 1), cell(made, 0));
    copy(t.batch, qpu, cell(made, 2), cell(again, 1));
    CHECK_INT(run(t.batch), 0);
  }
  CHECK(stub_done.barriers - barriers >= 3);
  CHECK_INT(cell(again, 2)[0], 9);
  close(fd);
  daedalus_memory_destroy(made);
  copy(t.batch, qpu, cell(again, 3), cell(again, 2));
  CHECK_INT(run(t.batch), 0);
  CHECK_INT(cell(again, 3)[0], 9);
  daedalus_memory_destroy(again);
  close_frame(&t);
}

int main(void) {
  RUN(test_submissions_take_and_give_back);
  RUN(test_each_submission_of_a_job);
  RUN(test_exporting_gives_it_away);
  RUN(test_groups_of_a_batch);
  RUN(test_the_cpu_waits);
  RUN(test_a_failure);
  RUN(test_its_own_export);
  return CHECK_RESULT();
}
