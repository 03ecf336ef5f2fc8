/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check JOB RESULT - runs variants on given memory and writes back what they left there.
 *
 * The job (job.h) holds one kernel's buffers as images, the items' meta, and a list of runs (a
 * variant and the items it is to do). Every run starts from fresh copies of the images. A copy ends
 * (or, when the job says so, begins) exactly at a page that cannot be touched, so that an access
 * beyond it is a fault; the fault is reported as the run's outcome and ends the program. An image
 * of no bytes is a pointer between such pages: no run may touch the buffer.
 *
 *   run     variant n, then n item numbers, the first half to be done in one call, the
 *           others one by one; the variant "dispatch" stands for one daedalus_dispatch() of all
 *           items on the CPU.  After a GPU variant's name, or "dispatch", come a blank, the size of
 *           workgroups (0: the variant's own) and "copy", "place" or "whole": gpu.h.  Or after a
 *           QPU variant's name "simulate", how many threads and "default" or "other": simulator.h.
 *           Or after a CPU variant's name, or the kernel's id, "items", "items one", "tall", or
 *           "clearing" or "hostile clearing" and the names of blocks: items.h
 *   result  per run: outcome (0 done, 1 read-only buffer changed, 2 no such variant, 3 fault,
 *           4 dispatch refused, 5 as gpu.h and simulator.h say, 6 as items.h says), then, but for 2
 * and 3, the images of the buffers that the kernel writes
 *
 * `check --devices` lists the Vulkan devices, a line each: number, kind (v3d, gpu, cpu), size of
 * subgroups, name, driver and its version, separated by tabs.
 *
 * Exit status: 0 all runs done; 2 the job cannot be read or the result not written; 3 a fault;
 * 4 the runs need a GPU, and there is none.  Anything else is the run in progress ended by a
 * sanitizer or a signal.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "items.h"
#include "job.h"
#include "simulator.h"

/* Everything through the public interface: all items in one synchronous dispatch on the CPU. */
static int dispatch_all(const daedalus_kernel_desc *kernel, const daedalus_buffer *buffers,
                        size_t n_items, const void *meta) {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  if (ctx == NULL) {
    die("no context", "");
  }
  const int error = daedalus_dispatch(ctx, kernel, DAEDALUS_SUBSTRATE_CPU, buffers, n_items, meta);
  daedalus_ctx_destroy(ctx);
  return error;
}

static const daedalus_variant *find_variant(const daedalus_kernel_desc *kernel, const char *name) {
  for (size_t n = 0; n < kernel->n_variants; n++) {
    if (strcmp(kernel->variants[n].name, name) == 0) {
      return &kernel->variants[n];
    }
  }
  return NULL;
}

/* On the CPU; daedalus_dispatch()'s refusal is an outcome of its own. */
static uint64_t run_on_cpu(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                           const job *j, const job_run *r) {
  daedalus_buffer buffers[MAX_BUFFERS];
  job_buffers(j, buffers);
  if (variant == NULL) {
    return dispatch_all(kernel, buffers, j->n_items, j->meta) != 0 ? REFUSED : DONE;
  }
  call_in_halves(variant->cpu, buffers, j->meta, r->items, r->n);
  return DONE;
}

/* How a variant is run: on the simulator where that has threads, on the GPU, by its functions for
 * many items, or on the CPU. */
typedef struct run_way {
  items_way items;
  gpu_way gpu;
  simulator_way simulator;
} run_way;

/* What a run's name says; the text is cut up. */
static run_way parse_way(char *name) {
  static const char simulate[] = "simulate ", hostile[] = "hostile ", clearing[] = "clearing ";
  run_way way = {0};
  char *rest = strchr(name, ' ');
  if (rest == NULL) {
    return way;
  }
  *rest++ = '\0';
  if (strncmp(rest, simulate, sizeof simulate - 1) == 0) {
    way.simulator.threads = (uint32_t)strtoul(rest + sizeof simulate - 1, &rest, 10);
    way.simulator.other = strcmp(rest, " other") == 0;
    return way;
  }
  way.items.in_part = strncmp(rest, hostile, sizeof hostile - 1) == 0;
  rest += way.items.in_part ? sizeof hostile - 1 : 0;
  const bool clears = strncmp(rest, clearing, sizeof clearing - 1) == 0;
  way.items.tall = strcmp(rest, "tall") == 0;
  way.items.on = clears || way.items.tall || strncmp(rest, "items", 5) == 0;
  if (way.items.on) {
    way.items.one = way.items.tall || strcmp(rest, "items one") == 0;
    way.items.cleared = clears ? rest + sizeof clearing - 1 : NULL;
    return way;
  }
  way.gpu.on_gpu = true;
  way.gpu.workgroup = (uint32_t)strtoul(rest, &rest, 10);
  way.gpu.one_append = strcmp(rest, " whole") == 0;
  way.gpu.in_place = way.gpu.one_append || strcmp(rest, " place") == 0;
  return way;
}

/* Whether a variant can be run so; none stands for "dispatch", on the CPU or the GPU. */
static bool fits(const daedalus_variant *variant, const char *name, run_way way) {
  if (way.items.on) {
    return items_known(name, way.items);
  }
  if (variant == NULL) {
    return strcmp(name, "dispatch") == 0 && way.simulator.threads == 0;
  }
  if (way.simulator.threads != 0) {
    return variant->qpu != NULL;
  }
  return way.gpu.on_gpu ? variant->cpu == NULL : variant->cpu != NULL;
}

static void run(const daedalus_kernel_desc *kernel, job *j, job_run *r) {
  image *images = j->images;
  const run_way way = parse_way(r->name);
  const daedalus_variant *variant = find_variant(kernel, r->name);
  const bool known = fits(variant, r->name, way);
  uint64_t outcome = known ? DONE : UNKNOWN;
  if (known) {
    restore_images(j);
    begin_run();
    outcome = way.simulator.threads != 0
                  ? simulator_run(kernel, variant, way.simulator, images, j->meta, r->items, r->n)
              : way.items.on   ? items_run(kernel, r->name, way.items, images, j->meta, j->n_items,
                                           r->items, r->n)
              : way.gpu.on_gpu ? gpu_run(kernel, variant, way.gpu, images, j->meta, r->items, r->n)
                               : run_on_cpu(kernel, variant, j, r);
    end_run();
    for (size_t b = 0; b < kernel->n_buffers; b++) {
      const bool writes = (kernel->buffers[b].access & DAEDALUS_ACCESS_WRITE) != 0;
      const bool clears = items_clears(way.items, kernel->buffers[b].name);
      if (!writes && !clears && memcmp(images[b].bytes, images[b].initial, images[b].size) != 0) {
        outcome = CHANGED_INPUT;
      }
    }
  }
  write_result(&outcome, sizeof outcome);
  for (size_t b = 0; known && b < kernel->n_buffers; b++) {
    if (kernel->buffers[b].access & DAEDALUS_ACCESS_WRITE) {
      write_result(images[b].bytes, images[b].size);
    }
  }
}

int main(int argc, char **argv) {
  program_name = "check";
  if (argc == 2 && strcmp(argv[1], "--devices") == 0) {
    gpu_list();
    return 0;
  }
  if (argc != 3) {
    die("usage: check JOB RESULT, or check --devices", "");
  }
  FILE *file = fopen(argv[1], "rb"), *result = fopen(argv[2], "wb");
  if (file == NULL || result == NULL) {
    die("cannot open the files", "");
  }
  open_result(result);
  job j;
  read_job(file, &j, guarded);
  const daedalus_kernel_desc *kernel = daedalus_find_kernel(j.kernel);
  if (kernel == NULL) {
    die("no such kernel in this library", "");
  }
  if (j.n_buffers != kernel->n_buffers || j.meta_size != kernel->meta_size) {
    die("the job and the library disagree about the kernel", "");
  }
  for (size_t k = 0; k < j.n_runs; k++) {
    job_run r = read_run(file);
    run(kernel, &j, &r);
    free(r.items);
  }
  gpu_close();
  free_job(&j);
  fclose(file);
  close_result();
  return 0;
}
