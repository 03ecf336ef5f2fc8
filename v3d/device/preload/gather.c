/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which memory each ioctl reads besides its argument.  What cannot be read is left out: the server
 * then answers EFAULT at the place where the kernel would.
 */
#include <string.h>

#include "../abi.h"
#include "../protocol.h"
#include "preload.h"

static void segment(struct preload_message *message, uint64_t address, uint64_t n, size_t size) {
  static const uint8_t zeros[8] = {0};
  if (address == 0 || n == 0 || n > WIRE_MAX / size || message->n_segments == WIRE_MAX_SEGMENTS)
    return;
  const size_t bytes = (size_t)n * size, padded = wire_padded(bytes);
  if (message->bytes + padded + sizeof(struct wire_segment) > WIRE_MAX)
    return;
  const size_t before = message->bytes;
  const struct wire_segment header = {.address = address, .bytes = (uint32_t)bytes};
  preload_append(message, &header, sizeof header);
  const size_t at = message->bytes;
  preload_append(message, NULL, bytes);
  preload_append(message, zeros, padded - bytes);
  if (message->failed || !preload_copy_in(message->data + at, address, bytes))
    message->bytes = before;
  else
    message->n_segments++;
}

static void gather_multi_sync(struct preload_message *message, uint64_t address) {
  struct abi_multi_sync multi;
  segment(message, address, 1, sizeof multi);
  if (!preload_copy_in(&multi, address, sizeof multi))
    return;
  segment(message, multi.in_syncs, multi.n_in_syncs, sizeof(struct abi_sem));
  segment(message, multi.out_syncs, multi.n_out_syncs, sizeof(struct abi_sem));
}

static void gather_indirect(struct preload_message *message, uint64_t address) {
  struct abi_indirect_csd indirect;
  segment(message, address, 1, sizeof indirect);
  if (preload_copy_in(&indirect, address, sizeof indirect))
    segment(message, indirect.submit.bo_handles, indirect.submit.n_bo_handles, sizeof(uint32_t));
}

static void gather_timestamp(struct preload_message *message, uint64_t address) {
  struct abi_timestamp stamp;
  segment(message, address, 1, sizeof stamp);
  if (!preload_copy_in(&stamp, address, sizeof stamp))
    return;
  segment(message, stamp.offsets, stamp.count, sizeof(uint32_t));
  segment(message, stamp.syncs, stamp.count, sizeof(uint32_t));
}

static void gather_reset(struct preload_message *message, uint64_t address) {
  struct abi_reset_timestamp reset;
  segment(message, address, 1, sizeof reset);
  if (preload_copy_in(&reset, address, sizeof reset))
    segment(message, reset.syncs, reset.count, sizeof(uint32_t));
}

static void gather_copy(struct preload_message *message, uint64_t address) {
  struct abi_copy_timestamp copy;
  segment(message, address, 1, sizeof copy);
  if (!preload_copy_in(&copy, address, sizeof copy))
    return;
  segment(message, copy.offsets, copy.count, sizeof(uint32_t));
  segment(message, copy.syncs, copy.count, sizeof(uint32_t));
}

/* The arrays of monitors' numbers, by an array of pointers to them. */
static void gather_monitors(struct preload_message *message, uint64_t syncs, uint64_t lists,
                            uint32_t count, uint32_t n_monitors) {
  segment(message, syncs, count, sizeof(uint32_t));
  segment(message, lists, count, sizeof(uint64_t));
  for (uint32_t i = 0; i < count && message->n_segments < WIRE_MAX_SEGMENTS; i++) {
    uint64_t list;
    if (!preload_copy_in(&list, lists + i * sizeof list, sizeof list))
      return;
    segment(message, list, n_monitors, sizeof(uint32_t));
  }
}

static void gather_reset_performance(struct preload_message *message, uint64_t address) {
  struct abi_reset_performance reset;
  segment(message, address, 1, sizeof reset);
  if (preload_copy_in(&reset, address, sizeof reset))
    gather_monitors(message, reset.syncs, reset.monitors, reset.count, reset.n_monitors);
}

static void gather_copy_performance(struct preload_message *message, uint64_t address) {
  struct abi_copy_performance copy;
  segment(message, address, 1, sizeof copy);
  if (preload_copy_in(&copy, address, sizeof copy))
    gather_monitors(message, copy.syncs, copy.monitors, copy.count, copy.n_monitors);
}

static void gather_extensions(struct preload_message *message, uint64_t address) {
  enum { MAX_EXTENSIONS = 17 }; /* one more than the server takes */
  struct abi_extension extension;
  for (int i = 0; address != 0 && i < MAX_EXTENSIONS; i++, address = extension.next) {
    if (!preload_copy_in(&extension, address, sizeof extension))
      return;
    switch (extension.id) {
      case ABI_EXT_MULTI_SYNC:
        gather_multi_sync(message, address);
        break;
      case ABI_EXT_INDIRECT_CSD:
        gather_indirect(message, address);
        break;
      case ABI_EXT_TIMESTAMP:
        gather_timestamp(message, address);
        break;
      case ABI_EXT_RESET_TIMESTAMP:
        gather_reset(message, address);
        break;
      case ABI_EXT_COPY_TIMESTAMP:
        gather_copy(message, address);
        break;
      case ABI_EXT_RESET_PERFORMANCE:
        gather_reset_performance(message, address);
        break;
      case ABI_EXT_COPY_PERFORMANCE:
        gather_copy_performance(message, address);
        break;
      default:
        segment(message, address, 1, sizeof extension);
    }
  }
}

void preload_gather(struct preload_message *message, uint32_t code, const uint8_t *arg) {
  union {
    struct abi_submit_cl cl;
    struct abi_submit_csd csd;
    struct abi_submit_cpu cpu;
    struct abi_submit_tfu tfu;
    struct abi_syncobj_wait wait;
    struct abi_syncobj_array array;
  } as;
  memcpy(&as, arg, sizeof as);
  switch (ABI_NR(code)) {
    case ABI_V3D_SUBMIT_CL:
      segment(message, as.cl.bo_handles, as.cl.n_bo_handles, sizeof(uint32_t));
      if (as.cl.flags & ABI_SUBMIT_EXTENSION)
        gather_extensions(message, as.cl.extensions);
      break;
    case ABI_V3D_SUBMIT_CSD:
      segment(message, as.csd.bo_handles, as.csd.n_bo_handles, sizeof(uint32_t));
      if (as.csd.flags & ABI_SUBMIT_EXTENSION)
        gather_extensions(message, as.csd.extensions);
      break;
    case ABI_V3D_SUBMIT_TFU:
      if (as.tfu.flags & ABI_SUBMIT_EXTENSION)
        gather_extensions(message, as.tfu.extensions);
      break;
    case ABI_V3D_SUBMIT_CPU:
      segment(message, as.cpu.bo_handles, as.cpu.n_bo_handles, sizeof(uint32_t));
      if (as.cpu.flags & ABI_SUBMIT_EXTENSION)
        gather_extensions(message, as.cpu.extensions);
      break;
    case ABI_SYNCOBJ_WAIT:
      segment(message, as.wait.handles, as.wait.n_handles, sizeof(uint32_t));
      break;
    case ABI_SYNCOBJ_RESET:
    case ABI_SYNCOBJ_SIGNAL:
      segment(message, as.array.handles, as.array.n_handles, sizeof(uint32_t));
      break;
    default:
      break;
  }
}
