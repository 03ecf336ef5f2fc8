/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/drm/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/bound.h"
#include "gpu/packed.h"
#include "gpu/pool.h"

/* A QPU fetches instructions and uniforms ahead: behind them is so much that can be read. */
enum { READ_AHEAD = 256, CONSTANTS_ALIGN = 16 };

/* QPUs that a variant's clocks are stated for: table.h, daedalus_qpu_code. */
enum { QPUS_STATED = 12 };

/* Threads go to the QPUs in turn, so that so many neighbours have a TMU and its cache in common. */
enum { QPUS_A_SLICE = 4 };

/**
 * Clocks of an item.  Fewer threads take as many times as long at most, as none of them is slower
 * for the others' absence.
 */
static uint64_t item_clocks(const daedalus_qpu_code *code, uint32_t threads) {
  const uint64_t all = (uint64_t)QPUS_STATED * code->threads * code->clocks;
  return threads == 0 ? 0 : (all + threads - 1) / threads;
}

bool daedalus_rt_drm_has(const daedalus_variant *variant) {
  return variant->qpu != NULL;
}

daedalus_drm_program *daedalus_rt_drm_program_new(daedalus_drm *drm, const daedalus_qpu_code *code,
                                                  size_t n_buffers, uint32_t threads) {
  const daedalus_allocator *allocator = &drm->base.ctx->allocator;
  daedalus_drm_program *program = allocator->resize(allocator->user, NULL, sizeof(*program));
  if (program == NULL) {
    return NULL;
  }
  const uint32_t all = drm->node.n_qpus * code->threads;
  *program = (daedalus_drm_program){.code = code, .n_buffers = n_buffers};
  program->threads_most = threads == 0 ? all : threads;
  program->base.items_step = (size_t)program->threads_most * code->items;
  program->base.items_group =
      program->threads_most % QPUS_A_SLICE == 0 ? (size_t)QPUS_A_SLICE * code->items : 0;
  program->base.item_clocks = item_clocks(code, program->threads_most);
  /* The last trip takes as long as a whole one where it is one of a few threads. */
  program->base.job_clocks =
      DAEDALUS_GPU_CLOCKS_A_JOB + program->base.items_step * program->base.item_clocks;
  program->base.items_most = UINT32_MAX / 2 / DAEDALUS_GPU_ITEMS_UNIT * DAEDALUS_GPU_ITEMS_UNIT;
  return program;
}

/** What keeps the code from being run here; NULL: nothing. */
static const char *obstacle(const daedalus_drm *drm, const daedalus_kernel_desc *kernel,
                            const daedalus_qpu_code *code, uint32_t threads,
                            const daedalus_gpu_program *program) {
  if (kernel->n_buffers > DAEDALUS_GPU_BUFFERS_MOST) {
    return "it has more buffers than this library knows";
  }
  if (code->threads != 2 && code->threads != 4) {
    return "a QPU runs 2 threads or 4";
  }
  if (code->items == 0) {
    return "it does no items";
  }
  if (code->clocks == 0) {
    return "it does not say how long an item takes";
  }
  if (threads > drm->node.n_qpus * code->threads) {
    return "the device does not have so many threads";
  }
  if (!daedalus_rt_gpu_dispatch_fits(program)) {
    return "it takes too long for the smallest submission";
  }
  for (size_t i = 0; i < code->n_uniforms; i++) {
    if (code->uniforms[i].kind >= DAEDALUS_QPU_N_UNIFORM_KINDS ||
        code->uniforms[i].index >= kernel->n_buffers) {
      return "it needs uniforms that this library does not know";
    }
  }
  return NULL;
}

int daedalus_rt_drm_program_create(daedalus_gpu_backend *backend,
                                   const daedalus_kernel_desc *kernel,
                                   const daedalus_variant *variant, uint32_t workgroup,
                                   daedalus_gpu_program **created) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  daedalus_drm_program *program =
      daedalus_rt_drm_program_new(drm, variant->qpu, kernel->n_buffers, workgroup);
  *created = NULL;
  if (program == NULL) {
    return -ENOMEM;
  }
  const char *why = obstacle(drm, kernel, variant->qpu, workgroup, &program->base);
  if (why != NULL) {
    program->base.trust = DAEDALUS_GPU_REFUSED;
    snprintf(program->base.why, sizeof(program->base.why), "%s", why);
  }
  *created = &program->base;
  return 0;
}

int daedalus_rt_drm_program_make(daedalus_gpu_backend *backend, daedalus_gpu_program *base) {
  daedalus_drm_program *program = (daedalus_drm_program *)base;
  const daedalus_qpu_code *code = program->code;
  if (program->block != NULL) {
    return 0;
  }
  const size_t code_bytes = code->n_words * sizeof(uint64_t);
  const size_t constants_at =
      (code_bytes + READ_AHEAD + CONSTANTS_ALIGN - 1) / CONSTANTS_ALIGN * CONSTANTS_ALIGN;
  const size_t constants_bytes = code->n_constants * sizeof(uint32_t);
  int error =
      daedalus_rt_gpu_pool_take(backend->pool, constants_at + constants_bytes, &program->block);
  if (error != 0) {
    program->block = NULL;
    return error;
  }
  error = daedalus_rt_instructions(&backend->ctx->allocator, code, program->block->map);
  if (error != 0) {
    daedalus_rt_gpu_pool_give(backend->pool, program->block);
    program->block = NULL;
    return error;
  }
  if (constants_bytes != 0) {
    memcpy(program->block->map + constants_at, code->constants, constants_bytes);
  }
  program->constants_address =
      daedalus_drm_block_of(program->block)->address + (uint32_t)constants_at;
  return 0;
}

void daedalus_rt_drm_program_destroy(daedalus_gpu_backend *backend, daedalus_gpu_program *base) {
  daedalus_drm_program *program = (daedalus_drm_program *)base;
  if (program->block != NULL) {
    daedalus_rt_gpu_pool_give(backend->pool, program->block);
  }
  const daedalus_allocator *allocator = &backend->ctx->allocator;
  allocator->release(allocator->user, program);
}

/** Address of element 0 of the caller's buffer, which may lie before what is in the block. */
static uint32_t address_of(const daedalus_gpu_window *window) {
  return daedalus_drm_block_of(window->block)->address + (uint32_t)window->offset + window->base;
}

void daedalus_rt_drm_uniforms(const daedalus_drm_program *program,
                              const daedalus_drm_arguments *arguments, uint32_t *words) {
  const daedalus_qpu_code *code = program->code;
  const daedalus_gpu_window *buffers = arguments->dispatch->buffers;
  for (size_t i = 0; i < code->n_uniforms; i++) {
    const daedalus_qpu_uniform *u = &code->uniforms[i];
    switch ((daedalus_qpu_uniform_kind)u->kind) {
      case DAEDALUS_QPU_RECORDS:
        words[i] = arguments->records;
        break;
      case DAEDALUS_QPU_ITEMS:
        words[i] = arguments->dispatch->n_items;
        break;
      case DAEDALUS_QPU_THREADS:
        words[i] = arguments->threads;
        break;
      case DAEDALUS_QPU_BASE:
        words[i] = address_of(&buffers[u->index]);
        break;
      case DAEDALUS_QPU_STRIDE:
        words[i] = (uint32_t)buffers[u->index].stride;
        break;
      case DAEDALUS_QPU_SCRATCH:
        words[i] = arguments->scratch;
        break;
      case DAEDALUS_QPU_TABLE:
        words[i] = program->constants_address + u->value;
        break;
      case DAEDALUS_QPU_CONSTANT:
      case DAEDALUS_QPU_N_UNIFORM_KINDS:
        words[i] = u->value;
        break;
    }
  }
}
