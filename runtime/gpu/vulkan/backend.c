/* SPDX-License-Identifier: BSD-2-Clause */
/* The route through Vulkan, as runtime/gpu asks for it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/pool.h"
#include "gpu/vulkan/commands.h"

typedef struct vulkan {
  daedalus_gpu_backend base;
  daedalus_vk vk;
  daedalus_vk_devices devices;
  daedalus_vk_device device;
  daedalus_vk_memory memory;
  daedalus_vk_pipelines pipelines;
  daedalus_vk_commands commands;
  bool opened; /* what stands below `devices` */
} vulkan;

static vulkan *of(daedalus_gpu_backend *backend) {
  return (vulkan *)backend;
}

static bool has(const daedalus_variant *variant) {
  return variant->gpu != NULL;
}

/* ----------------------------------------------------------------- device */

static int create(daedalus_ctx *ctx, daedalus_gpu_backend **backend, char *why, size_t why_size) {
  vulkan *v = ctx->allocator.resize(ctx->allocator.user, NULL, sizeof(*v));
  *backend = NULL;
  if (v == NULL) {
    return -ENODEV;
  }
  *v = (vulkan){.base = {.route = &daedalus_gpu_vulkan, .ctx = ctx, .block_unit = 1}};
  int error = daedalus_rt_vk_load(&v->vk, ctx, why, why_size);
  if (error == 0) {
    error = daedalus_rt_vk_enumerate(&v->vk, &v->devices, why, why_size);
    if (error != 0) {
      daedalus_rt_vk_unload(&v->vk);
    }
  }
  if (error != 0) {
    ctx->allocator.release(ctx->allocator.user, v);
    return -ENODEV;
  }
  *backend = &v->base;
  return 0;
}

static size_t n_devices(const daedalus_gpu_backend *backend) {
  return ((const vulkan *)backend)->devices.n;
}

static const daedalus_device_info *device_at(const daedalus_gpu_backend *backend, size_t index) {
  return &((const vulkan *)backend)->devices.list[index].info;
}

/** What was made before a failure is undone, too. */
static void close_device(vulkan *v) {
  if (v->commands.pipelines != NULL) {
    daedalus_rt_vk_commands_close(&v->commands);
  }
  daedalus_rt_vk_pipelines_close(&v->pipelines);
  daedalus_rt_gpu_pool_trim(v->base.pool);
  daedalus_rt_vk_close(&v->device);
}

static int open_device(daedalus_gpu_backend *backend, const char *asked, char *why,
                       size_t why_size) {
  vulkan *v = of(backend);
  const int index = daedalus_rt_vk_choose(&v->devices, asked, why, why_size);
  if (index < 0) {
    return index;
  }
  daedalus_vk_physical *physical = &v->devices.list[index];
  int error = daedalus_rt_vk_open(&v->device, backend, &v->vk, physical, why, why_size);
  if (error != 0) {
    return error;
  }
  daedalus_rt_vk_memory_init(&v->memory, &v->device);
  error = daedalus_rt_vk_pipelines_init(&v->pipelines, &v->device, backend->pool);
  if (error == 0) {
    error = daedalus_rt_vk_commands_init(&v->commands, &v->pipelines);
  }
  if (error != 0) {
    snprintf(why, why_size, "%.100s cannot be used: %s failed: %s", physical->name,
             backend->failed_call, backend->failed_why);
    close_device(v);
    return -ENODEV;
  }
  v->opened = true;
  physical->info.memory = v->memory.description;
  physical->info.in_place = !v->memory.staged;
  backend->info = physical->info;
  backend->range_most = physical->limits.maxStorageBufferRange;
  backend->staged = v->memory.staged;
  backend->exports_dmabuf = physical->dmabuf_export;
  backend->too_large = "64 items reach over more memory than maxStorageBufferRange";
  return 0;
}

static void idle(daedalus_gpu_backend *backend) {
  vulkan *v = of(backend);
  v->vk.fn.DeviceWaitIdle(v->device.handle);
}

static void destroy(daedalus_gpu_backend *backend) {
  vulkan *v = of(backend);
  const daedalus_allocator *allocator = &backend->ctx->allocator;
  if (v->opened) {
    close_device(v);
  }
  if (!backend->hung) {
    daedalus_rt_vk_unload(&v->vk);
  }
  allocator->release(allocator->user, v->devices.list);
  allocator->release(allocator->user, v);
}

/* --------------------------------------------------- blocks and programs */

static int block_create(daedalus_gpu_backend *backend, daedalus_gpu_place place, uint64_t size,
                        bool exported, daedalus_gpu_block **block) {
  return daedalus_rt_vk_block_create(&of(backend)->memory, place, size, exported, block);
}

static int block_import(daedalus_gpu_backend *backend, int fd, uint64_t size,
                        daedalus_gpu_block **block) {
  return daedalus_rt_vk_block_import(&of(backend)->memory, fd, size, block);
}

static int block_export(daedalus_gpu_backend *backend, const daedalus_gpu_block *block, int *fd) {
  return daedalus_rt_vk_block_export(&of(backend)->memory, block, fd);
}

static void block_destroy(daedalus_gpu_backend *backend, daedalus_gpu_block *block) {
  daedalus_rt_vk_block_destroy(&of(backend)->memory, block);
}

static int program_create(daedalus_gpu_backend *backend, const daedalus_kernel_desc *kernel,
                          const daedalus_variant *variant, uint32_t workgroup,
                          daedalus_gpu_program **program) {
  return daedalus_rt_vk_pipeline_create(&of(backend)->pipelines, kernel, variant, workgroup,
                                        program);
}

static int program_make(daedalus_gpu_backend *backend, daedalus_gpu_program *program) {
  return daedalus_rt_vk_pipeline_make(&of(backend)->pipelines, program);
}

static void program_destroy(daedalus_gpu_backend *backend, daedalus_gpu_program *program) {
  daedalus_rt_vk_pipeline_destroy(&of(backend)->pipelines, program);
}

/* ------------------------------------------------------------------- work */

static daedalus_vk_op *new_op(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                              daedalus_vk_op_kind kind) {
  return daedalus_rt_vk_op(&of(backend)->commands, (daedalus_vk_submission *)submission, kind);
}

static int begin(daedalus_gpu_backend *backend, bool timed, daedalus_gpu_submission **begun) {
  vulkan *v = of(backend);
  daedalus_vk_submission *submission;
  int error = daedalus_rt_vk_submission_take(&v->commands, &submission);
  *begun = error == 0 ? &submission->base : NULL;
  if (error == 0 && timed && new_op(backend, *begun, DAEDALUS_VK_OP_TIME_BEGIN) == NULL) {
    daedalus_rt_vk_submission_give(&v->commands, submission);
    error = -ENOMEM;
  }
  return error;
}

static daedalus_vk_binding binding_of(const daedalus_gpu_window *window) {
  const daedalus_vk_block *block = daedalus_vk_block_of(window->block);
  return (daedalus_vk_binding){block->buffer, block->base.id, window->offset, window->range};
}

static int dispatch(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                    const daedalus_gpu_dispatch *asked) {
  vulkan *v = of(backend);
  const daedalus_vk_pipeline *pipeline = (const daedalus_vk_pipeline *)asked->program;
  const size_t n = pipeline->n_buffers;
  size_t n_bindings = n + 1;
  daedalus_vk_binding bindings[DAEDALUS_VK_BINDINGS_MOST];
  daedalus_vk_dispatch made;
  memset(&made, 0, sizeof(made)); /* lists of operations are compared byte by byte */
  for (size_t b = 0; b < n; b++) {
    bindings[b] = binding_of(&asked->buffers[b]);
    made.push[2 + 2 * b] = asked->buffers[b].base;
    made.push[3 + 2 * b] = (uint32_t)asked->buffers[b].stride;
  }
  bindings[n] = binding_of(&asked->records);
  if (pipeline->constants != NULL) {
    const daedalus_gpu_window constants = {
        .block = pipeline->constants,
        .range = pipeline->base.variant->gpu->n_constants * sizeof(uint32_t)};
    bindings[n_bindings++] = binding_of(&constants);
  }
  made.pipeline = pipeline->handle;
  made.layout = pipeline->layout;
  made.push[0] = asked->first;
  made.push[1] = asked->n_items;
  made.n_push = (uint32_t)(2 + 2 * n);
  made.groups =
      (uint32_t)((asked->n_items + pipeline->base.items_step - 1) / pipeline->base.items_step);
  const int error = daedalus_rt_vk_bind(&v->commands, (daedalus_vk_submission *)submission,
                                        bindings, n_bindings, &made.set);
  if (error != 0) {
    return error;
  }
  daedalus_vk_op *op = new_op(backend, submission, DAEDALUS_VK_OP_DISPATCH);
  if (op == NULL) {
    return -ENOMEM;
  }
  memcpy(&op->of.dispatch, &made, sizeof(made));
  return 0;
}

static int barrier(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission) {
  return new_op(backend, submission, DAEDALUS_VK_OP_BARRIER) != NULL ? 0 : -ENOMEM;
}

static int copy(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                const daedalus_gpu_copy *asked) {
  daedalus_vk_op *op = new_op(backend, submission, DAEDALUS_VK_OP_COPY);
  if (op == NULL) {
    return -ENOMEM;
  }
  op->of.copy.from = daedalus_vk_block_of(asked->from)->buffer;
  op->of.copy.from_id = asked->from->id;
  op->of.copy.to = daedalus_vk_block_of(asked->to)->buffer;
  op->of.copy.to_id = asked->to->id;
  op->of.copy.region = (VkBufferCopy){asked->from_offset, asked->to_offset, asked->size};
  return 0;
}

static int hand_over(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                     const daedalus_gpu_block *block, bool acquire) {
  daedalus_vk_op *op =
      new_op(backend, submission, acquire ? DAEDALUS_VK_OP_ACQUIRE : DAEDALUS_VK_OP_RELEASE);
  if (op == NULL) {
    return -ENOMEM;
  }
  op->of.owned.buffer = daedalus_vk_block_of(block)->buffer;
  op->of.owned.id = block->id;
  return 0;
}

static int mark(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                const daedalus_gpu_block *block, uint32_t value) {
  daedalus_vk_op *op = new_op(backend, submission, DAEDALUS_VK_OP_FILL);
  if (op == NULL) {
    return -ENOMEM;
  }
  op->of.fill.buffer = daedalus_vk_block_of(block)->buffer;
  op->of.fill.id = block->id;
  op->of.fill.size = sizeof(value);
  op->of.fill.value = value;
  return 0;
}

static int submit(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission) {
  const daedalus_vk_op *ops = ((daedalus_vk_submission *)submission)->ops.data;
  const bool timed = ops != NULL && ops[0].kind == DAEDALUS_VK_OP_TIME_BEGIN;
  if (timed && new_op(backend, submission, DAEDALUS_VK_OP_TIME_END) == NULL) {
    return -ENOMEM;
  }
  return daedalus_rt_vk_submit(&of(backend)->commands, (daedalus_vk_submission *)submission);
}

static int wait(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                uint64_t timeout_ns) {
  return daedalus_rt_vk_fence_wait(&of(backend)->commands, (daedalus_vk_submission *)submission,
                                   timeout_ns);
}

static void give(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission) {
  daedalus_rt_vk_submission_give(&of(backend)->commands, (daedalus_vk_submission *)submission);
}

static int elapsed(daedalus_gpu_backend *backend, const daedalus_gpu_submission *first,
                   const daedalus_gpu_submission *last, uint64_t *ns) {
  return daedalus_rt_vk_elapsed(&of(backend)->commands, (const daedalus_vk_submission *)first,
                                (const daedalus_vk_submission *)last, ns);
}

static int export_fence(daedalus_gpu_backend *backend, int *fd) {
  return daedalus_rt_vk_export_fence(&of(backend)->commands, fd);
}

const daedalus_gpu_route daedalus_gpu_vulkan = {
    .name = "vulkan",
    .has = has,
    .create = create,
    .n_devices = n_devices,
    .device_at = device_at,
    .open = open_device,
    .destroy = destroy,
    .idle = idle,
    .block_create = block_create,
    .block_import = block_import,
    .block_export = block_export,
    .block_destroy = block_destroy,
    .program_create = program_create,
    .program_make = program_make,
    .program_destroy = program_destroy,
    .begin = begin,
    .dispatch = dispatch,
    .barrier = barrier,
    .copy = copy,
    .hand_over = hand_over,
    .mark = mark,
    .submit = submit,
    .wait = wait,
    .give = give,
    .elapsed = elapsed,
    .export_fence = export_fence,
};
