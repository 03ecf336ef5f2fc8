/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any requests, in any order, on several connections, and anything in the device's memory: the
 * server answers each request that is whole with an argument or an errno, or hangs up; it hands
 * executors sound jobs; and what it held is free in the end.
 *
 * A libFuzzer target, without threads' timing in it: after each step the queues run empty.  An
 * input is a sequence of steps, each a byte that says what and what that takes.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi.h"
#include "connection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNECTIONS = 3, MEMORY = 16 << 20, MESSAGE = 16 << 10 };

static void check(bool holds) {
  if (!holds)
    abort();
}

/* -- The input: bytes in order, zeros once they have run out. -- */

struct input {
  const uint8_t *data;
  size_t left;
};

static uint32_t byte(struct input *in) {
  if (in->left == 0)
    return 0;
  in->left--;
  return *in->data++;
}

/* Words that mean something, in a byte; or any, in five. */
static uint32_t word(struct input *in) {
  const uint32_t kind = byte(in);
  if (kind < 0xa0) /* numbers, handles */
    return kind & 0x0f;
  if (kind < 0xc0) /* user memory, see segments() */
    return ((kind & 3) + 1) << 12;
  if (kind < 0xf0) /* buffers of a page, as they are handed out: a page between any two */
    return (1u << 20) + ((kind & 0x0f) << 13);
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; i++)
    value |= byte(in) << 8 * i;
  return value;
}

static size_t words(struct input *in, void *to, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 4) {
    const uint32_t value = word(in);
    memcpy((uint8_t *)to + i, &value, 4);
  }
  return bytes;
}

/* -- The server. -- */

struct session {
  struct input in;
  struct dev_server server;
  struct dev_connection *connections[CONNECTIONS]; /* NULL: none */
  int sockets[CONNECTIONS];                        /* the client's ends */
};

/* A job names buffers that are there, in order; reading them is legal. */
static int run_csd(void *self, const daedalus_v3d_job *job, char *message, size_t message_size) {
  volatile uint8_t *sum = self;
  uint64_t end = 0;
  for (size_t i = 0; i < job->n_buffers; i++) {
    const daedalus_v3d_buffer *buffer = &job->buffers[i];
    check(buffer->size > 0 && buffer->address >= end);
    end = (uint64_t)buffer->address + buffer->size;
    check(end <= DEV_ADDRESS_SPACE);
    *sum += ((const uint8_t *)buffer->data)[0] + ((const uint8_t *)buffer->data)[buffer->size - 1];
  }
  if (job->cfg[4] != 13)
    return 0;
  snprintf(message, message_size, "the thirteenth");
  return -5;
}

static void begin(struct session *s) {
  static uint8_t sum;
  const daedalus_v3d_executor executor = {.self = &sum, .run_csd = run_csd};
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  const char *what;
  check(dev_server_init(&s->server, NULL, &executor, &profile, MEMORY, &what) == 0);
  s->server.device.quiet = true;
}

static void hang_up(struct session *s, unsigned which) {
  struct dev_connection **slot = &s->server.connections;
  if (s->connections[which] == NULL)
    return;
  dev_connection_event(s->connections[which], EPOLLRDHUP);
  while (*slot != s->connections[which])
    slot = &(*slot)->next;
  *slot = s->connections[which]->next;
  dev_connection_destroy(s->connections[which]);
  close(s->sockets[which]);
  s->connections[which] = NULL;
}

static void connect_to(struct session *s, unsigned which) {
  int pair[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
  check(dev_server_adopt(&s->server, pair[0]) == 0);
  s->connections[which] = s->server.connections;
  s->sockets[which] = pair[1];
}

/* Lets all jobs run that can. */
static void settle(struct dev_device *device) {
  for (;;) {
    dev_device_progress(device);
    if (device->queues[DEV_QUEUE_CL].running == NULL &&
        device->queues[DEV_QUEUE_CSD].running == NULL)
      return;
    struct pollfd wait = {.fd = device->done_event, .events = POLLIN};
    check(poll(&wait, 1, 10000) == 1);
  }
}

/* Takes the replies that are there: whole ones. Returns how many. */
static unsigned replies(const struct session *s, unsigned which) {
  static uint8_t buffer[1 << 20];
  const ssize_t got = recv(s->sockets[which], buffer, sizeof buffer, 0);
  unsigned n = 0;
  for (size_t at = 0; got > 0 && at < (size_t)got; n++) {
    struct wire_reply reply;
    check((size_t)got - at >= sizeof reply);
    memcpy(&reply, buffer + at, sizeof reply);
    check(reply.bytes >= sizeof reply && reply.bytes <= (size_t)got - at);
    check(reply.result > -4096 && reply.n_segments <= WIRE_MAX_SEGMENTS);
    at += reply.bytes;
  }
  return n;
}

static void send_bytes(struct session *s, unsigned which, const void *data, size_t bytes,
                       bool whole) {
  struct dev_connection *connection = s->connections[which];
  if (connection == NULL || send(s->sockets[which], data, bytes, 0) != (ssize_t)bytes)
    return;
  const bool fresh = connection->have == 0 && !connection->waiting;
  dev_connection_event(connection, EPOLLIN);
  settle(&s->server.device);
  unsigned n = 0;
  for (unsigned i = 0; i < CONNECTIONS; i++)
    if (s->connections[i] != NULL) {
      const unsigned got = replies(s, i);
      n = i == which ? got : n;
    }
  check(!whole || !fresh || n == 1 || connection->waiting || connection->dead);
  for (unsigned i = 0; i < CONNECTIONS; i++)
    if (s->connections[i] != NULL && s->connections[i]->dead)
      hang_up(s, i);
}

/* -- Steps. -- */

static size_t put(uint8_t *message, size_t at, const void *data, size_t bytes) {
  memset(message + at, 0, wire_padded(bytes));
  memcpy(message + at, data, bytes);
  return at + wire_padded(bytes);
}

/* The client's memory: what pointers of `word` point at. */
static size_t segments(struct input *in, uint8_t *message, size_t at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint8_t data[256] = {0};
    const struct wire_segment segment = {.address = (i + 1) << 12,
                                         .bytes = (byte(in) & 0x3f) * sizeof(uint32_t)};
    words(in, data, segment.bytes);
    at = put(message, at, &segment, sizeof segment);
    at = put(message, at, data, segment.bytes);
  }
  return at;
}

static void request(struct session *s, unsigned which, uint32_t kind, uint32_t code) {
  uint8_t message[MESSAGE], arg[ABI_MAX_ARGUMENT] = {0};
  struct input *in = &s->in;
  struct wire_request header = {.kind = kind, .code = code};
  size_t at = sizeof header;
  if (kind == WIRE_IOCTL) {
    header.client = (byte(in) & 3) + 1;
    header.arg_bytes = (uint32_t)words(in, arg, (byte(in) & 0x1f) * 4 % sizeof arg);
    at = put(message, at, arg, header.arg_bytes);
    header.n_segments = byte(in) & 3;
    at = segments(in, message, at, header.n_segments);
  }
  header.bytes = (uint32_t)at;
  memcpy(message, &header, sizeof header);
  send_bytes(s, which, message, at, true);
}

static void ioctl_request(struct session *s, unsigned which) {
  static const uint8_t nrs[] = {
      ABI_V3D_CREATE_BO,     ABI_SYNCOBJ_CREATE, ABI_V3D_SUBMIT_CSD, ABI_V3D_SUBMIT_CL,
      ABI_V3D_SUBMIT_CPU,    ABI_SYNCOBJ_WAIT,   ABI_V3D_WAIT_BO,    ABI_GEM_CLOSE,
      ABI_SYNCOBJ_DESTROY,   ABI_SYNCOBJ_SIGNAL, ABI_SYNCOBJ_RESET,  ABI_V3D_MMAP_BO,
      ABI_V3D_GET_BO_OFFSET, ABI_V3D_GET_PARAM,  ABI_VERSION,        ABI_GET_CAP};
  const uint32_t nr = byte(&s->in);
  const uint32_t known = nr < 0xf0 ? nrs[nr % sizeof nrs] : nr;
  request(s, which, WIRE_IOCTL, 3u << 30 | 128u << 16 | (uint32_t)ABI_TYPE << 8 | known);
}

/* Into a buffer, as a client writes it through its mapping: command lists, timestamps, counts. */
static void poke(struct session *s) {
  const struct dev_memory *memory = &s->server.device.memory;
  struct input *in = &s->in;
  const uint32_t which = byte(in), at = byte(in), n = byte(in);
  if (memory->n_live == 0)
    return;
  const struct dev_range *range = &memory->live[which % memory->n_live];
  for (uint32_t i = 0; i < n && at * 4 + i < range->bytes; i++)
    memory->base[range->address + at * 4 + i] = (uint8_t)byte(in);
}

static void raw(struct session *s, unsigned which) {
  uint8_t bytes[64];
  const size_t n = byte(&s->in) % sizeof bytes;
  for (size_t i = 0; i < n; i++)
    bytes[i] = (uint8_t)byte(&s->in);
  send_bytes(s, which, bytes, n, false);
}

static void step(struct session *s) {
  const uint32_t what = byte(&s->in);
  const unsigned which = what / 16 % CONNECTIONS;
  if (s->connections[which] == NULL) {
    connect_to(s, which);
    request(s, which, WIRE_HELLO, WIRE_VERSION);
    request(s, which, WIRE_OPEN, 0);
  }
  switch (what % 16) {
    case 12:
    case 13:
      poke(s);
      break;
    case 14:
      raw(s, which);
      break;
    case 15:
      if (byte(&s->in) & 1)
        hang_up(s, which);
      else
        request(s, which, byte(&s->in) & 7, byte(&s->in) & 3);
      break;
    default:
      ioctl_request(s, which);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct session s;
  s = (struct session){.in = {data, size}};
  begin(&s);
  while (s.in.left > 0)
    step(&s);
  for (unsigned i = 0; i < CONNECTIONS; i++)
    hang_up(&s, i);
  check(s.server.device.clients == NULL && s.server.device.waits == NULL);
  dev_server_destroy(&s.server);
  return 0;
}
