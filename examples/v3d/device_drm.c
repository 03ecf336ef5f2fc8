/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's driver v3d by its ioctls, as include/uapi/drm/v3d_drm.h of Linux lays them out; what
 * is needed of them stands here, as that header is not installed everywhere.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64 /* where the kernel has buffers mapped lies above 4 GiB */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

struct version {
  int32_t major, minor, patch;
  uint64_t name_length, name, date_length, date, description_length, description;
};
struct create_bo {
  uint32_t size, flags, handle, address;
};
struct mmap_bo {
  uint32_t handle, flags;
  uint64_t offset;
};
struct get_param {
  uint32_t param, pad;
  uint64_t value;
};
struct wait_bo {
  uint32_t handle, pad;
  uint64_t timeout_ns;
};
struct submit_csd {
  uint32_t cfg[7], coef[4];
  uint64_t handles;
  uint32_t n_handles, in_sync, out_sync, perfmon;
  uint64_t extensions;
  uint32_t flags, pad;
};

#define IOCTL_VERSION _IOWR('d', 0x00, struct version)
#define IOCTL_WAIT_BO _IOWR('d', 0x41, struct wait_bo)
#define IOCTL_CREATE_BO _IOWR('d', 0x42, struct create_bo)
#define IOCTL_MMAP_BO _IOWR('d', 0x43, struct mmap_bo)
#define IOCTL_GET_PARAM _IOWR('d', 0x44, struct get_param)
#define IOCTL_SUBMIT_CSD _IOW('d', 0x47, struct submit_csd)
enum { HUB_IDENT3 = 3, CORE0_IDENT0 = 4, CORE0_IDENT1 = 5 }; /* parameters */
enum { REVISION_LEAST = 6 }; /* before it cfg[4] is one less than what kernels.c has there */
#define MOST_WAIT_NS UINT64_C(60000000000)

typedef struct drm {
  int node;
  device_buffer buffers[MOST_BUFFERS];
  uint32_t handles[MOST_BUFFERS];
  uint32_t n_buffers;
} drm;

/* Like ioctl(), but begun anew where a signal came between. */
static int call(int node, unsigned long request, void *argument) {
  int result;
  do
    result = ioctl(node, request, argument);
  while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result;
}

static bool complain(const char *what) {
  fprintf(stderr, "sgemm: %s: %s\n", what, strerror(errno));
  return false;
}

static bool allocate(void *state, uint32_t size, device_buffer *buffer) {
  drm *d = state;
  const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
  struct create_bo made = {.size = (size + page - 1) / page * page};
  if (d->n_buffers == MOST_BUFFERS) {
    errno = ENOSPC;
    return complain("a buffer");
  }
  if (call(d->node, IOCTL_CREATE_BO, &made) != 0)
    return complain("a buffer of the device");
  struct mmap_bo mapping = {.handle = made.handle};
  if (call(d->node, IOCTL_MMAP_BO, &mapping) != 0)
    return complain("where to map a buffer");
  void *data =
      mmap(NULL, made.size, PROT_READ | PROT_WRITE, MAP_SHARED, d->node, (off_t)mapping.offset);
  if (data == MAP_FAILED)
    return complain("mapping a buffer");
  *buffer = (device_buffer){data, made.address, size};
  d->handles[d->n_buffers] = made.handle;
  d->buffers[d->n_buffers++] = (device_buffer){data, made.address, made.size};
  return true;
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static bool run(void *state, const uint32_t cfg[7], device_time *time) {
  drm *d = state;
  struct submit_csd submit = {.handles = (uint64_t)(uintptr_t)d->handles,
                              .n_handles = d->n_buffers};
  memcpy(submit.cfg, cfg, sizeof submit.cfg);
  *time = (device_time){0};
  const double begin = now_ns();
  if (call(d->node, IOCTL_SUBMIT_CSD, &submit) != 0)
    return complain("submitting a job");
  struct wait_bo wait = {.handle = d->handles[0], .timeout_ns = MOST_WAIT_NS};
  if (call(d->node, IOCTL_WAIT_BO, &wait) != 0)
    return complain("waiting for a job");
  time->wall_ns = now_ns() - begin;
  return true;
}

/* Buffers go with the node. */
static void close_drm(void *state) {
  drm *d = state;
  for (uint32_t i = 0; i < d->n_buffers; i++)
    munmap(d->buffers[i].data, d->buffers[i].size);
  close(d->node);
  free(d);
}

static uint64_t parameter(int node, uint32_t which) {
  struct get_param get = {.param = which};
  return call(node, IOCTL_GET_PARAM, &get) == 0 ? get.value : 0;
}

static bool is_v3d_71(int node) {
  char name[16] = "";
  struct version version = {.name_length = sizeof name - 1, .name = (uint64_t)(uintptr_t)name};
  if (call(node, IOCTL_VERSION, &version) != 0 || strcmp(name, "v3d") != 0)
    return false;
  return parameter(node, CORE0_IDENT0) >> 24 == 7 && (parameter(node, CORE0_IDENT1) & 0xf) == 1 &&
         (parameter(node, HUB_IDENT3) >> 8 & 0xff) >= REVISION_LEAST;
}

bool open_drm(device *opened) {
  int node = -1, reason = ENOENT;
  for (int i = 128; i < 192 && node < 0; i++) {
    char path[32];
    snprintf(path, sizeof path, "/dev/dri/renderD%d", i);
    node = open(path, O_RDWR | O_CLOEXEC);
    if (node < 0 && errno != ENOENT)
      reason = errno;
    if (node >= 0 && !is_v3d_71(node)) {
      close(node);
      node = -1;
    }
  }
  drm *d = node >= 0 ? calloc(1, sizeof *d) : NULL;
  if (d == NULL) {
    fprintf(stderr, "sgemm: no V3D 7.1.6 or later among /dev/dri/renderD*%s\n",
            reason == EACCES ? ": one may not be opened, which takes the group render" : "");
    if (node >= 0)
      close(node);
    return false;
  }
  d->node = node;
  *opened = (device){d, allocate, run, close_drm};
  return true;
}
