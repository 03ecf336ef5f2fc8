/* SPDX-License-Identifier: BSD-2-Clause */
/* Making the lists of what can run a kernel's classes, and looking up in them. */
#include "batch/choices.h"

#include <errno.h>

#include "gpu/route.h"

static const char after_loss[] = "the GPU was lost, and the CPU does what is meant for it";

static const char out_of_memory[] =
    "the GPU's variant could not be tested for want of memory, and the CPU does its work";

static const char recipe_no_gpu[] = "the recipe says QPU, but there is none here: the CPU";

static const char recipe_other_route[] =
    "the recipe says QPU by another route than this context has: the CPU";

static const char recipe_not_on_gpu[] =
    "the recipe says QPU, but no variant can run there with these buffers: the CPU";

static const char not_the_recipes[] =
    "the recipe's variant cannot run here with these buffers: the one of lowest rank";

static const char no_gpu[] =
    "the QPU was asked for, but there is none here: the CPU, as the configuration allows";

static const char not_on_gpu[] =
    "the QPU was asked for, but no variant can run there with these buffers: the CPU, as the "
    "configuration allows";

/** A variant on the GPU. */
typedef struct candidate {
  daedalus_pick pick;
  const uint8_t *align; /* of each buffer */
  int error;            /* what making it ready gave: 0, -EAGAIN or, tried again, -ENODEV */
} candidate;

/** What is taken for items of a class: the first candidate that fits, else one of the rest. */
typedef struct class_choice {
  size_t first, end;        /* candidates */
  daedalus_pick otherwise;  /* no candidate fits */
  daedalus_pick untested;   /* one would, but is not tested */
  daedalus_pick after_loss; /* the GPU is lost */
  daedalus_pick stand_in;   /* none fits, and none of the last class does, which would do it all */
} class_choice;

struct daedalus_choices {
  daedalus_ctx *ctx;
  const daedalus_kernel_desc *kernel;
  daedalus_substrate substrate;
  bool settled;                  /* it is there, and need not be made again */
  bool just_made;                /* by the call that looks up in it */
  daedalus_vec candidates;       /* of all classes */
  struct daedalus_choices *next; /* of the same place in ctx->choices */
  class_choice classes[];        /* one for each of the kernel's */
};

/* ----------------------------------------------------------------- looking up */

size_t daedalus_rt_misaligned(const uint8_t *align, const uintptr_t *places, size_t n) {
  size_t b = 0;
  while (b < n && (places == NULL || (places[b] & ((uintptr_t)align[b] - 1)) == 0)) {
    b++;
  }
  return b;
}

bool daedalus_rt_choices_by_alignment(const daedalus_choices *choices) {
  return choices->candidates.size != 0;
}

/** @return the first of a class that fits and whose error is this one, or NULL */
static candidate *find(const daedalus_choices *choices, const class_choice *of,
                       const uintptr_t *places, int error) {
  candidate *candidates = choices->candidates.data;
  const size_t n = choices->kernel->n_buffers;
  for (size_t i = of->first; i < of->end; i++) {
    if (candidates[i].error == error &&
        daedalus_rt_misaligned(candidates[i].align, places, n) == n) {
      return &candidates[i];
    }
  }
  return NULL;
}

daedalus_pick daedalus_rt_choices_pick(daedalus_choices *choices, uint16_t class_index,
                                       const uintptr_t *places) {
  const class_choice *of = &choices->classes[class_index];
  int error = 0; /* of the last one that was tested again */
  while (!daedalus_rt_gpu_lost(choices->ctx)) {
    const candidate *tested = find(choices, of, places, 0);
    if (tested != NULL) {
      return tested->pick;
    }
    candidate *untested = find(choices, of, places, -EAGAIN);
    if (untested == NULL) {
      return of->otherwise;
    }
    if (choices->just_made || error == -EAGAIN) {
      return of->untested;
    }
    error = untested->error = daedalus_rt_gpu_prepare(
        choices->ctx, choices->kernel, untested->pick.variant, untested->pick.workgroup);
  }
  return of->after_loss;
}

void daedalus_rt_choices_pick_all(daedalus_choices *choices, const uintptr_t *places,
                                  daedalus_pick *picks) {
  const size_t n = choices->kernel->n_classes;
  for (uint16_t c = 0; c < n; c++) {
    picks[c] = daedalus_rt_choices_pick(choices, c, places);
  }
  /* Items of a class without a variant take a wider class's, as long as there is one. */
  const bool none = picks[n - 1].variant == NULL;
  for (uint16_t c = 0; none && c < n; c++) {
    if (picks[c].variant == NULL) {
      picks[c] = choices->classes[c].stand_in;
    }
  }
}

/* --------------------------------------------------------------------- making */

static daedalus_pick because(daedalus_pick pick, const char *reason) {
  pick.reason = reason;
  return pick;
}

/** Whether one that is before it in the class is taken wherever this one would be. */
static bool is_needless(const daedalus_choices *choices, const class_choice *of,
                        const uint8_t *align) {
  const candidate *candidates = choices->candidates.data;
  const size_t n = choices->kernel->n_buffers;
  for (size_t i = of->first; i < of->end; i++) {
    size_t b = 0;
    while (b < n && candidates[i].align[b] <= align[b]) {
      b++;
    }
    if (candidates[i].error == 0 && b == n) {
      return true;
    }
  }
  return false;
}

/** Adds a variant to a class, unless it cannot run or would never be taken.  @return 0, -ENOMEM */
static int add(daedalus_ctx *ctx, daedalus_choices *choices, class_choice *of, daedalus_pick pick) {
  const uint8_t *align = daedalus_rt_gpu_align(pick.variant);
  if (daedalus_rt_gpu_lost(ctx) || is_needless(choices, of, align)) {
    return 0;
  }
  int error = daedalus_rt_vec_reserve(&ctx->allocator, &choices->candidates, 1, sizeof(candidate));
  if (error != 0) {
    return error;
  }
  error = daedalus_rt_gpu_prepare(ctx, choices->kernel, pick.variant, pick.workgroup);
  if (error != -ENODEV) {
    ((candidate *)choices->candidates.data)[of->end] = (candidate){pick, align, error};
    choices->candidates.size = ++of->end;
  }
  return 0;
}

/** Adds those of a class by their rank.  @param reason  NULL: each one's own */
static int add_ranked(daedalus_ctx *ctx, daedalus_choices *choices, class_choice *of,
                      uint16_t class_index, const char *reason) {
  const daedalus_kernel_desc *kernel = choices->kernel;
  const daedalus_variant *best = NULL; /* ranks within a class are never equal */
  int error = 0;
  do {
    const daedalus_variant *before = best;
    best = NULL;
    for (size_t i = 0; i < kernel->n_variants; i++) {
      const daedalus_variant *v = &kernel->variants[i];
      if (v->class_index == class_index && daedalus_rt_gpu_has(ctx, v) &&
          (before == NULL || v->rank > before->rank) && (best == NULL || v->rank < best->rank)) {
        best = v;
      }
    }
    if (best != NULL) {
      error =
          add(ctx, choices, of,
              (daedalus_pick){.variant = best, .reason = reason != NULL ? reason : best->reason});
    }
  } while (error == 0 && best != NULL);
  return error;
}

/** The recipe's variant, if there is one for the GPU at hand, then those of the class. */
static int add_all(daedalus_ctx *ctx, daedalus_choices *choices, class_choice *of,
                   uint16_t class_index, const daedalus_recipe_entry *entry) {
  int error = 0;
  if (entry != NULL && daedalus_rt_gpu_has(ctx, entry->variant)) {
    error =
        add(ctx, choices, of,
            (daedalus_pick){
                .variant = entry->variant, .reason = entry->reason, .workgroup = entry->workgroup});
  }
  const char *reason = entry != NULL ? not_the_recipes : NULL;
  return error == 0 ? add_ranked(ctx, choices, of, class_index, reason) : error;
}

/** For who asks for the QPU. */
static int make_qpu(daedalus_ctx *ctx, daedalus_choices *choices, class_choice *of,
                    uint16_t class_index, bool there) {
  const daedalus_kernel_desc *kernel = choices->kernel;
  const daedalus_pick lowest = {.variant = daedalus_rt_cpu_choose(kernel, class_index)};
  if (!there) {
    of->otherwise = because(daedalus_rt_cpu_pick(ctx, kernel, class_index), no_gpu);
    return 0;
  }
  of->untested = because(lowest, out_of_memory);
  of->after_loss = because(lowest, after_loss);
  if ((ctx->flags & DAEDALUS_CONFIG_QPU_FALLBACK_CPU) != 0) {
    of->stand_in = because(daedalus_rt_cpu_pick(ctx, kernel, class_index), not_on_gpu);
  }
  return add_all(ctx, choices, of, class_index,
                 daedalus_rt_recipe_find(ctx, kernel, class_index, DAEDALUS_SUBSTRATE_QPU));
}

/** The recipe's choice of the QPU for a class; NULL: it has none. */
static const daedalus_recipe_entry *on_qpu(const daedalus_ctx *ctx,
                                           const daedalus_kernel_desc *kernel,
                                           uint16_t class_index) {
  const daedalus_recipe_entry *entry =
      daedalus_rt_recipe_find(ctx, kernel, class_index, DAEDALUS_SUBSTRATE_AUTO);
  return entry != NULL && entry->variant->cpu == NULL ? entry : NULL;
}

/** For who leaves it to the recipe, of a class that it has on the QPU. */
static int make_auto(daedalus_ctx *ctx, daedalus_choices *choices, class_choice *of,
                     uint16_t class_index, const daedalus_recipe_entry *entry, bool there) {
  const daedalus_pick cpu = daedalus_rt_cpu_pick(ctx, choices->kernel, class_index);
  of->untested = because(cpu, out_of_memory);
  of->after_loss = because(cpu, after_loss);
  if (!there) {
    of->otherwise = because(cpu, recipe_no_gpu);
    return 0;
  }
  if (!daedalus_rt_gpu_has(ctx, entry->variant)) { /* of which nothing was measured */
    of->otherwise = because(cpu, recipe_other_route);
    return 0;
  }
  of->otherwise = because(cpu, recipe_not_on_gpu);
  const int error = add_all(ctx, choices, of, class_index, entry);
  const uint16_t wider = entry->variant->class_index; /* whose precondition they meet, too */
  return error == 0 && wider != class_index ? add_ranked(ctx, choices, of, wider, not_the_recipes)
                                            : error;
}

/** Whether the GPU has a part in the list, and is to be opened for it. */
static bool wants_gpu(const daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                      daedalus_substrate substrate) {
  bool wants = substrate == DAEDALUS_SUBSTRATE_QPU;
  for (uint16_t c = 0; substrate == DAEDALUS_SUBSTRATE_AUTO && c < kernel->n_classes; c++) {
    wants = wants || on_qpu(ctx, kernel, c) != NULL;
  }
  return wants;
}

int daedalus_rt_choices_open(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel) {
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

int daedalus_rt_choices_check(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                              daedalus_substrate substrate) {
  switch (substrate) {
    case DAEDALUS_SUBSTRATE_AUTO:
    case DAEDALUS_SUBSTRATE_CPU:
      return 0;
    case DAEDALUS_SUBSTRATE_QPU:
      return (ctx->flags & DAEDALUS_CONFIG_QPU_FALLBACK_CPU) != 0
                 ? 0
                 : daedalus_rt_choices_open(ctx, kernel);
  }
  daedalus_rt_log(ctx, DAEDALUS_LOG_ERROR, "%s: unknown substrate %d", kernel->id, (int)substrate);
  return -EINVAL;
}

/** Finds everything out; what was found out before is thrown away. */
static int make(daedalus_ctx *ctx, daedalus_choices *choices) {
  const daedalus_kernel_desc *kernel = choices->kernel;
  const bool wants = wants_gpu(ctx, kernel, choices->substrate);
  const bool there = wants && daedalus_rt_gpu_open(ctx) == 0;
  choices->candidates.size = 0;
  int error = 0;
  for (uint16_t c = 0; error == 0 && c < kernel->n_classes; c++) {
    class_choice *of = &choices->classes[c];
    const daedalus_recipe_entry *entry =
        choices->substrate == DAEDALUS_SUBSTRATE_AUTO ? on_qpu(ctx, kernel, c) : NULL;
    *of = (class_choice){.first = choices->candidates.size, .end = choices->candidates.size};
    if (choices->substrate == DAEDALUS_SUBSTRATE_QPU) {
      error = make_qpu(ctx, choices, of, c, there);
    } else if (entry != NULL) {
      error = make_auto(ctx, choices, of, c, entry, there);
    } else {
      of->otherwise = of->after_loss = daedalus_rt_cpu_pick(ctx, kernel, c);
    }
  }
  /* Without a GPU's state there was no memory to look for one. */
  choices->settled = error == 0 && (!wants || ctx->gpu != NULL);
  return error;
}

/** An empty list in its place; the places are made with the first one.  @return NULL: no memory */
static daedalus_choices *new_choices(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                                     daedalus_substrate substrate) {
  const daedalus_allocator *allocator = &ctx->allocator;
  if (ctx->choices == NULL) {
    const size_t n = ctx->table->n_kernels + 1; /* the last is that of kernels of no table */
    ctx->choices = allocator->resize(allocator->user, NULL, n * sizeof(daedalus_choices *));
    for (size_t k = 0; ctx->choices != NULL && k < n; k++) {
      ctx->choices[k] = NULL;
    }
  }
  daedalus_choices *made =
      ctx->choices == NULL
          ? NULL
          : allocator->resize(allocator->user, NULL,
                              sizeof(*made) + kernel->n_classes * sizeof(class_choice));
  if (made != NULL) {
    daedalus_choices **place = &ctx->choices[daedalus_rt_kernel_number(ctx->table, kernel)];
    *made =
        (daedalus_choices){.ctx = ctx, .kernel = kernel, .substrate = substrate, .next = *place};
    *place = made;
  }
  return made;
}

int daedalus_rt_choices_get(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                            daedalus_substrate substrate, daedalus_choices **choices) {
  daedalus_choices *found =
      ctx->choices == NULL ? NULL : ctx->choices[daedalus_rt_kernel_number(ctx->table, kernel)];
  while (found != NULL && (found->kernel != kernel || found->substrate != substrate)) {
    found = found->next;
  }
  if (found == NULL) {
    found = new_choices(ctx, kernel, substrate);
  }
  *choices = found;
  if (found == NULL) {
    return -ENOMEM;
  }
  found->just_made = !found->settled;
  return found->settled ? 0 : make(ctx, found);
}

void daedalus_rt_choices_free(daedalus_ctx *ctx) {
  const daedalus_allocator *allocator = &ctx->allocator;
  for (size_t k = 0; ctx->choices != NULL && k <= ctx->table->n_kernels; k++) {
    while (ctx->choices[k] != NULL) {
      daedalus_choices *choices = ctx->choices[k];
      ctx->choices[k] = choices->next;
      daedalus_rt_vec_free(allocator, &choices->candidates);
      allocator->release(allocator->user, choices);
    }
  }
  allocator->release(allocator->user, ctx->choices);
}
