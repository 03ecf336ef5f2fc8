/* SPDX-License-Identifier: BSD-2-Clause */
/* M2: large batches in memory of the device, a variant and size of workgroups at a time. */
#include "throughput.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct candidate {
  const daedalus_variant *variant;
  uint32_t workgroup;
  workload *work;
  samples gpu;
} candidate;

/* The sizes of workgroups that are asked for and that the variant and the device can have. */
static size_t sizes_of(const daedalus_gpu_code *code, const daedalus_device_info *device,
                       const throughput_request *request, uint32_t *sizes) {
  size_t n = 0;
  sizes[0] = request->workgroup != 0 ? request->workgroup : code->workgroup;
  if (request->workgroup == 0 && request->workgroups) {
    n = point_workgroups(code, device->max_workgroup, device->max_shared_bytes, sizes);
  }
  return n != 0 ? n : 1;
}

/* What is measured in turns. */
typedef struct candidates {
  tune_runner *runner;
  candidate *list;
  size_t n;
} candidates;

/* One batch of one append. */
static double run_once(void *user, size_t way, bool counts) {
  const candidates *all = user;
  candidate *c = &all->list[way];
  char why[WHY_BYTES];
  tune_times times;
  if (runner_execute(all->runner, c->work, c->variant, c->workgroup, &times, why) != TUNE_OK) {
    fprintf(stderr, "bench: %s: %s\n", c->variant->name, why);
    return -1;
  }
  if (counts && times.gpu >= 0) {
    samples_add(&c->gpu, times.gpu);
  }
  return times.wall;
}

static void print(candidate *c, samples *taken, double copy_ns_per_byte) {
  const daedalus_kernel_desc *kernel = c->work->kernel;
  const double items = (double)c->work->n_items, bytes = (double)c->work->unique_bytes;
  const double wall = samples_quantile(taken, 0.5), gpu = samples_quantile(&c->gpu, 0.5);
  printf(
      "{\"kernel\": \"%s\", \"variant\": \"%s\", \"class\": \"%s\", \"workgroup\": %u, "
      "\"items\": %zu, \"unique_bytes\": %llu, ",
      kernel->id, c->variant->name, kernel->classes[c->variant->class_index].name, c->workgroup,
      c->work->n_items, (unsigned long long)c->work->unique_bytes);
  samples_print(taken);
  if (taken->n != 0) {
    printf(", \"items_per_s\": %.0f, \"ns_per_item\": %.3f, \"GB_per_s\": %.3f", items / wall * 1e9,
           wall / items, bytes / wall);
  }
  if (c->gpu.n != 0) {
    printf(", \"gpu_p50_ns\": %.0f, \"gpu_ns_per_item\": %.3f, \"gpu_GB_per_s\": %.3f", gpu,
           gpu / items, bytes / gpu);
    if (copy_ns_per_byte > 0) {
      printf(", \"of_copy\": %.3f", bytes / gpu * copy_ns_per_byte);
    }
  }
  printf("}");
}

/* The class whose items a variant is measured on; -1: the variant is not asked for. */
static int class_of(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                    const throughput_request *request) {
  const daedalus_class_desc *own = &kernel->classes[variant->class_index];
  if (request->variant != NULL && strcmp(request->variant, variant->name) != 0) {
    return -1;
  }
  if (request->class_name == NULL || strcmp(own->name, request->class_name) == 0) {
    return variant->class_index;
  }
  for (size_t c = 0; own->n_conditions == 0 && c < kernel->n_classes; c++) {
    if (strcmp(kernel->classes[c].name, request->class_name) == 0) {
      return (int)c;
    }
  }
  return -1;
}

/* Adds the candidates of the kernel, on works, one a class. */
static void choose(candidates *to, const daedalus_device_info *device, const sample_items *items,
                   const throughput_request *request, workload *works) {
  const daedalus_kernel_desc *kernel = items->kernel;
  for (size_t v = 0; v < kernel->n_variants; v++) {
    const daedalus_variant *variant = &kernel->variants[v];
    const int class_index = variant->gpu != NULL ? class_of(kernel, variant, request) : -1;
    if (class_index < 0 ||
        (request->bytes != 0 && kernel->classes[class_index].n_conditions != 0)) {
      continue;
    }
    workload *work = &works[class_index];
    const size_t n_items =
        request->bytes != 0 ? work_items_for(items, class_index, request->bytes) : request->items;
    if (work->kernel == NULL && (!work_make(work, items, class_index, n_items) ||
                                 !work_place(work, to->runner->ctx, true))) {
      fprintf(stderr, "bench: %s: no items of its class, or no memory for them\n", variant->name);
      samples_refused++;
      work_free(work);
      continue;
    }
    uint32_t sizes[WORKGROUPS_MOST];
    const size_t n_sizes = sizes_of(variant->gpu, device, request, sizes);
    for (size_t s = 0; s < n_sizes; s++) {
      to->list[to->n++] = (candidate){.variant = variant, .workgroup = sizes[s], .work = work};
    }
  }
}

void throughput(tune_runner *runner, const daedalus_device_info *device, const sample_items *items,
                const throughput_request *request, bool *first) {
  const daedalus_kernel_desc *kernel = items->kernel;
  workload *works = allocate_zeroed(kernel->n_classes * sizeof(*works));
  candidates all = {runner, allocate(kernel->n_variants * WORKGROUPS_MOST * sizeof(candidate)), 0};
  choose(&all, device, items, request, works);
  samples *taken = allocate_zeroed(all.n * sizeof(*taken));
  samples_in_turns(all.n, request->once ? 0 : 1, request->once ? 1 : (size_t)request->rounds,
                   run_once, &all, taken);
  for (size_t i = 0; i < all.n; i++) {
    json_next(first);
    print(&all.list[i], &taken[i], request->copy_ns_per_byte);
    samples_free(&taken[i]);
    samples_free(&all.list[i].gpu);
  }
  for (size_t c = 0; c < kernel->n_classes; c++) {
    work_free(&works[c]);
  }
  free(taken);
  free(all.list);
  free(works);
}
