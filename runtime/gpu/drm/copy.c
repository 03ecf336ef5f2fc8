/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies by the GPU, of what is to be brought back if it fails.  The program is copy.s, written by
 * generator/targets/qpu; it is tested once a context, before anything is entrusted to it.
 */
#include <errno.h>
#include <string.h>

#include "gpu/drm/submit.h"
#include "gpu/pool.h"

enum { UNIT = 16 }; /* bytes an item */

static const uint64_t copy_words[] = {
    UINT64_C(0x398080c0bb0c7002), UINT64_C(0x39e021837c03f0c4), UINT64_C(0x0be00105380810c0),
    UINT64_C(0x398021837a03f144), UINT64_C(0x39e021817c03f0c4), UINT64_C(0x39e001837c043004),
    UINT64_C(0x05801146bb143000), UINT64_C(0x04203346bb001000), UINT64_C(0x39807186bb03f000),
    UINT64_C(0x38003186bb03f000), UINT64_C(0x388221877a03f144), UINT64_C(0x09e4e1877c1421c4),
    UINT64_C(0x04a2514d38143007), UINT64_C(0x3882b186bb03f000), UINT64_C(0x3882f186bb03f00f),
    UINT64_C(0x380032c6bb203000), UINT64_C(0x380032c6bb243000), UINT64_C(0x380032c6bb283000),
    UINT64_C(0x380032c6bb2c3000), UINT64_C(0x3800118d381c3046), UINT64_C(0x02ffff92ff00d000),
    UINT64_C(0x38003186bb03f000), UINT64_C(0x38003186bb03f000), UINT64_C(0x38003186bb03f000),
    UINT64_C(0x3891b186bb03f000), UINT64_C(0x3891b186bb03f000), UINT64_C(0x3891b186bb03f000),
    UINT64_C(0x3891b186bb03f000), UINT64_C(0x38203186bb03f000), UINT64_C(0x38203186bb03f000),
    UINT64_C(0x38003186bb03f000), UINT64_C(0x38003186bb03f000), UINT64_C(0x38203186bb03f000),
    UINT64_C(0x38003186bb03f000), UINT64_C(0x38003186bb03f000),
};

static const daedalus_qpu_uniform copy_uniforms[] = {
    {.kind = DAEDALUS_QPU_ITEMS},
    {.kind = DAEDALUS_QPU_THREADS},
    {.kind = DAEDALUS_QPU_BASE, .index = 0},
    {.kind = DAEDALUS_QPU_CONSTANT, .value = UINT32_C(0xfffffffc)},
    {.kind = DAEDALUS_QPU_BASE, .index = 1},
    {.kind = DAEDALUS_QPU_CONSTANT, .value = UINT32_C(0xfffffffc)},
    {.kind = DAEDALUS_QPU_CONSTANT, .value = UINT32_C(0xfffffffc)},
    {.kind = DAEDALUS_QPU_CONSTANT, .value = UINT32_C(0xfffffff4)}, /* back over three words */
};

const daedalus_qpu_code daedalus_drm_copy_code = {
    .words = copy_words,
    .n_words = sizeof(copy_words) / sizeof(copy_words[0]),
    .uniforms = copy_uniforms,
    .n_uniforms = sizeof(copy_uniforms) / sizeof(copy_uniforms[0]),
    .threads = 2,
    .items = 16,
    .clocks = 3,
};

static int copier_of(daedalus_drm *drm, daedalus_gpu_program **copier) {
  if (drm->copier == NULL) {
    daedalus_drm_program *program = daedalus_rt_drm_program_new(drm, &daedalus_drm_copy_code, 2, 0);
    drm->copier = program == NULL ? NULL : &program->base;
  }
  *copier = drm->copier;
  return *copier == NULL ? -ENOMEM : daedalus_rt_drm_program_make(&drm->base, *copier);
}

static int add_copy(daedalus_drm *drm, daedalus_gpu_submission *submission,
                    const daedalus_gpu_copy *copy) {
  const uint64_t before = copy->from_offset % UNIT;
  daedalus_gpu_dispatch dispatch = {
      .buffers = {{.block = copy->from, .offset = copy->from_offset - before},
                  {.block = copy->to, .offset = copy->to_offset - before}},
      .n_items = (uint32_t)((before + copy->size + UNIT - 1) / UNIT),
  };
  const int error = copier_of(drm, &dispatch.program);
  return error == 0 ? daedalus_rt_drm_dispatch(&drm->base, submission, &dispatch) : error;
}

/** Copies from one half of a block to the other, more than all threads do at once, and a bit. */
static int try_copier(daedalus_drm *drm, daedalus_gpu_block *block, uint32_t half) {
  daedalus_gpu_backend *backend = &drm->base;
  for (uint32_t i = 0; i < 2 * half; i++) {
    block->map[i] = (unsigned char)(i < half ? i * 37 + (i >> 8) * 11 : 0);
  }
  daedalus_rt_drm_idle(backend); /* so that what is in flight counts for no time of this one's */
  daedalus_gpu_submission *submission;
  int error = daedalus_rt_drm_begin(backend, false, &submission);
  if (error != 0) {
    return error;
  }
  const daedalus_gpu_copy copy = {
      .from = block, .to = block, .to_offset = half, .size = half - 2 * UNIT};
  error = add_copy(drm, submission, &copy);
  if (error == 0) {
    error = daedalus_rt_drm_submit(backend, submission);
  }
  const int waited = daedalus_rt_drm_wait(backend, submission, backend->timeout_ns);
  error = error != 0 ? error : waited;
  if (waited == -ETIME) {
    backend->lost = backend->hung = true;
    return -EIO; /* it is still in flight, and left there */
  }
  daedalus_rt_drm_give(backend, submission);
  if (error != 0) {
    return error;
  }
  const unsigned char none[2 * UNIT] = {0};
  if (memcmp(block->map, block->map + half, half - 2 * UNIT) != 0 ||
      memcmp(none, block->map + 2 * half - 2 * UNIT, sizeof(none)) != 0) {
    backend->failed_call = "the GPU's copy";
    backend->failed_why = "it is not what it was copied from";
    backend->lost = true; /* without copies nothing that it writes could be brought back */
    return -EIO;
  }
  return 0;
}

static int test_copier(daedalus_drm *drm) {
  if (drm->copier_tested) {
    return 0;
  }
  const uint32_t half = UNIT * 16 * (2 * drm->node.n_qpus * daedalus_drm_copy_code.threads + 1);
  daedalus_gpu_block *block;
  int error = daedalus_rt_gpu_pool_take(drm->base.pool, 2 * (uint64_t)half, &block);
  if (error == 0) {
    error = try_copier(drm, block, half);
    if (!drm->base.hung) {
      daedalus_rt_gpu_pool_give(drm->base.pool, block);
    }
  }
  drm->copier_tested = error == 0;
  return error;
}

int daedalus_rt_drm_copy(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                         const daedalus_gpu_copy *copy) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  const int error = test_copier(drm);
  return error == 0 ? add_copy(drm, submission, copy) : error;
}

int daedalus_rt_drm_mark(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                         const daedalus_gpu_block *block, uint32_t value) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  if (drm->marker == NULL) {
    const int error = daedalus_rt_gpu_pool_take(backend->pool, UNIT, &drm->marker);
    if (error != 0) {
      drm->marker = NULL;
      return error;
    }
  }
  memcpy(drm->marker->map, &value, sizeof(value)); /* always the same, in flight or not */
  const daedalus_gpu_copy copy = {.from = drm->marker, .to = block, .size = UNIT};
  return daedalus_rt_drm_copy(backend, submission, &copy);
}
