/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the preloaded library and the server say to each other over a stream socket: one request,
 * one reply, never two requests under way on a connection.  The one that has no reply of its own,
 * WIRE_INTERRUPT, is about the ioctl that is under way.
 *
 * A request carries the ioctl's argument as the client gave it, pointers included, and a copy of
 * the memory that they point at, as segments of {user address, bytes}.  The server reads user
 * memory through these segments, so that it needs to know nothing of how they were collected.  A
 * reply carries the argument back, and segments to be written.
 *
 * Both sides run on one host, so that numbers are in its byte order; the lengths are checked by
 * whoever receives.
 */
#ifndef DAEDALUS_V3D_DEVICE_PROTOCOL_H
#define DAEDALUS_V3D_DEVICE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_VERSION = 3 };

/* Longest message, bytes: 100,000 buffer handles and as many semaphores fit. */
enum { WIRE_MAX = 8 << 20, WIRE_MAX_SEGMENTS = 512, WIRE_MAX_FDS = 2 };

/* Of the memory file: all of the GPU's address space. */
#define WIRE_MEMORY_BYTES (UINT64_C(1) << 32)

enum wire_kind {
  WIRE_HELLO = 1, /* code: WIRE_VERSION. Replies 0 with the descriptor of the memory file. */
  WIRE_OPEN = 2,  /* a node is opened; code: the access mode, and perhaps WIRE_OPEN_HEAP. Replies 0
                     with its descriptor; -ENXIO: the device is lost. */
  WIRE_IOCTL = 3, /* code: the 32 bits of the ioctl; client 0 for one on no node. Descriptors that
                     the argument names go along, in order; so do those that it returns. */
  WIRE_INTERRUPT =
      4 /* a signal came: the wait under way is answered with -EINTR and what is left of
           its time. Nothing where it has been answered already; that reply counts. */
};

enum { WIRE_OPEN_HEAP = 4 }; /* beside the access mode: it is that of a dma-heap */

/*
 * Descriptors of nodes, exported buffers and exported syncobjs are open file descriptions of the
 * memory file that the server opened, one an object.  The position says which object it is, and
 * the byte at that position is locked by the description (F_OFD_SETLK): what holds the lock holds
 * the object, so that the server can ask for the last close without being told of it.
 */
enum wire_object { WIRE_NOTHING, WIRE_NODE, WIRE_BUFFER, WIRE_SYNCOBJ, WIRE_HEAP };

struct wire_position {
  enum wire_object object;
  uint32_t number; /* of the client or syncobj; a buffer's address; 0 of heaps, which are all one */
  uint32_t bytes;  /* of a buffer */
};

static inline int64_t wire_position_pack(struct wire_position p) {
  /* Addresses and sizes of buffers are multiples of 4096: 20 bits each. */
  const int64_t low = p.object == WIRE_BUFFER
                          ? (int64_t)(p.number >> 12) << 20 | (int64_t)(p.bytes >> 12)
                          : (int64_t)p.number;
  return (int64_t)p.object << 56 | low;
}

static inline struct wire_position wire_position_unpack(int64_t position) {
  struct wire_position p = {.object = WIRE_NOTHING};
  const int64_t object = position >> 56, low = position & ((INT64_C(1) << 56) - 1);
  if (object == WIRE_BUFFER) {
    p.object = WIRE_BUFFER;
    p.number = (uint32_t)(low >> 20) << 12;
    p.bytes = (uint32_t)(low & 0xfffff) << 12;
  } else if (object == WIRE_NODE || object == WIRE_SYNCOBJ || object == WIRE_HEAP) {
    p.object = (enum wire_object)object;
    p.number = (uint32_t)low;
  }
  return p;
}

struct wire_request {
  uint32_t bytes; /* of the message, this header included; a multiple of 8 */
  uint32_t kind;
  uint32_t client;
  uint32_t code;
  uint32_t arg_bytes;
  uint32_t n_segments;
};

struct wire_reply {
  uint32_t bytes;
  int32_t result; /* >= 0, or a negative errno */
  uint32_t arg_bytes;
  uint32_t n_segments;
};

/* The argument and each segment's data are padded to a multiple of 8. */
struct wire_segment {
  uint64_t address;
  uint32_t bytes;
  uint32_t reserved;
};

static inline size_t wire_padded(size_t bytes) {
  return (bytes + 7) & ~(size_t)7;
}

/* Descriptors that came with a message, the receiver's to close. */
struct wire_fds {
  int fd[WIRE_MAX_FDS];
  unsigned n;
};

void wire_close(struct wire_fds *fds);

/**
 * Sends all of a message; the n descriptors (at most WIRE_MAX_FDS) go with its first byte and stay
 * the caller's. Returns 0 or a negative errno. Blocks on a blocking socket; on another one -EAGAIN
 * means that the connection is of no use any more.
 */
int wire_send(int socket, const void *message, size_t bytes, const int *fd, unsigned n);

/**
 * Receives up to bytes of a message. Descriptors that came with them are added to *fds (closed on
 * exec); those for which there is no room are closed. Returns bytes received, 0 at the end, or a
 * negative errno.
 */
long wire_receive(int socket, void *message, size_t bytes, struct wire_fds *fds);

/* Fills an address of a unix socket. False when the path is empty or too long. */
struct sockaddr_un;
bool wire_address(struct sockaddr_un *address, const char *path);

#endif
