/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random and damaged requests, straight to a server in this process: it may answer with any error
 * or hang up, and must serve the next client.  Arguments: seed, number of requests, and faults that
 * the device is to have.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "abi.h"
#include "check.h"
#include "protocol.h"
#include "server.h"

static uint64_t state;

static uint32_t any(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32) % below;
}

static int run_csd(void *self, const daedalus_v3d_job *job, daedalus_v3d_counts *counts,
                   char *message, size_t message_size) {
  (void)self;
  (void)counts;
  (void)message;
  (void)message_size;
  for (size_t i = 0; i < job->n_buffers; i++)
    ++*(uint8_t *)job->buffers[i].data;
  return 0;
}

static void on_event(struct dev_server *server) {
  server->stop = true;
}

static void *serve(void *server) {
  CHECK_INT(dev_server_loop(server), 0);
  return NULL;
}

static char path[64];

static int connect_client(void) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address;
  const struct timeval patience = {.tv_usec = 20000}; /* calls that wait are left alone */
  wire_address(&address, path);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

struct request {
  union {
    struct wire_request header;
    uint8_t bytes[4096];
  };
};

static void append(struct request *request, const void *data, size_t bytes) {
  memset(request->bytes + request->header.bytes, 0, wire_padded(bytes));
  memcpy(request->bytes + request->header.bytes, data, bytes);
  request->header.bytes += (uint32_t)wire_padded(bytes);
}

static void append_segment(struct request *request, uint64_t address, const void *data,
                           uint32_t bytes) {
  const struct wire_segment segment = {.address = address, .bytes = bytes};
  append(request, &segment, sizeof segment);
  append(request, data, bytes);
  request->header.n_segments++;
}

/* Words that mean something: small numbers, addresses of segments, handles. */
static void fill(void *data, size_t bytes) {
  uint32_t *words = data;
  for (size_t i = 0; i < bytes / 4; i++) {
    static const uint32_t known[] = {0, 0, 0, 0, 1, 1, 2, 3, 4, 0x1000, 0x2000, 0x3000, 1 << 20};
    words[i] = any(8) == 0 ? any(UINT32_MAX) : known[any(sizeof known / sizeof *known)];
  }
}

/* Where the segments of a request lie in the client's memory. */
enum { HANDLES = 0x1000, EXTENSION = 0x2000, SEMS = 0x3000, CODE = 128 };

/* A submission that could be meant. */
static void make_submission(uint32_t nr, uint8_t *arg) {
  if (nr == ABI_V3D_SUBMIT_CSD) {
    const struct abi_submit_csd csd = {.bo_handles = HANDLES,
                                       .n_bo_handles = 1,
                                       .in_sync = any(3),
                                       .out_sync = any(3),
                                       .flags = any(2) * ABI_SUBMIT_EXTENSION,
                                       .extensions = EXTENSION};
    memcpy(arg, &csd, sizeof csd);
  } else if (nr == ABI_V3D_SUBMIT_CL) {
    const struct abi_submit_cl cl = {.rcl_start = any(8) << 20,
                                     .rcl_end = any(8) << 20,
                                     .bo_handles = HANDLES,
                                     .n_bo_handles = 1,
                                     .flags = any(2) * ABI_SUBMIT_EXTENSION,
                                     .extensions = EXTENSION};
    memcpy(arg, &cl, sizeof cl);
  } else {
    const struct abi_submit_cpu cpu = {.bo_handles = HANDLES,
                                       .n_bo_handles = 1,
                                       .flags = ABI_SUBMIT_EXTENSION,
                                       .extensions = EXTENSION};
    memcpy(arg, &cpu, sizeof cpu);
  }
}

/* The extension that goes with it, of any kind. */
static void make_extension(uint8_t data[256]) {
  const struct abi_extension base = {.id = 1 + any(7), .next = any(10) == 0 ? EXTENSION : 0};
  struct abi_indirect_csd indirect = {.indirect = 1, .offset = any(8), .wg_size = 16};
  struct abi_timestamp stamp = {.offsets = SEMS, .syncs = HANDLES, .count = any(4)};
  struct abi_copy_timestamp copy = {.stride = 8, .count = 1, .offsets = SEMS, .syncs = HANDLES};
  struct abi_multi_sync multi = {.in_syncs = SEMS, .out_syncs = SEMS, .wait_stage = any(6)};
  multi.n_in_syncs = any(3);
  multi.n_out_syncs = any(3);
  memset(data, 0, 256);
  switch (base.id) {
    case ABI_EXT_MULTI_SYNC:
      memcpy(data, &multi, sizeof multi);
      break;
    case ABI_EXT_INDIRECT_CSD:
      make_submission(ABI_V3D_SUBMIT_CSD, (uint8_t *)&indirect.submit);
      memcpy(data, &indirect, sizeof indirect);
      break;
    case ABI_EXT_COPY_TIMESTAMP:
      memcpy(data, &copy, sizeof copy);
      break;
    default:
      memcpy(data, &stamp, sizeof stamp);
  }
  memcpy(data, &base, sizeof base);
}

static void make(struct request *request, uint32_t client) {
  static const uint8_t nrs[] = {0x00, 0x09, 0x0c, 0x2d, 0x2d, 0x2e, 0x40, 0x40, 0x41, 0x42,
                                0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x47, 0x47, 0x47, 0x4b,
                                0x4b, 0x48, 0x48, 0x49, 0x4a, 0x4c, 0xbf, 0xbf, 0xc0, 0xc1,
                                0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xca, 0xcb, 0xcc, 0xcd, 0xff};
  static const char types[] = {ABI_TYPE_SYNC_FILE, ABI_TYPE_DMA_BUF};
  uint8_t arg[ABI_MAX_ARGUMENT], data[256];
  const bool on_node = any(10) != 0;
  const uint32_t nr = on_node ? nrs[any(sizeof nrs)] : any(6);
  const uint32_t type = on_node ? ABI_TYPE : (uint32_t)types[any(2)];
  request->header = (struct wire_request){.bytes = sizeof request->header,
                                          .kind = WIRE_IOCTL,
                                          .client = on_node ? client : 0,
                                          .code = 3u << 30 | CODE << 16 | type << 8 | nr,
                                          .arg_bytes = sizeof arg};
  fill(arg, sizeof arg);
  const bool submits =
      nr == ABI_V3D_SUBMIT_CSD || nr == ABI_V3D_SUBMIT_CL || nr == ABI_V3D_SUBMIT_CPU;
  if (submits && any(3) != 0)
    make_submission(nr, arg);
  if (nr == ABI_SYNCOBJ_WAIT || nr == ABI_V3D_WAIT_BO) /* never for ever */
    memset(arg + 8, 0, 8);
  if (nr == ABI_V3D_CREATE_BO || nr == ABI_PRIME_HANDLE_TO_FD)
    memset(arg + 4, 0, 4);
  append(request, arg, sizeof arg);
  for (uint64_t address = HANDLES; address <= SEMS; address += 0x1000) {
    fill(data, sizeof data);
    if (address == HANDLES && any(4) != 0)
      data[0] = 1, data[1] = data[2] = data[3] = 0;
    if (address == EXTENSION && any(4) != 0)
      make_extension(data);
    append_segment(request, address, data, (uint32_t)sizeof data);
  }
}

/* Changes a few bytes, or the length. */
static size_t damage(struct request *request) {
  size_t bytes = request->header.bytes;
  const uint32_t n = any(4) == 0 ? any(6) + 1 : 0;
  for (uint32_t i = 0; i < n; i++)
    request->bytes[any((uint32_t)bytes)] = (uint8_t)any(256);
  if (any(50) == 0)
    bytes = any((uint32_t)bytes + 1);
  return bytes;
}

static struct wire_fds node; /* while it is open its client lives */

/* The client's number, or 0 when the server does not answer as it should. */
static uint32_t open_client(int fd) {
  const struct wire_request request = {.bytes = sizeof request, .kind = WIRE_OPEN, .code = O_RDWR};
  struct wire_reply reply;
  wire_close(&node);
  if (wire_send(fd, &request, sizeof request, NULL, 0) != 0 ||
      wire_receive(fd, &reply, sizeof reply, &node) != sizeof reply || reply.result != 0 ||
      node.n != 1)
    return 0;
  return wire_position_unpack(lseek(node.fd[0], 0, SEEK_CUR)).number;
}

/* Gives it two buffers and two syncobjs, so that requests to come can mean something. */
static bool equip(int fd, uint32_t client) {
  static struct request request;
  static const uint8_t nrs[] = {ABI_V3D_CREATE_BO, ABI_V3D_CREATE_BO, ABI_SYNCOBJ_CREATE,
                                ABI_SYNCOBJ_CREATE};
  for (size_t i = 0; i < sizeof nrs; i++) {
    const struct abi_create_bo create = {.size = nrs[i] == ABI_V3D_CREATE_BO ? 4096 : 0};
    uint8_t reply[512];
    struct wire_fds none = {.n = 0};
    request.header = (struct wire_request){.bytes = sizeof request.header,
                                           .kind = WIRE_IOCTL,
                                           .client = client,
                                           .code = 3u << 30 | CODE << 16 | ABI_TYPE << 8 | nrs[i],
                                           .arg_bytes = sizeof create};
    append(&request, &create, sizeof create);
    if (wire_send(fd, request.bytes, request.header.bytes, NULL, 0) != 0 ||
        wire_receive(fd, reply, sizeof reply, &none) <= 0)
      return false;
  }
  return true;
}

/* A connection with a client, or -1. */
static int arrive(uint32_t *client) {
  const int fd = connect_client();
  if (fd < 0)
    return -1;
  *client = open_client(fd);
  if (*client != 0 && equip(fd, *client))
    return fd;
  close(fd);
  return -1;
}

static void bombard(uint32_t n) {
  static struct request request;
  uint8_t reply[65536];
  int fd = -1, exported = -1;
  uint32_t client = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (fd < 0) {
      fd = arrive(&client);
      if (fd < 0) { /* after SO_RCVTIMEO under load once more; a dead server stays dead */
        usleep(100000);
        fd = arrive(&client);
      }
      CHECK(fd >= 0);
      if (fd < 0)
        return;
    }
    make(&request, client);
    const size_t bytes = damage(&request);
    struct wire_fds received = {.n = 0};
    const int along[] = {any(2) == 0 ? exported : node.fd[0], fd};
    if (wire_send(fd, request.bytes, bytes, along, any(3)) != 0 ||
        wire_receive(fd, reply, sizeof reply, &received) <= 0 || any(200) == 0) {
      close(fd);
      fd = -1;
    }
    if (received.n > 0 && any(4) == 0) { /* to be imported later, perhaps by another client */
      if (exported >= 0)
        close(exported);
      exported = received.fd[--received.n];
    }
    wire_close(&received);
  }
  if (fd >= 0)
    close(fd);
  if (exported >= 0)
    close(exported);
  wire_close(&node);
}

/* A wait for what nobody submits, and perhaps behind it that a signal came. */
static void append_wait(struct request *all, uint32_t client, bool interrupted) {
  static struct request wait;
  const struct abi_syncobj_wait arg = {.handles = HANDLES,
                                       .timeout_ns = INT64_MAX,
                                       .n_handles = 1,
                                       .flags = ABI_SYNCOBJ_WAIT_FOR_SUBMIT};
  const uint32_t handle = 1;
  const struct wire_request interrupt = {.bytes = sizeof interrupt, .kind = WIRE_INTERRUPT};
  wait.header = (struct wire_request){
      .bytes = sizeof wait.header,
      .kind = WIRE_IOCTL,
      .client = client,
      .code = 3u << 30 | (uint32_t)sizeof arg << 16 | ABI_TYPE << 8 | ABI_SYNCOBJ_WAIT,
      .arg_bytes = sizeof arg};
  append(&wait, &arg, sizeof arg);
  append_segment(&wait, HANDLES, &handle, sizeof handle);
  memcpy(all->bytes + all->header.bytes, wait.bytes, wait.header.bytes);
  all->header.bytes += wait.header.bytes;
  if (!interrupted)
    return;
  memcpy(all->bytes + all->header.bytes, &interrupt, sizeof interrupt);
  all->header.bytes += (uint32_t)sizeof interrupt;
}

/* The result of the next reply; 1: there is none. */
static int next_result(int fd) {
  struct wire_fds none = {.n = 0};
  struct wire_reply reply;
  uint8_t rest[512];
  if (wire_receive(fd, &reply, sizeof reply, &none) != sizeof reply)
    return 1;
  const size_t bytes = reply.bytes - sizeof reply;
  return bytes == 0 || wire_receive(fd, rest, bytes, &none) == (long)bytes ? reply.result : 1;
}

/* Sends what comes behind the room of a header. */
static void send_all(int fd, const struct request *all) {
  const size_t bytes = all->header.bytes - sizeof all->header;
  CHECK_INT(wire_send(fd, all->bytes + sizeof all->header, bytes, NULL, 0), 0);
}

/* Waits end by it, however the bytes come, and nothing else does. */
static void interrupts(void) {
  enum { WAITS = 12 };
  static struct request all;
  const struct wire_request interrupt = {.bytes = sizeof interrupt, .kind = WIRE_INTERRUPT};
  uint32_t client = 0;
  const int fd = arrive(&client);
  CHECK(fd >= 0);
  /* Many at once, each of which is answered. */
  all.header.bytes = sizeof all.header;
  for (int i = 0; i < WAITS; i++)
    append_wait(&all, client, true);
  send_all(fd, &all);
  for (int i = 0; i < WAITS; i++)
    CHECK_INT(next_result(fd), -EINTR);
  /* One that comes late, and in two pieces. */
  all.header.bytes = sizeof all.header;
  append_wait(&all, client, false);
  send_all(fd, &all);
  usleep(20000);
  CHECK_INT(wire_send(fd, &interrupt, 10, NULL, 0), 0);
  usleep(20000);
  CHECK_INT(wire_send(fd, (const uint8_t *)&interrupt + 10, sizeof interrupt - 10, NULL, 0), 0);
  CHECK_INT(next_result(fd), -EINTR);
  /* After the answer, or before any call: nothing, not even a reply. */
  CHECK_INT(wire_send(fd, &interrupt, sizeof interrupt, NULL, 0), 0);
  CHECK(equip(fd, client));
  close(fd);
  wire_close(&node);
}

int main(int argc, char **argv) {
  state = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 0x9e3779b97f4a7c15u + 1;
  const uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 20000;
  char folder[] = "/tmp/daedalus-v3d-XXXXXX";
  static struct dev_server server;
  const daedalus_v3d_executor executor = {.run_csd = run_csd};
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  const char *what;
  pthread_t thread;
  signal(SIGPIPE, SIG_IGN); /* as dev_server_loop demands */
  if (mkdtemp(folder) == NULL)
    return 2;
  snprintf(path, sizeof path, "%s/s", folder);
  const int result = dev_server_init(&server, path, &executor, &profile, 64 << 20, &what);
  if (result != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(-result));
    return 2;
  }
  server.device.quiet = true;
  for (int i = 3; i < argc; i++) {
    char message[200];
    CHECK_INT(dev_faults_add(&server.device.faults, argv[i], message, sizeof message), 0);
  }
  server.event_fd = eventfd(0, EFD_CLOEXEC);
  server.on_event = on_event;
  pthread_create(&thread, NULL, serve, &server);
  interrupts();
  bombard(n);
  const uint64_t one = 1;
  CHECK(write(server.event_fd, &one, sizeof one) == sizeof one);
  pthread_join(thread, NULL);
  printf("%u requests: %llu jobs ran, %llu failed, %llu were refused\n", n,
         (unsigned long long)server.device.n_jobs, (unsigned long long)server.device.n_failed,
         (unsigned long long)server.device.n_refused);
  CHECK(server.device.n_jobs > 0); /* the requests are not all nonsense */
  uint64_t struck = 0;
  for (size_t i = 0; i < server.device.faults.n; i++)
    struck += server.device.faults.items[i].n_struck;
  CHECK(struck > 0 || server.device.faults.n == 0);
  if (server.device.faults.n > 0)
    printf("%llu faults struck\n", (unsigned long long)struck);
  dev_server_destroy(&server);
  dev_faults_free(&server.device.faults);
  close(server.event_fd);
  unlink(path);
  rmdir(folder);
  return CHECK_RESULT();
}
