/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check JOB RESULT - runs variants on given memory and writes back what they left there.
 *
 * The job holds one kernel's buffers as images, the items' meta, and a list of runs (a variant and
 * the items it is to do). Every run starts from fresh copies of the images. A copy ends (or, when
 * the job says so, begins) exactly at a page that cannot be touched, so that an access beyond it
 * is a fault; the fault is reported as the run's outcome and ends the program. An image of no bytes
 * is a pointer between such pages: no run may touch the buffer.
 *
 * All numbers are little-endian 64-bit integers, names are 128 bytes padded with zeros.
 *   job     "DAEDCHK1"  kernel  align(0 end, 1 start)  n_buffers  meta_bytes  n_items  n_runs
 *           per buffer: image_bytes origin stride, then the image
 *           the meta (meta_bytes * n_items)
 *           per run: variant n, then n item numbers, the first half to be done in one call, the
 *           others one by one; the variant "dispatch" stands for one daedalus_dispatch() of all
 *           items on the CPU.  After a GPU variant's name, or "dispatch", come a blank, the size of
 *           workgroups (0: the variant's own) and "copy", "place" or "whole": gpu.h.  Or after a
 *           QPU variant's name "simulate", how many threads and "default" or "other": simulator.h.
 *           Or after a CPU variant's name, or the kernel's id, "items", "items one", or "clearing"
 *           or "hostile clearing" and the names of blocks: items.h
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
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"
#include "items.h"
#include "simulator.h"

enum { NAME_BYTES = 128, GUARD_PAGES = 64 };

static FILE *result;
static volatile sig_atomic_t in_variant;

_Noreturn void die(const char *what) {
  fprintf(stderr, "check: %s\n", what);
  exit(2);
}

static void read_bytes(FILE *job, void *to, size_t n) {
  if (n != 0 && fread(to, 1, n, job) != n) {
    die("the job is too short");
  }
}

static uint64_t read_number(FILE *job) {
  uint64_t n;
  read_bytes(job, &n, sizeof n);
  return n;
}

static void write_bytes(const void *from, size_t n) {
  if (n != 0 && fwrite(from, 1, n, result) != n) {
    die("cannot write the result");
  }
}

void *allocate(size_t n) {
  void *p = malloc(n ? n : 1);
  if (p == NULL) {
    die("out of memory");
  }
  return p;
}

/* Everything through the public interface: all items in one synchronous dispatch on the CPU. */
static int dispatch_all(const daedalus_kernel_desc *kernel, const daedalus_buffer *buffers,
                        size_t n_items, const void *meta) {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  if (ctx == NULL) {
    die("no context");
  }
  const int error = daedalus_dispatch(ctx, kernel, DAEDALUS_SUBSTRATE_CPU, buffers, n_items, meta);
  daedalus_ctx_destroy(ctx);
  return error;
}

/* The result file's own buffer was flushed before the variant was called, so write() is in order.
 */
static void on_fault(int sig) {
  static const uint64_t outcome = 3;
  (void)sig;
  if (in_variant) {
    const ssize_t written = write(fileno(result), &outcome, sizeof outcome);
    (void)written;
    _exit(3);
  }
  _exit(2);
}

/* Memory for an image, with untouchable pages right behind it (or before it). */
static uint8_t *guarded(size_t size, bool at_start) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), guard = GUARD_PAGES * page;
  const size_t inner = (size + page - 1) / page * page;
  uint8_t *base = mmap(NULL, inner + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    die("out of memory");
  }
  if (inner != 0 && mprotect(base + guard, inner, PROT_READ | PROT_WRITE) != 0) {
    die("cannot unprotect memory");
  }
  return base + guard + (at_start ? 0 : inner - size);
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
                           const image *images, size_t n_items, const void *meta,
                           const uint32_t *items, size_t n) {
  daedalus_buffer buffers[MAX_BUFFERS];
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    buffers[b] = (daedalus_buffer){images[b].bytes + images[b].origin, images[b].stride};
  }
  if (variant == NULL) {
    return dispatch_all(kernel, buffers, n_items, meta) != 0 ? REFUSED : DONE;
  }
  /* Half of the items together and half one by one: a variant for several items a vector has
   * other code for one that is left over. */
  const size_t together = n - n / 2;
  variant->cpu(buffers, meta, items, together);
  for (size_t k = together; k < n; k++) {
    variant->cpu(buffers, meta, items + k, 1);
  }
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
  way.items.on = clears || strncmp(rest, "items", 5) == 0;
  if (way.items.on) {
    way.items.one = strcmp(rest, "items one") == 0;
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

static void run(FILE *job, const daedalus_kernel_desc *kernel, image *images, size_t n_items,
                const void *meta) {
  char name[NAME_BYTES];
  read_bytes(job, name, sizeof name);
  name[NAME_BYTES - 1] = '\0';
  const size_t n = (size_t)read_number(job);
  uint64_t *wide = allocate(n * sizeof *wide);
  uint32_t *items = allocate(n * sizeof *items);
  read_bytes(job, wide, n * sizeof *wide);
  for (size_t k = 0; k < n; k++) {
    items[k] = (uint32_t)wide[k];
  }
  const run_way way = parse_way(name);
  const daedalus_variant *variant = find_variant(kernel, name);
  const bool known = fits(variant, name, way);
  uint64_t outcome = known ? DONE : UNKNOWN;
  if (known) {
    for (size_t b = 0; b < kernel->n_buffers; b++) {
      memcpy(images[b].bytes, images[b].initial, images[b].size);
    }
    fflush(result);
    in_variant = 1;
    outcome = way.simulator.threads != 0
                  ? simulator_run(kernel, variant, way.simulator, images, meta, items, n)
              : way.items.on   ? items_run(kernel, name, way.items, images, meta, n_items, items, n)
              : way.gpu.on_gpu ? gpu_run(kernel, variant, way.gpu, images, meta, items, n)
                               : run_on_cpu(kernel, variant, images, n_items, meta, items, n);
    in_variant = 0;
    for (size_t b = 0; b < kernel->n_buffers; b++) {
      const bool writes = (kernel->buffers[b].access & DAEDALUS_ACCESS_WRITE) != 0;
      const bool clears = items_clears(way.items, kernel->buffers[b].name);
      if (!writes && !clears && memcmp(images[b].bytes, images[b].initial, images[b].size) != 0) {
        outcome = CHANGED_INPUT;
      }
    }
  }
  write_bytes(&outcome, sizeof outcome);
  for (size_t b = 0; known && b < kernel->n_buffers; b++) {
    if (kernel->buffers[b].access & DAEDALUS_ACCESS_WRITE) {
      write_bytes(images[b].bytes, images[b].size);
    }
  }
  free(wide);
  free(items);
}

int main(int argc, char **argv) {
  char magic[8], name[NAME_BYTES];
  if (argc == 2 && strcmp(argv[1], "--devices") == 0) {
    gpu_list();
    return 0;
  }
  if (argc != 3) {
    die("usage: check JOB RESULT, or check --devices");
  }
  FILE *job = fopen(argv[1], "rb");
  result = fopen(argv[2], "wb");
  if (job == NULL || result == NULL) {
    die("cannot open the files");
  }
  struct sigaction action = {.sa_handler = on_fault};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);

  read_bytes(job, magic, sizeof magic);
  if (memcmp(magic, "DAEDCHK1", sizeof magic) != 0) {
    die("not a job");
  }
  read_bytes(job, name, sizeof name);
  const daedalus_kernel_desc *kernel = daedalus_find_kernel(name);
  if (kernel == NULL) {
    die("no such kernel in this library");
  }
  const bool at_start = read_number(job) != 0;
  const size_t n_buffers = (size_t)read_number(job), meta_bytes = (size_t)read_number(job);
  const size_t n_items = (size_t)read_number(job), n_runs = (size_t)read_number(job);
  if (n_buffers != kernel->n_buffers || n_buffers > MAX_BUFFERS ||
      meta_bytes != kernel->meta_size) {
    die("the job and the library disagree about the kernel");
  }
  image images[MAX_BUFFERS];
  for (size_t b = 0; b < n_buffers; b++) {
    images[b].size = (size_t)read_number(job);
    images[b].origin = (size_t)read_number(job);
    images[b].stride = (ptrdiff_t)read_number(job);
    images[b].initial = allocate(images[b].size);
    images[b].bytes = guarded(images[b].size, at_start);
    read_bytes(job, images[b].initial, images[b].size);
  }
  uint8_t *meta = allocate(meta_bytes * n_items);
  read_bytes(job, meta, meta_bytes * n_items);
  for (size_t k = 0; k < n_runs; k++) {
    run(job, kernel, images, n_items, meta);
  }
  gpu_close();
  for (size_t b = 0; b < n_buffers; b++) {
    free(images[b].initial);
  }
  free(meta);
  fclose(job);
  if (fclose(result) != 0) {
    die("cannot write the result");
  }
  return 0;
}
