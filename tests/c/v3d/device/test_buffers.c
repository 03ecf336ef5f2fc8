/* SPDX-License-Identifier: BSD-2-Clause */
/* What the node says of itself, its buffers, and its errors. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "drm_client.h"

static int fd;

static void nodes(void) {
  static const char *const paths[] = {"/dev/dri/renderD128", "/dev/dri/card0",
                                      "/dev/dri/by-path/platform-1002000000.v3d-card",
                                      "/dev/dri/by-path/platform-1002000000.v3d-render"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    const int node = open(paths[i], O_RDWR);
    CHECK(node >= 0);
    CHECK_INT(fcntl(node, F_GETFD) & FD_CLOEXEC, 0);
    close(node);
    const int other = openat(AT_FDCWD, paths[i], O_RDWR | O_CLOEXEC);
    CHECK(other >= 0);
    CHECK_INT(fcntl(other, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(other);
  }
  CHECK_INT(open("/dev/dri/renderD129", O_RDWR), -1);
  CHECK_INT(errno, ENOENT);
  /* Other files are what they were. */
  char name[] = "/tmp/daedalus-v3d-test-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  close(file);
  unlink(name);
  const int created = open(name, O_RDWR | O_CREAT | O_EXCL, 0640);
  struct stat status;
  CHECK(created >= 0 && fstat(created, &status) == 0);
  CHECK_INT(status.st_mode & 0777 & ~0640, 0);
  uint64_t arg[2] = {0};
  const int answer = DRM_CALL(created, ABI_GET_CAP, (struct abi_get_cap *)arg);
  CHECK(answer == -ENOTTY || answer == -ENOSYS); /* the latter is qemu's */
  close(created);
  unlink(name);
}

static void identity(void) {
  char name[8] = "", description[64] = "";
  struct abi_version version = {.name_length = sizeof name,
                                .name = (uintptr_t)name,
                                .description_length = 3,
                                .description = (uintptr_t)description};
  CHECK_INT(DRM_CALL(fd, ABI_VERSION, &version), 0);
  CHECK_STR(name, "v3d");
  CHECK_STR(description, "Bro");
  CHECK_INT(version.name_length, 3);
  CHECK_INT(version.major, 1);
  struct abi_get_cap cap = {.capability = 0x13};
  CHECK_INT(DRM_CALL(fd, ABI_GET_CAP, &cap), 0);
  CHECK_INT(cap.value, 1);
  cap.capability = 0x14;
  CHECK_INT(DRM_CALL(fd, ABI_GET_CAP, &cap), 0);
  CHECK_INT(cap.value, 0);
  cap.capability = 0x5;
  CHECK_INT(DRM_CALL(fd, ABI_GET_CAP, &cap), 0);
  CHECK_INT(cap.value, 3);
  cap.capability = 0x1;
  CHECK_INT(DRM_CALL(fd, ABI_GET_CAP, &cap), -EOPNOTSUPP);
  static const uint64_t params[][2] = {{4, 0x07443356}, {5, 0x81001431}, {3, 0x00020a10}, {7, 1},
                                       {8, 1},          {9, 1},          {10, 0},         {11, 1},
                                       {12, 1},         {13, 0}};
  for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
    struct abi_get_param param = {.param = (uint32_t)params[i][0]};
    CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_PARAM, &param), 0);
    CHECK_INT(param.value, params[i][1]);
  }
  for (uint32_t i = 0; i < 15; i++) {
    struct abi_get_param get = {.param = i};
    CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_PARAM, &get), 0);
    get = (struct abi_get_param){.param = i, .value = 1}; /* has to be 0 for registers */
    CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_PARAM, &get), i < 7 ? -EINVAL : 0);
  }
  struct abi_get_param param = {.param = 99};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_PARAM, &param), -EINVAL);
  param = (struct abi_get_param){.param = 4, .pad = 1};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_PARAM, &param), -EINVAL);
}

static void create_and_map(void) {
  struct drm_buffer a, b;
  CHECK_INT(drm_create(fd, 100, &a), 0);
  CHECK_INT(drm_create(fd, 1 << 20, &b), 0);
  CHECK(a.address != 0 && a.address % 4096 == 0 && b.address % 4096 == 0);
  CHECK(a.handle != b.handle && a.address != b.address);
  for (size_t i = 0; i < (1 << 20) / 4; i++)
    if (b.map[i] != 0) {
      CHECK_INT(b.map[i], 0);
      break;
    }
  struct abi_get_bo_offset offset = {.handle = b.handle};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_BO_OFFSET, &offset), 0);
  CHECK_INT(offset.offset, b.address);
  /* Another mapping of the same, by a duplicate. */
  const int other = dup(fd);
  uint32_t *again = mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED, other, (off_t)b.address);
  CHECK(again != MAP_FAILED);
  b.map[77] = 0xabcd;
  CHECK_INT(again[77], 0xabcd);
  munmap(again, 1 << 20);
  /* A duplicate is the same client, another open is another. */
  struct abi_get_bo_offset same = {.handle = b.handle};
  CHECK_INT(DRM_CALL(other, ABI_V3D_GET_BO_OFFSET, &same), 0);
  close(other);
  const int stranger = drm_open();
  CHECK_INT(DRM_CALL(stranger, ABI_V3D_GET_BO_OFFSET, &same), -ENOENT);
  close(stranger);
  drm_destroy(fd, &a);
  drm_destroy(fd, &b);
}

static void wrong_handles(void) {
  struct abi_gem_close close = {.handle = 4711};
  CHECK_INT(DRM_CALL(fd, ABI_GEM_CLOSE, &close), -EINVAL);
  struct abi_mmap_bo map = {.handle = 4711};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_MMAP_BO, &map), -ENOENT);
  struct abi_get_bo_offset offset = {.handle = 4711};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_BO_OFFSET, &offset), -ENOENT);
  CHECK_INT(drm_wait_bo(fd, 4711, 0), -EINVAL);
  struct abi_create_bo create = {.size = 4096, .flags = 1};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_CREATE_BO, &create), -EINVAL);
  create = (struct abi_create_bo){.size = 0};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_CREATE_BO, &create), -EINVAL);
  struct abi_submit_csd unknown = {.pad = 0};
  CHECK_INT(DRM_CALL(fd, 0x7f, &unknown), -EINVAL);
}

/* Freed memory comes back zeroed, also where a mapping was kept. */
static void zeroed_again(void) {
  enum { SIZE = 512 << 20 };
  for (int round = 0; round < 12; round++) {
    struct drm_buffer a;
    CHECK_INT(drm_create(fd, SIZE, &a), 0);
    CHECK_INT(a.map[0], 0);
    CHECK_INT(a.map[SIZE / 4 - 1], 0);
    a.map[0] = a.map[SIZE / 4 - 1] = 1;
    struct abi_gem_close close = {.handle = a.handle};
    CHECK_INT(DRM_CALL(fd, ABI_GEM_CLOSE, &close), 0);
    a.map[0] = 2;
    munmap(a.map, SIZE);
  }
}

static void address_space_ends(void) {
  enum { SIZE = 1 << 30 };
  uint32_t handles[8];
  int n = 0, result = 0;
  while (n < 8) {
    struct abi_create_bo create = {.size = SIZE};
    result = DRM_CALL(fd, ABI_V3D_CREATE_BO, &create);
    if (result != 0)
      break;
    handles[n++] = create.handle;
  }
  CHECK_INT(result, -ENOSPC);
  CHECK_INT(n, 3);
  while (n > 0) {
    struct abi_gem_close close = {.handle = handles[--n]};
    CHECK_INT(DRM_CALL(fd, ABI_GEM_CLOSE, &close), 0);
  }
}

static void bad_pointers(void) {
  void *const nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *const read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK_INT(drm_call(fd, ABI_REQUEST(1, ABI_V3D_CREATE_BO, struct abi_create_bo), nowhere),
            -EFAULT);
  CHECK_INT(drm_call(fd, ABI_REQUEST(1, ABI_V3D_GET_PARAM, struct abi_get_param), read_only),
            -EFAULT);
  struct abi_syncobj_wait wait = {.handles = (uintptr_t)nowhere, .n_handles = 1};
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_WAIT, &wait), -EFAULT);
  wait.n_handles = UINT32_MAX;
  CHECK_INT(DRM_CALL(fd, ABI_SYNCOBJ_WAIT, &wait), -EFAULT);
  struct drm_buffer a;
  CHECK_INT(drm_create(fd, 4096, &a), 0);
  struct abi_submit_csd csd = {.bo_handles = (uintptr_t)&a.handle,
                               .n_bo_handles = 1,
                               .flags = ABI_SUBMIT_EXTENSION,
                               .extensions = (uintptr_t)nowhere};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), -EFAULT);
  drm_destroy(fd, &a);
  munmap(nowhere, 4096);
  munmap(read_only, 4096);
}

int main(void) {
  fd = drm_open();
  if (fd < 0) {
    perror("/dev/dri/renderD128");
    return 1;
  }
  RUN(nodes);
  RUN(identity);
  RUN(create_and_map);
  RUN(wrong_handles);
  RUN(zeroed_again);
  RUN(address_space_ends);
  RUN(bad_pointers);
  return CHECK_RESULT();
}
