/* SPDX-License-Identifier: BSD-2-Clause */
/* Which GPU variant does the items of a class: the recipe's, or by rank; what each must fulfil. */
#include <errno.h>
#include <inttypes.h>

#include "base/meta.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"
#include "gpu/route.h"
#include "gpu/selftest.h"

static const char after_loss[] = "the GPU was lost, and the CPU does what is meant for it";

static const char out_of_memory[] =
    "the GPU's variant could not be tested for want of memory, and the CPU does its work";

static const char no_gpu[] = "the recipe says QPU, but there is none here: the CPU";

static const char other_route[] =
    "the recipe says QPU by another route than this context has: the CPU";

static const char not_on_gpu[] =
    "the recipe says QPU, but no variant can run there with these buffers: the CPU";

static const char not_the_recipes[] =
    "the recipe's variant cannot run here with these buffers: the one of lowest rank";

/** The bits that are set in any address, stride or offset of a buffer. */
static uintptr_t places_of(const daedalus_work *work, size_t buffer) {
  const daedalus_buffer_desc *desc = &work->kernel->buffers[buffer];
  uintptr_t bits = (uintptr_t)work->buffers[buffer].data;
  if (desc->is_plane) {
    bits |= (uintptr_t)work->buffers[buffer].stride;
    for (size_t i = 0; i < work->n_items; i++) {
      bits |= daedalus_meta_offset(desc, daedalus_meta_of(work->kernel, work->meta, i));
    }
  }
  return bits;
}

/** @return the first buffer that is not aligned for the variant, or n_buffers */
static size_t misaligned(const daedalus_work *work, const daedalus_variant *variant,
                         const uintptr_t *places) {
  size_t b = 0;
  while (b < work->kernel->n_buffers &&
         (places[b] & ((uintptr_t)daedalus_gpu_arguments_of(variant).align[b] - 1)) == 0) {
    b++;
  }
  return b;
}

/** Whether a variant can be used on the device at hand; tests it if it never was. */
static daedalus_gpu_program *usable(daedalus_gpu *gpu, const daedalus_kernel_desc *kernel,
                                    const daedalus_variant *variant, uint32_t workgroup) {
  daedalus_gpu_program *program = daedalus_rt_gpu_program_find(gpu, kernel, variant, workgroup);
  if (program != NULL && program->trust == DAEDALUS_GPU_UNTESTED) {
    daedalus_rt_gpu_selftest(gpu, program);
  }
  return program;
}

/**
 * The best that is aligned and usable; none: NULL.
 * @param[out] untested  set when one might have been, but its self-test could not be run
 */
static const daedalus_variant *choose_gpu(daedalus_gpu *gpu, const daedalus_work *work,
                                          uint16_t class_index, const uintptr_t *places,
                                          bool *untested) {
  const daedalus_kernel_desc *kernel = work->kernel;
  const daedalus_variant *before = NULL; /* ranks within a class are never equal */
  while (!gpu->backend->lost) {
    const daedalus_variant *best = NULL;
    for (size_t i = 0; i < kernel->n_variants; i++) {
      const daedalus_variant *v = &kernel->variants[i];
      if (v->class_index == class_index && gpu->backend->route->has(v) &&
          (before == NULL || v->rank > before->rank) && (best == NULL || v->rank < best->rank)) {
        best = v;
      }
    }
    if (best == NULL) {
      return NULL;
    }
    before = best;
    if (misaligned(work, best, places) == kernel->n_buffers) {
      const daedalus_gpu_program *program = usable(gpu, kernel, best, 0);
      if (program != NULL && program->trust == DAEDALUS_GPU_TRUSTED) {
        return best;
      }
      *untested = *untested || program == NULL || program->trust == DAEDALUS_GPU_UNTESTED;
    }
  }
  return NULL;
}

/** What decides about an append's variants besides the device. */
typedef struct chooser {
  daedalus_gpu *gpu;
  const daedalus_work *work;
  bool countable;
  uintptr_t places[DAEDALUS_GPU_BUFFERS_MOST];
} chooser;

static chooser chooser_of(daedalus_gpu *gpu, const daedalus_work *work) {
  chooser made = {.gpu = gpu, .work = work};
  made.countable = work->kernel->n_buffers <= DAEDALUS_GPU_BUFFERS_MOST;
  for (size_t b = 0; made.countable && b < work->kernel->n_buffers; b++) {
    made.places[b] = places_of(work, b);
  }
  return made;
}

/** The recipe's variant, or no variant where it cannot be used. */
static daedalus_pick choose_named(const chooser *by, const daedalus_recipe_entry *entry,
                                  bool *untested) {
  daedalus_gpu *gpu = by->gpu;
  const daedalus_kernel_desc *kernel = by->work->kernel;
  if (!by->countable || gpu->backend->lost || !gpu->backend->route->has(entry->variant) ||
      misaligned(by->work, entry->variant, by->places) != kernel->n_buffers) {
    return (daedalus_pick){0};
  }
  const daedalus_gpu_program *program = usable(gpu, kernel, entry->variant, entry->workgroup);
  if (program == NULL || program->trust != DAEDALUS_GPU_TRUSTED) {
    *untested = *untested || program == NULL || program->trust == DAEDALUS_GPU_UNTESTED;
    return (daedalus_pick){0};
  }
  return (daedalus_pick){
      .variant = entry->variant, .reason = entry->reason, .workgroup = entry->workgroup};
}

/** The recipe's variant if it has one and that can be used, else the one of lowest rank. */
static daedalus_pick choose(const chooser *by, uint16_t class_index,
                            const daedalus_recipe_entry *entry) {
  bool untested = false;
  if (entry != NULL) {
    const daedalus_pick named = choose_named(by, entry, &untested);
    if (named.variant != NULL) {
      return named;
    }
  }
  const daedalus_variant *variant =
      by->countable ? choose_gpu(by->gpu, by->work, class_index, by->places, &untested) : NULL;
  if (variant == NULL && untested) {
    return (daedalus_pick){.variant = daedalus_rt_cpu_choose(by->work->kernel, class_index),
                           .reason = out_of_memory};
  }
  return (daedalus_pick){.variant = variant,
                         .reason = variant == NULL ? NULL
                                   : entry != NULL ? not_the_recipes
                                                   : variant->reason};
}

void daedalus_rt_gpu_choose(daedalus_ctx *ctx, const daedalus_work *work, daedalus_pick *picks) {
  daedalus_gpu *gpu = ctx->gpu;
  const daedalus_kernel_desc *kernel = work->kernel;
  const chooser by = chooser_of(gpu, work);
  for (uint16_t c = 0; c < kernel->n_classes; c++) {
    picks[c] = choose(&by, c, daedalus_rt_recipe_find(ctx, kernel, c, DAEDALUS_SUBSTRATE_QPU));
  }
  for (uint16_t c = 0; gpu->backend->lost && c < kernel->n_classes; c++) {
    picks[c] = (daedalus_pick){.variant = daedalus_rt_cpu_choose(kernel, c), .reason = after_loss};
  }
}

/** The recipe's choice of the QPU for a class; NULL: it has none. */
static const daedalus_recipe_entry *on_qpu(const daedalus_ctx *ctx,
                                           const daedalus_kernel_desc *kernel,
                                           uint16_t class_index) {
  const daedalus_recipe_entry *entry =
      daedalus_rt_recipe_find(ctx, kernel, class_index, DAEDALUS_SUBSTRATE_AUTO);
  return entry != NULL && entry->variant->cpu == NULL ? entry : NULL;
}

/** What becomes of a class that the recipe has on the QPU. */
static daedalus_pick follow(const chooser *by, uint16_t class_index,
                            const daedalus_recipe_entry *entry, daedalus_pick cpu) {
  if (!by->gpu->backend->route->has(entry->variant)) {
    cpu.reason = other_route; /* of which nothing was measured */
    return cpu;
  }
  daedalus_pick pick = choose(by, class_index, entry);
  if (pick.variant == NULL && entry->variant->class_index != class_index) {
    pick = choose(by, entry->variant->class_index, entry); /* whose precondition they meet, too */
  }
  if (pick.variant == NULL || pick.variant->cpu != NULL) {
    cpu.reason = pick.variant == NULL ? not_on_gpu : pick.reason;
    return cpu;
  }
  return pick;
}

void daedalus_rt_gpu_follow(daedalus_ctx *ctx, const daedalus_work *work, daedalus_pick *picks) {
  const daedalus_kernel_desc *kernel = work->kernel;
  if (daedalus_rt_gpu_open(ctx) != 0) {
    for (uint16_t c = 0; c < kernel->n_classes; c++) {
      picks[c].reason = on_qpu(ctx, kernel, c) != NULL ? no_gpu : picks[c].reason;
    }
    return;
  }
  daedalus_gpu *gpu = ctx->gpu;
  const chooser by = chooser_of(gpu, work);
  for (uint16_t c = 0; c < kernel->n_classes; c++) {
    const daedalus_recipe_entry *entry = on_qpu(ctx, kernel, c);
    if (entry != NULL) {
      picks[c] = follow(&by, c, entry, picks[c]);
    }
  }
  for (uint16_t c = 0; gpu->backend->lost && c < kernel->n_classes; c++) {
    if (on_qpu(ctx, kernel, c) != NULL) { /* what was picked before the loss, too */
      picks[c] = daedalus_rt_cpu_pick(ctx, kernel, c);
      picks[c].reason = after_loss;
    }
  }
}

int daedalus_rt_gpu_accept(daedalus_ctx *ctx, const daedalus_work *work,
                           const daedalus_variant *variant, uint32_t workgroup,
                           daedalus_pick *pick) {
  daedalus_gpu *gpu = ctx->gpu;
  const daedalus_kernel_desc *kernel = work->kernel;
  if (gpu->backend->lost) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s cannot run here: the GPU was lost", variant->name);
    return -ENODEV;
  }
  if (!gpu->backend->route->has(variant)) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "%s cannot run on %s: it is not for the route %s; DAEDALUS_QPU_ROUTE chooses",
                    variant->name, gpu->backend->info.name, gpu->backend->route->name);
    return -ENODEV;
  }
  const daedalus_gpu_program *program = usable(gpu, kernel, variant, workgroup);
  if (program == NULL || program->trust != DAEDALUS_GPU_TRUSTED) {
    daedalus_rt_log(
        ctx, DAEDALUS_LOG_ERROR, "%s cannot run on %s: %s", variant->name, gpu->backend->info.name,
        program == NULL || program->trust == DAEDALUS_GPU_UNTESTED ? DAEDALUS_GPU_UNTESTED_WHY
                                                                   : program->why);
    return -ENODEV;
  }
  uintptr_t places[DAEDALUS_GPU_BUFFERS_MOST];
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    places[b] = places_of(work, b);
  }
  const size_t b = misaligned(work, variant, places);
  if (b != kernel->n_buffers) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR,
                    "%s cannot run here: it needs address, stride and offsets of %s to be "
                    "multiples of %d",
                    variant->name, kernel->buffers[b].name,
                    daedalus_gpu_arguments_of(variant).align[b]);
    return -ENODEV;
  }
  *pick = (daedalus_pick){.variant = variant, .reason = "it was asked for", .workgroup = workgroup};
  return 0;
}
