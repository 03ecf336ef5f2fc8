/* SPDX-License-Identifier: BSD-2-Clause */
/* One client's socket in the server: messages in, messages out. */
#ifndef DAEDALUS_V3D_DEVICE_CONNECTION_H
#define DAEDALUS_V3D_DEVICE_CONNECTION_H

#include "call.h"
#include "server.h"

struct dev_connection {
  struct dev_connection *next;
  struct dev_server *server;
  int socket;
  /* Received. The message that is worked on stays in front until it is answered, but while it is
     pending more is received, for which all of it may move. */
  uint8_t *in;
  size_t have, room;
  uint32_t events; /* of epoll, that the server watches */
  bool waiting;    /* call will be answered later; until then but one header more is looked at */
  bool dead;       /* to be destroyed when the loop comes round */
  struct dev_call call;
};

/* Takes the socket over. NULL: no memory (the socket stays the caller's). */
struct dev_connection *dev_connection_create(struct dev_server *server, int socket);
void dev_connection_destroy(struct dev_connection *connection);

/* The socket has something to say (events of epoll). */
void dev_connection_event(struct dev_connection *connection, uint32_t events);

/* Answers a call that was pending, the one of a connection. */
void dev_connection_answer(struct dev_call *call, int result);

#endif
