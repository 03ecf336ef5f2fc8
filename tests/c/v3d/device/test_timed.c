/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modelled time, on a device that runs with --timed or --intervals: timestamps around a job are as
 * far apart as the library says of that job, and it has run once.
 */
#include <daedalus/v3d/estimate.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "drm_client.h"

#define SECOND INT64_C(1000000000)

/* Adds 1 to 16 words for each workgroup, in place. */
static const char text[] =
    "eidx rf1 ; nop ; ldunif\n"
    "mov rf4, rf3.ul\nshl rf4, rf4, 4\nadd rf1, rf1, rf4\nshl rf1, rf1, 2\nadd rf1, rf1, rf0\n"
    "mov tmua, rf1\nldtmu.rf2\nadd rf2, rf2, 1\nmov tmud, rf2\nmov tmua, rf1\ntmuwt -\n"
    "nop ; nop ; thrsw\nnop ; nop ; thrsw\nnop ; nop\nnop ; nop\nnop ; nop ; thrsw\nnop ; nop\n"
    "nop ; nop\n";
enum { GROUPS = 50, UNIFORMS = 0x800, BYTES = 4096 };

static int fd;
static struct drm_buffer code, data, stamps;
static uint32_t done;

static struct abi_submit_csd job(const uint32_t handles[2]) {
  struct abi_submit_csd csd = {
      .bo_handles = (uintptr_t)handles, .n_bo_handles = 2, .out_sync = done};
  csd.cfg[0] = (uint32_t)GROUPS << 16;
  csd.cfg[1] = csd.cfg[2] = 1u << 16;
  csd.cfg[3] = 16 | 1u << 8;
  csd.cfg[4] = GROUPS;
  csd.cfg[5] = code.address;
  csd.cfg[6] = code.address + UNIFORMS;
  return csd;
}

static void wait_done(void) {
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, 20 * SECOND, NULL), 0);
}

static void run_job(void) {
  const uint32_t handles[2] = {code.handle, data.handle};
  struct abi_submit_csd csd = job(handles);
  CHECK_INT(DRM_CALL(fd, ABI_V3D_SUBMIT_CSD, &csd), 0);
  wait_done();
}

static uint64_t timestamp(void) {
  const uint32_t offset = 8, sync = done;
  struct abi_timestamp write = {.base = {.id = ABI_EXT_TIMESTAMP},
                                .offsets = (uintptr_t)&offset,
                                .syncs = (uintptr_t)&sync,
                                .count = 1};
  struct abi_submit_cpu cpu = {.bo_handles = (uintptr_t)&stamps.handle,
                               .n_bo_handles = 1,
                               .flags = ABI_SUBMIT_EXTENSION,
                               .extensions = (uintptr_t)&write};
  uint64_t stamp;
  CHECK_INT(drm_call(fd, ABI_REQUEST(0, ABI_V3D_SUBMIT_CPU, cpu), &cpu), 0);
  wait_done();
  memcpy(&stamp, stamps.map + 2, sizeof stamp);
  return stamp;
}

/* What a dispatch of the job takes, by the library. */
static uint64_t expected_ns(void) {
  const struct abi_submit_csd csd = job(NULL);
  const bool code_first = code.address < data.address;
  const struct drm_buffer *both[2] = {code_first ? &code : &data, code_first ? &data : &code};
  daedalus_v3d_buffer buffers[2];
  for (int i = 0; i < 2; i++)
    buffers[i] = (daedalus_v3d_buffer){both[i]->address, both[i]->size, both[i]->map};
  daedalus_v3d_job same = {.buffers = buffers, .n_buffers = 2};
  memcpy(same.cfg, csd.cfg, sizeof same.cfg);
  daedalus_v3d_timing timing;
  daedalus_v3d_report report;
  daedalus_v3d_machine *machine = daedalus_v3d_machine_create(NULL);
  CHECK(machine != NULL);
  CHECK_INT(daedalus_v3d_machine_estimate(machine, &same, &timing, &report), DAEDALUS_V3D_DONE);
  daedalus_v3d_machine_destroy(machine);
  return timing.dispatch_ns.mid;
}

static void modelled_time(void) {
  const uint64_t dispatch = expected_ns();
  CHECK(dispatch > 32900);
  const uint64_t begin = timestamp();
  CHECK(begin > 0 && (int64_t)begin <= drm_now_ns());
  run_job();
  const uint64_t first = timestamp();
  CHECK_INT(first - begin, dispatch);
  run_job();
  run_job();
  CHECK_INT(timestamp() - first, 2 * dispatch);
  /* Time that passes is none of the GPU's. */
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  CHECK_INT(timestamp() - first, 2 * dispatch);
  /* However often a job was timed, it has run once. */
  for (uint32_t i = 0; i < 16 * GROUPS; i++)
    CHECK_INT(data.map[i], 7 * i + 3);
}

int main(void) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic mistake = {0};
  fd = drm_open();
  if (fd < 0 || drm_create(fd, BYTES, &code) != 0 || drm_create(fd, BYTES, &data) != 0 ||
      drm_create(fd, BYTES, &stamps) != 0 ||
      daedalus_v3d_assemble(text, sizeof text - 1, &program, &mistake, 1) != 0) {
    fprintf(stderr, "no device, or no program: %s\n", mistake.message);
    return 1;
  }
  memcpy(code.map, program.words, program.n_words * 8);
  daedalus_v3d_program_free(&program);
  code.map[UNIFORMS / 4] = data.address;
  for (uint32_t i = 0; i < BYTES / 4; i++)
    data.map[i] = 7 * i;
  done = drm_syncobj(fd, 0);
  RUN(modelled_time);
  return CHECK_RESULT();
}
