/* SPDX-License-Identifier: BSD-2-Clause */
/* Performance monitors and queries, on a device that times jobs; on another, that it has none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "drm_client.h"

#define SECOND INT64_C(1000000000)

/* Numbers of counters, and what a job of the tests' device adds to them. */
enum { CYCLES = 0, FEP_QUADS = 8, L2T_HIT = 28, AXI_READS = 51, QPU_ACTIVE = 83 };
enum { QPU_STALLS = 85, QPU_STALLS_TMU = 87, N_COUNTERS = 93 };
static const uint8_t counters[] = {CYCLES,         QPU_ACTIVE, QPU_STALLS,
                                   QPU_STALLS_TMU, L2T_HIT,    FEP_QUADS};
static const uint64_t per_job[] = {
    FAKE_CLOCKS,        FAKE_ACTIVE / 4, (FAKE_STALL_TMU + FAKE_STALL_SFU) / 4,
    FAKE_STALL_TMU / 4, FAKE_L2T_HITS,   0};
enum { N = sizeof counters };

static int fd;
static struct drm_buffer code;

static uint64_t param(uint32_t number) {
  struct abi_get_param get = {.param = number};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_PARAM, &get), 0);
  return get.value;
}

static int create(const uint8_t *list, uint32_t n, uint32_t *id) {
  struct abi_perfmon_create arg = {.n_counters = n};
  memcpy(arg.counters, list, n < sizeof arg.counters ? n : sizeof arg.counters);
  const int result = DRM_CALL(fd, ABI_V3D_PERFMON_CREATE, &arg);
  *id = arg.id;
  return result;
}

static int destroy(uint32_t id) {
  struct abi_perfmon_destroy arg = {.id = id};
  return DRM_CALL(fd, ABI_V3D_PERFMON_DESTROY, &arg);
}

static int values_of(uint32_t id, uint64_t *values) {
  struct abi_perfmon_values arg = {.id = id, .values = (uintptr_t)values};
  return DRM_CALL(fd, ABI_V3D_PERFMON_GET_VALUES, &arg);
}

static int run(uint32_t perfmon, uint32_t out_sync) {
  const struct fake_shader nothing = {.operation = FAKE_NOTHING};
  struct abi_submit_csd csd = {.bo_handles = (uintptr_t)&code.handle,
                               .n_bo_handles = 1,
                               .out_sync = out_sync,
                               .perfmon_id = perfmon};
  memcpy(code.map, &nothing, sizeof nothing);
  csd.cfg[5] = code.address;
  const int result = DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd);
  return result != 0 ? result : drm_wait_bo(fd, code.handle, (uint64_t)SECOND);
}

static void absent(void) {
  uint32_t id;
  struct abi_perfmon_counter about = {.counter = 0};
  CHECK_INT(create(counters, N, &id), -EINVAL);
  CHECK_INT(DRM_CALL(fd, ABI_V3D_PERFMON_GET_COUNTER, &about), -EOPNOTSUPP);
  CHECK_INT(destroy(1), -EINVAL);
  CHECK_INT(run(1, 0), -ENOENT);
}

static void described(void) {
  CHECK_INT(param(13), N_COUNTERS);
  for (uint32_t i = 0; i < N_COUNTERS; i++) {
    struct abi_perfmon_counter about = {.counter = (uint8_t)i};
    CHECK_INT(DRM_CALL(fd, ABI_V3D_PERFMON_GET_COUNTER, &about), 0);
    CHECK(about.name[0] != 0 && about.category[0] != 0 && about.description[0] != 0);
    if (i == QPU_STALLS_TMU)
      CHECK_STR(about.name, "QPU-stalls-TMU");
  }
  struct abi_perfmon_counter about = {.counter = N_COUNTERS};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_PERFMON_GET_COUNTER, &about), -EINVAL);
  about = (struct abi_perfmon_counter){.reserved = {[6] = 1}};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_PERFMON_GET_COUNTER, &about), -EINVAL);
}

static void counted(void) {
  uint32_t id, other;
  uint64_t values[N];
  CHECK_INT(create(counters, N, &id), 0);
  CHECK_INT(create(counters, 1, &other), 0);
  CHECK(other != id);
  CHECK_INT(values_of(id, values), 0);
  for (int i = 0; i < N; i++)
    CHECK_INT(values[i], 0);
  CHECK_INT(run(id, 0), 0);
  CHECK_INT(run(0, 0), 0); /* counted by none */
  CHECK_INT(run(other, 0), 0);
  CHECK_INT(run(id, 0), 0);
  CHECK_INT(values_of(id, values), 0);
  for (int i = 0; i < N; i++)
    CHECK_INT(values[i], 2 * per_job[i]);
  CHECK_INT(values_of(other, values), 0);
  CHECK_INT(values[0], FAKE_CLOCKS);
  CHECK_INT(destroy(other), 0);
  CHECK_INT(destroy(id), 0);
}

static void wrong(void) {
  uint32_t id;
  uint64_t values[N];
  const uint8_t unknown[] = {CYCLES, N_COUNTERS}, unmodelled[] = {CYCLES, AXI_READS};
  uint8_t many[40] = {0};
  CHECK_INT(create(counters, 0, &id), -EINVAL);
  CHECK_INT(create(many, 33, &id), -EINVAL);
  CHECK_INT(create(unknown, 2, &id), -EINVAL);
  CHECK_INT(create(unmodelled, 2, &id), -EINVAL);
  CHECK_INT(create(many, 32, &id), 0);
  CHECK_INT(values_of(id + 1, values), -EINVAL);
  CHECK_INT(values_of(id, NULL), -EFAULT);
  struct abi_perfmon_values padded = {.id = id, .pad = 1};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_PERFMON_GET_VALUES, &padded), -EINVAL);
  CHECK_INT(run(id + 1, 0), -ENOENT);
  CHECK_INT(destroy(id), 0);
  CHECK_INT(destroy(id), -EINVAL);
  CHECK_INT(run(id, 0), -ENOENT);
}

static int submit_cpu(const void *extension, const struct drm_buffer *buffer) {
  struct abi_submit_cpu cpu = {.flags = ABI_SUBMIT_EXTENSION,
                               .extensions = (uintptr_t)extension,
                               .bo_handles = buffer == NULL ? 0 : (uintptr_t)&buffer->handle,
                               .n_bo_handles = buffer != NULL};
  return DRM_CALL(fd, ABI_V3D_SUBMIT_CPU, &cpu);
}

/* Two queries of two monitors each, as vkCmdResetQueryPool and vkCmdCopyQueryPoolResults do it. */
static void queries(void) {
  struct drm_buffer out;
  uint32_t ids[2][2], syncs[2];
  uint64_t lists[2];
  CHECK_INT(drm_create(fd, 4096, &out), 0);
  for (int q = 0; q < 2; q++) {
    syncs[q] = drm_syncobj(fd, 0);
    lists[q] = (uintptr_t)ids[q];
    for (int m = 0; m < 2; m++)
      CHECK_INT(create(counters + m, 1, &ids[q][m]), 0);
  }
  CHECK_INT(run(ids[0][0], 0), 0);
  CHECK_INT(run(ids[0][1], syncs[0]), 0);
  struct abi_copy_performance copy = {.base = {.id = ABI_EXT_COPY_PERFORMANCE},
                                      .do_64bit = 1,
                                      .availability_bit = 1,
                                      .offset = 16,
                                      .stride = 512,
                                      .n_monitors = 2,
                                      .n_counters = 40,
                                      .count = 2,
                                      .syncs = (uintptr_t)syncs,
                                      .monitors = (uintptr_t)lists};
  memset(out.map, 0xff, 4096);
  CHECK_INT(submit_cpu(&copy, &out), 0);
  CHECK_INT(drm_wait_bo(fd, out.handle, (uint64_t)SECOND), 0);
  uint64_t found[2][64];
  memcpy(found[0], (const char *)out.map + 16, sizeof found[0]);
  memcpy(found[1], (const char *)out.map + 16 + 512, sizeof found[1]);
  CHECK_INT(found[0][0], FAKE_CLOCKS);
  CHECK_INT(found[0][32], FAKE_ACTIVE / 4);
  CHECK_INT(found[0][40], 1);
  CHECK_INT(found[0][1], -1);
  CHECK_INT(found[1][0], -1); /* not available, nor asked for in part */
  CHECK_INT(found[1][40], 0);
  struct abi_reset_performance reset = {.base = {.id = ABI_EXT_RESET_PERFORMANCE},
                                        .syncs = (uintptr_t)syncs,
                                        .count = 2,
                                        .n_monitors = 2,
                                        .monitors = (uintptr_t)lists};
  CHECK_INT(submit_cpu(&reset, &out), -EINVAL); /* it names a buffer */
  CHECK_INT(submit_cpu(&reset, NULL), 0);
  copy.do_64bit = 0;
  copy.do_partial = 1;
  CHECK_INT(submit_cpu(&copy, &out), 0);
  CHECK_INT(drm_wait_bo(fd, out.handle, (uint64_t)SECOND), 0);
  CHECK_INT(out.map[4], 0);
  CHECK_INT(out.map[4 + 32], 0);
  CHECK_INT(out.map[4 + 40], 0);
  lists[1] = 8; /* no memory is there */
  CHECK_INT(submit_cpu(&copy, &out), -EFAULT);
  copy.mbz = 1;
  CHECK_INT(submit_cpu(&copy, &out), -EINVAL);
  drm_destroy(fd, &out);
}

int main(void) {
  fd = drm_open();
  if (fd < 0 || drm_create(fd, 4096, &code) != 0) {
    perror("/dev/dri/renderD128");
    return 1;
  }
  if (param(10) == 0) {
    CHECK_INT(param(13), 0);
    RUN(absent);
    return CHECK_RESULT();
  }
  RUN(described);
  RUN(counted);
  RUN(wrong);
  RUN(queries);
  return CHECK_RESULT();
}
