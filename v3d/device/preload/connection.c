/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process has one connection on which it opens nodes, the anchor.  Each thread has one more, so
 * that a blocking wait blocks that thread alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../abi.h"
#include "../protocol.h"
#include "preload.h"

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

enum preload_path preload_path_of(const char *path) {
  static const struct {
    const char *path;
    enum preload_path is;
  } paths[] = {{PRELOAD_CARD, PRELOAD_NODE},
               {PRELOAD_RENDER, PRELOAD_NODE},
               {"/dev/dri/by-path/platform-1002000000.v3d-card", PRELOAD_NODE},
               {"/dev/dri/by-path/platform-1002000000.v3d-render", PRELOAD_NODE},
               /* As on a Pi 5 with the system that is made for it. */
               {"/dev/dma_heap/system", PRELOAD_HEAP},
               {"/dev/dma_heap/linux,cma", PRELOAD_HEAP},
               {"/dev/dma_heap/vidbuf_cached", PRELOAD_HEAP},
               {"/dev/dma_heap/vidbuf_uncached", PRELOAD_HEAP}};
  /* Quick for nearly all paths. */
  if (path == NULL || strncmp(path, "/dev/d", 6) != 0)
    return PRELOAD_OTHER;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (!strcmp(path, paths[i].path))
      return paths[i].is;
  return PRELOAD_OTHER;
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
  /* The parent's sockets are not ours to use. */
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

/*
 * All of a reply into the message.  A signal ends a call that may be interrupted: the server is
 * told so, and answers as it finds it.  By then the signal's handler has run, which the server has
 * taken for a part of the wait.
 */
static int receive(int socket, struct preload_message *message, struct wire_fds *fds,
                   bool may_interrupt) {
  static const struct wire_request interrupt = {.bytes = sizeof interrupt, .kind = WIRE_INTERRUPT};
  size_t have = 0, wanted = sizeof(struct wire_reply);
  message->bytes = 0;
  while (have < wanted) {
    message->bytes = have;
    preload_append(message, NULL, wanted - have);
    if (message->failed)
      return -ENOMEM;
    const long got = wire_receive(socket, message->data + have, wanted - have, fds);
    if (got == -EINTR && may_interrupt && have == 0) {
      /* Where that fails the server has gone, perhaps after its reply, which is still to be read;
         if it is not there, receiving fails as well. */
      wire_send(socket, &interrupt, sizeof interrupt, NULL, 0);
      may_interrupt = false;
    }
    if (got == -EINTR)
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

/* A request of a header alone; the descriptor that the reply brings, or a negative errno. */
static int ask(int socket, uint32_t kind, uint32_t code) {
  const struct wire_request request = {.bytes = sizeof request, .kind = kind, .code = code};
  struct preload_message message = {0};
  struct wire_fds fds = {.n = 0};
  struct wire_reply reply;
  int result = wire_send(socket, &request, sizeof request, NULL, 0);
  if (result == 0)
    result = receive(socket, &message, &fds, false);
  if (result == 0) {
    memcpy(&reply, message.data, sizeof reply);
    result = reply.result;
  }
  free(message.data);
  if (result == 0 && fds.n == 1)
    return fds.fd[0];
  wire_close(&fds);
  return result == 0 ? -EMFILE : result; /* it could not be received */
}

/* Learns which file is the memory. Under the lock. */
static int take_memory(int socket) {
  struct stat status;
  const int fd = ask(socket, WIRE_HELLO, WIRE_VERSION);
  if (fd < 0 || fstatat(fd, "", &status, AT_EMPTY_PATH) != 0) {
    complain("server", strerror(fd < 0 ? -fd : errno));
    if (fd >= 0)
      close(fd);
    return fd == -EMFILE ? fd : -ENODEV;
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
  if (process.memory < 0 ||
      (fstatat(process.memory, "", &status, AT_EMPTY_PATH) == 0 && is_memory(&status)))
    return;
  process.memory = process.anchor = -1;
  process.generation++;
  preload_usercopy_forget();
}

/* Under the lock. A node's descriptor, or a negative errno. */
static int open_node(int mode) {
  notice_closed_descriptors();
  const bool is_new = process.anchor < 0;
  if (is_new) {
    const int anchor = connect_to_server(false);
    if (anchor < 0)
      return anchor;
    process.anchor = anchor;
    if (process.memory >= 0)
      close(process.memory); /* the server may be another one than before */
    process.memory = -1;
  }
  int result = process.memory < 0 ? take_memory(process.anchor) : 0;
  if (result == 0)
    result = ask(process.anchor, WIRE_OPEN, (uint32_t)mode);
  if (result == -ENXIO) /* the server is there, its device is lost */
    return -ENODEV;
  if (result >= 0 || result == -ENOMEM || result == -EMFILE || result == -ENFILE)
    return result;
  close(process.anchor);
  process.anchor = -1;
  if (!is_new) /* there may be another server by now */
    return open_node(mode);
  complain("server", "it has ended, or hung up");
  return -ENODEV;
}

int preload_open(enum preload_path path, int flags) {
  pthread_mutex_lock(&process.lock);
  const int fd = open_node((flags & O_ACCMODE) | (path == PRELOAD_HEAP ? WIRE_OPEN_HEAP : 0));
  pthread_mutex_unlock(&process.lock);
  if (fd < 0) {
    errno = -fd;
    return -1;
  }
  if (!(flags & O_CLOEXEC))
    fcntl(fd, F_SETFD, 0);
  if (flags & O_NONBLOCK)
    fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

/* A descriptor may come from elsewhere, by exec or a socket, before the memory file is known. */
static void meet_stranger(void) {
  if (process.memory >= 0)
    return;
  const int socket = connect_to_server(true);
  if (socket < 0)
    return;
  take_memory(socket);
  close(socket);
}

off_t preload_real_lseek(int fd, off_t offset, int whence) {
  return syscall(SYS_lseek, fd, offset, whence);
}

struct wire_position preload_object_of(int fd) {
  struct wire_position position = {.object = WIRE_NOTHING};
  const int before = errno;
  struct stat status;
  /* The size tells nearly all others, without the lock. */
  if (fstatat(fd, "", &status, AT_EMPTY_PATH) == 0 && S_ISREG(status.st_mode) &&
      (uint64_t)status.st_size == WIRE_MEMORY_BYTES) {
    pthread_mutex_lock(&process.lock);
    meet_stranger();
    const bool ours = process.memory >= 0 && is_memory(&status);
    pthread_mutex_unlock(&process.lock);
    if (ours)
      position = wire_position_unpack(preload_real_lseek(fd, 0, SEEK_CUR));
  }
  errno = before;
  return position;
}

bool preload_may_be_sync_file(int fd) {
  const int before = errno;
  struct stat status;
  const bool is_pipe = fstatat(fd, "", &status, AT_EMPTY_PATH) == 0 && S_ISFIFO(status.st_mode);
  errno = before;
  return is_pipe && getenv("DAEDALUS_V3D_SOCKET") != NULL;
}

uint32_t preload_client_of(int fd) {
  const struct wire_position position = preload_object_of(fd);
  return position.object == WIRE_NODE ? position.number : 0;
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

int preload_transact(const struct preload_call *call, struct wire_fds *received) {
  struct preload_message *message = &thread.message;
  if (message->failed)
    return -ENOMEM;
  const struct wire_request request = {.bytes = (uint32_t)message->bytes,
                                       .kind = WIRE_IOCTL,
                                       .client = call->client,
                                       .code = call->code,
                                       .arg_bytes = call->arg_bytes,
                                       .n_segments = message->n_segments};
  memcpy(message->data, &request, sizeof request);
  int result = -EBADF;
  /* Twice, as a program may have closed a descriptor that it does not know. */
  for (int attempt = 0; attempt < 2 && (result == -EBADF || result == -ENOTSOCK); attempt++) {
    if (thread.generation != process.generation + 1) {
      const int socket = connect_to_server(false);
      if (socket < 0)
        return socket;
      thread.socket = socket;
      thread.generation = process.generation + 1;
    }
    result = wire_send(thread.socket, message->data, message->bytes, call->fd, call->n_fds);
    if (result == -EBADF || result == -ENOTSOCK)
      thread.generation = 0;
  }
  if (result == 0)
    result = receive(thread.socket, message, received, call->may_interrupt);
  if (result != 0 && thread.generation != 0)
    drop_socket();
  if (result != 0)
    wire_close(received);
  return result == 0 || result == -ENOMEM ? result : -ENODEV;
}
