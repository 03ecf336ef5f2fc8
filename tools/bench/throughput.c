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
  samples wall, gpu;
} candidate;

/* The sizes of workgroups that are asked for and that the variant and the device can have. */
static size_t sizes_of(const daedalus_gpu_code *code, const daedalus_device_info *device,
                       const throughput_request *request, uint32_t *sizes) {
  size_t n = 0;
  const bool all = request->workgroups;
  if (request->workgroup != 0) {
    sizes[n++] = request->workgroup;
    return n;
  }
  for (uint32_t size = 16; all && size <= 256; size *= 2) {
    const uint64_t shared = (uint64_t)size / code->invocations * code->shared_bytes;
    if (size >= code->workgroup_min && size % code->invocations == 0 &&
        size <= device->max_workgroup && shared <= device->max_shared_bytes) {
      sizes[n++] = size;
    }
  }
  if (n == 0) {
    sizes[n++] = code->workgroup;
  }
  return n;
}

/* One batch of one append.  @return nanoseconds; negative where anything was not as it must be */
static double run_once(daedalus_ctx *ctx, candidate *c, uint64_t *gpu_ns) {
  daedalus_buffer buffers[MAX_BUFFERS];
  daedalus_batch *batch = NULL;
  work_reset(c->work, true);
  work_buffers(c->work, buffers);
  const unsigned errors = logged_errors;
  *gpu_ns = 0;
  int error = daedalus_batch_begin(ctx, &batch);
  if (error == 0) {
    error = daedalus_batch_set_flags(batch, DAEDALUS_BATCH_NO_SHADOW | DAEDALUS_BATCH_TIMESTAMPS);
  }
  if (error == 0) {
    error = daedalus_append_variant(batch, c->work->kernel, c->variant, c->workgroup, buffers,
                                    c->work->n_items, c->work->meta);
  }
  const double begin = now_ns();
  if (error == 0) {
    error = daedalus_batch_submit(batch);
  }
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1);
  }
  const double taken = now_ns() - begin;
  if (error == 0) {
    (void)daedalus_batch_gpu_time(batch, gpu_ns);
  }
  daedalus_batch_destroy(batch);
  const bool right = error == 0 && errors == logged_errors && work_right(c->work);
  return right ? taken : -1;
}

static void print(candidate *c, double copy_ns_per_byte) {
  const daedalus_kernel_desc *kernel = c->work->kernel;
  const double items = (double)c->work->n_items, bytes = (double)c->work->unique_bytes;
  const double wall = samples_quantile(&c->wall, 0.5), gpu = samples_quantile(&c->gpu, 0.5);
  printf(
      "{\"kernel\": \"%s\", \"variant\": \"%s\", \"class\": \"%s\", \"workgroup\": %u, "
      "\"items\": %zu, \"unique_bytes\": %llu, ",
      kernel->id, c->variant->name, kernel->classes[c->variant->class_index].name, c->workgroup,
      c->work->n_items, (unsigned long long)c->work->unique_bytes);
  samples_print(&c->wall);
  if (c->wall.n != 0) {
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

/* Interleaved: a round runs every candidate once; round -1 only warms up. */
static void measure(daedalus_ctx *ctx, candidate *list, size_t n, int first, int rounds) {
  for (int round = first; round < rounds; round++) {
    for (size_t i = 0; i < n; i++) {
      uint64_t gpu_ns = 0;
      const double ns = run_once(ctx, &list[i], &gpu_ns);
      if (ns < 0) {
        samples_refuse(&list[i].wall);
      } else if (round >= 0) {
        samples_add(&list[i].wall, ns);
        if (gpu_ns != 0) {
          samples_add(&list[i].gpu, (double)gpu_ns);
        }
      }
    }
  }
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

void throughput(daedalus_ctx *ctx, const daedalus_device_info *device, const sample_items *samples,
                const throughput_request *request, bool *first) {
  const daedalus_kernel_desc *kernel = samples->kernel;
  workload *works = allocate(kernel->n_classes * sizeof(*works));
  memset(works, 0, kernel->n_classes * sizeof(*works));
  candidate *list = allocate((kernel->n_variants * 8 + 1) * sizeof(*list));
  size_t n = 0;
  for (size_t v = 0; v < kernel->n_variants; v++) {
    const daedalus_variant *variant = &kernel->variants[v];
    const int class_index = variant->gpu != NULL ? class_of(kernel, variant, request) : -1;
    if (class_index < 0 ||
        (request->bytes != 0 && kernel->classes[class_index].n_conditions != 0)) {
      continue;
    }
    workload *work = &works[class_index];
    const size_t items =
        request->bytes != 0 ? work_items_for(samples, class_index, request->bytes) : request->items;
    if (work->kernel == NULL &&
        (!work_make(work, samples, class_index, items) || !work_place(work, ctx, true))) {
      fprintf(stderr, "bench: %s: no items of its class, or no memory for them\n", variant->name);
      samples_refused++;
      work_free(work);
      continue;
    }
    uint32_t sizes[8];
    const size_t n_sizes = sizes_of(variant->gpu, device, request, sizes);
    for (size_t s = 0; s < n_sizes; s++) {
      list[n++] = (candidate){.variant = variant, .workgroup = sizes[s], .work = work};
    }
  }
  measure(ctx, list, n, request->once ? 0 : -1, request->once ? 1 : request->rounds);
  for (size_t i = 0; i < n; i++) {
    json_next(first);
    print(&list[i], request->copy_ns_per_byte);
    samples_free(&list[i].wall);
    samples_free(&list[i].gpu);
  }
  for (size_t c = 0; c < kernel->n_classes; c++) {
    work_free(&works[c]);
  }
  free(list);
  free(works);
}
