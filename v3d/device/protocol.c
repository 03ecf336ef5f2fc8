/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

union control {
  struct cmsghdr header;
  char room[CMSG_SPACE(WIRE_MAX_FDS * sizeof(int))];
};

void wire_close(struct wire_fds *fds) {
  while (fds->n > 0)
    close(fds->fd[--fds->n]);
}

int wire_send(int socket, const void *message, size_t bytes, const int *fd, unsigned n) {
  const char *at = message;
  while (bytes) {
    struct iovec part = {.iov_base = (void *)(uintptr_t)at, .iov_len = bytes};
    union control control;
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (n > 0) {
      memset(&control, 0, sizeof control);
      header.msg_control = &control;
      header.msg_controllen = CMSG_SPACE(n * sizeof *fd);
      struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(n * sizeof *fd);
      memcpy(CMSG_DATA(rights), fd, n * sizeof *fd);
    }
    ssize_t sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR)
        continue;
      return -errno;
    }
    n = 0;
    at += sent;
    bytes -= (size_t)sent;
  }
  return 0;
}

static void take_descriptors(struct msghdr *header, struct wire_fds *fds) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
      continue;
    const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
      int received;
      memcpy(&received, CMSG_DATA(c) + i * sizeof received, sizeof received);
      if (fds->n < WIRE_MAX_FDS)
        fds->fd[fds->n++] = received;
      else
        close(received);
    }
  }
}

long wire_receive(int socket, void *message, size_t bytes, struct wire_fds *fds) {
  struct iovec part = {.iov_base = message, .iov_len = bytes};
  union control control;
  memset(&control, 0, sizeof control);
  struct msghdr header = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = &control,
                          .msg_controllen = sizeof control.room};
  const ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (got < 0)
    return -errno;
  take_descriptors(&header, fds);
  return (long)got;
}

bool wire_address(struct sockaddr_un *address, const char *path) {
  const size_t length = strlen(path);
  if (length == 0 || length >= sizeof address->sun_path)
    return false;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, path, length);
  return true;
}
