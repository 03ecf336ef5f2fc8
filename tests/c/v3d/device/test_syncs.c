/* SPDX-License-Identifier: BSD-2-Clause */
/* Syncobjs and fences that clients and processes share by descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "drm_client.h"

enum { SECOND = 1000000000, WAIT = ABI_SYNCOBJ_WAIT_ALL };

static int node; /* of the client that most tests are about */

/* HANDLE_TO_FD and FD_TO_HANDLE. */
static int to_fd(int fd, uint32_t handle, uint32_t flags, int *out) {
  struct abi_syncobj_handle arg = {.handle = handle, .flags = flags, .fd = -1};
  const int result = DRM_CALL(fd, ABI_SYNCOBJ_HANDLE_TO_FD, &arg);
  *out = arg.fd;
  return result;
}

static int from_fd(int fd, int in, uint32_t flags, uint32_t *handle) {
  struct abi_syncobj_handle arg = {.handle = *handle, .flags = flags, .fd = in};
  const int result = DRM_CALL(fd, ABI_SYNCOBJ_FD_TO_HANDLE, &arg);
  *handle = arg.handle;
  return result;
}

static int signal_one(int fd, uint32_t handle) {
  struct abi_syncobj_array array = {.handles = (uintptr_t)&handle, .n_handles = 1};
  return DRM_CALL(fd, ABI_SYNCOBJ_SIGNAL, &array);
}

static int reset_one(int fd, uint32_t handle) {
  struct abi_syncobj_array array = {.handles = (uintptr_t)&handle, .n_handles = 1};
  return DRM_CALL(fd, ABI_SYNCOBJ_RESET, &array);
}

static int destroy_one(int fd, uint32_t handle) {
  struct abi_syncobj_destroy destroy = {.handle = handle};
  return DRM_CALL(fd, ABI_SYNCOBJ_DESTROY, &destroy);
}

static int is_signaled(int fd, uint32_t handle) {
  return drm_syncobj_wait(fd, &handle, 1, WAIT, 0, NULL);
}

static int readable(int fd, int timeout_ms) {
  struct pollfd one = {.fd = fd, .events = POLLIN};
  return poll(&one, 1, timeout_ms) == 1 ? one.revents : 0;
}

static void opaque(void) {
  const int other = drm_open();
  uint32_t own = drm_syncobj(node, 0), theirs = 0, again = 0;
  int out = -1;
  CHECK_INT(to_fd(node, own, 0, &out), 0);
  CHECK_INT(fcntl(out, F_GETFD), FD_CLOEXEC);
  CHECK_INT(from_fd(other, out, 0, &theirs), 0);
  CHECK_INT(from_fd(other, out, 0, &again), 0);
  CHECK(again != theirs);
  CHECK_INT(is_signaled(other, theirs), -EINVAL); /* nothing is in it yet */
  CHECK_INT(signal_one(node, own), 0);
  CHECK_INT(is_signaled(other, theirs), 0);
  CHECK_INT(reset_one(other, again), 0);
  CHECK_INT(is_signaled(node, own), -EINVAL);
  /* It lives on in what was imported, and in the descriptor. */
  CHECK_INT(destroy_one(node, own), 0);
  CHECK_INT(signal_one(other, theirs), 0);
  CHECK_INT(is_signaled(other, again), 0);
  CHECK_INT(destroy_one(other, theirs), 0);
  CHECK_INT(destroy_one(other, again), 0);
  close(other);
  CHECK_INT(from_fd(node, out, 0, &own), 0);
  CHECK_INT(is_signaled(node, own), 0);
  CHECK_INT(destroy_one(node, own), 0);
  CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, out, 0) == MAP_FAILED && errno == ENODEV);
  CHECK(lseek(out, 0, SEEK_END) == -1 && errno == ESPIPE);
  close(out);
}

static void wrong_descriptors(void) {
  uint32_t handle = drm_syncobj(node, ABI_SYNCOBJ_CREATE_SIGNALED), none = 4711;
  struct drm_buffer a;
  int out = -1, buffer = -1;
  CHECK_INT(drm_create(node, 4096, &a), 0);
  CHECK_INT(drm_export(node, a.handle, O_CLOEXEC, &buffer), 0);
  CHECK_INT(to_fd(node, none, 0, &out), -EINVAL);
  CHECK_INT(to_fd(node, none, ABI_SYNCOBJ_FD_SYNC_FILE, &out), -ENOENT);
  CHECK_INT(to_fd(node, handle, 2, &out), -EINVAL);
  CHECK_INT(out, -1);
  const int bad[] = {-1, 4711, buffer, node, 0};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK_INT(from_fd(node, bad[i], 0, &none), -EINVAL);
    CHECK_INT(from_fd(node, bad[i], ABI_SYNCOBJ_FD_SYNC_FILE, &handle), -EINVAL);
  }
  CHECK_INT(to_fd(node, handle, 0, &out), 0);
  CHECK_INT(from_fd(node, out, ABI_SYNCOBJ_FD_SYNC_FILE, &handle), -EINVAL);
  CHECK_INT(from_fd(node, out, 2, &handle), -EINVAL);
  CHECK_INT(drm_import(node, out, &none), -EINVAL);
  close(out);
  CHECK_INT(to_fd(node, handle, ABI_SYNCOBJ_FD_SYNC_FILE, &out), 0);
  none = 4711;
  CHECK_INT(from_fd(node, out, ABI_SYNCOBJ_FD_SYNC_FILE, &none), -ENOENT);
  CHECK_INT(from_fd(node, out, 0, &none), -EINVAL);
  close(out);
  close(buffer);
  CHECK_INT(destroy_one(node, handle), 0);
  drm_destroy(node, &a);
}

static void sync_files(void) {
  struct drm_buffer code;
  const int other = drm_open();
  uint32_t done = drm_syncobj(node, 0), theirs = drm_syncobj(other, 0),
           after = drm_syncobj(node, 0);
  int out = -1, second = -1;
  CHECK_INT(drm_create(node, 4096, &code), 0);
  CHECK_INT(to_fd(node, done, ABI_SYNCOBJ_FD_SYNC_FILE, &out), -EINVAL);
  CHECK_INT(drm_hold(node, &code, 20, 0, done), 0);
  CHECK_INT(to_fd(node, done, ABI_SYNCOBJ_FD_SYNC_FILE, &out), 0);
  CHECK_INT(fcntl(out, F_GETFD), FD_CLOEXEC);
  CHECK_INT(readable(out, 0), 0);
  /* What it was made of may get another fence meanwhile. */
  CHECK_INT(reset_one(node, done), 0);
  CHECK_INT(from_fd(other, out, ABI_SYNCOBJ_FD_SYNC_FILE, &theirs), 0);
  CHECK_INT(is_signaled(other, theirs), -ETIME);
  CHECK_INT(to_fd(other, theirs, ABI_SYNCOBJ_FD_SYNC_FILE, &second), 0);
  drm_release(&code);
  CHECK_INT(drm_syncobj_wait(other, &theirs, 1, WAIT, 10 * (int64_t)SECOND, NULL), 0);
  CHECK_INT(readable(second, 10000), POLLIN);
  CHECK_INT(readable(out, 0), POLLIN);
  CHECK_INT(readable(out, 0), POLLIN); /* for good */
  /* A signaled one can be waited for as well. */
  CHECK_INT(from_fd(node, out, ABI_SYNCOBJ_FD_SYNC_FILE, &after), 0);
  CHECK_INT(is_signaled(node, after), 0);
  close(out);
  close(second);
  close(other);
  destroy_one(node, done);
  destroy_one(node, after);
  drm_destroy(node, &code);
}

static int merge(int a, int b, int *out) {
  struct abi_sync_merge arg = {.name = "both", .other = b, .fd = -1};
  const int result = drm_call(a, ABI_REQUEST_OF(ABI_TYPE_SYNC_FILE, 1, ABI_SYNC_MERGE, arg), &arg);
  *out = arg.fd;
  return result;
}

static int info(int fd, struct abi_sync_fence_info *fences, uint32_t n,
                struct abi_sync_file_info *arg) {
  *arg = (struct abi_sync_file_info){.n_fences = n, .fences = (uintptr_t)fences};
  return drm_call(fd, ABI_REQUEST_OF(ABI_TYPE_SYNC_FILE, 1, ABI_SYNC_INFO, *arg), arg);
}

static void merged(void) {
  struct drm_buffer code;
  uint32_t first = drm_syncobj(node, 0), never = drm_syncobj(node, 0);
  int a = -1, b = -1, both = -1;
  struct abi_sync_file_info about;
  struct abi_sync_fence_info fences[4] = {{.status = 7}};
  CHECK_INT(drm_create(node, 4096, &code), 0);
  CHECK_INT(drm_hold(node, &code, 20, 0, first), 0);
  CHECK_INT(drm_hold(node, &code, 20, 0, never), 0);
  CHECK_INT(to_fd(node, first, ABI_SYNCOBJ_FD_SYNC_FILE, &a), 0);
  CHECK_INT(to_fd(node, never, ABI_SYNCOBJ_FD_SYNC_FILE, &b), 0);
  CHECK_INT(merge(a, b, &both), 0);
  CHECK_INT(info(both, NULL, 0, &about), 0);
  CHECK_INT(about.n_fences, 2);
  CHECK_INT(about.status, 0);
  CHECK_STR(about.name, "both");
  CHECK_INT(info(both, fences, 1, &about), -EINVAL);
  CHECK_INT(readable(both, 0), 0);
  drm_release(&code);
  CHECK_INT(readable(both, 10000), POLLIN);
  CHECK_INT(readable(a, 0), POLLIN);
  CHECK_INT(readable(b, 0), POLLIN);
  CHECK_INT(info(both, fences, 4, &about), 0);
  CHECK_INT(about.status, 1);
  for (int i = 0; i < 2; i++) {
    CHECK_INT(fences[i].status, 1);
    CHECK_STR(fences[i].object, "v3d_csd");
    CHECK(fences[i].timestamp_ns != 0 && (int64_t)fences[i].timestamp_ns <= drm_now_ns());
  }
  CHECK(fences[0].timestamp_ns != fences[1].timestamp_ns);
  /* Other pipes are none. */
  int ends[2], none;
  CHECK_INT(pipe(ends), 0);
  CHECK_INT(merge(a, ends[0], &none), -ENOENT);
  CHECK_INT(merge(a, -1, &none), -ENOENT);
  const int answer = merge(ends[0], a, &none);
  CHECK(answer == -ENOTTY || answer == -ENOSYS); /* the latter is qemu's */
  close(ends[0]);
  close(ends[1]);
  close(a);
  close(b);
  close(both);
  destroy_one(node, first);
  destroy_one(node, never);
  drm_destroy(node, &code);
}

/* As Mesa asks whether something was submitted: again and again. */
static void many(void) {
  const uint32_t done = drm_syncobj(node, ABI_SYNCOBJ_CREATE_SIGNALED);
  for (int i = 0; i < 3000; i++) {
    int out = -1;
    if (to_fd(node, done, i & 1 ? ABI_SYNCOBJ_FD_SYNC_FILE : 0, &out) != 0 ||
        (i & 1 && readable(out, 0) != POLLIN)) {
      CHECK_INT(i, 3000);
      break;
    }
    close(out);
  }
  destroy_one(node, done);
}

static int dma_buf_sync(int fd, uint64_t flags) {
  struct abi_dma_buf_sync arg = {.flags = flags};
  return drm_call(fd, ABI_REQUEST_OF(ABI_TYPE_DMA_BUF, 0, ABI_DMA_BUF_SYNC, arg), &arg);
}

static int dma_buf_file(int fd, bool reads, int nr, struct abi_dma_buf_sync_file *arg) {
  return drm_call(fd, ABI_REQUEST_OF(ABI_TYPE_DMA_BUF, reads, nr, *arg), arg);
}

/* Who looks into a shared buffer can wait for the jobs on it, and have jobs wait. */
static void buffers(void) {
  struct drm_buffer a, code;
  int out = -1;
  CHECK_INT(drm_create(node, 4096, &a), 0);
  CHECK_INT(drm_create(node, 4096, &code), 0);
  CHECK_INT(drm_export(node, a.handle, O_CLOEXEC | O_RDWR, &out), 0);
  CHECK_INT(dma_buf_sync(out, ABI_DMA_BUF_READ), 0);
  CHECK_INT(dma_buf_sync(out, 0), -EINVAL);
  CHECK_INT(dma_buf_sync(out, 0x81), -EINVAL);
  CHECK_INT(drm_hold(node, &a, 50, 0, 0), 0);
  struct abi_dma_buf_sync_file made = {.flags = ABI_DMA_BUF_WRITE, .fd = -1};
  CHECK_INT(dma_buf_file(out, true, ABI_DMA_BUF_EXPORT_SYNC_FILE, &made), 0);
  CHECK_INT(readable(made.fd, 0), 0);
  /* A job on the other buffer, once it has been given the fence of this one. */
  int second = -1;
  CHECK_INT(drm_export(node, code.handle, O_CLOEXEC, &second), 0);
  CHECK_INT(dma_buf_file(second, false, ABI_DMA_BUF_IMPORT_SYNC_FILE, &made), 0);
  CHECK_INT(drm_wait_bo(node, code.handle, 0), -ETIME);
  drm_release(&a);
  CHECK_INT(dma_buf_sync(out, ABI_DMA_BUF_READ | ABI_DMA_BUF_WRITE), 0);
  CHECK_INT(drm_wait_bo(node, a.handle, 0), 0);
  CHECK_INT(drm_wait_bo(node, code.handle, 0), 0);
  CHECK_INT(readable(made.fd, 1000), POLLIN);
  CHECK_INT(dma_buf_sync(out, ABI_DMA_BUF_READ | ABI_DMA_BUF_END), 0);
  close(made.fd);
  made.fd = -1;
  CHECK_INT(dma_buf_file(second, false, ABI_DMA_BUF_IMPORT_SYNC_FILE, &made), -EINVAL);
  close(second);
  close(out);
  drm_destroy(node, &a);
  drm_destroy(node, &code);
}

/* A child waits for what its parent submits, by all three kinds of descriptors. */
static void two_processes(void) {
  int channel[2];
  CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, channel), 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const int file = drm_receive_fd(channel[1]), opaque_fd = drm_receive_fd(channel[1]);
    const int fd = drm_open();
    uint32_t handle = 0, of_file = drm_syncobj(fd, 0);
    CHECK_INT(from_fd(fd, opaque_fd, 0, &handle), 0);
    CHECK_INT(from_fd(fd, file, ABI_SYNCOBJ_FD_SYNC_FILE, &of_file), 0);
    CHECK_INT(is_signaled(fd, handle), -ETIME);
    CHECK_INT(is_signaled(fd, of_file), -ETIME);
    CHECK_INT(write(channel[1], "b", 1), 1);
    CHECK_INT(drm_syncobj_wait(fd, &handle, 1, WAIT, 10 * (int64_t)SECOND, NULL), 0);
    CHECK_INT(is_signaled(fd, of_file), 0);
    CHECK_INT(readable(file, 10000), POLLIN);
    CHECK_INT(reset_one(fd, handle), 0);
    exit(check_failures != 0);
  }
  struct drm_buffer code;
  uint32_t done = drm_syncobj(node, 0);
  int file = -1, opaque_fd = -1, status = -1;
  CHECK_INT(drm_create(node, 4096, &code), 0);
  CHECK_INT(drm_hold(node, &code, 20, 0, done), 0);
  CHECK_INT(to_fd(node, done, ABI_SYNCOBJ_FD_SYNC_FILE, &file), 0);
  CHECK_INT(to_fd(node, done, 0, &opaque_fd), 0);
  CHECK_INT(drm_send_fd(channel[0], file), 0);
  CHECK_INT(drm_send_fd(channel[0], opaque_fd), 0);
  char byte;
  CHECK_INT(read(channel[0], &byte, 1), 1); /* the child has looked */
  drm_release(&code);
  close(file);
  close(opaque_fd);
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_INT(is_signaled(node, done), -EINVAL); /* the child has emptied it */
  destroy_one(node, done);
  drm_destroy(node, &code);
  close(channel[0]);
  close(channel[1]);
}

int main(void) {
  node = drm_open();
  if (node < 0) {
    perror("/dev/dri/renderD128");
    return 1;
  }
  RUN(opaque);
  RUN(wrong_descriptors);
  RUN(sync_files);
  RUN(merged);
  RUN(many);
  RUN(buffers);
  RUN(two_processes);
  return CHECK_RESULT();
}
