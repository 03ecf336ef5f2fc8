/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts work into a batch: checks it, sorts its items into classes and takes
 * over what has to outlive the call.  Everything that can fail comes first;
 * only then do the sizes of the batch's arrays change.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cpu/cpu.h"
#include "base/batch.h"
#include "batch/check.h"
#include "base/meta.h"
#include "gpu/route.h"

static const char no_gpu[] =
    "the QPU was asked for, but there is none here: the CPU, as the configuration allows";

static const char not_on_gpu[] =
    "the QPU was asked for, but no variant can run there with these buffers: the CPU, as the "
    "configuration allows";

/** Whether the CPU is to stand in for a GPU that is not there, by the configuration. */
static bool falls_back(daedalus_ctx *ctx, daedalus_substrate substrate) {
  return substrate == DAEDALUS_SUBSTRATE_QPU &&
         (ctx->flags & DAEDALUS_CONFIG_QPU_FALLBACK_CPU) != 0 && daedalus_rt_gpu_open(ctx) != 0;
}

/** Whether the substrate is there.  @return 0, -ENODEV or -EINVAL, logged */
static int check_substrate(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                           daedalus_substrate substrate) {
  switch (substrate) {
    case DAEDALUS_SUBSTRATE_AUTO:
    case DAEDALUS_SUBSTRATE_CPU:
      return 0;
    case DAEDALUS_SUBSTRATE_QPU:
      if (daedalus_rt_gpu_open(ctx) == 0) {
        return 0;
      }
      daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                      "%s: the QPU was asked for, but this context has none; use "
                      "DAEDALUS_SUBSTRATE_AUTO, DAEDALUS_SUBSTRATE_CPU or "
                      "DAEDALUS_CONFIG_QPU_FALLBACK_CPU",
                      kernel->id);
      return -ENODEV;
  }
  daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s: unknown substrate %d", kernel->id, (int)substrate);
  return -EINVAL;
}

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
      {&batch->groups, kernel->n_classes, sizeof(daedalus_group)},
      {&batch->buffers, kernel->n_buffers, sizeof(daedalus_buffer)},
      {&batch->items, work->n_items, sizeof(uint32_t)},
      {&batch->bins, kernel->n_classes, sizeof(daedalus_bin)},
      {&batch->picks, kernel->n_classes, sizeof(daedalus_pick)},
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
  return daedalus_rt_vec_reserve(&batch->ctx->allocator, &batch->meta,
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

/** The CPU's variant for each class, or for those alone that have none yet. */
static void fall_back(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel, daedalus_pick *picks,
                      bool all) {
  for (uint16_t c = 0; c < kernel->n_classes; c++) {
    if (all || picks[c].variant == NULL) {
      picks[c] = daedalus_rt_cpu_pick(ctx, kernel, c);
      picks[c].reason = all ? no_gpu : not_on_gpu;
    }
  }
}

/** What is to run each class here. */
static void pick_variants(daedalus_batch *batch, const daedalus_work *work,
                          daedalus_substrate substrate) {
  daedalus_ctx *ctx = batch->ctx;
  daedalus_pick *picks = batch->picks.data;
  if (substrate == DAEDALUS_SUBSTRATE_QPU) {
    if (falls_back(ctx, substrate)) {
      fall_back(ctx, work->kernel, picks, true);
      return;
    }
    daedalus_rt_gpu_choose(ctx, work, picks);
    /* Items of a class without a variant take a wider class's, as long as there is one. */
    if ((ctx->flags & DAEDALUS_CONFIG_QPU_FALLBACK_CPU) != 0 &&
        picks[work->kernel->n_classes - 1].variant == NULL) {
      fall_back(ctx, work->kernel, picks, false);
    }
    return;
  }
  bool qpu = false;
  for (uint16_t c = 0; c < work->kernel->n_classes; c++) {
    picks[c] = daedalus_rt_cpu_pick(ctx, work->kernel, c);
    const daedalus_recipe_entry *chosen =
        daedalus_rt_recipe_find(ctx, work->kernel, c, DAEDALUS_SUBSTRATE_AUTO);
    qpu = qpu || (chosen != NULL && chosen->variant->cpu == NULL);
  }
  if (qpu && substrate == DAEDALUS_SUBSTRATE_AUTO) {
    daedalus_rt_gpu_follow(ctx, work, picks);
  }
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
  daedalus_group *groups = batch->groups.data;
  uint32_t *items = batch->items.data;
  size_t items_at = batch->items.size;
  for (size_t c = 0; c < kernel->n_classes; c++) {
    bins[c].next = items_at;
    if (bins[c].n_items != 0) {
      groups[batch->groups.size++] = (daedalus_group){
          .kernel = kernel,
          .variant = picks[c].variant,
          .buffers_at = batch->buffers.size,
          .meta_at = batch->meta.size,
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
  batch->items.size = items_at;

  /* Either may be absent: a kernel without buffers, or with an empty meta. */
  if (kernel->n_buffers != 0) {
    memcpy((daedalus_buffer *)batch->buffers.data + batch->buffers.size, work->buffers,
           kernel->n_buffers * sizeof(daedalus_buffer));
    batch->buffers.size += kernel->n_buffers;
  }
  if (kernel->meta_size != 0) {
    memcpy((unsigned char *)batch->meta.data + batch->meta.size, work->meta,
           work->n_items * kernel->meta_size);
    batch->meta.size += work->n_items * kernel->meta_size;
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
  int error =
      falls_back(batch->ctx, substrate) ? 0 : check_substrate(batch->ctx, kernel, substrate);
  if (error != 0 || n_items == 0) {
    return error;
  }
  error = check_work(batch, &work);
  if (error == 0) {
    error = reserve(batch, &work);
  }
  if (error == 0) {
    pick_variants(batch, &work, substrate);
    error = classify(batch, &work);
  }
  if (error == 0) {
    commit(batch, &work);
  }
  return error;
}

int daedalus_rt_append_all(daedalus_batch *batch, const daedalus_work *work,
                           const daedalus_pick *pick) {
  const int error = reserve(batch, work);
  if (error != 0) {
    return error;
  }
  const daedalus_kernel_desc *kernel = work->kernel;
  daedalus_bin *bins = batch->bins.data;
  uint16_t *class_of = batch->class_of.data;
  const uint16_t class_index = pick->variant->class_index;
  memset(bins, 0, kernel->n_classes * sizeof(*bins));
  bins[class_index].n_items = work->n_items;
  for (size_t i = 0; i < work->n_items; i++) {
    class_of[i] = class_index;
  }
  ((daedalus_pick *)batch->picks.data)[class_index] = *pick;
  commit(batch, work);
  return 0;
}

/** Whether a variant that was asked for can do the work. */
static int accept(daedalus_ctx *ctx, const daedalus_work *work, const daedalus_variant *variant,
                  uint32_t workgroup, daedalus_pick *pick) {
  if (variant->cpu == NULL) {
    const int error = check_substrate(ctx, work->kernel, DAEDALUS_SUBSTRATE_QPU);
    return error == 0 ? daedalus_rt_gpu_accept(ctx, work, variant, workgroup, pick) : error;
  }
  if ((variant->needs & ~daedalus_cpu_features) != 0) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s: this CPU cannot run %s", work->kernel->id,
                    variant->name);
    return -ENODEV;
  }
  *pick = (daedalus_pick){.variant = variant, .reason = "it was asked for"};
  return 0;
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
  daedalus_pick pick;
  int error = check_work(batch, &work);
  if (error == 0) {
    error = accept(batch->ctx, &work, variant, workgroup, &pick);
  }
  return error == 0 ? daedalus_rt_append_all(batch, &work, &pick) : error;
}
