/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C = A B in single precision by two programs in V3D 7.1 assembly, pack.qpu and product.qpu: what
 * hand-written code reaches on this GPU, on the simulator or on a DRM node.  Compares C with the
 * host's product, bit by bit, and says what it takes beside what others have published.
 * docs/v3d-sgemm.md explains both.  Exit code: 0 right, 1 wrong, 2 bad input, 3 no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "kernels.h"
#include "matrices.h"

enum { MOST = 8192 };
#define NS_PER_MS 1e6

static const char usage[] =
    "usage: sgemm [--drm] [--no-times] [--programs FOLDER] [--seed N] [ROWS COLUMNS DEPTH]\n"
    "  C = A B on the simulator, A of ROWS x DEPTH (240 x 128), B of DEPTH x COLUMNS (256):\n"
    "  at least 24 rows, columns a multiple of 32, depth one of 16, each at most 8192.\n"
    "  --drm              on the first DRM render node of a V3D 7.1\n"
    "  --no-times         the simulator's timing model is left out\n"
    "  --programs FOLDER  where pack.qpu and product.qpu are\n"
    "  --seed N           of the matrices (1)\n";

typedef struct options {
  shape shape;
  bool drm, times;
  unsigned long seed;
  const char *folder;
} options;

static bool parse_number(const char *text, unsigned long *number) {
  char *end;
  *number = strtoul(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0';
}

static bool parse(int argc, char **argv, options *o) {
  unsigned long sizes[3];
  int n_sizes = 0;
  for (int i = 1; i < argc; i++) {
    const char *next = i + 1 < argc ? argv[i + 1] : "";
    bool good = true;
    if (strcmp(argv[i], "--drm") == 0)
      o->drm = true;
    else if (strcmp(argv[i], "--no-times") == 0)
      o->times = false;
    else if (strcmp(argv[i], "--programs") == 0 && *next != '\0')
      o->folder = argv[++i];
    else if (strcmp(argv[i], "--seed") == 0)
      good = parse_number(next, &o->seed), i++;
    else
      good = n_sizes < 3 && parse_number(argv[i], &sizes[n_sizes++]);
    if (!good)
      return false;
  }
  if (n_sizes == 0)
    return true;
  if (n_sizes != 3 || sizes[0] < PANEL_ROWS || sizes[0] > MOST || sizes[1] == 0 ||
      sizes[1] > MOST || sizes[1] % TILE_COLUMNS != 0 || sizes[2] == 0 || sizes[2] > MOST ||
      sizes[2] % BLOCK != 0)
    return false;
  o->shape = (shape){(uint32_t)sizes[0], (uint32_t)sizes[1], (uint32_t)sizes[2]};
  return true;
}

/* The matrices, on the device; C is NaN at first. */
typedef struct problem {
  device_buffer a, b, c, packed;
} problem;

static bool set_up(const device *device, const options *o, problem *p) {
  const shape *s = &o->shape;
  if (!device->allocate(device->state, 4 * s->rows * s->depth, &p->a) ||
      !device->allocate(device->state, 4 * s->depth * s->columns, &p->b) ||
      !device->allocate(device->state, 4 * s->rows * s->columns, &p->c) ||
      !device->allocate(device->state, packed_bytes(s), &p->packed))
    return false;
  fill(p->a.data, p->a.size / 4, o->seed);
  fill(p->b.data, p->b.size / 4, o->seed + 1);
  memset(p->c.data, 0xff, p->c.size);
  return true;
}

/* Whether C is right.  What the device's memory maps may not be cached: it is read once. */
static bool check(const options *o, const problem *p) {
  float *c = malloc(p->c.size);
  comparison found;
  if (c == NULL)
    return false;
  memcpy(c, p->c.data, p->c.size);
  const bool memory = compare(&o->shape, p->a.data, p->b.data, c, &found);
  const size_t n = (size_t)o->shape.rows * o->shape.columns;
  if (!memory)
    fprintf(stderr, "sgemm: no memory\n");
  else if (found.wrong > 0)
    printf("WRONG: %zu of %zu elements; the first in row %zu, column %zu: %.9g, not %.9g\n",
           found.wrong, n, found.first / o->shape.columns, found.first % o->shape.columns,
           (double)c[found.first], (double)found.expected);
  else
    printf(
        "right: %zu elements, bit by bit; at most %.2g from the product in double precision,\n"
        "       %.2g of what rounding allows\n",
        n, found.worst_absolute, found.worst);
  free(c);
  return memory && found.wrong == 0 && found.worst <= 1;
}

static double flops(const shape *s) {
  return 2.0 * s->rows * s->columns * s->depth;
}

static void print_published(void) {
  printf(
      "measured by others on a Raspberry Pi 5: 21.4 GFLOP/s (py-videocore7, its README:\n"
      "  1024 x 1024 x 1024 in 0.1006 s), another program\n");
}

static void print_range(const char *what, daedalus_v3d_range ns) {
  printf("%-30s %9.3f ms  (%.3f to %.3f)\n", what, (double)ns.mid / NS_PER_MS,
         (double)ns.low / NS_PER_MS, (double)ns.high / NS_PER_MS);
}

static void print_part(const char *what, uint64_t clocks, const daedalus_v3d_times *times) {
  printf("  %-28s %5.1f %%\n", what, 100.0 * (double)clocks / (double)times->clocks);
}

/* What the product's clocks are, and what it would take by one resource alone. */
static void print_limits(const shape *s, const daedalus_v3d_times *t) {
  const daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  const unsigned qpus = profile.slices * profile.qpus_per_slice;
  const double peak = qpus * 4 * 2 * profile.clock_mhz / 1e3;
  const double reached = flops(s) / (double)t->ns;
  printf(
      "the product alone: %.1f GFLOP/s, %.1f %% of the peak of %.1f (%u QPUs x 4 lanes x fmul\n"
      "  and fadd x %u MHz); of its clocks, by one resource alone:\n",
      reached, 100 * reached / peak, peak, qpus, (unsigned)profile.clock_mhz);
  print_part("issuing instructions", t->most_active, t);
  print_part("TMU", t->most_tmu_busy, t);
  print_part("memory", t->memory_busy, t);
  printf("of those of all QPUs:\n");
  print_part("issuing instructions", t->active / qpus, t);
  print_part("waiting for uniforms", t->stall_uniforms / qpus, t);
  print_part("waiting for the TMU", (t->stall_tmu + t->waiting) / qpus, t);
  print_part("idle", t->idle / qpus, t);
}

static void print_times(const options *o, const device_time *pack, const device_time *product) {
  const double n = flops(&o->shape);
  if (!product->modelled) {
    const double ns = pack->wall_ns + product->wall_ns;
    printf(
        "%.3f ms to pack A, %.3f ms for the product, from submission to completion by the\n"
        "  host's clock: %.2f GFLOP/s; of a simulated device that says nothing\n",
        pack->wall_ns / NS_PER_MS, product->wall_ns / NS_PER_MS, n / ns);
    print_published();
    return;
  }
  const daedalus_v3d_range *a = &pack->timing.dispatch_ns, *b = &product->timing.dispatch_ns;
  const daedalus_v3d_range all = {a->low + b->low, a->mid + b->mid, a->high + b->high};
  printf("by the timing model, which is no measurement (interval):\n");
  print_range("pack A", pack->timing.ns);
  print_range("product", product->timing.ns);
  print_range("both, with the kernel's part", all);
  printf("%-30s %9.1f GFLOP/s  (%.1f to %.1f)\n", "", n / (double)all.mid, n / (double)all.high,
         n / (double)all.low);
  print_published();
  print_limits(&o->shape, &product->timing.times);
}

static int run(const device *device, const options *o) {
  problem p;
  device_time pack, product;
  uint32_t pack_cfg[7], product_cfg[7];
  if (!set_up(device, o, &p))
    return 3;
  const addresses at = {p.a.address, p.b.address, p.c.address, p.packed.address};
  if (!prepare_pack(device, o->folder, &o->shape, &at, pack_cfg) ||
      !prepare_product(device, o->folder, &o->shape, &at, product_cfg))
    return 2;
  if (!device->run(device->state, pack_cfg, &pack) ||
      !device->run(device->state, product_cfg, &product))
    return 1;
  printf("C = A B, %u x %u x %u, seed %lu, %s\n", o->shape.rows, o->shape.columns, o->shape.depth,
         o->seed, o->drm ? "on a DRM node" : "on the simulator, strictly");
  if (!check(o, &p))
    return 1;
  if (o->times)
    print_times(o, &pack, &product);
  return 0;
}

int main(int argc, char **argv) {
  options o = {.shape = {240, 256, 128}, .times = true, .seed = 1, .folder = SGEMM_PROGRAMS};
  device device;
  if (!parse(argc, argv, &o)) {
    fputs(usage, stderr);
    return 2;
  }
  if (!(o.drm ? open_drm(&device) : open_simulator(o.times, &device)))
    return 3;
  const int status = run(&device, &o);
  device.close(device.state);
  return status;
}
