/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of a v3d node for tests, as a client without libdrm makes them. */
#ifndef DAEDALUS_TESTS_V3D_DRM_CLIENT_H
#define DAEDALUS_TESTS_V3D_DRM_CLIENT_H

#include <stdint.h>

#include "abi.h"
#include "fake_device.h"

/* ioctl() on the node; returns 0 or a negative errno. */
int drm_call(int fd, uint32_t code, void *arg);

#define DRM_CALL(fd, nr, arg) drm_call(fd, ABI_REQUEST(1, nr, *(arg)), arg)

struct drm_buffer {
  uint32_t handle, address, size;
  uint32_t *map;
};

int drm_open(void);
int drm_create(int fd, uint32_t size, struct drm_buffer *buffer); /* mapped */
void drm_destroy(int fd, struct drm_buffer *buffer);
uint32_t drm_syncobj(int fd, uint32_t flags);
/* timeout relative, ns; < 0: for ever. */
int drm_syncobj_wait(int fd, const uint32_t *handles, uint32_t n, uint32_t flags,
                     int64_t timeout_ns, uint32_t *first);
int64_t drm_now_ns(void);
int drm_wait_bo(int fd, uint32_t handle, uint64_t timeout_ns);
/* The PRIME ioctls; flags: O_CLOEXEC, O_RDWR. */
int drm_export(int fd, uint32_t handle, uint32_t flags, int *buffer);
int drm_import(int fd, int buffer, uint32_t *handle);
/* Over a unix socket; 0, and a descriptor, or -1. */
int drm_send_fd(int channel, int fd);
int drm_receive_fd(int channel);
/* Puts the shader into the code buffer at a word and submits it; handles: those used. */
int drm_submit(int fd, const struct drm_buffer *code, uint32_t at, const struct fake_shader *shader,
               const uint32_t *handles, uint32_t n, uint32_t in_sync, uint32_t out_sync);
/**
 * A job that is on its way until drm_release, and ms milliseconds more: at the beginning of code,
 * whose last word tells.
 */
int drm_hold(int fd, const struct drm_buffer *code, uint32_t ms, uint32_t in_sync,
             uint32_t out_sync);
void drm_release(const struct drm_buffer *code);

/* A render list for a frame of pixels of 4 bytes; 0 for what is not there. */
struct drm_rcl {
  uint32_t width, height;
  uint32_t load, load_stride, store, store_stride; /* addresses, bytes */
  uint32_t clear_color;
  uint32_t format; /* 34 rgba8ui, 35 rg8ui, 36 r8ui */
};

/* Writes it to a buffer; the list is [address, *end). */
void drm_write_rcl(const struct drm_buffer *buffer, const struct drm_rcl *rcl, uint32_t *start,
                   uint32_t *end);
int drm_submit_cl(int fd, uint32_t start, uint32_t end, const uint32_t *handles, uint32_t n,
                  uint32_t in_sync, uint32_t out_sync);

#endif
