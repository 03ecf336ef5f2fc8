/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers that clients and processes share by descriptors, and what keeps memory alive. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "drm_client.h"

enum { SECOND = 1000000000, GIB = 1 << 30 };

static int descriptor_flags(int fd) {
  return fcntl(fd, F_GETFD);
}

static void exports(void) {
  const int fd = drm_open();
  struct drm_buffer a;
  CHECK_INT(drm_create(fd, 5000, &a), 0);
  int out = -1;
  CHECK_INT(drm_export(fd, 4711, 0, &out), -ENOENT);
  CHECK_INT(drm_export(fd, a.handle, 1, &out), -EINVAL);
  CHECK_INT(out, -1);
  CHECK_INT(drm_export(fd, a.handle, O_CLOEXEC | O_RDWR, &out), 0);
  CHECK_INT(descriptor_flags(out), FD_CLOEXEC);
  struct stat status;
  CHECK_INT(lseek(out, 0, SEEK_END), 8192);
  CHECK_INT(lseek(out, 0, SEEK_SET), 0);
  CHECK_INT(lseek(out, 1, SEEK_SET), -1);
  CHECK_INT(errno, EINVAL);
  CHECK_INT(lseek(out, 0, SEEK_CUR), -1);
  CHECK_INT(errno, EINVAL);
  CHECK(fstat(out, &status) == 0 && status.st_size == 8192);
  /* What is mapped of it is the buffer, from its begin to its end. */
  uint32_t *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
  CHECK(map != MAP_FAILED);
  map[3] = 0x1234;
  CHECK_INT(a.map[3], 0x1234);
  uint32_t *second = mmap(NULL, 4096, PROT_READ, MAP_SHARED, out, 4096);
  CHECK(second != MAP_FAILED);
  map[1030] = 77;
  CHECK_INT(second[6], 77);
  CHECK(mmap(NULL, 8192, PROT_READ, MAP_SHARED, out, 4096) == MAP_FAILED);
  CHECK_INT(errno, EINVAL);
  munmap(map, 8192);
  munmap(second, 4096);
  /* Without O_RDWR it is for reading, and without O_CLOEXEC it stays open. */
  int reader = -1;
  CHECK_INT(drm_export(fd, a.handle, 0, &reader), 0);
  CHECK_INT(descriptor_flags(reader), 0);
  CHECK(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED);
  CHECK_INT(errno, EACCES);
  struct stat other;
  CHECK(fstat(reader, &other) == 0 && other.st_ino == status.st_ino);
  /* An ioctl of a node on it is none. */
  struct abi_create_bo create = {.size = 4096};
  const int answer = DRM_CALL(out, ABI_V3D_CREATE_BO, &create);
  CHECK(answer == -ENOTTY || answer == -ENOSYS); /* the latter is qemu's */
  close(reader);
  close(out);
  drm_destroy(fd, &a);
  close(fd);
}

static void imports(void) {
  const int fd = drm_open(), stranger = drm_open();
  struct drm_buffer a, filler;
  uint32_t handle = 0, again = 0;
  int out = -1, onward = -1;
  CHECK_INT(drm_create(stranger, 4096, &filler), 0); /* so that handles differ */
  CHECK_INT(drm_create(fd, 4096, &a), 0);
  CHECK_INT(drm_export(fd, a.handle, O_CLOEXEC, &out), 0);
  CHECK_INT(drm_import(fd, out, &handle), 0);
  CHECK_INT(handle, a.handle);
  CHECK_INT(drm_import(stranger, out, &handle), 0);
  CHECK(handle != filler.handle);
  CHECK_INT(drm_import(stranger, out, &again), 0);
  CHECK_INT(again, handle);
  struct abi_get_bo_offset offset = {.handle = handle};
  CHECK_INT(DRM_CALL(stranger, ABI_V3D_GET_BO_OFFSET, &offset), 0);
  CHECK_INT(offset.offset, a.address);
  /* Handed on by who has imported it. */
  CHECK_INT(drm_export(stranger, handle, O_CLOEXEC, &onward), 0);
  close(out);
  CHECK_INT(drm_import(fd, onward, &again), 0);
  CHECK_INT(again, a.handle);
  /* One close ends the handle, however often it was imported. */
  struct abi_gem_close gone = {.handle = handle};
  CHECK_INT(DRM_CALL(stranger, ABI_GEM_CLOSE, &gone), 0);
  CHECK_INT(DRM_CALL(stranger, ABI_GEM_CLOSE, &gone), -EINVAL);
  CHECK_INT(drm_import(stranger, onward, &again), 0);
  close(onward);
  CHECK_INT(drm_import(stranger, onward, &again), -EBADF);
  CHECK_INT(drm_import(stranger, -1, &again), -EBADF);
  CHECK_INT(drm_import(stranger, fd, &again), -EINVAL); /* a node is no buffer */
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  CHECK_INT(drm_import(stranger, file, &again), -EINVAL);
  close(file);
  drm_destroy(fd, &a);
  close(stranger);
  close(fd);
}

/* How many buffers of 1 GiB there is room for. */
static int room(int fd) {
  uint32_t handles[8];
  int n = 0;
  while (n < 8) {
    struct abi_create_bo create = {.size = GIB};
    if (DRM_CALL(fd, ABI_V3D_CREATE_BO, &create) != 0)
      break;
    handles[n++] = create.handle;
  }
  for (int i = 0; i < n; i++) {
    struct abi_gem_close close = {.handle = handles[i]};
    CHECK_INT(DRM_CALL(fd, ABI_GEM_CLOSE, &close), 0);
  }
  return n;
}

/* A buffer lives as long as any handle, descriptor or mapping of one. */
static void lifetime(void) {
  const int fd = drm_open(), stranger = drm_open();
  struct drm_buffer a;
  uint32_t handle = 0;
  int out = -1;
  CHECK_INT(room(fd), 3);
  CHECK_INT(drm_create(fd, GIB, &a), 0);
  a.map[5] = 99;
  CHECK_INT(drm_export(fd, a.handle, O_CLOEXEC | O_RDWR, &out), 0);
  drm_destroy(fd, &a);
  CHECK_INT(room(fd), 2); /* the descriptor */
  CHECK_INT(drm_import(stranger, out, &handle), 0);
  close(out);
  CHECK_INT(room(fd), 2); /* the other client's handle */
  CHECK_INT(drm_export(stranger, handle, O_CLOEXEC | O_RDWR, &out), 0);
  struct abi_gem_close gone = {.handle = handle};
  CHECK_INT(DRM_CALL(stranger, ABI_GEM_CLOSE, &gone), 0);
  const int copy = dup(out);
  uint32_t *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, copy, 0);
  close(out);
  CHECK_INT(room(fd), 2); /* the duplicate */
  close(copy);
  CHECK_INT(room(fd), 2); /* the mapping */
  CHECK_INT(map[5], 99);
  munmap(map, 4096);
  CHECK_INT(room(fd), 3);
  close(stranger);
  close(fd);
}

/* What a client had is free when its node is closed, and no sooner. */
static void closed_nodes(void) {
  const int fd = drm_open();
  for (int i = 0; i < 3; i++) {
    const int other = drm_open();
    struct abi_create_bo create = {.size = GIB};
    CHECK_INT(DRM_CALL(other, ABI_V3D_CREATE_BO, &create), 0);
    const int copy = dup(other);
    close(other);
    CHECK_INT(room(fd), 2);
    close(copy);
    CHECK_INT(room(fd), 3);
  }
  /* A mapping keeps the node open, as it does in the kernel. */
  const int other = drm_open();
  struct drm_buffer a;
  CHECK_INT(drm_create(other, GIB, &a), 0);
  close(other);
  CHECK_INT(room(fd), 2);
  munmap(a.map, GIB);
  CHECK_INT(room(fd), 3);
  close(fd);
}

static int allocate(int heap, struct abi_dma_heap_alloc *arg) {
  return drm_call(heap, ABI_REQUEST_OF(ABI_TYPE_DMA_HEAP, 1, ABI_DMA_HEAP_ALLOC, *arg), arg);
}

/* A buffer that no client of the GPU has made, as decoders get theirs. */
static void heaps(void) {
  static const char *const paths[] = {"/dev/dma_heap/system", "/dev/dma_heap/linux,cma",
                                      "/dev/dma_heap/vidbuf_cached"};
  const int fd = drm_open();
  struct drm_buffer code;
  CHECK_INT(drm_create(fd, 4096, &code), 0);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    const int heap = open(paths[i], O_RDWR | O_CLOEXEC);
    CHECK(heap >= 0);
    struct abi_dma_heap_alloc arg = {.bytes = 5000, .fd_flags = O_RDWR | O_CLOEXEC};
    CHECK_INT(allocate(heap, &arg), 0);
    const int frame = (int)arg.fd;
    CHECK_INT(descriptor_flags(frame), FD_CLOEXEC);
    CHECK_INT(lseek(frame, 0, SEEK_END), 8192);
    uint32_t *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, frame, 0);
    CHECK(map != MAP_FAILED && map[2000] == 0);
    map[2000] = 41;
    uint32_t handles[2] = {0, code.handle};
    CHECK_INT(drm_import(fd, frame, &handles[0]), 0);
    struct abi_get_bo_offset offset = {.handle = handles[0]};
    CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_BO_OFFSET, &offset), 0);
    const uint32_t at = offset.offset + 8000;
    const struct fake_shader inc = {FAKE_ADD, at, at, 1, 1};
    CHECK_INT(drm_submit(fd, &code, 0, &inc, handles, 2, 0, 0), 0);
    CHECK_INT(drm_wait_bo(fd, handles[0], SECOND), 0);
    CHECK_INT(map[2000], 42);
    munmap(map, 8192);
    close(frame);
    struct abi_gem_close gone = {.handle = handles[0]};
    CHECK_INT(DRM_CALL(fd, ABI_GEM_CLOSE, &gone), 0);
    struct abi_dma_heap_alloc wrong[] = {{.bytes = 0, .fd_flags = O_RDWR},
                                         {.bytes = 4096, .fd = 1, .fd_flags = O_RDWR},
                                         {.bytes = 4096, .fd_flags = O_RDWR | O_APPEND},
                                         {.bytes = 4096, .fd_flags = O_RDWR, .heap_flags = 1}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
      CHECK_INT(allocate(heap, &wrong[w]), -EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, heap, 0) == MAP_FAILED && errno == ENODEV);
    struct abi_create_bo create = {.size = 4096};
    const int answer = DRM_CALL(heap, ABI_V3D_CREATE_BO, &create);
    CHECK(answer == -ENOTTY || answer == -ENOSYS); /* the latter is qemu's */
    close(heap);
  }
  drm_destroy(fd, &code);
  CHECK_INT(room(fd), 3);
  close(fd);
}

static int wait_for(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Adds 1 to what it is sent, by a job of its own and without knowing whose it is. */
static void add_one(int channel) {
  const int shared = drm_receive_fd(channel);
  const off_t size = lseek(shared, 0, SEEK_END); /* before this process has opened a node */
  CHECK_INT(size, 4096);
  const uint32_t *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, shared, 0);
  CHECK(map != MAP_FAILED);
  CHECK_INT(map[0], 41);
  const int fd = drm_open();
  struct drm_buffer code;
  uint32_t handles[2] = {0};
  CHECK_INT(drm_create(fd, 4096, &code), 0);
  CHECK_INT(drm_import(fd, shared, &handles[0]), 0);
  struct abi_get_bo_offset offset = {.handle = handles[0]};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_BO_OFFSET, &offset), 0);
  const struct fake_shader inc = {FAKE_ADD, offset.offset, offset.offset, 1, 1};
  handles[1] = code.handle;
  CHECK_INT(drm_submit(fd, &code, 0, &inc, handles, 2, 0, 0), 0);
  CHECK_INT(drm_wait_bo(fd, handles[0], SECOND), 0);
  CHECK_INT(map[0], 42);
}

static void two_processes(void) {
  int channel[2];
  CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, channel), 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    add_one(channel[1]);
    exit(check_failures != 0);
  }
  const int fd = drm_open();
  struct drm_buffer a;
  int out = -1;
  CHECK_INT(drm_create(fd, 4096, &a), 0);
  a.map[0] = 41;
  CHECK_INT(drm_export(fd, a.handle, O_CLOEXEC, &out), 0);
  CHECK_INT(drm_send_fd(channel[0], out), 0);
  close(out);
  CHECK_INT(wait_for(child), 0);
  CHECK_INT(a.map[0], 42);
  CHECK_INT(drm_wait_bo(fd, a.handle, SECOND), 0);
  close(channel[0]);
  close(channel[1]);
  drm_destroy(fd, &a);
  close(fd);
}

/* Many buffers go round: addresses are used again, and nothing is kept. */
static void many(void) {
  const int fd = drm_open(), other = drm_open();
  for (int i = 0; i < 300; i++) {
    struct drm_buffer a;
    uint32_t handle = 0;
    int out = -1;
    if (drm_create(fd, 64 << 20, &a) != 0 || drm_export(fd, a.handle, O_CLOEXEC, &out) != 0 ||
        drm_import(other, out, &handle) != 0) {
      CHECK_INT(i, 300);
      return;
    }
    CHECK_INT(a.map[0], 0);
    a.map[0] = 1;
    drm_destroy(fd, &a);
    close(out);
    struct abi_gem_close gone = {.handle = handle};
    CHECK_INT(DRM_CALL(other, ABI_GEM_CLOSE, &gone), 0);
  }
  CHECK_INT(room(fd), 3);
  close(other);
  close(fd);
}

static const char *self;

/* A program that replaces itself keeps what it has open. */
static int executed_again(const char *node, const char *buffer, const char *handle) {
  const int fd = atoi(node), shared = atoi(buffer);
  uint32_t same = 0;
  CHECK_INT(drm_import(fd, shared, &same), 0);
  CHECK_INT(same, atoi(handle));
  struct abi_get_bo_offset offset = {.handle = same};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_BO_OFFSET, &offset), 0);
  return CHECK_RESULT();
}

__attribute__((unused)) static void executed(void) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open("/dev/dri/renderD128", O_RDWR);
    struct abi_create_bo create = {.size = 4096};
    int out = -1;
    char words[3][16];
    if (DRM_CALL(fd, ABI_V3D_CREATE_BO, &create) != 0 || drm_export(fd, create.handle, 0, &out))
      _exit(98);
    const int numbers[3] = {fd, out, (int)create.handle};
    for (int i = 0; i < 3; i++)
      snprintf(words[i], sizeof words[i], "%d", numbers[i]);
    execl(self, self, words[0], words[1], words[2], (char *)NULL);
    _exit(99);
  }
  CHECK_INT(wait_for(child), 0);
}

int main(int argc, char **argv) {
  if (argc == 4)
    return executed_again(argv[1], argv[2], argv[3]);
  self = argv[0];
  RUN(two_processes); /* first, as its child must not know the device yet */
  RUN(exports);
  RUN(imports);
  RUN(lifetime);
  RUN(closed_nodes);
  RUN(many);
  RUN(heaps);
#ifdef __aarch64__
  printf("left   executed: under an emulator, a program would be started without it\n");
#else
  RUN(executed);
#endif
  return CHECK_RESULT();
}
