/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process has one connection on which it opened its clients, the anchor: the server ends them
 * when that closes, so a forked child keeps its copy of it.  Each thread has one more, so that a
 * blocking wait blocks that thread alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../abi.h"
#include "../protocol.h"
#include "preload.h"

const char *const preload_card = "/dev/dri/card0";
const char *const preload_render = "/dev/dri/renderD128";

static struct {
  pthread_mutex_t lock;
  int anchor;   /* -1: none yet in this process */
  int memory;   /* descriptor of the memory file; -1: none yet */
  dev_t device; /* of the memory file */
  ino_t inode;
  /* Counts forks, and the times that the program has closed all that is open. */
  unsigned generation;
  bool said; /* that there is no server */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER, .anchor = -1, .memory = -1};

static _Thread_local struct thread {
  int socket; /* valid if generation is the process's, plus one */
  unsigned generation;
  struct preload_message message;
} thread;
static pthread_key_t thread_key;

bool preload_is_node(const char *path) {
  static const char *const others[] = {"/dev/dri/by-path/platform-1002000000.v3d-card",
                                       "/dev/dri/by-path/platform-1002000000.v3d-render"};
  return path != NULL && (!strcmp(path, preload_card) || !strcmp(path, preload_render) ||
                          !strcmp(path, others[0]) || !strcmp(path, others[1]));
}

static void end_thread(void *value) {
  struct thread *ended = value;
  if (ended->generation == process.generation + 1)
    close(ended->socket);
  free(ended->message.data);
  memset(ended, 0, sizeof *ended);
}

static void before_fork(void) {
  pthread_mutex_lock(&process.lock);
  preload_usercopy_before_fork();
}

static void after_fork_parent(void) {
  preload_usercopy_after_fork(false);
  pthread_mutex_unlock(&process.lock);
}

static void after_fork_child(void) {
  /* The parent's sockets are not ours to use. Its anchor stays open: it keeps the clients. */
  if (thread.generation == process.generation + 1)
    close(thread.socket);
  process.generation++;
  process.anchor = -1;
  preload_usercopy_after_fork(true);
  pthread_mutex_unlock(&process.lock);
}

__attribute__((constructor)) static void prepare(void) {
  pthread_key_create(&thread_key, end_thread);
  pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

int preload_move_up(int fd) {
  enum { OUT_OF_THE_WAY = 700 };
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
  if (moved < 0)
    return fd;
  close(fd);
  return moved;
}

/* Once a process. */
static void complain(const char *what, const char *why) {
  if (!__atomic_exchange_n(&process.said, true, __ATOMIC_RELAXED))
    fprintf(stderr, "libdaedalus-v3d-preload: no simulated V3D: %s: %s\n", what, why);
}

/* A new connection, or a negative errno; quiet says nothing about it. */
static int connect_to_server(bool quiet) {
  const char *path = getenv("DAEDALUS_V3D_SOCKET");
  struct sockaddr_un address;
  if (path == NULL || !wire_address(&address, path)) {
    if (!quiet)
      complain("DAEDALUS_V3D_SOCKET", path == NULL
                                          ? "not set; start the program with `daedalus v3d run --`"
                                          : "not the path of a socket");
    return -ENODEV;
  }
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -errno;
  fd = preload_move_up(fd);
  if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
    if (!quiet)
      complain(path, strerror(errno));
    close(fd);
    return -ENODEV;
  }
  return fd;
}

/* All of a reply into the message. */
static int receive(int socket, struct preload_message *message, int *fd, bool may_interrupt) {
  size_t have = 0, wanted = sizeof(struct wire_reply);
  message->bytes = 0;
  while (have < wanted) {
    message->bytes = have;
    preload_append(message, NULL, wanted - have);
    if (message->failed)
      return -ENOMEM;
    const long got = wire_receive(socket, message->data + have, wanted - have, fd);
    if (got == -EINTR && !(may_interrupt && have == 0))
      continue;
    if (got <= 0)
      return got == 0 ? -ENODEV : (int)got;
    have += (size_t)got;
    if (have == sizeof(struct wire_reply)) {
      struct wire_reply reply;
      memcpy(&reply, message->data, sizeof reply);
      if (reply.bytes < sizeof reply || reply.bytes > WIRE_MAX)
        return -EPROTO;
      wanted = reply.bytes;
    }
  }
  return 0;
}

/* A request of a header alone; its result, or a negative errno. */
static int ask(int socket, uint32_t kind, uint32_t code, int *fd) {
  const struct wire_request request = {.bytes = sizeof request, .kind = kind, .code = code};
  struct preload_message message = {0};
  struct wire_reply reply;
  int result = wire_send(socket, &request, sizeof request, -1);
  if (result == 0)
    result = receive(socket, &message, fd, false);
  if (result == 0) {
    memcpy(&reply, message.data, sizeof reply);
    result = reply.result;
  }
  free(message.data);
  return result;
}

/* Learns which file is the memory. Under the lock. */
static int take_memory(int socket) {
  int fd = -1;
  struct stat status;
  int result = ask(socket, WIRE_HELLO, WIRE_VERSION, &fd);
  if (result == 0 && (fd < 0 || fstat(fd, &status) != 0))
    result = -EPROTO;
  if (result != 0) {
    complain("server", strerror(-result));
    if (fd >= 0)
      close(fd);
    return -ENODEV;
  }
  process.memory = preload_move_up(fd);
  process.device = status.st_dev;
  process.inode = status.st_ino;
  return 0;
}

static bool is_memory(const struct stat *status) {
  return status->st_ino == process.inode && status->st_dev == process.device;
}

/* Programs that become daemons close all descriptors; the numbers may be others' by now. */
static void notice_closed_descriptors(void) {
  struct stat status;
  if (process.memory < 0 || (fstat(process.memory, &status) == 0 && is_memory(&status)))
    return;
  process.memory = process.anchor = -1;
  process.generation++;
  preload_usercopy_forget();
}

/* Under the lock. A client's number, or a negative errno. */
static int open_client(void) {
  int result, fd = -1;
  notice_closed_descriptors();
  const bool is_new = process.anchor < 0;
  if (is_new) {
    result = connect_to_server(false);
    if (result < 0)
      return result;
    process.anchor = result;
    if (process.memory >= 0)
      close(process.memory); /* the server may be another one than before */
    process.memory = -1;
  }
  result = process.memory < 0 ? take_memory(process.anchor) : 0;
  if (result == 0)
    result = ask(process.anchor, WIRE_OPEN, 0, &fd);
  if (result == -ENXIO) /* the server is there, its device is lost */
    return -ENODEV;
  if (result < 0 && result != -ENOMEM) {
    close(process.anchor);
    process.anchor = -1;
    if (!is_new) /* there may be another server by now */
      return open_client();
    complain("server", "it has ended, or hung up");
    return -ENODEV;
  }
  return result;
}

int preload_open(int flags) {
  pthread_mutex_lock(&process.lock);
  const int client = open_client();
  const int memory = process.memory;
  pthread_mutex_unlock(&process.lock);
  if (client < 0) {
    errno = -client;
    return -1;
  }
  /* Opened anew, not duplicated: the position has to be this client's alone. */
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  const int fd = openat(AT_FDCWD, path, flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK));
  if (fd < 0) {
    complain(path, strerror(errno));
    errno = ENODEV;
    return -1;
  }
  if (lseek(fd, client, SEEK_SET) != client) {
    close(fd);
    errno = ENODEV;
    return -1;
  }
  return fd;
}

/* A descriptor may come from elsewhere, by exec or a socket, before the memory file is known. */
static void meet_stranger(const struct stat *status) {
  if (process.memory >= 0 || !S_ISREG(status->st_mode) || status->st_size != (off_t)1 << 32)
    return;
  const int socket = connect_to_server(true);
  if (socket < 0)
    return;
  take_memory(socket);
  close(socket);
}

uint32_t preload_client_of(int fd) {
  const int before = errno;
  struct stat status;
  uint32_t client = 0;
  if (fstat(fd, &status) == 0) {
    pthread_mutex_lock(&process.lock);
    meet_stranger(&status);
    const bool ours = process.memory >= 0 && is_memory(&status);
    pthread_mutex_unlock(&process.lock);
    if (ours) {
      const off_t position = lseek(fd, 0, SEEK_CUR);
      client = position > 0 && position <= INT32_MAX ? (uint32_t)position : 0;
    }
  }
  errno = before;
  return client;
}

void preload_append(struct preload_message *message, const void *data, size_t bytes) {
  if (message->failed || bytes == 0)
    return;
  if (message->bytes + bytes > message->room) {
    const size_t room = (message->bytes + bytes) * 2 + 1024;
    uint8_t *grown = realloc(message->data, room);
    if (grown == NULL) {
      message->failed = true;
      return;
    }
    message->data = grown;
    message->room = room;
  }
  if (data != NULL)
    memcpy(message->data + message->bytes, data, bytes);
  message->bytes += bytes;
}

struct preload_message *preload_message(void) {
  static const struct wire_request nothing;
  pthread_setspecific(thread_key, &thread); /* so that the thread's end is noticed */
  thread.message.bytes = 0;
  thread.message.n_segments = 0;
  thread.message.failed = false;
  preload_append(&thread.message, &nothing, sizeof nothing);
  return thread.message.failed ? NULL : &thread.message;
}

static void drop_socket(void) {
  close(thread.socket);
  thread.generation = 0;
}

int preload_transact(uint32_t client, uint32_t code, uint32_t arg_bytes, bool may_interrupt) {
  struct preload_message *message = &thread.message;
  if (message->failed)
    return -ENOMEM;
  const struct wire_request request = {.bytes = (uint32_t)message->bytes,
                                       .kind = WIRE_IOCTL,
                                       .client = client,
                                       .code = code,
                                       .arg_bytes = arg_bytes,
                                       .n_segments = message->n_segments};
  memcpy(message->data, &request, sizeof request);
  int result = -EBADF, fd = -1;
  /* Twice, as a program may have closed a descriptor that it does not know. */
  for (int attempt = 0; attempt < 2 && (result == -EBADF || result == -ENOTSOCK); attempt++) {
    if (thread.generation != process.generation + 1) {
      const int socket = connect_to_server(false);
      if (socket < 0)
        return socket;
      thread.socket = socket;
      thread.generation = process.generation + 1;
    }
    result = wire_send(thread.socket, message->data, message->bytes, -1);
    if (result == -EBADF || result == -ENOTSOCK)
      thread.generation = 0;
  }
  if (result == 0)
    result = receive(thread.socket, message, &fd, may_interrupt);
  if (result != 0 && thread.generation != 0)
    drop_socket();
  if (fd >= 0)
    close(fd); /* no ioctl brings one yet */
  return result == 0 || result == -EINTR || result == -ENOMEM ? result : -ENODEV;
}
