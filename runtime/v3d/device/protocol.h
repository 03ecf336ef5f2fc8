/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the preloaded library and the server say to each other over a stream socket: one request,
 * one reply, never two requests under way on a connection.
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

enum { WIRE_VERSION = 1 };

/* Longest message, bytes: 100,000 buffer handles and as many semaphores fit. */
enum { WIRE_MAX = 8 << 20, WIRE_MAX_SEGMENTS = 64 };

enum wire_kind {
  WIRE_HELLO = 1, /* code: WIRE_VERSION. Replies 0 with the descriptor of the memory file. */
  WIRE_OPEN = 2,  /* a node was opened. Replies with a client number > 0, which lives as long as
                     this connection; -ENXIO: the device is lost. */
  WIRE_IOCTL = 3  /* code: the 32 bits of the ioctl. */
};

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

/**
 * Sends all of a message; fd (or -1) goes with its first byte and stays the caller's.
 * Returns 0 or a negative errno. Blocks on a blocking socket; on another one -EAGAIN means that
 * the connection is of no use any more.
 */
int wire_send(int socket, const void *message, size_t bytes, int fd);

/**
 * Receives up to bytes of a message. *fd is set when a descriptor came with them (the caller's;
 * closed on exec; *fd must be -1 or a descriptor, which a further one replaces). Returns bytes
 * received, 0 at the end, or a negative errno.
 */
long wire_receive(int socket, void *message, size_t bytes, int *fd);

/* Fills an address of a unix socket. False when the path is empty or too long. */
struct sockaddr_un;
bool wire_address(struct sockaddr_un *address, const char *path);

#endif
