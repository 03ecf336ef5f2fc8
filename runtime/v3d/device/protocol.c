/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

union control {
  struct cmsghdr header;
  char room[CMSG_SPACE(sizeof(int))];
};

int wire_send(int socket, const void *message, size_t bytes, int fd) {
  const char *at = message;
  while (bytes) {
    struct iovec part = {.iov_base = (void *)(uintptr_t)at, .iov_len = bytes};
    union control control;
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
      memset(&control, 0, sizeof control);
      header.msg_control = &control;
      header.msg_controllen = sizeof control.room;
      struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof fd);
      memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    }
    ssize_t sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR)
        continue;
      return -errno;
    }
    fd = -1;
    at += sent;
    bytes -= (size_t)sent;
  }
  return 0;
}

/* Keeps the first descriptor that came, closes what else there may be. */
static void take_descriptors(struct msghdr *header, int *fd) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
      continue;
    const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
      int received;
      memcpy(&received, CMSG_DATA(c) + i * sizeof received, sizeof received);
      if (*fd >= 0)
        close(*fd);
      *fd = received;
    }
  }
}

long wire_receive(int socket, void *message, size_t bytes, int *fd) {
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
  take_descriptors(&header, fd);
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
