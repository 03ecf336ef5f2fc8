/* SPDX-License-Identifier: BSD-2-Clause */
/* A dma-buf that cannot be imported: whose failure that is. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu/drm/device.h"
#include "recorder.h"

enum { SIZE = 4096 };

static int error;

static int import(int fd, int dmabuf, uint32_t *handle) {
  (void)fd, (void)dmabuf, (void)handle;
  errno = error;
  return -1;
}

static int no_ioctl(int fd, unsigned long request, void *arg) {
  (void)fd, (void)request, (void)arg;
  CHECK(0); /* there is no handle to ask about, or to close */
  return 0;
}

int main(void) {
  static const struct {
    int error, expected;
  } cases[] = {{EINVAL, -ENOTSUP}, {ENOMEM, -ENOMEM}, {ENODEV, -ENOTSUP}, {EIO, -ENOTSUP}};
  counting memory = {.fail_at = -1};
  daedalus_ctx ctx = {.allocator = counting_allocator(&memory)};
  daedalus_drm drm = {.base = {.ctx = &ctx},
                      .fn = {.drmPrimeFDToHandle = import, .drmIoctl = no_ioctl}};
  const int fd = memfd_create("a frame", MFD_CLOEXEC);
  CHECK_INT(ftruncate(fd, SIZE), 0);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    daedalus_gpu_block *block;
    error = cases[i].error;
    CHECK_INT(daedalus_rt_drm_block_import(&drm.base, fd, SIZE, &block), cases[i].expected);
    CHECK(block == NULL);
    CHECK_STR(drm.base.failed_call, "DRM_IOCTL_PRIME_FD_TO_HANDLE");
    CHECK(!drm.base.lost); /* the exporter's word says nothing about the device */
    CHECK_INT(memory.n_live, 0);
  }
  close(fd);
  return CHECK_RESULT();
}
