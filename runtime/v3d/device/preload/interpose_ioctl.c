/* SPDX-License-Identifier: BSD-2-Clause */
/* ioctl of libc. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "../abi.h"
#include "../protocol.h"
#include "preload.h"

static int real_ioctl(int fd, unsigned long request, void *arg) {
  static int (*real)(int, unsigned long, ...);
  int (*function)(int, unsigned long, ...) = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (function == NULL) {
    *(void **)&function = dlsym(RTLD_NEXT, "ioctl");
    __atomic_store_n(&real, function, __ATOMIC_RELAXED);
  }
  if (function == NULL) {
    errno = ENOSYS;
    return -1;
  }
  return function(fd, request, arg);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Writes back what a reply carries: the argument, then the segments. */
static int deliver(const struct preload_message *message, uint32_t code, uint64_t user_arg) {
  struct wire_reply reply;
  memcpy(&reply, message->data, sizeof reply);
  size_t at = sizeof reply;
  const size_t arg_bytes = ABI_SIZE(code) < reply.arg_bytes ? ABI_SIZE(code) : reply.arg_bytes;
  if (wire_padded(reply.arg_bytes) > reply.bytes - at)
    return -EPROTO;
  if (ABI_READS(code) && !preload_copy_out(user_arg, message->data + at, arg_bytes))
    return -EFAULT;
  at += wire_padded(reply.arg_bytes);
  for (uint32_t i = 0; i < reply.n_segments; i++) {
    struct wire_segment segment;
    if (reply.bytes - at < sizeof segment)
      return -EPROTO;
    memcpy(&segment, message->data + at, sizeof segment);
    at += sizeof segment;
    if (wire_padded(segment.bytes) > reply.bytes - at)
      return -EPROTO;
    if (!preload_copy_out(segment.address, message->data + at, segment.bytes))
      return -EFAULT;
    at += wire_padded(segment.bytes);
  }
  return reply.result;
}

/* As the kernel, gives back what is left of a relative time when a signal came. */
static void shorten_wait(uint64_t user_arg, uint64_t started_ns) {
  struct abi_wait_bo wait;
  if (!preload_copy_in(&wait, user_arg, sizeof wait))
    return;
  const uint64_t waited = now_ns() - started_ns;
  wait.timeout_ns = waited > wait.timeout_ns ? 0 : wait.timeout_ns - waited;
  preload_copy_out(user_arg, &wait, sizeof wait);
}

static int device_ioctl(uint32_t client, uint32_t code, uint64_t user_arg) {
  uint8_t arg[ABI_MAX_ARGUMENT] = {0};
  const size_t size = ABI_SIZE(code) < sizeof arg ? ABI_SIZE(code) : sizeof arg;
  if (ABI_WRITES(code) && !preload_copy_in(arg, user_arg, size))
    return -EFAULT;
  struct preload_message *message = preload_message();
  if (message == NULL)
    return -ENOMEM;
  const bool waits_for_bo = ABI_NR(code) == ABI_V3D_WAIT_BO;
  const bool waits = waits_for_bo || ABI_NR(code) == ABI_SYNCOBJ_WAIT;
  const uint64_t started = waits_for_bo ? now_ns() : 0;
  preload_append(message, arg, sizeof arg);
  preload_gather(message, code, arg);
  const int result = preload_transact(client, code, sizeof arg, waits);
  if (result == -EINTR && waits_for_bo)
    shorten_wait(user_arg, started);
  return result != 0 ? result : deliver(message, code, user_arg);
}

PRELOAD_INTERPOSED int ioctl(int fd, unsigned long request, ...);

int ioctl(int fd, unsigned long request, ...) {
  va_list values;
  va_start(values, request);
  void *arg = va_arg(values, void *);
  va_end(values);
  const uint32_t code = (uint32_t)request;
  const uint32_t client = ABI_TYPE_OF(code) == ABI_TYPE ? preload_client_of(fd) : 0;
  if (client == 0)
    return real_ioctl(fd, request, arg);
  const int result = device_ioctl(client, code, (uintptr_t)arg);
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}
