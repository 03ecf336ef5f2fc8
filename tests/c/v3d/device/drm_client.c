/* SPDX-License-Identifier: BSD-2-Clause */
#include "drm_client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

int drm_call(int fd, uint32_t code, void *arg) {
  return ioctl(fd, (unsigned long)code, arg) == 0 ? 0 : -errno;
}

int drm_open(void) {
  return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

int drm_create(int fd, uint32_t size, struct drm_buffer *buffer) {
  struct abi_create_bo create = {.size = size};
  int result = DRM_CALL(fd, ABI_V3D_CREATE_BO, &create);
  if (result != 0)
    return result;
  struct abi_mmap_bo map = {.handle = create.handle};
  result = DRM_CALL(fd, ABI_V3D_MMAP_BO, &map);
  if (result != 0)
    return result;
  *buffer = (struct drm_buffer){.handle = create.handle, .address = create.offset, .size = size};
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
  buffer->map = memory;
  return memory == MAP_FAILED ? -errno : 0;
}

void drm_destroy(int fd, struct drm_buffer *buffer) {
  munmap(buffer->map, buffer->size);
  struct abi_gem_close close = {.handle = buffer->handle};
  DRM_CALL(fd, ABI_GEM_CLOSE, &close);
}

uint32_t drm_syncobj(int fd, uint32_t flags) {
  struct abi_syncobj_create create = {.flags = flags};
  return DRM_CALL(fd, ABI_SYNCOBJ_CREATE, &create) == 0 ? create.handle : 0;
}

int64_t drm_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int drm_syncobj_wait(int fd, const uint32_t *handles, uint32_t n, uint32_t flags,
                     int64_t timeout_ns, uint32_t *first) {
  struct abi_syncobj_wait wait = {
      .handles = (uintptr_t)handles,
      .timeout_ns = timeout_ns < 0 ? INT64_MAX : drm_now_ns() + timeout_ns,
      .n_handles = n,
      .flags = flags};
  const int result = DRM_CALL(fd, ABI_SYNCOBJ_WAIT, &wait);
  if (first != NULL)
    *first = wait.first_signaled;
  return result;
}

int drm_wait_bo(int fd, uint32_t handle, uint64_t timeout_ns) {
  struct abi_wait_bo wait = {.handle = handle, .timeout_ns = timeout_ns};
  return DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait);
}

int drm_export(int fd, uint32_t handle, uint32_t flags, int *buffer) {
  struct abi_prime_handle prime = {.handle = handle, .flags = flags, .fd = *buffer};
  const int result = DRM_CALL(fd, ABI_PRIME_HANDLE_TO_FD, &prime);
  *buffer = prime.fd;
  return result;
}

int drm_import(int fd, int buffer, uint32_t *handle) {
  struct abi_prime_handle prime = {.fd = buffer};
  const int result = DRM_CALL(fd, ABI_PRIME_FD_TO_HANDLE, &prime);
  *handle = prime.handle;
  return result;
}

int drm_send_fd(int channel, int fd) {
  char byte = 0;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {.room = {0}};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control.room};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  return sendmsg(channel, &message, 0) == 1 ? 0 : -1;
}

int drm_receive_fd(int channel) {
  char byte;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {.room = {0}};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control.room};
  int fd = -1;
  if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message) != NULL)
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

int drm_submit(int fd, const struct drm_buffer *code, uint32_t at, const struct fake_shader *shader,
               const uint32_t *handles, uint32_t n, uint32_t in_sync, uint32_t out_sync) {
  struct abi_submit_csd csd = {.bo_handles = (uintptr_t)handles,
                               .n_bo_handles = n,
                               .in_sync = in_sync,
                               .out_sync = out_sync};
  if (shader != NULL)
    memcpy(code->map + at, shader, sizeof *shader);
  csd.cfg[5] = code->address + 4 * at;
  return drm_call(fd, ABI_REQUEST(0, ABI_V3D_SUBMIT_CSD, csd), &csd);
}

int drm_hold(int fd, const struct drm_buffer *code, uint32_t ms, uint32_t in_sync,
             uint32_t out_sync) {
  const uint32_t last = code->size / 4 - 1;
  const struct fake_shader hold = {
      .operation = FAKE_HOLD, .target = code->address + 4 * last, .value = ms};
  __atomic_store_n(&code->map[last], 0, __ATOMIC_RELEASE);
  return drm_submit(fd, code, 0, &hold, &code->handle, 1, in_sync, out_sync);
}

void drm_release(const struct drm_buffer *code) {
  __atomic_store_n(&code->map[code->size / 4 - 1], 1, __ATOMIC_RELEASE);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n) {
  memcpy(at, bytes, n);
  return at + n;
}

static uint8_t *put_surface(uint8_t *at, uint8_t code, uint32_t format, uint32_t stride,
                            uint32_t address) {
  const uint64_t word =
      (uint64_t)(address == 0 ? 8 : 0) | (uint64_t)format << 12 | (uint64_t)stride << 28;
  *at++ = code;
  at = put(at, &word, 8);
  return put(at, &address, 4);
}

void drm_write_rcl(const struct drm_buffer *buffer, const struct drm_rcl *rcl, uint32_t *start,
                   uint32_t *end) {
  uint8_t *const base = (uint8_t *)buffer->map;
  uint8_t *at = base;
  const uint32_t format = rcl->format != 0 ? rcl->format : 34;
  /* The tile list. */
  *at++ = 125;
  if (rcl->load != 0)
    at = put_surface(at, 30, format, rcl->load_stride, rcl->load);
  *at++ = 26;
  at = put(at, (const uint8_t[]){21, 0}, 2);
  at = put_surface(at, 29, format, rcl->store_stride, rcl->store);
  *at++ = 25;
  *at++ = 27;
  *at++ = 18;
  const uint32_t tile_end = buffer->address + (uint32_t)(at - base);
  /* The render list. */
  *start = tile_end;
  const uint16_t size[2] = {(uint16_t)rcl->width, (uint16_t)rcl->height};
  at = put(at, (const uint8_t[]){121, 0}, 2);
  at = put(at, size, 4);
  at = put(at, (const uint8_t[]){0, 0, 0}, 3);
  at = put(at, (const uint8_t[]){121, 2, 0, 0, 0}, 5);
  at = put(at, &rcl->clear_color, 4);
  at = put(at, (const uint8_t[]){122, 0, 0, 2, 1, 0, 0, 0, 0}, 9);
  at = put(at, (const uint8_t[]){124, 0, 0, 0, 26}, 5);
  at = put_surface(at, 29, 0, 0, 0);
  at = put(at, (const uint8_t[]){25, 27, 19, 20}, 4);
  at = put(at, &buffer->address, 4);
  at = put(at, &tile_end, 4);
  at = put(at, (const uint8_t[]){23, 0, 0, 23, 1, 0, 13}, 7);
  *end = buffer->address + (uint32_t)(at - base);
}

int drm_submit_cl(int fd, uint32_t start, uint32_t end, const uint32_t *handles, uint32_t n,
                  uint32_t in_sync, uint32_t out_sync) {
  struct abi_submit_cl cl = {.rcl_start = start,
                             .rcl_end = end,
                             .in_sync_rcl = in_sync,
                             .out_sync = out_sync,
                             .bo_handles = (uintptr_t)handles,
                             .n_bo_handles = n};
  return DRM_CALL(fd, ABI_V3D_SUBMIT_CL, &cl);
}
