/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any requests, in any order, on several connections, and anything in the device's memory: the
 * server answers each request that is whole with an argument or an errno, or hangs up; it hands
 * executors sound jobs; and what it held is free in the end.
 *
 * A libFuzzer target, without threads' timing in it: after each step the queues run empty.  An
 * input is a sequence of steps, each a byte that says what and what that takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi.h"
#include "connection.h"
#include "drm_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNECTIONS = 3, DESCRIPTORS = 4, MEMORY = 16 << 20, MESSAGE = 16 << 10 };

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
  if (kind < 0xc0) /* user memory, see struct user */
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
  struct wire_fds nodes[CONNECTIONS];              /* of the client that a connection opened */
  int descriptors[DESCRIPTORS];                    /* that ioctls gave; -1: none */
  unsigned n_given;
  uint32_t list_start, list_end; /* the last render list that was written */
};

/* A job names buffers that are there, in order; reading them is legal. */
static int run_csd(void *self, const daedalus_v3d_job *job, daedalus_v3d_counts *counts,
                   char *message, size_t message_size) {
  counts->instructions = job->n_buffers;
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

static int run_timed(void *self, const daedalus_v3d_job *job, const daedalus_v3d_buffer *scratch,
                     daedalus_v3d_report *report, daedalus_v3d_timing *timing) {
  check(scratch == NULL && timing == NULL);
  *report = (daedalus_v3d_report){.times = {.clocks = 1000, .active = 400}};
  return run_csd(self, job, &report->counts, report->message, sizeof report->message);
}

static void begin(struct session *s) {
  static uint8_t sum;
  const daedalus_v3d_executor executor = {.self = &sum, .run_csd = run_csd, .run_timed = run_timed};
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  const char *what;
  check(dev_server_init(&s->server, NULL, &executor, &profile, MEMORY, &what) == 0);
  s->server.device.quiet = true;
  s->server.device.timed = true;
  for (unsigned i = 0; i < DESCRIPTORS; i++)
    s->descriptors[i] = -1;
}

static void hang_up(struct session *s, unsigned which) {
  struct dev_connection **slot = &s->server.connections;
  if (s->connections[which] == NULL)
    return;
  wire_close(&s->nodes[which]);
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
    int ready;
    do {
      ready = poll(&wait, 1, 10000);
    } while (ready < 0 && errno == EINTR); /* libFuzzer's clock */
    check(ready == 1);
  }
}

static void keep(struct session *s, struct wire_fds *received) {
  for (; received->n > 0; s->n_given++) {
    int *slot = &s->descriptors[s->n_given % DESCRIPTORS];
    if (*slot >= 0)
      close(*slot);
    *slot = received->fd[--received->n];
  }
}

/* Takes the replies that are there: whole ones. Returns how many. */
static unsigned replies(struct session *s, unsigned which) {
  static uint8_t buffer[1 << 20];
  struct wire_fds received = {.n = 0};
  unsigned n = 0;
  /* What comes with a descriptor comes by itself. */
  for (;;) {
    const long got = wire_receive(s->sockets[which], buffer, sizeof buffer, &received);
    for (size_t at = 0; got > 0 && at < (size_t)got; n++) {
      struct wire_reply reply;
      check((size_t)got - at >= sizeof reply);
      memcpy(&reply, buffer + at, sizeof reply);
      check(reply.bytes >= sizeof reply && reply.bytes <= (size_t)got - at);
      check(reply.result > -4096 && reply.n_segments <= WIRE_MAX_SEGMENTS);
      at += reply.bytes;
    }
    keep(s, &received);
    if (got <= 0)
      return n;
  }
}

static void send_bytes(struct session *s, unsigned which, const void *data, size_t bytes,
                       bool whole, const int *along, unsigned n_along) {
  struct dev_connection *connection = s->connections[which];
  if (connection == NULL || wire_send(s->sockets[which], data, bytes, along, n_along) != 0)
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
enum { HANDLES = 0x1000, EXTENSION = 0x2000, SYNCS = 0x3000, N_SEGMENTS = 3, SEGMENT = 256 };

struct user {
  uint8_t arg[ABI_MAX_ARGUMENT];
  uint8_t memory[N_SEGMENTS][SEGMENT];
};

static struct abi_submit_csd compute(struct input *in) {
  return (struct abi_submit_csd){.cfg = {1 << 16, 1 << 16, 1 << 16, 16, byte(in) & 15, 1 << 20},
                                 .bo_handles = HANDLES,
                                 .n_bo_handles = 1,
                                 .in_sync = byte(in) & 3,
                                 .out_sync = byte(in) & 3,
                                 .perfmon_id = byte(in) < 0x40 ? 1 : 0};
}

/* An extension that a submission could have; whether it has is decided by its flags. */
static void extension(struct input *in, uint8_t *to) {
  const uint32_t kind = byte(in);
  const struct abi_extension base = {.id = 1 + kind % 7, .next = kind & 0x80 ? EXTENSION + 160 : 0};
  struct abi_multi_sync multi = {.base = base,
                                 .in_syncs = SYNCS,
                                 .out_syncs = SYNCS,
                                 .n_in_syncs = kind >> 3 & 1,
                                 .n_out_syncs = kind >> 4 & 1,
                                 .wait_stage = byte(in) % 6};
  const struct abi_timestamp stamp = {
      .base = base, .offsets = SYNCS, .syncs = HANDLES, .count = kind >> 3 & 1};
  const struct abi_reset_timestamp reset = {
      .base = base, .syncs = HANDLES, .offset = byte(in) & 0x18, .count = 1};
  const struct abi_copy_timestamp copy = {.base = base,
                                          .do_64bit = kind >> 5 & 1,
                                          .availability_bit = kind >> 6 & 1,
                                          .stride = 16,
                                          .count = kind >> 3 & 1,
                                          .offsets = SYNCS,
                                          .syncs = HANDLES};
  const struct abi_reset_performance reset_performance = {.base = base,
                                                          .syncs = HANDLES,
                                                          .count = kind >> 3 & 1,
                                                          .n_monitors = 1,
                                                          .monitors = SYNCS + 128};
  const struct abi_copy_performance copy_performance = {.base = base,
                                                        .do_64bit = kind >> 5 & 1,
                                                        .availability_bit = kind >> 6 & 1,
                                                        .stride = 16,
                                                        .n_monitors = 1,
                                                        .n_counters = 2,
                                                        .count = kind >> 3 & 1,
                                                        .syncs = HANDLES,
                                                        .monitors = SYNCS + 128};
  const struct abi_indirect_csd indirect = {
      .base = base, .submit = compute(in), .indirect = 1, .wg_size = 16};
  switch (base.id) {
    case ABI_EXT_MULTI_SYNC:
      memcpy(to, &multi, sizeof multi);
      break;
    case ABI_EXT_INDIRECT_CSD:
      memcpy(to, &indirect, sizeof indirect);
      break;
    case ABI_EXT_RESET_TIMESTAMP:
      memcpy(to, &reset, sizeof reset);
      break;
    case ABI_EXT_COPY_TIMESTAMP:
      memcpy(to, &copy, sizeof copy);
      break;
    case ABI_EXT_RESET_PERFORMANCE:
      memcpy(to, &reset_performance, sizeof reset_performance);
      break;
    case ABI_EXT_COPY_PERFORMANCE:
      memcpy(to, &copy_performance, sizeof copy_performance);
      break;
    default:
      memcpy(to, &stamp, sizeof stamp);
  }
  multi.base = (struct abi_extension){.id = ABI_EXT_MULTI_SYNC};
  memcpy(to + 160, &multi, sizeof multi);
}

/* What the ioctl is for. */
static void meant(struct session *s, uint32_t nr, struct user *user) {
  struct input *in = &s->in;
  const uint64_t extensions = EXTENSION;
  const uint32_t how = byte(in), flags = how & 1 ? ABI_SUBMIT_EXTENSION : 0;
  const struct abi_syncobj_wait wait = {.handles = HANDLES,
                                        .timeout_ns = how & 1 ? INT64_MAX : 0,
                                        .n_handles = how >> 1 & 3,
                                        .flags = how >> 3 & 3};
  const struct abi_syncobj_handle handle = {.handle = 1 + (how >> 1 & 3), .flags = how & 1};
  const struct abi_prime_handle prime = {.handle = 1 + (how >> 1 & 3),
                                         .flags = how & 1 ? O_RDWR | O_CLOEXEC : 0};
  struct abi_submit_csd csd = compute(in);
  const struct abi_submit_cl cl = {.rcl_start = s->list_start,
                                   .rcl_end = s->list_end,
                                   .in_sync_rcl = csd.in_sync,
                                   .out_sync = csd.out_sync,
                                   .bo_handles = HANDLES,
                                   .n_bo_handles = 1,
                                   .flags = flags,
                                   .extensions = extensions};
  const struct abi_submit_cpu cpu = {.bo_handles = HANDLES,
                                     .n_bo_handles = how >> 1 & 3,
                                     .flags = ABI_SUBMIT_EXTENSION,
                                     .extensions = extensions};
  csd.flags = flags;
  csd.extensions = extensions;
  for (uint32_t i = 0; i < 4; i++) /* handles 1, 2, 3 and so on; also as semaphores */
    memcpy(user->memory[0] + 4 * i, &(uint32_t){i + 1}, 4);
  for (uint32_t i = 0; i < 4; i++)
    memcpy(user->memory[2] + i * sizeof(struct abi_sem), &(uint32_t){i + 1}, 4);
  /* Where performance queries find a pointer to numbers of monitors. */
  memcpy(user->memory[2] + 128, &(uint64_t){HANDLES}, 8);
  extension(in, user->memory[1]);
  if (nr == ABI_V3D_SUBMIT_CSD)
    memcpy(user->arg, &csd, sizeof csd);
  else if (nr == ABI_V3D_SUBMIT_CL)
    memcpy(user->arg, &cl, sizeof cl);
  else if (nr == ABI_V3D_SUBMIT_CPU)
    memcpy(user->arg, &cpu, sizeof cpu);
  else if (nr == ABI_SYNCOBJ_WAIT)
    memcpy(user->arg, &wait, sizeof wait);
  else if (nr == ABI_V3D_PERFMON_CREATE)
    memcpy(user->arg + 4, &(uint32_t){1 + (how & 7)}, 4);
  else if (nr == ABI_V3D_PERFMON_GET_VALUES || nr == ABI_V3D_PERFMON_DESTROY)
    user->arg[0] = 1;
  else if (nr == ABI_SYNCOBJ_HANDLE_TO_FD || nr == ABI_SYNCOBJ_FD_TO_HANDLE)
    memcpy(user->arg, &handle, sizeof handle);
  else if (nr == ABI_PRIME_HANDLE_TO_FD || nr == ABI_PRIME_FD_TO_HANDLE)
    memcpy(user->arg, &prime, sizeof prime);
  else if (nr == ABI_V3D_CREATE_BO)
    user->arg[1] = 0x10; /* a page */
}

/* Changes some words, of the argument or of the memory. */
static void change(struct input *in, struct user *user) {
  for (uint32_t n = byte(in) & 3; n > 0; n--) {
    const uint32_t at = byte(in), value = word(in);
    const uint32_t where = byte(in) % (N_SEGMENTS + 1);
    if (where < N_SEGMENTS)
      memcpy(user->memory[where] + at % (SEGMENT / 4) * 4, &value, 4);
    else
      memcpy(user->arg + at % (ABI_MAX_ARGUMENT / 4) * 4, &value, 4);
  }
}

/* Of a request that means something: lengths and all may be wrong afterwards. */
static void damage(struct input *in, uint8_t *message, size_t bytes) {
  for (uint32_t n = 1 + (byte(in) & 1); n > 0; n--) {
    const uint32_t value = word(in);
    memcpy(message + byte(in) % (bytes / 4) * 4, &value, 4);
  }
}

static void send_ioctl(struct session *s, unsigned which, uint32_t client, uint32_t type,
                       uint32_t nr, const struct user *user, bool damaged) {
  uint8_t message[MESSAGE];
  struct wire_request header = {.kind = WIRE_IOCTL,
                                .client = client,
                                .code = 3u << 30 | 128u << 16 | type << 8 | nr,
                                .arg_bytes = sizeof user->arg,
                                .n_segments = N_SEGMENTS};
  size_t at = put(message, sizeof header, user->arg, sizeof user->arg);
  for (uint32_t i = 0; i < N_SEGMENTS; i++) {
    const struct wire_segment segment = {.address = (i + 1) << 12, .bytes = SEGMENT};
    at = put(message, at, &segment, sizeof segment);
    at = put(message, at, user->memory[i], SEGMENT);
  }
  header.bytes = (uint32_t)at;
  memcpy(message, &header, sizeof header);
  if (damaged)
    damage(&s->in, message, at);
  int along[WIRE_MAX_FDS];
  unsigned n_along = 0;
  for (uint32_t wanted = byte(&s->in) % (WIRE_MAX_FDS + 1); wanted > 0; wanted--) {
    const int fd = s->descriptors[byte(&s->in) % DESCRIPTORS];
    if (fd >= 0)
      along[n_along++] = fd;
  }
  send_bytes(s, which, message, at, !damaged, along, n_along);
}

static void some_ioctl(struct session *s, unsigned which) {
  static const uint8_t nrs[] = {ABI_V3D_CREATE_BO,
                                ABI_SYNCOBJ_CREATE,
                                ABI_V3D_SUBMIT_CSD,
                                ABI_V3D_SUBMIT_CL,
                                ABI_V3D_SUBMIT_CPU,
                                ABI_SYNCOBJ_WAIT,
                                ABI_V3D_WAIT_BO,
                                ABI_GEM_CLOSE,
                                ABI_SYNCOBJ_DESTROY,
                                ABI_SYNCOBJ_SIGNAL,
                                ABI_SYNCOBJ_RESET,
                                ABI_V3D_MMAP_BO,
                                ABI_V3D_GET_BO_OFFSET,
                                ABI_V3D_GET_PARAM,
                                ABI_VERSION,
                                ABI_GET_CAP,
                                ABI_PRIME_HANDLE_TO_FD,
                                ABI_PRIME_FD_TO_HANDLE,
                                ABI_SYNCOBJ_HANDLE_TO_FD,
                                ABI_SYNCOBJ_FD_TO_HANDLE,
                                ABI_V3D_PERFMON_CREATE,
                                ABI_V3D_PERFMON_DESTROY,
                                ABI_V3D_PERFMON_GET_VALUES,
                                ABI_V3D_PERFMON_GET_COUNTER};
  static const uint8_t types[] = {ABI_TYPE_SYNC_FILE, ABI_TYPE_DMA_BUF, ABI_TYPE_DMA_HEAP};
  struct input *in = &s->in;
  struct user user = {0};
  const uint32_t kind = byte(in), client = (byte(in) & 3) + 1;
  const uint32_t how = byte(in);
  const uint32_t nr = kind < 0xf0 ? nrs[kind % sizeof nrs] : byte(in) % 8;
  if (kind >= 0xf0 || how & 1)
    words(in, user.arg, (byte(in) & 15) * 4 + 4);
  else
    meant(s, nr, &user);
  change(in, &user);
  if (kind < 0xf0)
    send_ioctl(s, which, client, ABI_TYPE, nr, &user, (how & 0x0e) == 0);
  else
    send_ioctl(s, which, 0, types[kind % sizeof types], nr, &user, (how & 0x0e) == 0);
}

/* A request that is none, perhaps. */
static void some_request(struct session *s, unsigned which, uint32_t kind, uint32_t code) {
  const struct wire_request header = {.bytes = sizeof header, .kind = kind, .code = code};
  send_bytes(s, which, &header, sizeof header, kind != WIRE_INTERRUPT, NULL, 0); /* no reply */
}

/* A client with buffers and syncobjs. */
static void arrive(struct session *s, unsigned which) {
  struct user user = {.arg = {[1] = 0x10}};
  connect_to(s, which);
  some_request(s, which, WIRE_HELLO, WIRE_VERSION);
  const unsigned before = s->n_given;
  some_request(s, which, WIRE_OPEN, O_RDWR);
  const struct dev_client *client = s->server.device.clients;
  check(client != NULL && s->n_given == before + 1);
  int *given = &s->descriptors[before % DESCRIPTORS];
  check(dev_descriptor_object(&s->server.device, *given).number == client->id);
  s->nodes[which] = (struct wire_fds){.fd = {*given}, .n = 1};
  *given = -1;
  const uint32_t id = client->id;
  for (unsigned i = 0; i < 3; i++)
    send_ioctl(s, which, id, ABI_TYPE, ABI_V3D_CREATE_BO, &user, false);
  for (uint32_t i = 0; i < 3; i++) {
    user = (struct user){.arg = {[4] = i == 2}}; /* the last is signaled */
    send_ioctl(s, which, id, ABI_TYPE, ABI_SYNCOBJ_CREATE, &user, false);
  }
}

/* A render list in a buffer, for submissions to come. */
static void write_list(struct session *s) {
  const struct dev_memory *memory = &s->server.device.memory;
  struct input *in = &s->in;
  const uint32_t which = byte(in), how = byte(in);
  const struct drm_rcl list = {.width = byte(in),
                               .height = byte(in),
                               .load = how & 1 ? word(in) : 0,
                               .load_stride = byte(in) * 4,
                               .store = how & 2 ? word(in) : 0,
                               .store_stride = byte(in) * 4,
                               .format = 34 + (how >> 2) % 4};
  if (memory->n_live == 0)
    return;
  const struct dev_range *range = &memory->live[which % memory->n_live];
  const struct drm_buffer buffer = {
      .address = range->address,
      .map = (uint32_t *)(void *)(memory->base + range->address)}; /* of a page */
  drm_write_rcl(&buffer, &list, &s->list_start, &s->list_end);
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
  send_bytes(s, which, bytes, n, false, NULL, 0);
}

static void step(struct session *s) {
  const uint32_t what = byte(&s->in);
  const unsigned which = what / 16 % CONNECTIONS;
  if (s->connections[which] == NULL)
    arrive(s, which);
  switch (what % 16) {
    case 11:
      write_list(s);
      break;
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
        some_request(s, which, byte(&s->in) & 7, byte(&s->in) & 7);
      break;
    default:
      some_ioctl(s, which);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct session s;
  s = (struct session){.in = {data, size}};
  signal(SIGPIPE, SIG_IGN); /* as the server demands */
  begin(&s);
  while (s.in.left > 0)
    step(&s);
  for (unsigned i = 0; i < CONNECTIONS; i++)
    hang_up(&s, i);
  for (unsigned i = 0; i < DESCRIPTORS; i++)
    if (s.descriptors[i] >= 0)
      close(s.descriptors[i]);
  const struct dev_device *device = &s.server.device;
  dev_sweep(&s.server.device);
  check(device->clients == NULL && device->waits == NULL);
  check(device->exports == NULL && device->n_exports == 0);
  check(device->sync_files == NULL && device->n_sync_files == 0 && device->n_unwritten == 0);
  dev_server_destroy(&s.server);
  return 0;
}
