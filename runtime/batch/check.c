/* SPDX-License-Identifier: BSD-2-Clause */
#include "batch/check.h"

#include <errno.h>
#include <inttypes.h>

#include "base/meta.h"

int daedalus_rt_check_buffers(const daedalus_ctx *ctx, const daedalus_work *work) {
  const daedalus_kernel_desc *kernel = work->kernel;
  for (size_t i = 0; i < kernel->n_buffers; i++) {
    const daedalus_buffer_desc *desc = &kernel->buffers[i];
    const daedalus_buffer *buffer = &work->buffers[i];
    const size_t size = daedalus_type_size(desc->type);
    if (buffer->data == NULL) {
      daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s: buffer %s is NULL", kernel->id, desc->name);
      return -EINVAL;
    }
    if ((uintptr_t)buffer->data % size != 0 ||
        (desc->is_plane && buffer->stride % (ptrdiff_t)size)) {
      daedalus_rt_log(
          ctx, DAEDALUS_LOG_ERROR,
          "%s: pointer or stride of buffer %s is not a multiple of its %zu byte elements",
          kernel->id, desc->name, size);
      return -EINVAL;
    }
  }
  return 0;
}

/*
 * Parameter by parameter over all items: the descriptions stay in registers,
 * and the usual case, nothing wrong, is one tight loop.
 */
static int check_param(const daedalus_ctx *ctx, const daedalus_work *work,
                       const daedalus_param_desc *param) {
  const size_t elements = param->count > 1 ? param->count : 1;
  const size_t size = daedalus_type_size(param->type);
  for (size_t n = 0; n < work->n_items * elements; n++) {
    const size_t i = n / elements;
    const unsigned char *item = daedalus_meta_of(work->kernel, work->meta, i);
    const int64_t value = daedalus_meta_param(param, item + n % elements * size);
    if (value < param->lo || value > param->hi) {
      daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                      "%s: item %zu: %s is %" PRId64 ", outside %" PRId32 "..%" PRId32,
                      work->kernel->id, i, param->name, value, param->lo, param->hi);
      return -EINVAL;
    }
  }
  return 0;
}

static int check_offsets(const daedalus_ctx *ctx, const daedalus_work *work,
                         const daedalus_buffer_desc *plane) {
  const uint32_t size = (uint32_t)daedalus_type_size(plane->type);
  for (size_t i = 0; size > 1 && i < work->n_items; i++) {
    const uint32_t offset =
        daedalus_meta_offset(plane, daedalus_meta_of(work->kernel, work->meta, i));
    if (offset % size != 0) {
      daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                      "%s: item %zu: %s_off is %" PRIu32 ", not a multiple of its %" PRIu32
                      " byte elements",
                      work->kernel->id, i, plane->name, offset, size);
      return -EINVAL;
    }
  }
  return 0;
}

int daedalus_rt_check_items(const daedalus_ctx *ctx, const daedalus_work *work) {
  const daedalus_kernel_desc *kernel = work->kernel;
  int error = 0;
  for (size_t i = 0; error == 0 && i < kernel->n_params; i++) {
    error = check_param(ctx, work, &kernel->params[i]);
  }
  for (size_t i = 0; error == 0 && i < kernel->n_buffers; i++) {
    if (kernel->buffers[i].is_plane) {
      error = check_offsets(ctx, work, &kernel->buffers[i]);
    }
  }
  return error;
}
