/* SPDX-License-Identifier: BSD-2-Clause */
/* Timeline syncobjs, on a device that offers them; on another, that it says so. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check.h"
#include "drm_client.h"

enum { MS = 1000000, N = 4 };
enum {
  ALL = ABI_SYNCOBJ_WAIT_ALL,
  SUBMIT = ABI_SYNCOBJ_WAIT_FOR_SUBMIT,
  AVAILABLE = ABI_SYNCOBJ_WAIT_AVAILABLE
};

static int node;

static int timeline_signal(uint32_t handle, uint64_t point) {
  struct abi_timeline_array array = {
      .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .n_handles = 1};
  return DRM_CALL(node, ABI_SYNCOBJ_TIMELINE_SIGNAL, &array);
}

static int query(uint32_t handle, uint32_t flags, uint64_t *point) {
  struct abi_timeline_array array = {
      .handles = (uintptr_t)&handle, .points = (uintptr_t)point, .n_handles = 1, .flags = flags};
  return DRM_CALL(node, ABI_SYNCOBJ_QUERY, &array);
}

static uint64_t reached(uint32_t handle) {
  uint64_t point = 4711;
  CHECK_INT(query(handle, 0, &point), 0);
  return point;
}

static uint64_t submitted(uint32_t handle) {
  uint64_t point = 4711;
  CHECK_INT(query(handle, ABI_SYNCOBJ_QUERY_LAST_SUBMITTED, &point), 0);
  return point;
}

static int wait_many(const uint32_t *handles, const uint64_t *points, uint32_t n, uint32_t flags,
                     int64_t timeout_ns, uint32_t *first) {
  struct abi_timeline_wait wait = {.handles = (uintptr_t)handles,
                                   .points = (uintptr_t)points,
                                   .timeout_ns = drm_now_ns() + timeout_ns,
                                   .n_handles = n,
                                   .flags = flags};
  const int result = DRM_CALL(node, ABI_SYNCOBJ_TIMELINE_WAIT, &wait);
  if (first != NULL)
    *first = wait.first_signaled;
  return result;
}

static int wait_one(uint32_t handle, uint64_t point, uint32_t flags, int64_t timeout_ns) {
  return wait_many(&handle, &point, 1, flags, timeout_ns, NULL);
}

static int transfer(uint32_t target, uint64_t target_point, uint32_t source, uint64_t source_point,
                    uint32_t flags) {
  struct abi_syncobj_transfer arg = {.source = source,
                                     .target = target,
                                     .source_point = source_point,
                                     .target_point = target_point,
                                     .flags = flags};
  return DRM_CALL(node, ABI_SYNCOBJ_TRANSFER, &arg);
}

static void drop(uint32_t handle) {
  struct abi_syncobj_destroy destroy = {.handle = handle};
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_DESTROY, &destroy), 0);
}

/* A device like the hardware's. */
static void absent(void) {
  const uint32_t handle = drm_syncobj(node, 0);
  uint64_t point;
  CHECK_INT(timeline_signal(handle, 1), -EOPNOTSUPP);
  CHECK_INT(query(handle, 0, &point), -EOPNOTSUPP);
  CHECK_INT(wait_one(handle, 1, ALL, 0), -EOPNOTSUPP);
  CHECK_INT(transfer(handle, 1, handle, 0, 0), -EOPNOTSUPP);
  uint64_t eventfd[3] = {handle};
  CHECK_INT(drm_call(node, ABI_REQUEST(1, ABI_SYNCOBJ_EVENTFD, eventfd), eventfd), -EOPNOTSUPP);
  drop(handle);
}

static void points(void) {
  const uint32_t t = drm_syncobj(node, 0);
  CHECK_INT(reached(t), 0);
  CHECK_INT(wait_one(t, 1, ALL, 0), -EINVAL); /* not there, and not waited for */
  CHECK_INT(wait_one(t, 1, ALL | SUBMIT, 0), -ETIME);
  CHECK_INT(timeline_signal(t, 5), 0);
  CHECK_INT(reached(t), 5);
  CHECK_INT(submitted(t), 5);
  CHECK_INT(wait_one(t, 1, ALL, 0), 0);
  CHECK_INT(wait_one(t, 5, ALL, 0), 0);
  CHECK_INT(wait_one(t, 6, ALL, 0), -EINVAL);
  CHECK_INT(wait_one(t, 6, ALL | AVAILABLE, 0), -ETIME);
  CHECK_INT(timeline_signal(t, UINT64_C(1) << 40), 0);
  CHECK_INT(reached(t), INT64_C(1) << 40);
  CHECK_INT(timeline_signal(t, 7), 0); /* out of order: values never fall */
  CHECK_INT(reached(t), INT64_C(1) << 40);
  /* As a binary one it is what its last point is; signaled as such it is a timeline no more. */
  CHECK_INT(drm_syncobj_wait(node, &t, 1, ALL, 0, NULL), 0);
  uint32_t handle = t;
  struct abi_syncobj_array array = {.handles = (uintptr_t)&handle, .n_handles = 1};
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_SIGNAL, &array), 0);
  CHECK_INT(reached(t), 0);
  CHECK_INT(wait_one(t, 1, ALL, 0), -EINVAL);
  CHECK_INT(wait_one(t, 0, ALL, 0), 0);
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_RESET, &array), 0);
  CHECK_INT(wait_one(t, 0, ALL, 0), -EINVAL);
  drop(t);
}

/* Points whose fences are those of jobs: each waits for all before it. */
static void of_jobs(void) {
  const uint32_t t = drm_syncobj(node, 0), job = drm_syncobj(node, 0), back = drm_syncobj(node, 0);
  struct drm_buffer code;
  CHECK_INT(drm_create(node, 4096, &code), 0);
  CHECK_INT(timeline_signal(t, 1), 0);
  CHECK_INT(drm_hold(node, &code, 20, 0, job), 0);
  CHECK_INT(transfer(t, 2, job, 0, 0), 0);
  CHECK_INT(timeline_signal(t, 3), 0); /* itself signaled, but after 2 */
  CHECK_INT(reached(t), 1);
  CHECK_INT(submitted(t), 3);
  CHECK_INT(wait_one(t, 1, ALL, 0), 0);
  CHECK_INT(wait_one(t, 3, ALL, 0), -ETIME);
  CHECK_INT(wait_one(t, 3, ALL | AVAILABLE, 0), 0);
  CHECK_INT(transfer(back, 0, t, 2, 0), 0);
  CHECK_INT(drm_syncobj_wait(node, &back, 1, ALL, 0, NULL), -ETIME);
  drm_release(&code);
  CHECK_INT(wait_one(t, 3, ALL, 10000 * (int64_t)MS), 0);
  CHECK_INT(drm_syncobj_wait(node, &back, 1, ALL, 0, NULL), 0);
  CHECK_INT(reached(t), 3);
  /* A timeline goes on from a binary fence. */
  CHECK_INT(drm_hold(node, &code, 20, 0, job), 0);
  CHECK_INT(timeline_signal(job, 9), 0);
  CHECK_INT(reached(job), 0);
  drm_release(&code);
  CHECK_INT(wait_one(job, 9, ALL, 10000 * (int64_t)MS), 0);
  CHECK_INT(reached(job), 9);
  drop(t);
  drop(job);
  drop(back);
  drm_destroy(node, &code);
}

static void several(void) {
  uint32_t handles[N], first = 99;
  uint64_t at[N];
  for (uint32_t i = 0; i < N; i++) {
    handles[i] = drm_syncobj(node, 0);
    at[i] = i + 1;
  }
  CHECK_INT(wait_many(handles, at, N, SUBMIT, 0, &first), -ETIME);
  CHECK_INT(timeline_signal(handles[2], 3), 0);
  CHECK_INT(wait_many(handles, at, N, SUBMIT, 0, &first), 0);
  CHECK_INT(first, 2);
  CHECK_INT(wait_many(handles, at, N, ALL | SUBMIT, 0, NULL), -ETIME);
  struct abi_timeline_array array = {
      .handles = (uintptr_t)handles, .points = (uintptr_t)at, .n_handles = N};
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_TIMELINE_SIGNAL, &array), 0);
  CHECK_INT(wait_many(handles, at, N, ALL, 0, NULL), 0);
  uint64_t found[N] = {0};
  array.points = (uintptr_t)found;
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_QUERY, &array), 0);
  for (uint32_t i = 0; i < N; i++)
    CHECK_INT(found[i], i + 1);
  for (uint32_t i = 0; i < N; i++)
    drop(handles[i]);
}

static void *signal_later(void *handle) {
  usleep(50000);
  CHECK_INT(timeline_signal(*(const uint32_t *)handle, 8), 0);
  return NULL;
}

/* Waits and transfers that begin before there is anything. */
static void before_the_signal(void) {
  uint32_t t = drm_syncobj(node, 0), copy = drm_syncobj(node, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, signal_later, &t);
  CHECK_INT(wait_one(t, 8, ALL | SUBMIT, 10000 * (int64_t)MS), 0);
  pthread_join(thread, NULL);
  uint32_t second = drm_syncobj(node, 0);
  pthread_create(&thread, NULL, signal_later, &second);
  CHECK_INT(transfer(copy, 12, second, 8, 0), -EINVAL);
  CHECK_INT(transfer(copy, 12, second, 8, SUBMIT), 0);
  CHECK_INT(reached(copy), 12);
  pthread_join(thread, NULL);
  /* As long as the kernel waits for a submission. */
  const int64_t begun = drm_now_ns();
  CHECK_INT(transfer(copy, 13, second, 99, SUBMIT), -ETIME);
  CHECK(drm_now_ns() - begun >= 5000 * (int64_t)MS);
  CHECK_INT(submitted(copy), 12);
  drop(t);
  drop(copy);
  drop(second);
}

/* More points than anybody looks at. */
static void many(void) {
  const uint32_t t = drm_syncobj(node, 0), job = drm_syncobj(node, 0);
  struct drm_buffer code;
  CHECK_INT(drm_create(node, 4096, &code), 0);
  CHECK_INT(drm_hold(node, &code, 0, 0, job), 0);
  for (uint64_t i = 1; i <= 20000; i++)
    if (transfer(t, i, job, 0, 0) != 0) {
      CHECK_INT(i, 20001);
      break;
    }
  CHECK_INT(submitted(t), 20000);
  CHECK_INT(reached(t), 0);
  drm_release(&code);
  CHECK_INT(wait_one(t, 20000, ALL, 10000 * (int64_t)MS), 0);
  CHECK_INT(reached(t), 20000);
  CHECK_INT(wait_one(t, 3, ALL, 0), 0);
  drop(t);
  drop(job);
  drm_destroy(node, &code);
}

static void wrong(void) {
  uint32_t t = drm_syncobj(node, 0), none = 4711;
  uint64_t point = 1;
  CHECK_INT(timeline_signal(none, 1), -ENOENT);
  CHECK_INT(query(none, 0, &point), -ENOENT);
  CHECK_INT(query(t, 2, &point), -EINVAL);
  CHECK_INT(wait_one(none, 1, ALL, 0), -ENOENT);
  CHECK_INT(wait_one(t, 1, 16, 0), -EINVAL);
  CHECK_INT(transfer(none, 1, t, 0, 0), -ENOENT);
  CHECK_INT(transfer(t, 1, none, 0, 0), -ENOENT);
  CHECK_INT(transfer(t, 1, none, 0, AVAILABLE), -EINVAL);
  struct abi_syncobj_transfer padded = {.source = t, .target = t, .pad = 1};
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_TRANSFER, &padded), -EINVAL);
  struct abi_timeline_array array = {.handles = (uintptr_t)&t, .points = (uintptr_t)&point};
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_QUERY, &array), -EINVAL); /* none */
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_TIMELINE_SIGNAL, &array), -EINVAL);
  array.n_handles = 1;
  array.points = 8; /* no memory is there */
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_QUERY, &array), -EFAULT);
  CHECK_INT(DRM_CALL(node, ABI_SYNCOBJ_TIMELINE_SIGNAL, &array), -EFAULT);
  CHECK_INT(reached(t), 0);
  drop(t);
}

int main(void) {
  node = drm_open();
  struct abi_get_cap cap = {.capability = ABI_CAP_SYNCOBJ_TIMELINE};
  if (node < 0 || DRM_CALL(node, ABI_GET_CAP, &cap) != 0) {
    perror("/dev/dri/renderD128");
    return 1;
  }
  if (cap.value == 0) {
    RUN(absent);
    return CHECK_RESULT();
  }
  RUN(points);
  RUN(of_jobs);
  RUN(several);
  RUN(before_the_signal);
  RUN(many);
  RUN(wrong);
  return CHECK_RESULT();
}
