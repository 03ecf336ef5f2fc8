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

/*
 * Whether bytes `from` to `to` of every meta, which describe nothing, are zero.  Word by word, of
 * which a meta has a whole number: all items' together are looked at once.
 */
static int check_reserved(const daedalus_ctx *ctx, const daedalus_work *work, size_t from,
                          size_t to) {
  for (size_t at = from / 4 * 4; at < to; at += 4) {
    unsigned char kept[4];
    uint32_t mask, word, any = 0;
    for (size_t i = 0; i < 4; i++) {
      kept[i] = at + i >= from && at + i < to ? 0xff : 0;
    }
    memcpy(&mask, kept, sizeof(mask));
    for (size_t i = 0; i < work->n_items; i++) {
      memcpy(&word, daedalus_meta_of(work->kernel, work->meta, i) + at, sizeof(word));
      any |= word;
    }
    if ((any & mask) != 0) {
      daedalus_rt_log(
          ctx, DAEDALUS_LOG_ERROR,
          "%s: an item's meta is not zero in its reserved bytes, %zu to %zu: begin with "
          "a meta that is all zero",
          work->kernel->id, from, to - 1);
      return -EINVAL;
    }
  }
  return 0;
}

/** What is reserved lies between the members, which come in the order of the descriptions. */
static int check_gaps(const daedalus_ctx *ctx, const daedalus_work *work) {
  const daedalus_kernel_desc *kernel = work->kernel;
  size_t at = 0;
  for (size_t i = 0; i < kernel->n_buffers; i++) {
    const daedalus_buffer_desc *desc = &kernel->buffers[i];
    at = desc->is_plane ? desc->meta_offset + sizeof(uint32_t) : at;
  }
  int error = 0;
  for (size_t i = 0; error == 0 && i < kernel->n_params; i++) {
    const daedalus_param_desc *param = &kernel->params[i];
    error = check_reserved(ctx, work, at, param->meta_offset);
    at = param->meta_offset +
         daedalus_type_size(param->type) * (param->count > 1 ? param->count : 1);
  }
  return error != 0 ? error : check_reserved(ctx, work, at, kernel->meta_size);
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
  return error != 0 ? error : check_gaps(ctx, work);
}
