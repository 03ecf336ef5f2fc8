/* SPDX-License-Identifier: BSD-2-Clause */
/* One ioctl of a client, while the simulated kernel works on it. */
#ifndef DAEDALUS_V3D_DEVICE_CALL_H
#define DAEDALUS_V3D_DEVICE_CALL_H

#include "abi.h"
#include "device.h"
#include "protocol.h"

/* Returned by a call that will be answered later; no errno has this value. */
enum { DEV_PENDING = -100000 };

struct dev_segment {
  uint64_t address;
  const uint8_t *data;
  uint32_t bytes;
};

struct dev_call {
  struct dev_device *device;
  struct dev_client *client; /* NULL: the descriptor is no node's */
  uint32_t code;             /* the ioctl */
  /* The argument, zero beyond what the client gave. */
  union {
    uint8_t arg[ABI_MAX_ARGUMENT];
    uint64_t align;
  };
  /* User memory that came with the call; borrowed from its message, and gone once it is pending. */
  struct dev_segment segments[WIRE_MAX_SEGMENTS];
  size_t n_segments;
  /* Segments for the client to write, in wire form. */
  uint8_t *output;
  size_t output_bytes, output_room;
  uint32_t n_outputs;
  /* The absolute timeout that came last, and what that is by the waits' clock: see dev_wait. */
  uint64_t timeout_ns, timeout_clock_ns, timeout_begun_ns;
  /* What the call looks like that goes on with a wait which a signal ended. */
  uint32_t again_client, again_code;
  uint8_t again_arg[ABI_MAX_ARGUMENT];
  bool goes_on; /* it is that call, and this is the time of the wait */
  uint64_t goes_on_deadline_ns, goes_on_begun_ns;
  struct wire_fds fds_in; /* descriptors that came with the call; the connection closes them */
  int fd_out;             /* descriptor for the client, or -1; closed once sent */
};

/* Copies bytes of the client's memory at address; -EFAULT when they did not come along. */
int dev_user_read(const struct dev_call *call, uint64_t address, void *to, size_t bytes);

/* As dev_user_read into new memory (free), n items of a size; *array is NULL when n is 0. */
int dev_user_array(const struct dev_call *call, uint64_t address, size_t n, size_t size,
                   void *array);

/* Has bytes written to the client's memory at address when the call returns. */
int dev_user_write(struct dev_call *call, uint64_t address, const void *from, size_t bytes);

/* Does the ioctl call->code. */
int dev_ioctl(struct dev_call *call);

/* Prints that this device does not carry what was asked for; returns error. */
int dev_refuse(struct dev_call *call, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The ioctls, one a function. Each finds its argument in call->arg. */
#define DEV_DECLARE(id, number, name) int dev_ioctl_##name(struct dev_call *call);
ABI_IOCTLS(DEV_DECLARE)
#undef DEV_DECLARE

/* Those of descriptors that are no node's, which came along first; there is no client. */
int dev_ioctl_of_sync_file(struct dev_call *call);
int dev_ioctl_of_dma_buf(struct dev_call *call);
int dev_ioctl_of_dma_heap(struct dev_call *call);

#endif
