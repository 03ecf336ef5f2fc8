/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts work into a batch: checks it, sorts its items into classes and takes
 * over what has to outlive the call.  Everything that can fail comes first;
 * only then do the sizes of the batch's arrays change.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/meta.h"
#include "batch/check.h"
#include "batch/choices.h"
#include "cpu/cpu.h"

static int check_work(daedalus_batch *batch, const daedalus_work *work) {
  const daedalus_ctx *ctx = batch->ctx;
  const daedalus_kernel_desc *kernel = work->kernel;
  if (work->n_items > UINT32_MAX) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s: %zu items, at most %" PRIu32 " in one append",
                    kernel->id, work->n_items, UINT32_MAX);
    return -EOVERFLOW;
  }
  if ((work->buffers == NULL && kernel->n_buffers != 0) ||
      (work->meta == NULL && kernel->meta_size != 0)) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s: buffers or meta is NULL", kernel->id);
    return -EINVAL;
  }
  int error = daedalus_rt_check_buffers(ctx, work);
  if (error == 0) {
    error = daedalus_rt_check_items(ctx, work);
  }
  if (error == 0 && (ctx->flags & DAEDALUS_CONFIG_CHECK_OVERLAP) != 0) {
    error = daedalus_rt_check_overlap(batch, work);
  }
  return error;
}

static int reserve(daedalus_batch *batch, const daedalus_work *work) {
  const daedalus_kernel_desc *kernel = work->kernel;
  const struct {
    daedalus_vec *vec;
    size_t extra, element_size;
  } needs[] = {
      {&batch->work.list, kernel->n_classes, sizeof(daedalus_group)},
      {&batch->work.buffers, kernel->n_buffers, sizeof(daedalus_buffer)},
      {&batch->work.items, work->n_items, sizeof(uint32_t)},
      {&batch->bins, kernel->n_classes, sizeof(daedalus_bin)},
      {&batch->picks, kernel->n_classes, sizeof(daedalus_pick)},
      {&batch->places, kernel->n_buffers, sizeof(uintptr_t)},
      {&batch->class_of, work->n_items, sizeof(uint16_t)},
  };
  for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
    const int error = daedalus_rt_vec_reserve(&batch->ctx->allocator, needs[i].vec, needs[i].extra,
                                              needs[i].element_size);
    if (error != 0) {
      return error;
    }
  }
  if (kernel->meta_size != 0 && work->n_items > SIZE_MAX / kernel->meta_size) {
    return -ENOMEM;
  }
  return daedalus_rt_vec_reserve(&batch->ctx->allocator, &batch->work.meta,
                                 work->n_items * kernel->meta_size, 1);
}

static bool meets(const daedalus_kernel_desc *kernel, const daedalus_class_desc *class_desc,
                  const unsigned char *item) {
  for (size_t i = 0; i < class_desc->n_conditions; i++) {
    const daedalus_condition *condition = &class_desc->conditions[i];
    const int64_t value = daedalus_meta_param(&kernel->params[condition->param], item);
    if (value < condition->lo || value > condition->hi) {
      return false;
    }
  }
  return true;
}

/** The bits that are set in any address, stride or offset of each buffer. */
static const uintptr_t *places_of(daedalus_batch *batch, const daedalus_work *work) {
  uintptr_t *places = batch->places.data;
  for (size_t b = 0; b < work->kernel->n_buffers; b++) {
    const daedalus_buffer_desc *desc = &work->kernel->buffers[b];
    places[b] = (uintptr_t)work->buffers[b].data;
    if (desc->is_plane) {
      places[b] |= (uintptr_t)work->buffers[b].stride;
      for (size_t i = 0; i < work->n_items; i++) {
        places[b] |= daedalus_meta_offset(desc, daedalus_meta_of(work->kernel, work->meta, i));
      }
    }
  }
  return places;
}

/*
 * Decides every item's class: the first that it meets and that something here
 * can run.  Counts the items of each class in batch->bins.
 */
static int classify(daedalus_batch *batch, const daedalus_work *work) {
  const daedalus_kernel_desc *kernel = work->kernel;
  const daedalus_pick *picks = batch->picks.data;
  daedalus_bin *bins = batch->bins.data;
  uint16_t *class_of = batch->class_of.data;
  memset(bins, 0, kernel->n_classes * sizeof(*bins));
  for (size_t i = 0; i < work->n_items; i++) {
    const unsigned char *item = daedalus_meta_of(kernel, work->meta, i);
    uint16_t c = 0;
    while (c < kernel->n_classes &&
           (picks[c].variant == NULL || !meets(kernel, &kernel->classes[c], item))) {
      c++;
    }
    if (c == kernel->n_classes) {
      daedalus_rt_log(batch->ctx, DAEDALUS_LOG_ERROR,
                      "%s: item %zu: the kernel table has no variant that can run it here",
                      kernel->id, i);
      return -ENODEV;
    }
    class_of[i] = c;
    bins[c].n_items++;
  }
  return 0;
}

/* Takes the work over.  There is room for all of it, so nothing can fail any more. */
static void commit(daedalus_batch *batch, const daedalus_work *work) {
  const daedalus_kernel_desc *kernel = work->kernel;
  const daedalus_pick *picks = batch->picks.data;
  daedalus_bin *bins = batch->bins.data;
  const uint16_t *class_of = batch->class_of.data;
  daedalus_group *groups = batch->work.list.data;
  uint32_t *items = batch->work.items.data;
  size_t items_at = batch->work.items.size;
  for (size_t c = 0; c < kernel->n_classes; c++) {
    bins[c].next = items_at;
    if (bins[c].n_items != 0) {
      groups[batch->work.list.size++] = (daedalus_group){
          .kernel = kernel,
          .variant = picks[c].variant,
          .buffers_at = batch->work.buffers.size,
          .meta_at = batch->work.meta.size,
          .items_at = items_at,
          .n_items = bins[c].n_items,
          .reason = picks[c].reason,
          .workgroup = picks[c].workgroup,
          .append = batch->n_appends,
      };
    }
    items_at += bins[c].n_items;
  }
  for (size_t i = 0; i < work->n_items; i++) {
    items[bins[class_of[i]].next++] = (uint32_t)i;
  }
  batch->work.items.size = items_at;

  /* Either may be absent: a kernel without buffers, or with an empty meta. */
  if (kernel->n_buffers != 0) {
    memcpy((daedalus_buffer *)batch->work.buffers.data + batch->work.buffers.size, work->buffers,
           kernel->n_buffers * sizeof(daedalus_buffer));
    batch->work.buffers.size += kernel->n_buffers;
  }
  if (kernel->meta_size != 0) {
    memcpy((unsigned char *)batch->work.meta.data + batch->work.meta.size, work->meta,
           work->n_items * kernel->meta_size);
    batch->work.meta.size += work->n_items * kernel->meta_size;
  }
  batch->n_appends++;
}

int daedalus_append(daedalus_batch *batch, const daedalus_kernel_desc *kernel,
                    daedalus_substrate substrate, const daedalus_buffer *buffers, size_t n_items,
                    const void *meta) {
  if (batch == NULL || kernel == NULL) {
    return -EINVAL;
  }
  if (batch->submitted) {
    return -EALREADY;
  }
  const daedalus_work work = {
      .kernel = kernel, .buffers = buffers, .meta = meta, .n_items = n_items};
  int error = daedalus_rt_choices_check(batch->ctx, kernel, substrate);
  if (error != 0 || n_items == 0) {
    return error;
  }
  error = check_work(batch, &work);
  if (error == 0) {
    error = reserve(batch, &work);
  }
  daedalus_choices *choices = NULL;
  if (error == 0) {
    error = daedalus_rt_choices_get(batch->ctx, kernel, substrate, &choices);
  }
  if (error == 0) {
    const bool aligned = daedalus_rt_choices_by_alignment(choices);
    daedalus_rt_choices_pick_all(choices, aligned ? places_of(batch, &work) : NULL,
                                 batch->picks.data);
    error = classify(batch, &work);
  }
  if (error == 0) {
    commit(batch, &work);
  }
  return error;
}

/** Whether a variant that was asked for can do the work, for which there is room. */
static int accept(daedalus_batch *batch, const daedalus_work *work, const daedalus_variant *variant,
                  uint32_t workgroup) {
  daedalus_ctx *ctx = batch->ctx;
  const daedalus_kernel_desc *kernel = work->kernel;
  if (variant->cpu != NULL) {
    if ((variant->needs & ~daedalus_cpu_features) != 0) {
      daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s: this CPU cannot run %s", kernel->id,
                      variant->name);
      return -ENODEV;
    }
    return 0;
  }
  int error = daedalus_rt_choices_open(ctx, kernel);
  if (error == 0) {
    error = daedalus_rt_gpu_accept(ctx, kernel, variant, workgroup);
  }
  if (error != 0) {
    return error;
  }
  const uint8_t *align = daedalus_rt_gpu_align(variant);
  const size_t b = daedalus_rt_misaligned(align, places_of(batch, work), kernel->n_buffers);
  if (b != kernel->n_buffers) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "%s cannot run here: it needs address, stride and offsets of %s to be "
                    "multiples of %d",
                    variant->name, kernel->buffers[b].name, align[b]);
    return -ENODEV;
  }
  return 0;
}

/** All items in one bin, whatever their class. */
static void bin_all(daedalus_batch *batch, const daedalus_work *work, const daedalus_pick *pick) {
  const uint16_t class_index = pick->variant->class_index;
  daedalus_bin *bins = batch->bins.data;
  uint16_t *class_of = batch->class_of.data;
  memset(bins, 0, work->kernel->n_classes * sizeof(*bins));
  bins[class_index].n_items = work->n_items;
  for (size_t i = 0; i < work->n_items; i++) {
    class_of[i] = class_index;
  }
  ((daedalus_pick *)batch->picks.data)[class_index] = *pick;
}

/** Whether it is one of the kernel's variants. */
static bool belongs(const daedalus_kernel_desc *kernel, const daedalus_variant *variant) {
  for (size_t v = 0; v < kernel->n_variants; v++) {
    if (variant == &kernel->variants[v]) {
      return true;
    }
  }
  return false;
}

int daedalus_append_variant(daedalus_batch *batch, const daedalus_kernel_desc *kernel,
                            const daedalus_variant *variant, uint32_t workgroup,
                            const daedalus_buffer *buffers, size_t n_items, const void *meta) {
  if (batch == NULL || kernel == NULL || variant == NULL ||
      variant->class_index >= kernel->n_classes) {
    return -EINVAL;
  }
  if (batch->submitted) {
    return -EALREADY;
  }
  if (variant->cpu != NULL && (workgroup != 0 || !belongs(kernel, variant))) {
    daedalus_rt_log(batch->ctx, DAEDALUS_LOG_ERROR, "%s: %s %s", kernel->id, variant->name,
                    workgroup != 0 ? "runs on the CPU, which has no workgroups"
                                   : "is another kernel's variant");
    return -EINVAL;
  }
  if (n_items == 0) {
    return 0;
  }
  const daedalus_work work = {
      .kernel = kernel, .buffers = buffers, .meta = meta, .n_items = n_items};
  const daedalus_pick pick = {
      .variant = variant, .reason = "it was asked for", .workgroup = workgroup};
  int error = check_work(batch, &work);
  if (error == 0) {
    error = reserve(batch, &work);
  }
  if (error == 0) {
    error = accept(batch, &work, variant, workgroup);
  }
  if (error == 0) {
    bin_all(batch, &work, &pick);
    commit(batch, &work);
  }
  return error;
}
