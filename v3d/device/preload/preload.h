/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The preloaded library: makes opens of a v3d node open the simulated device, and carries the
 * ioctls on it to the server whose socket DAEDALUS_V3D_SOCKET names.
 *
 * A descriptor of the device is an open file description of the device's memory file, so that
 * mmap of a node works by itself; its file position says what it stands for (protocol.h), which
 * dup, fork and passing descriptors keep.
 */
#ifndef DAEDALUS_V3D_DEVICE_PRELOAD_H
#define DAEDALUS_V3D_DEVICE_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../protocol.h"

#define PRELOAD_INTERPOSED __attribute__((visibility("default")))

/* -- connection.c -- */

enum preload_path { PRELOAD_OTHER, PRELOAD_NODE, PRELOAD_HEAP };

/* What a path is of the device's. */
enum preload_path preload_path_of(const char *path);
#define PRELOAD_CARD "/dev/dri/card0"
#define PRELOAD_RENDER "/dev/dri/renderD128"

/* Opens it with flags of open(). Returns a descriptor, or -1 with errno. */
int preload_open(enum preload_path path, int flags);

/* lseek, which the library interposes itself. */
off_t preload_real_lseek(int fd, off_t offset, int whence);
/* What a descriptor stands for; WIRE_NOTHING: it is none of the device's. Keeps errno. */
struct wire_position preload_object_of(int fd);
/* Whether it is a pipe, while there is a server that could have made it. Keeps errno. */
bool preload_may_be_sync_file(int fd);
/* The client, if it is a node's; else 0. */
uint32_t preload_client_of(int fd);

/* Moves a descriptor out of the way of programs that count on the lowest numbers. */
int preload_move_up(int fd);

/* A message to the server, as it grows. */
struct preload_message {
  uint8_t *data;
  size_t bytes, room;
  uint32_t n_segments;
  bool failed; /* no memory */
};

void preload_append(struct preload_message *message, const void *data, size_t bytes);

/* This thread's message, empty but for the room of the request's header. NULL: no memory. */
struct preload_message *preload_message(void);

struct preload_call {
  uint32_t client, code, arg_bytes;
  bool may_interrupt;
  int fd[WIRE_MAX_FDS]; /* that the argument names */
  unsigned n_fds;
};

/**
 * Sends this thread's message as an ioctl and receives the reply, over it, and the descriptors
 * that it brings into *received, which is empty before. Returns a negative errno when there was no
 * reply.
 */
int preload_transact(const struct preload_call *call, struct wire_fds *received);

/* -- usercopy.c: memory that the program named, which may not be there. -- */

/* Whether all bytes could be copied. Keep errno. */
bool preload_copy_in(void *to, uint64_t user_address, size_t bytes);
bool preload_copy_out(uint64_t user_address, const void *from, size_t bytes);
void preload_usercopy_before_fork(void);
void preload_usercopy_after_fork(bool in_child);
/* The descriptors in use have been closed by the program, and may be something else by now. */
void preload_usercopy_forget(void);

/* -- interpose_page.c -- */

/* Bytes of a page as programs are to see it, where that is not the system's; else -1. */
long preload_page(void);

/* -- gather.c -- */

/* Appends what the argument (zero-extended) of ioctl code points at. */
void preload_gather(struct preload_message *message, uint32_t code, const uint8_t *arg);

#endif
