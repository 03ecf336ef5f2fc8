/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs of all queues, and what waits for them. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "drm_client.h"

enum { SECOND = 1000000000, MS = 1000000 };

static int fd;
static struct drm_buffer code, data;
static uint32_t both[2];

static void compute(void) {
  const uint32_t done = drm_syncobj(fd, 0);
  const struct fake_shader shader = {FAKE_ADD, data.address + 4000, data.address, 500, 7};
  for (uint32_t i = 0; i < 500; i++)
    data.map[i] = i * 3;
  CHECK_INT(drm_submit(fd, &code, 0, &shader, both, 2, 0, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  int wrong = 0;
  for (uint32_t i = 0; i < 500; i++)
    wrong += data.map[1000 + i] != i * 3 + 7;
  CHECK_INT(wrong, 0);
}

static void waits_for_buffers(void) {
  CHECK_INT(drm_wait_bo(fd, data.handle, SECOND), 0);
  CHECK_INT(drm_hold(fd, &data, 20, 0, 0), 0);
  CHECK_INT(drm_wait_bo(fd, data.handle, 0), -ETIME);
  struct abi_wait_bo wait = {.handle = data.handle, .timeout_ns = 10 * MS};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait), -ETIME);
  CHECK_INT(wait.timeout_ns, 0);
  drm_release(&data);
  wait = (struct abi_wait_bo){.handle = data.handle, .timeout_ns = UINT64_MAX};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait), 0);
  CHECK(wait.timeout_ns < UINT64_MAX && wait.timeout_ns > 0);
}

static void syncobjs(void) {
  const uint32_t a = drm_syncobj(fd, 0), b = drm_syncobj(fd, ABI_SYNCOBJ_CREATE_SIGNALED);
  const uint32_t all[2] = {a, b};
  uint32_t first = 9;
  CHECK(a != 0 && b != 0 && a != b);
  CHECK_INT(drm_syncobj_wait(fd, all, 2, 0, 0, NULL), -EINVAL); /* a has nothing to wait for */
  CHECK_INT(drm_syncobj_wait(fd, all, 2, ABI_SYNCOBJ_WAIT_FOR_SUBMIT, 0, &first), 0);
  CHECK_INT(first, 1);
  CHECK_INT(drm_syncobj_wait(fd, all, 2, 3, 5 * MS, NULL), -ETIME);
  CHECK_INT(drm_syncobj_wait(fd, all, 2, 64, 0, NULL), -EINVAL);
  CHECK_INT(drm_syncobj_wait(fd, all, 2, 4, 0, NULL), -EINVAL); /* available: of timelines */
  CHECK_INT(drm_syncobj_wait(fd, &b, 1, ABI_SYNCOBJ_WAIT_DEADLINE, 0, NULL), 0);
  CHECK_INT(drm_syncobj_wait(fd, all, 0, 0, 0, NULL), 0);
  struct abi_syncobj_array array = {.handles = (uintptr_t)all, .n_handles = 1};
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_SIGNAL, &array), 0);
  CHECK_INT(drm_syncobj_wait(fd, all, 2, ABI_SYNCOBJ_WAIT_ALL, 0, NULL), 0);
  array.n_handles = 2;
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_RESET, &array), 0);
  CHECK_INT(drm_syncobj_wait(fd, all, 2, 3, 0, NULL), -ETIME);
  array.n_handles = 0;
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_RESET, &array), -EINVAL);
  struct abi_syncobj_destroy destroy = {.handle = a};
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_DESTROY, &destroy), 0);
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_DESTROY, &destroy), -EINVAL);
  CHECK_INT(drm_syncobj_wait(fd, all, 2, 3, 0, NULL), -ENOENT);
  struct abi_syncobj_create create = {.flags = 2};
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_CREATE, &create), -EINVAL);
  /* This driver has no timelines. */
  uint64_t nothing[6] = {0};
  const int nrs[] = {ABI_SYNCOBJ_QUERY, ABI_SYNCOBJ_TIMELINE_WAIT, ABI_SYNCOBJ_TRANSFER,
                     ABI_SYNCOBJ_TIMELINE_SIGNAL, ABI_SYNCOBJ_EVENTFD};
  for (size_t i = 0; i < sizeof nrs / sizeof *nrs; i++)
    CHECK_INT(drm_call(fd, ABI_REQUEST(1, nrs[i], nothing), nothing), -EOPNOTSUPP);
}

static void *submit_late(void *argument) {
  const uint32_t *done = argument;
  usleep(50000);
  CHECK_INT(
      drm_submit(fd, &code, 32, &(struct fake_shader){FAKE_SLEEP, 0, 0, 0, 20}, both, 2, 0, *done),
      0);
  return NULL;
}

/* The wait comes before the submission. */
static void wait_for_submit(void) {
  uint32_t done = drm_syncobj(fd, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, submit_late, &done);
  const int64_t before = drm_now_ns();
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, 3, -1, NULL), 0);
  CHECK(drm_now_ns() - before >= 60 * MS);
  pthread_join(thread, NULL);
}

static int submit_multi(uint32_t at, const struct fake_shader *shader, const struct abi_sem *in,
                        uint32_t n_in, const struct abi_sem *out, uint32_t n_out, uint32_t stage) {
  struct abi_multi_sync multi = {.base = {.id = ABI_EXT_MULTI_SYNC},
                                 .in_syncs = (uintptr_t)in,
                                 .out_syncs = (uintptr_t)out,
                                 .n_in_syncs = n_in,
                                 .n_out_syncs = n_out,
                                 .wait_stage = stage};
  struct abi_submit_csd csd = {.bo_handles = (uintptr_t)both,
                               .n_bo_handles = 2,
                               .flags = ABI_SUBMIT_EXTENSION,
                               .extensions = (uintptr_t)&multi};
  memcpy(code.map + at, shader, sizeof *shader);
  csd.cfg[5] = code.address + 4 * at;
  return DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd);
}

static void multi_sync(void) {
  const struct abi_sem a = {.handle = drm_syncobj(fd, 0)}, b = {.handle = drm_syncobj(fd, 0)};
  const struct abi_sem c = {.handle = drm_syncobj(fd, 0)};
  const struct abi_sem ab[2] = {a, b}, unknown = {.handle = 4711};
  const uint32_t last = c.handle;
  data.map[0] = 1;
  const struct fake_shader inc = {FAKE_ADD, data.address, data.address, 1, 1};
  const struct fake_shader copy = {FAKE_ADD, data.address + 64, data.address, 1, 100};
  CHECK_INT(submit_multi(48, &inc, &c, 1, ab, 2, ABI_STAGE_CSD), -EINVAL); /* c: no fence yet */
  CHECK_INT(submit_multi(48, &inc, NULL, 0, ab, 2, ABI_STAGE_CSD), 0);
  CHECK_INT(submit_multi(64, &copy, ab, 2, &c, 1, ABI_STAGE_CSD), 0);
  CHECK_INT(drm_syncobj_wait(fd, &last, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  CHECK_INT(data.map[16], 102);
  CHECK_INT(submit_multi(64, &copy, &unknown, 1, &c, 1, ABI_STAGE_CSD), 0); /* is ignored */
  CHECK_INT(submit_multi(64, &copy, NULL, 0, &unknown, 1, ABI_STAGE_CSD), -EINVAL);
  /* Waits of another stage are no business of this job. */
  const struct abi_sem never = {.handle = drm_syncobj(fd, 0)};
  CHECK_INT(submit_multi(64, &copy, &never, 1, &c, 1, ABI_STAGE_CSD), -EINVAL);
  CHECK_INT(submit_multi(64, &copy, &never, 1, &c, 1, ABI_STAGE_RENDER), 0);
  CHECK_INT(drm_wait_bo(fd, data.handle, SECOND), 0);
}

static void bad_submissions(void) {
  struct abi_submit_csd csd = {.bo_handles = (uintptr_t)both, .n_bo_handles = 0};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), -EINVAL);
  csd.n_bo_handles = 2;
  csd.pad = 1;
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), -EINVAL);
  csd.pad = 0;
  csd.perfmon_id = 5;
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), -ENOENT);
  csd.perfmon_id = 0;
  const uint32_t twice[2] = {both[0], both[0]}, unknown[2] = {both[0], 4711};
  csd.bo_handles = (uintptr_t)twice;
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), -EALREADY);
  csd.bo_handles = (uintptr_t)unknown;
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), -ENOENT);
  csd.bo_handles = (uintptr_t)both;
  struct abi_extension loop = {.id = 99};
  csd.flags = ABI_SUBMIT_EXTENSION;
  csd.extensions = (uintptr_t)&loop;
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), -EINVAL);
}

/* A job that fails signals all the same, and later jobs run. */
static void failed_job(void) {
  const uint32_t done = drm_syncobj(fd, 0);
  const struct fake_shader fail = {FAKE_FAIL, 0, 0, 0, 42};
  const struct fake_shader wild = {FAKE_ADD, 0x10, data.address, 1, 1};
  CHECK_INT(drm_submit(fd, &code, 80, &fail, both, 2, 0, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  CHECK_INT(drm_submit(fd, &code, 80, &wild, both, 2, 0, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  compute();
}

/* A buffer that a waiting job uses outlives its handle. */
static void closed_early(void) {
  struct drm_buffer target;
  CHECK_INT(drm_create(fd, 4096, &target), 0);
  const uint32_t handles[3] = {code.handle, data.handle, target.handle};
  const uint32_t done = drm_syncobj(fd, 0);
  data.map[0] = 5;
  const struct fake_shader sleep = {FAKE_SLEEP, 0, 0, 0, 50};
  const struct fake_shader out = {FAKE_ADD, target.address, data.address, 1, 1};
  const struct fake_shader back = {FAKE_ADD, data.address + 32, target.address, 1, 1};
  CHECK_INT(drm_submit(fd, &code, 96, &sleep, both, 2, 0, 0), 0);
  CHECK_INT(drm_submit(fd, &code, 112, &out, handles, 3, 0, 0), 0);
  CHECK_INT(drm_submit(fd, &code, 128, &back, handles, 3, 0, done), 0);
  drm_destroy(fd, &target);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  CHECK_INT(data.map[8], 7);
}

/* Compute, copy, compute: ordered by the buffers alone. */
static void lists_and_compute(void) {
  struct drm_buffer list;
  uint32_t start, end;
  CHECK_INT(drm_create(fd, 4096, &list), 0);
  const uint32_t handles[3] = {code.handle, data.handle, list.handle};
  for (uint32_t i = 0; i < 2048; i++)
    data.map[i] = i;
  const struct drm_rcl rcl = {.width = 16,
                              .height = 20,
                              .load = data.address,
                              .load_stride = 64,
                              .store = data.address + 8192,
                              .store_stride = 128};
  const struct fake_shader slow = {FAKE_SLEEP, 0, 0, 0, 30};
  const struct fake_shader before = {FAKE_ADD, data.address, data.address, 320, 1000};
  const struct fake_shader after = {FAKE_ADD, data.address + 8192, data.address + 8192, 16, 1};
  drm_write_rcl(&list, &rcl, &start, &end);
  CHECK_INT(drm_submit(fd, &code, 144, &slow, both, 2, 0, 0), 0);
  CHECK_INT(drm_submit(fd, &code, 160, &before, both, 2, 0, 0), 0);
  CHECK_INT(drm_submit_cl(fd, start, end, handles, 3, 0, 0), 0);
  CHECK_INT(drm_submit(fd, &code, 176, &after, both, 2, 0, 0), 0);
  CHECK_INT(drm_wait_bo(fd, data.handle, SECOND), 0);
  int wrong = 0;
  for (uint32_t y = 0; y < 20; y++)
    for (uint32_t x = 0; x < 16; x++)
      wrong += data.map[2048 + y * 32 + x] != 1000 + y * 16 + x + (y == 0);
  CHECK_INT(wrong, 0);
  CHECK_INT(data.map[2048 + 16], 0); /* between the rows */
  /* A no-op list signals. */
  const uint32_t done = drm_syncobj(fd, 0);
  drm_write_rcl(&list, &(struct drm_rcl){.width = 1, .height = 1}, &start, &end);
  CHECK_INT(drm_submit_cl(fd, start, end, handles, 3, 0, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  drm_destroy(fd, &list);
}

struct waiting {
  pthread_t thread;
  int node;
  uint32_t syncobj;
  atomic_int result; /* 1: it still waits */
};

static void *wait_for_ever(void *argument) {
  struct waiting *waiting = argument;
  waiting->result =
      drm_syncobj_wait(waiting->node, &waiting->syncobj, 1, ABI_SYNCOBJ_WAIT_FOR_SUBMIT, -1, NULL);
  return NULL;
}

/* Work that is not simulated is taken and fails, and no wait of its client ends well from then on.
 */
static void unserved(bool tfu) {
  struct drm_buffer list;
  uint32_t start, end;
  struct waiting waiting = {.node = drm_open(), .result = 1};
  const int node = waiting.node;
  CHECK_INT(drm_create(node, 4096, &list), 0);
  const uint32_t done = drm_syncobj(node, 0);
  waiting.syncobj = drm_syncobj(node, 0);
  CHECK_INT(pthread_create(&waiting.thread, NULL, wait_for_ever, &waiting), 0);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* it has begun to wait */
  const int64_t begin = drm_now_ns();
  if (tfu) {
    struct abi_submit_tfu submit = {.bo_handles = {list.handle}, .out_sync = done};
    CHECK_INT(DRM_CALL(node, ABI_V3D_SUBMIT_TFU, &submit), 0);
  } else {
    drm_write_rcl(&list, &(struct drm_rcl){.width = 1, .height = 1}, &start, &end);
    *(uint8_t *)list.map = 36; /* graphics */
    CHECK_INT(drm_submit_cl(node, start, end, &list.handle, 1, 0, done), 0);
  }
  CHECK_INT(drm_syncobj_wait(node, &done, 1, ABI_SYNCOBJ_WAIT_ALL, -1, NULL), -ENODEV);
  CHECK_INT(drm_wait_bo(node, list.handle, SECOND), -ENODEV);
  /* One that waits for what is yet to be submitted goes on until that has come. */
  const uint32_t never = drm_syncobj(node, 0), wait = ABI_SYNCOBJ_WAIT_FOR_SUBMIT;
  CHECK_INT(drm_syncobj_wait(node, &never, 1, wait, 20 * MS, NULL), -ETIME);
  CHECK_INT(waiting.result, 1);
  const struct fake_shader nothing = {.operation = FAKE_NOTHING};
  CHECK_INT(drm_submit(node, &list, 512, &nothing, &list.handle, 1, 0, waiting.syncobj), 0);
  pthread_join(waiting.thread, NULL);
  CHECK_INT(waiting.result, -ENODEV);
  CHECK(drm_now_ns() - begin < SECOND / 2);
  /* Another client is served. */
  const uint32_t other = drm_syncobj(fd, ABI_SYNCOBJ_CREATE_SIGNALED);
  CHECK_INT(drm_syncobj_wait(fd, &other, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  close(node);
}

static void unserved_list(void) {
  unserved(false);
}

/* A list that makes no sense fails as on hardware: all signals, and its client is served on. */
static void wrong_list(void) {
  struct drm_buffer list;
  uint32_t start, end;
  const int node = drm_open();
  CHECK_INT(drm_create(node, 4096, &list), 0);
  const uint32_t done = drm_syncobj(node, 0);
  drm_write_rcl(&list, &(struct drm_rcl){.width = 1, .height = 1}, &start, &end);
  for (int i = 0; i < 3; i++) {
    struct abi_submit_cl submit = {.rcl_start = start,
                                   .rcl_end = i == 1 ? end - 1 : end,
                                   .bo_handles = (uintptr_t)&list.handle,
                                   .n_bo_handles = 1,
                                   .out_sync = done};
    if (i == 0) /* binning that lies in no buffer */
      submit.bcl_end = 1;
    CHECK_INT(DRM_CALL(node, ABI_V3D_SUBMIT_CL, &submit), 0);
    CHECK_INT(drm_syncobj_wait(node, &done, 1, ABI_SYNCOBJ_WAIT_ALL, -1, NULL), 0);
    CHECK_INT(drm_wait_bo(node, list.handle, SECOND), 0);
  }
  close(node);
}

/*
 * One that is wrong behind stores of more than a list may move does not keep the queue. That makes
 * it one that is not simulated.
 */
static void wrong_and_large_list(void) {
  enum { SIZE = 65535, STORE = 4, BEHIND_IT = STORE + 13 };
  struct drm_buffer list, row;
  uint32_t start, end;
  const int node = drm_open();
  CHECK_INT(drm_create(node, 4096, &list), 0);
  CHECK_INT(drm_create(node, 4 * SIZE, &row), 0);
  const uint32_t handles[2] = {list.handle, row.handle}, done = drm_syncobj(node, 0);
  const struct drm_rcl rcl = {
      .width = SIZE, .height = SIZE, .store = row.address, .clear_color = 0x01010101};
  drm_write_rcl(&list, &rcl, &start, &end);
  uint8_t *const tile = (uint8_t *)list.map;
  CHECK_INT(tile[STORE], 29);
  tile[BEHIND_IT] = 29; /* cut short */
  CHECK_INT(drm_submit_cl(node, start, end, handles, 2, 0, done), 0);
  CHECK_INT(drm_syncobj_wait(node, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), -ENODEV);
  CHECK_INT(row.map[0], 0);
  close(node);
}

/* It is carried out as it is when its turn comes, as on hardware. */
static void mended_list(void) {
  uint32_t start, end;
  const uint32_t held = drm_syncobj(fd, 0), done = drm_syncobj(fd, 0);
  struct drm_buffer list;
  CHECK_INT(drm_create(fd, 4096, &list), 0);
  const struct drm_rcl fill = {.width = 1,
                               .height = 1,
                               .store = list.address + 2048,
                               .store_stride = 4,
                               .clear_color = 0x01020304};
  drm_write_rcl(&list, &fill, &start, &end);
  const uint32_t whole = end;
  const uint8_t *last = (const uint8_t *)list.map + (whole - list.address) - 1;
  CHECK_INT(*last, 13);
  *(uint8_t *)(uintptr_t)last = 23; /* cut short */
  CHECK_INT(drm_hold(fd, &code, 0, 0, held), 0);
  CHECK_INT(drm_submit_cl(fd, start, whole, &list.handle, 1, held, done), 0);
  *(uint8_t *)(uintptr_t)last = 13;
  drm_release(&code);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, -1, NULL), 0);
  CHECK_INT(list.map[512], 0x01020304);
  drm_destroy(fd, &list);
}

static void unserved_tfu(void) {
  unserved(true);
}

static void tfu_arguments(void) {
  struct abi_submit_tfu submit = {.bo_handles = {4711}};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_TFU, &submit), -ENOENT);
  submit = (struct abi_submit_tfu){.flags = 4};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_TFU, &submit), -EINVAL);
  submit = (struct abi_submit_tfu){.flags = ABI_SUBMIT_EXTENSION, .extensions = 8};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_TFU, &submit), -EFAULT);
}

static int submit_cpu(void *extension, const uint32_t *handles, uint32_t n, uint32_t done) {
  const struct abi_sem out = {.handle = done};
  struct abi_multi_sync multi = {.base = {.id = ABI_EXT_MULTI_SYNC, .next = (uintptr_t)extension},
                                 .out_syncs = (uintptr_t)&out,
                                 .n_out_syncs = 1,
                                 .wait_stage = ABI_STAGE_CPU};
  struct abi_submit_cpu cpu = {.bo_handles = (uintptr_t)handles,
                               .n_bo_handles = n,
                               .flags = ABI_SUBMIT_EXTENSION,
                               .extensions = (uintptr_t)&multi};
  return drm_call(fd, ABI_REQUEST(0, ABI_V3D_SUBMIT_CPU, cpu), &cpu);
}

static void indirect(void) {
  const uint32_t done = drm_syncobj(fd, 0);
  const struct fake_shader shader = {FAKE_CFG, data.address + 512, 0, 0, 0};
  memcpy(code.map + 192, &shader, sizeof shader);
  memcpy(data.map + 4, (const uint32_t[]){5, 3, 2}, 12);
  struct abi_indirect_csd ext = {.base = {.id = ABI_EXT_INDIRECT_CSD},
                                 .indirect = code.handle,
                                 .offset = 16,
                                 .wg_size = 40,
                                 .wg_uniform_offsets = {257, UINT32_MAX, 256}};
  ext.submit = (struct abi_submit_csd){.bo_handles = (uintptr_t)both, .n_bo_handles = 2};
  ext.submit.cfg[3] = 0x1234;
  ext.submit.cfg[5] = code.address + 192 * 4;
  ext.submit.cfg[6] = code.address + 256 * 4;
  CHECK_INT(submit_cpu(&ext, &data.handle, 1, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  const uint32_t *cfg = data.map + 128;
  CHECK_INT(cfg[0], 5 << 16);
  CHECK_INT(cfg[1], 3 << 16);
  CHECK_INT(cfg[2], 2 << 16);
  CHECK_INT(cfg[3], 0x1234);
  CHECK_INT(cfg[4], 3 * 30);
  CHECK_INT(code.map[257], 5);
  CHECK_INT(code.map[256], 2);
  /* No groups: nothing runs, all signals. */
  memset(data.map + 128, 0, 64);
  data.map[5] = 0;
  CHECK_INT(submit_cpu(&ext, &data.handle, 1, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  CHECK_INT(cfg[3], 0);
  ext.offset = 1 << 30; /* outside: the job fails, all signals */
  CHECK_INT(submit_cpu(&ext, &data.handle, 1, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, SECOND, NULL), 0);
  CHECK_INT(submit_cpu(&ext, both, 2, done), -EINVAL);
  ext.indirect = 4711;
  CHECK_INT(submit_cpu(&ext, &data.handle, 1, done), -ENOENT);
}

static void timestamps(void) {
  struct drm_buffer stamps;
  const uint32_t done = drm_syncobj(fd, 0);
  const uint32_t syncs[2] = {drm_syncobj(fd, 0), drm_syncobj(fd, 0)}, offsets[2] = {8, 24};
  CHECK_INT(drm_create(fd, 4096, &stamps), 0);
  struct abi_timestamp write = {.base = {.id = ABI_EXT_TIMESTAMP},
                                .offsets = (uintptr_t)offsets,
                                .syncs = (uintptr_t)syncs,
                                .count = 1};
  const int64_t before = drm_now_ns();
  CHECK_INT(submit_cpu(&write, &stamps.handle, 1, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, syncs, 1, 3, SECOND, NULL), 0);
  uint64_t stamp;
  memcpy(&stamp, stamps.map + 2, 8);
  CHECK((int64_t)stamp >= before && (int64_t)stamp <= drm_now_ns());
  struct abi_copy_timestamp copy = {.base = {.id = ABI_EXT_COPY_TIMESTAMP},
                                    .do_64bit = 1,
                                    .availability_bit = 1,
                                    .offset = 64,
                                    .stride = 16,
                                    .count = 2,
                                    .offsets = (uintptr_t)offsets,
                                    .syncs = (uintptr_t)syncs};
  const uint32_t handles[2] = {data.handle, stamps.handle};
  memset(data.map, 0xff, 256);
  CHECK_INT(submit_cpu(&copy, handles, 2, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, 3, SECOND, NULL), 0);
  CHECK_INT(memcmp(data.map + 16, &stamp, 8), 0);
  CHECK_INT(data.map[18], 1);
  CHECK_INT(data.map[20], UINT32_MAX); /* not available: not written */
  CHECK_INT(data.map[22], 0);
  struct abi_reset_timestamp reset = {
      .base = {.id = ABI_EXT_RESET_TIMESTAMP}, .syncs = (uintptr_t)syncs, .offset = 8, .count = 1};
  CHECK_INT(submit_cpu(&reset, &stamps.handle, 1, done), 0);
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, 3, SECOND, NULL), 0);
  CHECK_INT(stamps.map[2], 0);
  CHECK_INT(drm_syncobj_wait(fd, syncs, 1, 3, 0, NULL), -ETIME);
  CHECK_INT(submit_cpu(NULL, handles, 1, done), -EINVAL);
  drm_destroy(fd, &stamps);
}

int main(void) {
  fd = drm_open();
  if (fd < 0 || drm_create(fd, 1 << 16, &code) != 0 || drm_create(fd, 1 << 16, &data) != 0) {
    fprintf(stderr, "no device\n");
    return 1;
  }
  both[0] = code.handle;
  both[1] = data.handle;
  RUN(compute);
  RUN(waits_for_buffers);
  RUN(syncobjs);
  RUN(wait_for_submit);
  RUN(multi_sync);
  RUN(bad_submissions);
  RUN(failed_job);
  RUN(closed_early);
  RUN(lists_and_compute);
  RUN(indirect);
  RUN(unserved_list);
  RUN(wrong_list);
  RUN(wrong_and_large_list);
  RUN(mended_list);
  RUN(unserved_tfu);
  RUN(tfu_arguments);
  RUN(timestamps);
  return CHECK_RESULT();
}
