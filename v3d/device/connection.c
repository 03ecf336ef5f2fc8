/* SPDX-License-Identifier: BSD-2-Clause */
#include "connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct dev_connection *dev_connection_create(struct dev_server *server, int socket) {
  struct dev_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL)
    return NULL;
  connection->server = server;
  connection->socket = socket;
  connection->call.device = &server->device;
  connection->call.fd_out = -1;
  connection->events = EPOLLIN; /* as the server watches it at first */
  return connection;
}

static void close_fd(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

void dev_connection_destroy(struct dev_connection *connection) {
  struct dev_device *device = &connection->server->device;
  dev_waits_cancel(device, &connection->call);
  close(connection->socket);
  wire_close(&connection->call.fds_in);
  close_fd(&connection->call.fd_out);
  free(connection->call.output);
  free(connection->in);
  free(connection);
  dev_sweep(device); /* its process may have ended */
}

static void die(struct dev_connection *connection, const char *why) {
  if (why != NULL)
    dev_report(&connection->server->device, "a client was disconnected: %s", why);
  connection->dead = true;
}

static void reply(struct dev_connection *connection, int result, bool with_argument) {
  struct dev_call *call = &connection->call;
  const size_t arg_bytes = with_argument && ABI_READS(call->code) ? sizeof call->arg : 0;
  struct wire_reply header = {.result = result,
                              .arg_bytes = (uint32_t)arg_bytes,
                              .n_segments = result < 0 ? 0 : call->n_outputs};
  const size_t output_bytes = result < 0 ? 0 : call->output_bytes;
  const size_t bytes = sizeof header + wire_padded(arg_bytes) + output_bytes;
  uint8_t small[512], *message = bytes <= sizeof small ? small : malloc(bytes);
  if (message == NULL) {
    die(connection, "no memory");
    return;
  }
  header.bytes = (uint32_t)bytes;
  memcpy(message, &header, sizeof header);
  memcpy(message + sizeof header, call->arg, arg_bytes);
  if (output_bytes > 0)
    memcpy(message + sizeof header + wire_padded(arg_bytes), call->output, output_bytes);
  const int error = wire_send(connection->socket, message, bytes, &call->fd_out, call->fd_out >= 0);
  if (message != small)
    free(message);
  if (error != 0) /* one that does not read its replies is not waited for */
    die(connection, error == -EPIPE || error == -ECONNRESET ? NULL : strerror(-error));
  /* The memory file is the device's; what was made for this reply has been sent. */
  if (call->fd_out != connection->server->device.memory.fd)
    close_fd(&call->fd_out);
  call->fd_out = -1;
  wire_close(&call->fds_in);
}

/* Cuts the message into argument and segments. False: it is not one. */
static bool parse(struct dev_call *call, const uint8_t *message) {
  struct wire_request request;
  memcpy(&request, message, sizeof request);
  size_t at = sizeof request;
  if (request.arg_bytes > request.bytes || wire_padded(request.arg_bytes) > request.bytes - at ||
      request.n_segments > WIRE_MAX_SEGMENTS)
    return false;
  /* A longer argument is one of a newer interface, whose new members count as absent. */
  memset(call->arg, 0, sizeof call->arg);
  memcpy(call->arg, message + at,
         request.arg_bytes < sizeof call->arg ? request.arg_bytes : sizeof call->arg);
  at += wire_padded(request.arg_bytes);
  call->code = request.code;
  call->n_segments = 0;
  call->n_outputs = 0;
  call->output_bytes = 0;
  for (uint32_t i = 0; i < request.n_segments; i++) {
    struct wire_segment segment;
    if (request.bytes - at < sizeof segment)
      return false;
    memcpy(&segment, message + at, sizeof segment);
    at += sizeof segment;
    if (wire_padded(segment.bytes) > request.bytes - at)
      return false;
    call->segments[call->n_segments++] = (struct dev_segment){
        .address = segment.address, .data = message + at, .bytes = segment.bytes};
    at += wire_padded(segment.bytes);
  }
  return at == request.bytes;
}

static void handle(struct dev_connection *connection, const struct wire_request *request) {
  struct dev_call *call = &connection->call;
  struct dev_device *device = &connection->server->device;
  int result;
  switch (request->kind) {
    case WIRE_HELLO:
      if (request->code != WIRE_VERSION) {
        die(connection, "its library is not of the same version as the server");
        return;
      }
      call->fd_out = device->memory.fd;
      reply(connection, 0, false);
      return;
    case WIRE_OPEN:
      if (device->lost) {
        reply(connection, -ENXIO, false);
        return;
      }
      dev_sweep(device); /* what was closed before is not kept for long */
      if (request->code & WIRE_OPEN_HEAP) {
        const struct wire_position heap = {.object = WIRE_HEAP};
        call->fd_out = dev_descriptor_open(device, heap, (int)request->code);
        result = call->fd_out < 0 ? call->fd_out : 0;
      } else {
        result = dev_client_open(device, (int)request->code, &call->fd_out);
      }
      if (result != 0)
        call->fd_out = -1;
      reply(connection, result, false);
      return;
    case WIRE_IOCTL:
      call->client = dev_client_of(device, request->client);
      device->calling = call->client;
      result = call->client == NULL && request->client != 0 ? -ENODEV : dev_ioctl(call);
      device->calling = NULL;
      connection->waiting = result == DEV_PENDING;
      if (connection->waiting)
        call->n_segments = 0; /* the bytes that they point at may move from now on */
      else
        reply(connection, result, true);
      return;
    case WIRE_INTERRUPT:
      return; /* what it was about has been answered */
    default:
      die(connection, "a request of unknown kind");
  }
}

/* Handles the messages that are there, until one is pending. */
static void handle_all(struct dev_connection *connection) {
  struct wire_request request;
  while (!connection->dead && !connection->waiting && connection->have >= sizeof request) {
    memcpy(&request, connection->in, sizeof request);
    if (request.bytes < sizeof request || request.bytes > WIRE_MAX || request.bytes % 8 != 0) {
      die(connection, "a request of impossible length");
      return;
    }
    if (connection->have < request.bytes)
      return;
    if (!parse(&connection->call, connection->in)) {
      die(connection, "a request that contradicts itself");
      return;
    }
    handle(connection, &request);
    if (connection->waiting)
      return;
    connection->have -= request.bytes;
    memmove(connection->in, connection->in + request.bytes, connection->have);
  }
}

/* What the connection has to be told of the socket from now on. */
static void set_events(struct dev_connection *connection, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = connection};
  if (connection->events == events)
    return;
  connection->events = events;
  if (epoll_ctl(connection->server->epoll, EPOLL_CTL_MOD, connection->socket, &event) != 0)
    die(connection, strerror(errno));
}

/* Answers the message that is pending. */
static void answer(struct dev_connection *connection, int result) {
  struct wire_request request;
  memcpy(&request, connection->in, sizeof request);
  connection->waiting = false;
  reply(connection, result, true);
  connection->have -= request.bytes;
  memmove(connection->in, connection->in + request.bytes, connection->have);
}

/* Whether the header of a request behind the pending one is there, which becomes *next. */
static bool has_next(const struct dev_connection *connection, struct wire_request *next) {
  struct wire_request pending;
  memcpy(&pending, connection->in, sizeof pending);
  if (connection->have - pending.bytes < sizeof *next)
    return false;
  memcpy(next, connection->in + pending.bytes, sizeof *next);
  return true;
}

/* Does what the messages that are there ask for. */
static void go_on(struct dev_connection *connection) {
  struct wire_request next;
  handle_all(connection);
  while (connection->waiting && has_next(connection, &next) && next.kind == WIRE_INTERRUPT) {
    answer(connection, dev_wait_interrupt(&connection->call));
    handle_all(connection);
  }
  const bool full = connection->waiting && has_next(connection, &next); /* its turn comes later */
  if (!connection->dead)
    set_events(connection, !connection->waiting ? EPOLLIN
                           : full               ? EPOLLRDHUP
                                                : EPOLLIN | EPOLLRDHUP);
}

void dev_connection_answer(struct dev_call *call, int result) {
  struct dev_connection *connection =
      (struct dev_connection *)((char *)call - offsetof(struct dev_connection, call));
  answer(connection, result);
  go_on(connection);
}

/* Room for the rest of the message that has begun, and at least for a small one. */
static bool make_room(struct dev_connection *connection) {
  enum { LEAST = 4096 };
  size_t needed = LEAST;
  if (connection->have >= sizeof(uint32_t)) {
    uint32_t bytes;
    memcpy(&bytes, connection->in, sizeof bytes);
    if (bytes > needed && bytes <= WIRE_MAX)
      needed = bytes;
  }
  if (needed < connection->have + 64)
    needed = connection->have + LEAST;
  if (needed <= connection->room)
    return true;
  uint8_t *in = realloc(connection->in, needed);
  if (in == NULL)
    return false;
  connection->in = in;
  connection->room = needed;
  return true;
}

void dev_connection_event(struct dev_connection *connection, uint32_t events) {
  if (connection->dead)
    return;
  if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
    die(connection, NULL);
    return;
  }
  if (!make_room(connection)) {
    die(connection, "no memory");
    return;
  }
  const long got = wire_receive(connection->socket, connection->in + connection->have,
                                connection->room - connection->have, &connection->call.fds_in);
  if (got == -EAGAIN || got == -EINTR)
    return;
  if (got <= 0) {
    die(connection, NULL);
    return;
  }
  connection->have += (size_t)got;
  go_on(connection);
}
