/* SPDX-License-Identifier: BSD-2-Clause */
/* What a dispatch costs besides its work: pools, submits. */
#include "latency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"

/* ------------------------------------------------------------------------------- pool */

typedef struct cost {
  samples times;
  counted calls;
  unsigned long allocations;
} cost;

/* One synchronous dispatch, its output compared; adds to the cost. */
static void dispatch_once(daedalus_ctx *ctx, workload *w, cost *c) {
  daedalus_buffer buffers[MAX_BUFFERS];
  work_reset(w, true);
  work_buffers(w, buffers);
  const counted calls = counted_so_far();
  const unsigned long had = allocations;
  const unsigned errors = logged_errors;
  const double begin = now_ns();
  const int error =
      daedalus_dispatch(ctx, w->kernel, DAEDALUS_SUBSTRATE_QPU, buffers, w->n_items, w->meta);
  const double taken = now_ns() - begin;
  const counted after = counted_so_far();
  c->calls.calls += after.calls - calls.calls;
  c->calls.creations += after.creations - calls.creations;
  c->allocations += allocations - had;
  if (error == 0 && errors == logged_errors && work_right(w)) {
    samples_add(&c->times, taken);
  } else {
    samples_refuse(&c->times);
  }
}

static void print_cost(const char *name, cost *c) {
  const double n = (double)(c->times.n + c->times.refused);
  printf("\"%s\": {", name);
  samples_print(&c->times);
  printf(", \"vulkan_calls\": %.2f, \"vulkan_creations\": %.2f, \"allocations\": %.2f}",
         (double)c->calls.calls / n, (double)c->calls.creations / n, (double)c->allocations / n);
  samples_free(&c->times);
}

void latency_pool(daedalus_ctx *ctx, const sample_items *samples, int rounds) {
  workload w;
  cost cold = {0}, warm = {0}, unused = {0};
  if (!work_make(&w, samples, -1, 64) || !work_place(&w, ctx, false)) {
    die("no items for", samples->kernel->id);
  }
  dispatch_once(ctx, &w, &unused); /* pipelines */
  for (int i = 0; i < rounds; i++) {
    daedalus_ctx_pool_trim(ctx);
    dispatch_once(ctx, &w, &cold);
  }
  dispatch_once(ctx, &w, &unused);
  for (int i = 0; i < 10 * rounds; i++) {
    dispatch_once(ctx, &w, &warm);
  }
  daedalus_pool_info pool = {.size = sizeof(pool)};
  (void)daedalus_ctx_pool(ctx, &pool);
  printf("\"kernel\": \"%s\", \"items\": %zu, ", samples->kernel->id, w.n_items);
  print_cost("cold", &cold);
  printf(", ");
  print_cost("warm", &warm);
  printf(", \"pool_requests\": %llu, \"pool_hits\": %llu, \"peak_bytes\": %llu",
         (unsigned long long)pool.requests, (unsigned long long)pool.hits,
         (unsigned long long)pool.in_use_peak);
  samples_free(&unused.times);
  work_free(&w);
}

/* ----------------------------------------------------------------------------- submit */

void latency_submit(daedalus_ctx *ctx, const sample_items *samples, int rounds) {
  workload w;
  daedalus_buffer buffers[MAX_BUFFERS];
  daedalus_batch *batch = NULL;
  struct samples caller = {0}, whole = {0};
  if (!work_make(&w, samples, -1, 1) || !work_place(&w, ctx, true) ||
      daedalus_batch_begin(ctx, &batch) != 0) {
    die("no items for", samples->kernel->id);
  }
  work_buffers(&w, buffers);
  for (int i = -5; i < 10 * rounds; i++) {
    work_reset(&w, true);
    const unsigned errors = logged_errors;
    const double begin = now_ns();
    int error = daedalus_append(batch, w.kernel, DAEDALUS_SUBSTRATE_QPU, buffers, 1, w.meta);
    if (error == 0) {
      error = daedalus_batch_submit(batch);
    }
    const double submitted = now_ns();
    if (error == 0) {
      error = daedalus_batch_wait(batch, -1);
    }
    const double done = now_ns();
    (void)daedalus_batch_reset(batch);
    if (error != 0 || errors != logged_errors || !work_right(&w)) {
      samples_refuse(&caller);
      samples_refuse(&whole);
    } else if (i >= 0) {
      samples_add(&caller, submitted - begin);
      samples_add(&whole, done - begin);
    }
  }
  printf("\"kernel\": \"%s\", \"caller\": {", samples->kernel->id);
  samples_print(&caller);
  printf("}, \"whole\": {");
  samples_print(&whole);
  printf("}");
  samples_free(&caller);
  samples_free(&whole);
  daedalus_batch_destroy(batch);
  work_free(&w);
}

/* ------------------------------------------------------------------------------ frame */

typedef enum grouping { A_FRAME, A_KERNEL, AN_ITEM, N_GROUPINGS } grouping;

/* Some of its items; of a block buffer those of each item lie apart. */
static int append_some(daedalus_batch *batch, const workload *w, size_t first, size_t n) {
  daedalus_buffer buffers[MAX_BUFFERS];
  work_buffers(w, buffers);
  for (size_t b = 0; b < w->kernel->n_buffers; b++) {
    if (w->buffers[b].stride == 0) {
      buffers[b].data = (uint8_t *)buffers[b].data + first * (w->buffers[b].bytes / w->n_items);
    }
  }
  return daedalus_append(batch, w->kernel, DAEDALUS_SUBSTRATE_QPU, buffers, n,
                         w->meta + first * w->kernel->meta_size);
}

static int finish(daedalus_batch *batch) {
  int error = daedalus_batch_submit(batch);
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1);
  }
  const int reset = daedalus_batch_reset(batch);
  return error != 0 ? error : reset;
}

static int run_items(daedalus_batch *batch, const workload *w, size_t n) {
  int error = 0;
  for (size_t i = 0; error == 0 && i < n; i++) {
    error = append_some(batch, w, i, 1);
    if (error == 0) {
      error = finish(batch);
    }
  }
  return error;
}

static int run_frame(daedalus_batch *batch, workload *works, size_t n, grouping by, size_t single) {
  int error = 0;
  for (size_t k = 0; error == 0 && k < n; k++) {
    if (by == AN_ITEM) {
      error = run_items(batch, &works[k], single);
    } else {
      error = append_some(batch, &works[k], 0, works[k].n_items);
      if (error == 0 && by == A_KERNEL) {
        error = finish(batch);
      }
    }
  }
  return error == 0 && by == A_FRAME ? finish(batch) : error;
}

/* All right; of single items the first are, and the others untouched. */
static bool all_right(workload *works, size_t n, grouping by) {
  bool right = true;
  for (size_t k = 0; by != AN_ITEM && k < n; k++) {
    right = work_right(&works[k]) && right;
  }
  return right;
}

/* Does what single items left undone, so that their results are compared with those of all. */
static bool complete(daedalus_batch *batch, workload *works, size_t n, size_t single) {
  for (size_t k = 0; k < n; k++) {
    if (append_some(batch, &works[k], single, works[k].n_items - single) != 0 ||
        finish(batch) != 0 || !work_right(&works[k])) {
      return false;
    }
  }
  return true;
}

void latency_frame(daedalus_ctx *ctx, const sample_file *file, const char *only, size_t n_items,
                   size_t single, int rounds) {
  static const char *const names[N_GROUPINGS] = {"submit_a_frame", "submit_a_kernel",
                                                 "submit_an_item"};
  workload *works = allocate(file->n_kernels * sizeof(*works));
  daedalus_batch *batch = NULL;
  struct samples times[N_GROUPINGS] = {0};
  size_t n = 0, all_items = 0;
  for (size_t k = 0; k < file->n_kernels; k++) {
    if (only == NULL || strstr(file->kernels[k].kernel->id, only) != NULL) {
      if (!work_make(&works[n], &file->kernels[k], -1, n_items) ||
          !work_place(&works[n], ctx, true)) {
        die("no memory for a frame of", file->kernels[k].kernel->id);
      }
      all_items += works[n++].n_items;
    }
  }
  if (daedalus_batch_begin(ctx, &batch) != 0 ||
      daedalus_batch_set_flags(batch, DAEDALUS_BATCH_NO_SHADOW) != 0) {
    die("no batch", "");
  }
  for (int round = -1; round < rounds; round++) {
    for (int by = 0; by < N_GROUPINGS; by++) {
      for (size_t k = 0; k < n; k++) {
        work_reset(&works[k], true);
      }
      const unsigned errors = logged_errors;
      const double begin = now_ns();
      const int error = run_frame(batch, works, n, (grouping)by, single);
      const double taken = now_ns() - begin;
      const bool right =
          error == 0 && errors == logged_errors &&
          (by == AN_ITEM ? complete(batch, works, n, single) : all_right(works, n, (grouping)by));
      if (!right) {
        samples_refuse(&times[by]);
      } else if (round >= 0) {
        samples_add(&times[by], by == AN_ITEM ? taken * (double)n_items / (double)single : taken);
      }
    }
  }
  printf("\"kernels\": %zu, \"items\": %zu, \"single_items_a_kernel\": %zu", n, all_items, single);
  for (int by = 0; by < N_GROUPINGS; by++) {
    printf(", \"%s\": {", names[by]);
    samples_print(&times[by]);
    printf("}");
    samples_free(&times[by]);
  }
  daedalus_batch_destroy(batch);
  for (size_t k = 0; k < n; k++) {
    work_free(&works[k]);
  }
  free(works);
}
