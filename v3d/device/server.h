/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop that serves clients over a unix socket. */
#ifndef DAEDALUS_V3D_DEVICE_SERVER_H
#define DAEDALUS_V3D_DEVICE_SERVER_H

#include "device.h"

struct dev_connection;

struct dev_server {
  struct dev_device device;
  int epoll, listener;
  int spare; /* descriptor to give up when there are no more, so as to turn clients away */
  struct dev_connection *connections;
  uint64_t sweep_ns; /* when to look once more what is still open; 0: no need */
  bool stop;         /* set by on_event: dev_server_loop returns */
  /* A descriptor of the caller's, which the loop watches as well; -1: none. */
  int event_fd;
  void (*on_event)(struct dev_server *server);
  void *self; /* the caller's */
};

/**
 * Begins to listen at path, a name that must not exist yet.  Returns 0 or a negative errno with
 * what was tried in *what. In both cases dev_server_destroy is to be called.
 */
int dev_server_init(struct dev_server *server, const char *path,
                    const daedalus_v3d_executor *executor, const daedalus_v3d_profile *profile,
                    uint64_t memory_limit, const char **what);

/**
 * Serves until server->stop. Returns 0 or a negative errno.  The process must ignore SIGPIPE: a
 * sync file may be signaled that nobody reads any more.
 */
int dev_server_loop(struct dev_server *server);

/* Closes all connections, stops running jobs; the socket's name is the caller's to remove. */
void dev_server_destroy(struct dev_server *server);

/* Takes a connected stream socket as a client; for tests. Returns 0 or a negative errno. */
int dev_server_adopt(struct dev_server *server, int socket);

#endif
