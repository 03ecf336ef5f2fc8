/* SPDX-License-Identifier: BSD-2-Clause */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "connection.h"

/* What an epoll event is about: a connection, or one of these addresses. */
static char listener_tag, done_tag, event_tag;

static int watch(const struct dev_server *server, int fd, void *tag) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};
  return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

int dev_server_init(struct dev_server *server, const char *path,
                    const daedalus_v3d_executor *executor, const daedalus_v3d_profile *profile,
                    uint64_t memory_limit, const char **what) {
  *server = (struct dev_server){.epoll = -1, .listener = -1, .spare = -1, .event_fd = -1};
  *what = "device memory or threads";
  int result = dev_device_init(&server->device, executor, profile, memory_limit);
  if (result != 0)
    return result;
  server->device.answer = dev_connection_answer;
  *what = "locks of open file descriptions (F_OFD_SETLK, Linux 3.15), or /proc";
  result = dev_descriptors_check(&server->device);
  if (result != 0)
    return result;
  *what = "epoll";
  server->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (server->epoll < 0)
    return -errno;
  result = watch(server, server->device.done_event, &done_tag);
  if (result != 0 || path == NULL)
    return result;
  *what = path;
  struct sockaddr_un address;
  if (!wire_address(&address, path))
    return -ENAMETOOLONG;
  server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (server->listener < 0 ||
      bind(server->listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
      listen(server->listener, SOMAXCONN) != 0)
    return -errno;
  server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return watch(server, server->listener, &listener_tag);
}

int dev_server_adopt(struct dev_server *server, int socket) {
  struct dev_connection *connection = dev_connection_create(server, socket);
  if (connection == NULL) {
    close(socket);
    return -ENOMEM;
  }
  const int result = watch(server, socket, connection);
  if (result != 0) {
    dev_connection_destroy(connection);
    return result;
  }
  connection->next = server->connections;
  server->connections = connection;
  return 0;
}

/* There is no descriptor for a client who waits: one that is left for this serves to hang up. */
static bool turn_away(struct dev_server *server, int error) {
  if (server->spare < 0)
    return false;
  close(server->spare);
  const int socket = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
  if (socket >= 0)
    close(socket);
  server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (socket >= 0)
    dev_report(&server->device, "a client was turned away: %s", strerror(error));
  return socket >= 0;
}

static void accept_all(struct dev_server *server) {
  for (;;) {
    const int socket = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0 && (errno == EMFILE || errno == ENFILE) && turn_away(server, errno))
      continue;
    if (socket < 0)
      return;
    const int result = dev_server_adopt(server, socket);
    if (result != 0)
      dev_report(&server->device, "a client was turned away: %s", strerror(-result));
  }
}

/* Connections whose client has gone, or said what no client says. */
static void reap(struct dev_server *server) {
  enum { AFTERWARDS_NS = 10000000 };
  struct dev_connection **slot = &server->connections;
  while (*slot != NULL) {
    struct dev_connection *connection = *slot;
    if (!connection->dead) {
      slot = &connection->next;
      continue;
    }
    *slot = connection->next;
    dev_connection_destroy(connection);
    /* A process that ends may let go of its nodes after its sockets. */
    server->sweep_ns = dev_now_ns() + AFTERWARDS_NS;
  }
}

static void sweep_again(struct dev_server *server) {
  if (server->sweep_ns == 0 || dev_now_ns() < server->sweep_ns)
    return;
  server->sweep_ns = 0;
  dev_sweep(&server->device);
}

/* Milliseconds until the first wait or held job is over, rounded up; -1: none is. */
static int time_to_wait(const struct dev_server *server) {
  const uint64_t waits = dev_waits_deadline(&server->device);
  const uint64_t jobs = dev_queues_deadline(&server->device);
  uint64_t deadline = waits < jobs ? waits : jobs;
  if (server->sweep_ns != 0 && server->sweep_ns < deadline)
    deadline = server->sweep_ns;
  if (deadline == UINT64_MAX)
    return -1;
  const uint64_t now = dev_now_ns();
  if (deadline <= now)
    return 0;
  const uint64_t ms = (deadline - now) / 1000000 + 1;
  return ms > 3600000 ? 3600000 : (int)ms;
}

int dev_server_loop(struct dev_server *server) {
  enum { MAX_EVENTS = 64 };
  struct epoll_event events[MAX_EVENTS];
  if (server->event_fd >= 0) {
    const int result = watch(server, server->event_fd, &event_tag);
    if (result != 0)
      return result;
  }
  while (!server->stop) {
    const int n = epoll_wait(server->epoll, events, MAX_EVENTS, time_to_wait(server));
    if (n < 0 && errno != EINTR)
      return -errno;
    for (int i = 0; i < n; i++) {
      void *tag = events[i].data.ptr;
      if (tag == &listener_tag)
        accept_all(server);
      else if (tag == &event_tag)
        server->on_event(server);
      else if (tag != &done_tag)
        dev_connection_event(tag, events[i].events);
    }
    dev_device_progress(&server->device);
    reap(server);
    sweep_again(server);
  }
  return 0;
}

void dev_server_destroy(struct dev_server *server) {
  for (struct dev_connection *c = server->connections; c != NULL; c = c->next)
    c->dead = true;
  reap(server);
  dev_device_destroy(&server->device);
  if (server->spare >= 0)
    close(server->spare);
  if (server->listener >= 0)
    close(server->listener);
  if (server->epoll >= 0)
    close(server->epoll);
}
