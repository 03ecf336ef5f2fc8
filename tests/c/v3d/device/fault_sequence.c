/* SPDX-License-Identifier: BSD-2-Clause */
#include "fault_sequence.h"

#include <daedalus/v3d/text.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In the buffer of tools, bytes. */
enum { UNIFORMS = 0x1000, COUNTS = 0x2000, LISTS = 0x4000, TOOLS_BYTES = 0x8000 };
enum { UNIFORM_BYTES = 64, LIST_BYTES = 256 };

#define END                                                                                    \
  "nop ; nop ; thrsw\nnop ; nop ; thrsw\nnop ; nop\nnop ; nop\nnop ; nop ; thrsw\nnop ; nop\n" \
  "nop ; nop\n"

static const char *const programs[SEQUENCE_PROGRAMS] = {
    /* out[lane] = value + lane; uniforms: address of out, value */
    [SEQUENCE_GOOD] =
        "eidx rf60 ; nop ; ldunif\n"
        "shl rf1, rf60, 2 ; nop\n"
        "add rf1, rf1, rf0 ; nop ; ldunif\n"
        "add rf2, rf60, rf0 ; nop\n"
        "mov tmud, rf2 ; nop\n"
        "mov tmua, rf1 ; nop\n"
        "tmuwt - ; nop\n" END,
    [SEQUENCE_ENDLESS] = "again:\nb again\nnop ; nop\nnop ; nop\nnop ; nop\n",
    /* Writes to address 0. */
    [SEQUENCE_ASTRAY] = "mov tmud, 1 ; nop\nmov tmua, 0 ; nop\ntmuwt - ; nop\n" END,
};

enum job_kind { COMPUTE, LIST, INDIRECT };

static enum job_kind kind_of(int j) {
  return j % 5 == 3 ? LIST : j % 5 == 4 ? INDIRECT : COMPUTE;
}

bool sequence_is_compute(int j) {
  return kind_of(j) == COMPUTE;
}

bool sequence_is_list(int j) {
  return kind_of(j) == LIST;
}

static uint32_t word_of(const struct sequence *sequence, int j, int i) {
  const uint32_t value = sequence->first + (uint32_t)j * 0x01010101u;
  return kind_of(j) == LIST ? value : value + (uint32_t)i;
}

static int load_programs(struct sequence *sequence) {
  uint32_t at = 0;
  for (int i = 0; i < SEQUENCE_PROGRAMS; i++) {
    daedalus_v3d_program program;
    daedalus_v3d_diagnostic diagnostic = {0};
    if (daedalus_v3d_assemble(programs[i], strlen(programs[i]), &program, &diagnostic, 1) != 0)
      return -EINVAL;
    memcpy(sequence->tools.map + at / 4, program.words, program.n_words * 8);
    sequence->program_at[i] = at;
    at += (uint32_t)program.n_words * 8;
    daedalus_v3d_program_free(&program);
  }
  return 0;
}

int sequence_open(struct sequence *sequence, uint32_t first) {
  *sequence = (struct sequence){.fd = drm_open(), .first = first};
  if (sequence->fd < 0)
    return -errno;
  const int result = drm_create(sequence->fd, TOOLS_BYTES, &sequence->tools);
  return result != 0 ? result : load_programs(sequence);
}

int sequence_prepare(struct sequence *sequence, int j) {
  if (sequence->out[j].handle == 0) {
    const int result = drm_create(sequence->fd, 4096, &sequence->out[j]);
    if (result != 0)
      return result;
  }
  if (sequence->done[j] == 0) {
    struct abi_syncobj_create create = {0};
    const int result = DRM_CALL(sequence->fd, ABI_SYNCOBJ_CREATE, &create);
    if (result != 0)
      return result;
    sequence->done[j] = create.handle;
  }
  return 0;
}

static struct abi_submit_csd compute_job(const struct sequence *sequence, int j,
                                         const uint32_t handles[2], uint32_t program_at) {
  const uint32_t at = UNIFORMS + (uint32_t)j * UNIFORM_BYTES;
  uint32_t *uniforms = sequence->tools.map + at / 4;
  uniforms[0] = sequence->out[j].address;
  uniforms[1] = word_of(sequence, j, 0);
  struct abi_submit_csd csd = {.bo_handles = (uintptr_t)handles, .n_bo_handles = 2};
  csd.cfg[0] = csd.cfg[1] = csd.cfg[2] = 1u << 16;
  csd.cfg[3] = SEQUENCE_WORDS | 1u << 8;
  csd.cfg[4] = 1;
  csd.cfg[5] = sequence->tools.address + program_at;
  csd.cfg[6] = sequence->tools.address + at;
  return csd;
}

static int submit_list(const struct sequence *sequence, int j, const uint32_t handles[2]) {
  const uint32_t at = LISTS + (uint32_t)j * LIST_BYTES;
  const struct drm_buffer list = {.map = sequence->tools.map + at / 4,
                                  .address = sequence->tools.address + at};
  const struct drm_rcl fill = {.width = SEQUENCE_WORDS,
                               .height = 1,
                               .store = sequence->out[j].address,
                               .store_stride = 4 * SEQUENCE_WORDS,
                               .clear_color = word_of(sequence, j, 0)};
  uint32_t start, end;
  drm_write_rcl(&list, &fill, &start, &end);
  return drm_submit_cl(sequence->fd, start, end, handles, 2, sequence->last, sequence->done[j]);
}

static int submit_indirect(const struct sequence *sequence, int j,
                           const struct abi_submit_csd *csd) {
  struct abi_indirect_csd indirect = {.base = {.id = ABI_EXT_INDIRECT_CSD},
                                      .submit = *csd,
                                      .indirect = sequence->tools.handle,
                                      .offset = COUNTS,
                                      .wg_size = SEQUENCE_WORDS,
                                      .wg_uniform_offsets = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
  const struct abi_sem in = {.handle = sequence->last}, out = {.handle = sequence->done[j]};
  struct abi_multi_sync multi = {.base = {.id = ABI_EXT_MULTI_SYNC, .next = (uintptr_t)&indirect},
                                 .in_syncs = (uintptr_t)&in,
                                 .n_in_syncs = sequence->last != 0,
                                 .out_syncs = (uintptr_t)&out,
                                 .n_out_syncs = 1,
                                 .wait_stage = ABI_STAGE_CPU};
  const uint32_t handle = sequence->tools.handle;
  struct abi_submit_cpu cpu = {.bo_handles = (uintptr_t)&handle,
                               .n_bo_handles = 1,
                               .flags = ABI_SUBMIT_EXTENSION,
                               .extensions = (uintptr_t)&multi};
  for (int i = 0; i < 3; i++)
    sequence->tools.map[COUNTS / 4 + i] = 1;
  return drm_call(sequence->fd, ABI_REQUEST(0, ABI_V3D_SUBMIT_CPU, cpu), &cpu);
}

int sequence_submit(struct sequence *sequence, int j, enum sequence_program program) {
  const uint32_t handles[2] = {sequence->out[j].handle, sequence->tools.handle};
  struct abi_submit_csd csd = compute_job(sequence, j, handles, sequence->program_at[program]);
  int result;
  if (kind_of(j) == LIST) {
    result = submit_list(sequence, j, handles);
  } else if (kind_of(j) == INDIRECT) {
    result = submit_indirect(sequence, j, &csd);
  } else {
    csd.in_sync = sequence->last;
    csd.out_sync = sequence->done[j];
    result = drm_call(sequence->fd, ABI_REQUEST(0, ABI_V3D_SUBMIT_CSD, csd), &csd);
  }
  if (result == 0)
    sequence->last = sequence->done[j];
  return result;
}

int sequence_wait(struct sequence *sequence, int j, int64_t ns) {
  return drm_syncobj_wait(sequence->fd, &sequence->done[j], 1, ABI_SYNCOBJ_WAIT_ALL, ns, NULL);
}

void sequence_close(struct sequence *sequence) {
  if (sequence->tools.handle != 0)
    drm_destroy(sequence->fd, &sequence->tools);
  for (int j = 0; j < SEQUENCE_JOBS; j++)
    if (sequence->out[j].handle != 0)
      drm_destroy(sequence->fd, &sequence->out[j]);
  if (sequence->fd >= 0)
    close(sequence->fd);
}

int sequence_wrong_bits(const struct sequence *sequence, int j) {
  int n = 0;
  for (int i = 0; i < SEQUENCE_WORDS; i++)
    n += __builtin_popcount(sequence->out[j].map[i] ^ word_of(sequence, j, i));
  return n;
}

bool sequence_is_untouched(const struct sequence *sequence, int j) {
  for (int i = 0; i < SEQUENCE_WORDS; i++)
    if (sequence->out[j].map[i] != 0)
      return false;
  return true;
}

bool sequence_is_partial(const struct sequence *sequence, int j) {
  for (int i = 0; i < SEQUENCE_WORDS; i++)
    if (sequence->out[j].map[i] != 0 && sequence->out[j].map[i] != word_of(sequence, j, i))
      return false;
  return true;
}
