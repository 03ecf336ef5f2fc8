/* SPDX-License-Identifier: BSD-2-Clause */
/* ioctl of libc. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "../abi.h"
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

/* Descriptors in arguments: where, and which way. */
static const struct {
  char type;
  uint8_t nr;
  bool out;
  uint8_t at;       /* byte of the argument */
  uint8_t flags_at; /* of a word whose O_CLOEXEC counts; 0: always closed on exec */
} descriptors[] = {
    {ABI_TYPE, ABI_PRIME_HANDLE_TO_FD, true, offsetof(struct abi_prime_handle, fd),
     offsetof(struct abi_prime_handle, flags)},
    {ABI_TYPE, ABI_PRIME_FD_TO_HANDLE, false, offsetof(struct abi_prime_handle, fd), 0},
    {ABI_TYPE, ABI_SYNCOBJ_HANDLE_TO_FD, true, offsetof(struct abi_syncobj_handle, fd), 0},
    {ABI_TYPE, ABI_SYNCOBJ_FD_TO_HANDLE, false, offsetof(struct abi_syncobj_handle, fd), 0},
    {ABI_TYPE_SYNC_FILE, ABI_SYNC_MERGE, false, offsetof(struct abi_sync_merge, other), 0},
    {ABI_TYPE_SYNC_FILE, ABI_SYNC_MERGE, true, offsetof(struct abi_sync_merge, fd), 0},
    {ABI_TYPE_DMA_HEAP, ABI_DMA_HEAP_ALLOC, true, offsetof(struct abi_dma_heap_alloc, fd),
     offsetof(struct abi_dma_heap_alloc, fd_flags)},
    {ABI_TYPE_DMA_BUF, ABI_DMA_BUF_EXPORT_SYNC_FILE, true,
     offsetof(struct abi_dma_buf_sync_file, fd), 0},
    {ABI_TYPE_DMA_BUF, ABI_DMA_BUF_IMPORT_SYNC_FILE, false,
     offsetof(struct abi_dma_buf_sync_file, fd), 0},
};

static int word_at(const uint8_t *arg, size_t at) {
  int word;
  memcpy(&word, arg + at, sizeof word);
  return word;
}

static bool carries(size_t i, uint32_t code, bool out) {
  return descriptors[i].out == out && descriptors[i].nr == ABI_NR(code) &&
         (uint32_t)descriptors[i].type == ABI_TYPE_OF(code);
}

/* What the argument names goes along, if it is open. */
static void take_descriptor(struct preload_call *call, const uint8_t *arg) {
  for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++) {
    if (!carries(i, call->code, false))
      continue;
    const int fd = word_at(arg, descriptors[i].at);
    if (fcntl(fd, F_GETFD) >= 0)
      call->fd[call->n_fds++] = fd;
  }
}

/* Puts what has been received into the argument. */
static int put_descriptor(uint32_t code, uint8_t *arg, const struct wire_fds *received) {
  for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++) {
    if (!carries(i, code, true))
      continue;
    if (received->n == 0)
      return -EMFILE; /* it could not be received */
    const size_t flags_at = descriptors[i].flags_at;
    if (flags_at != 0 && !(word_at(arg, flags_at) & O_CLOEXEC))
      fcntl(received->fd[0], F_SETFD, 0);
    memcpy(arg + descriptors[i].at, &received->fd[0], sizeof received->fd[0]);
  }
  return 0;
}

/* Writes back what a reply carries: the argument, then the segments. */
static int deliver(const struct preload_message *message, uint32_t code, uint64_t user_arg,
                   struct wire_fds *received) {
  struct wire_reply reply;
  memcpy(&reply, message->data, sizeof reply);
  size_t at = sizeof reply;
  const size_t arg_bytes = ABI_SIZE(code) < reply.arg_bytes ? ABI_SIZE(code) : reply.arg_bytes;
  if (wire_padded(reply.arg_bytes) > reply.bytes - at)
    return -EPROTO;
  if (reply.result >= 0) {
    const int result = put_descriptor(code, message->data + at, received);
    if (result != 0)
      return result;
  }
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
  received->n = 0; /* the program's now */
  return reply.result;
}

static bool waits(uint32_t code) {
  if (ABI_TYPE_OF(code) == ABI_TYPE_DMA_BUF)
    return ABI_NR(code) == ABI_DMA_BUF_SYNC;
  return ABI_TYPE_OF(code) == ABI_TYPE &&
         (ABI_NR(code) == ABI_V3D_WAIT_BO || ABI_NR(code) == ABI_SYNCOBJ_WAIT);
}

/* Of a node's client, or with 0 of another descriptor of the device's. */
static int device_ioctl(uint32_t client, int fd, uint32_t code, uint64_t user_arg) {
  uint8_t arg[ABI_MAX_ARGUMENT] = {0};
  const size_t size = ABI_SIZE(code) < sizeof arg ? ABI_SIZE(code) : sizeof arg;
  if (ABI_WRITES(code) && !preload_copy_in(arg, user_arg, size))
    return -EFAULT;
  struct preload_message *message = preload_message();
  if (message == NULL)
    return -ENOMEM;
  preload_append(message, arg, sizeof arg);
  if (client != 0)
    preload_gather(message, code, arg);
  struct preload_call call = {
      .client = client, .code = code, .arg_bytes = sizeof arg, .may_interrupt = waits(code)};
  struct wire_fds received = {.n = 0};
  if (client == 0)
    call.fd[call.n_fds++] = fd;
  take_descriptor(&call, arg);
  int result = preload_transact(&call, &received);
  if (result == 0)
    result = deliver(message, code, user_arg, &received);
  wire_close(&received); /* what could not be delivered */
  return result;
}

/* Whether the ioctl is one on a descriptor of the device's. */
static bool is_ours(int fd, uint32_t code, uint32_t *client) {
  *client = 0;
  switch (ABI_TYPE_OF(code)) {
    case ABI_TYPE:
      *client = preload_client_of(fd);
      return *client != 0;
    case ABI_TYPE_DMA_HEAP:
      return preload_object_of(fd).object == WIRE_HEAP;
    case ABI_TYPE_DMA_BUF:
      return preload_object_of(fd).object == WIRE_BUFFER;
    case ABI_TYPE_SYNC_FILE:
      return preload_may_be_sync_file(fd);
    default:
      return false;
  }
}

PRELOAD_INTERPOSED int ioctl(int fd, unsigned long request, ...);

int ioctl(int fd, unsigned long request, ...) {
  va_list values;
  va_start(values, request);
  void *arg = va_arg(values, void *);
  va_end(values);
  const uint32_t code = (uint32_t)request;
  uint32_t client;
  const int before = errno;
  if (!is_ours(fd, code, &client))
    return real_ioctl(fd, request, arg);
  const int result = device_ioctl(client, fd, code, (uintptr_t)arg);
  if (result == -ENOTTY && client == 0) { /* any pipe might have been a sync file */
    errno = before;
    return real_ioctl(fd, request, arg);
  }
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}
