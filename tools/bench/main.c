/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench - what the Vulkan route takes on a device, as one JSON object on standard output.
 *
 *   bench --data FILE [--kernels TEXT] [--rounds N] [--items N] [--bytes N] [--workgroups]
 *         [--class NAME] [--variant NAME] [--workgroup N] [--once]
 *         [--skip throughput,latency,frame]
 *   bench --data FILE [--kernels TEXT] [--items N] --lay-out DIR
 *
 *   --data        items with their results, as `./daedalus bench --write-data FILE` writes them
 *   --kernels     only kernels whose ids contain it
 *   --rounds      samples of each measurement, 7
 *   --items       of a throughput batch, 32640: the 8x8 blocks of a frame of 1920x1088
 *   --bytes       besides, batches of at least so many unique bytes, beside a copy of as many
 *   --workgroups  all sizes of workgroups that a variant can have, not its own alone
 *   --class       throughput: items of this class alone, for its variants and those of all items
 *   --variant     throughput: this variant alone, by its whole name
 *   --workgroup   throughput: this size alone
 *   --once        throughput: one run of each, without warming up: where time is modelled
 *   --skip        parts to leave out
 *   --lay-out     only write into DIR what throughput has in memory: see layout.h; needs no device
 *
 * The device is that of daedalus/gpu.h: DAEDALUS_VULKAN_DEVICE chooses.  Needs the Vulkan loader
 * and nothing else.  No time counts of a run whose output was not right to the last byte.
 *
 * Exit status: 0; 1 some run was refused; 2 bad arguments or data; 3 no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/context.h"
#include "counting.h"
#include "latency.h"
#include "layout.h"
#include "raw.h"
#include "throughput.h"

enum { SINGLE_ITEMS = 64 };

unsigned logged_errors;
unsigned long allocations;
static tune_runner runner;

typedef struct options {
  const char *data, *kernels, *skip, *class_name, *variant, *layout;
  uint64_t rounds, items, bytes, workgroup;
  bool workgroups, once;
} options;

/* ------------------------------------------------------------------------------ context */

static void log_message(void *user, daedalus_log_level level, const char *message) {
  fprintf(stderr, "bench: %s\n", message);
  runner_log(user, level, message);
  logged_errors = runner.errors;
}

static void *resize(void *user, void *memory, size_t size) {
  (void)user;
  allocations++;
  return realloc(memory, size);
}

static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

static daedalus_ctx *open_context(daedalus_device_info *info) {
  const daedalus_allocator counted = {resize, release, NULL};
  const daedalus_config config = {.size = sizeof(config),
                                  .log = log_message,
                                  .log_user = &runner,
                                  .get_instance_proc_addr = counting_loader()};
  daedalus_ctx *ctx = daedalus_rt_ctx_create(&config, &daedalus_kernels, &counted);
  if (ctx == NULL || daedalus_ctx_device(ctx, info) != 0) {
    fprintf(stderr, "bench: no Vulkan device\n");
    exit(3);
  }
  return ctx;
}

/* ---------------------------------------------------------------------------- arguments */

static const char *const usage =
    "usage: bench --data FILE [--kernels TEXT] [--rounds N] [--items N] [--bytes N] "
    "[--workgroups] [--class NAME] [--variant NAME] [--workgroup N] [--once] "
    "[--skip throughput,latency,frame] [--lay-out DIR]";

static uint64_t number(const char *text) {
  char *end;
  const unsigned long long n = strtoull(text, &end, 10);
  if (*text == '\0' || *text == '-' || *end != '\0' || n == 0) {
    die("not a positive number", text);
  }
  return n;
}

static options parse(int argc, char **argv) {
  static options o = {.rounds = 7, .items = 32640, .skip = ""};
  const struct {
    const char *name;
    const char **text; /* one of these is set */
    uint64_t *number;
    bool *flag;
  } all[] = {{"--data", .text = &o.data},
             {"--kernels", .text = &o.kernels},
             {"--skip", .text = &o.skip},
             {"--class", .text = &o.class_name},
             {"--variant", .text = &o.variant},
             {"--lay-out", .text = &o.layout},
             {"--rounds", .number = &o.rounds},
             {"--items", .number = &o.items},
             {"--bytes", .number = &o.bytes},
             {"--workgroup", .number = &o.workgroup},
             {"--workgroups", .flag = &o.workgroups},
             {"--once", .flag = &o.once}};
  const size_t n = sizeof(all) / sizeof(all[0]);
  for (int i = 1; i < argc; i++) {
    size_t k = 0;
    while (k < n && strcmp(argv[i], all[k].name) != 0) {
      k++;
    }
    if (k == n || (all[k].flag == NULL && ++i == argc)) {
      die(usage, k == n ? argv[i] : "");
    }
    if (all[k].flag != NULL) {
      *all[k].flag = true;
    } else if (all[k].text != NULL) {
      *all[k].text = argv[i];
    } else {
      *all[k].number = number(argv[i]);
    }
  }
  if (o.data == NULL) {
    die(usage, "");
  }
  if (o.items < SINGLE_ITEMS) {
    die("a batch has at least 64 items", "--items");
  }
  return o;
}

/* -------------------------------------------------------------------------------- parts */

static bool chosen(const options *o, const sample_items *s) {
  bool any = false;
  for (size_t v = 0; v < s->kernel->n_variants; v++) {
    any = any || s->kernel->variants[v].gpu != NULL;
  }
  return any && (o->kernels == NULL || strstr(s->kernel->id, o->kernels) != NULL);
}

static void print_device(const daedalus_device_info *info) {
  static const char *const kinds[] = {"v3d", "gpu", "cpu"};
  printf("{\"device\": {\"name\": ");
  json_string(info->name);
  printf(", \"driver\": ");
  json_string(info->driver);
  printf(", \"driver_version\": ");
  json_string(info->driver_version);
  printf(", \"kind\": \"%s\", \"subgroup\": %u, \"api\": \"%u.%u.%u\", \"memory\": ",
         kinds[info->kind], (unsigned)info->subgroup_size, (unsigned)(info->api_version >> 22),
         (unsigned)(info->api_version >> 12 & 0x3ff), (unsigned)(info->api_version & 0xfff));
  json_string(info->memory != NULL ? info->memory : "");
  printf("},\n\"generator\": \"%s\"", daedalus_kernels.generator);
}

static void print_throughput(const daedalus_device_info *info, const sample_file *file,
                             const options *o, const throughput_request *request) {
  bool first = true;
  printf("[");
  for (size_t k = 0; k < file->n_kernels; k++) {
    if (chosen(o, &file->kernels[k])) {
      throughput(&runner, info, &file->kernels[k], request, &first);
    }
  }
  printf("]");
}

/* M5a, M5b and the copy; the latter's time a byte, read and written ones counted, or 0. */
static double print_raw(const daedalus_device_info *info, const options *o) {
  struct samples empty = {0}, noop = {0}, gpu = {0}, wall = {0};
  raw_device *raw = raw_open(runner.ctx, info);
  double ns_per_byte = 0;
  if (raw == NULL) {
    printf(",\n\"m5a\": null, \"m5b\": null, \"copy\": null");
    fprintf(stderr, "bench: the device cannot be used by Vulkan alone\n");
    return 0;
  }
  for (uint64_t i = 0; i < 20 * o->rounds; i++) {
    if (!raw_empty_submit(raw, &empty)) {
      samples_refuse(&empty);
    }
    if (!raw_noop_dispatch(raw, &noop)) {
      samples_refuse(&noop);
    }
  }
  printf(",\n\"m5a\": {");
  samples_print(&empty);
  printf("},\n\"m5b\": {");
  samples_print(&noop);
  printf("}");
  const uint64_t bytes = (o->bytes + 3) / 4 * 4;
  const bool copied = bytes != 0 && raw_copy(raw, bytes, (int)o->rounds, &gpu, &wall);
  if (copied && gpu.n != 0) {
    ns_per_byte = samples_quantile(&gpu, 0.5) / (2 * (double)bytes);
    printf(",\n\"copy\": {\"bytes_copied\": %llu, \"GB_per_s\": %.3f, ", (unsigned long long)bytes,
           1 / ns_per_byte);
    samples_print(&gpu);
    printf("}");
  } else {
    printf(",\n\"copy\": null");
    if (bytes != 0 && !copied) { /* asked for, and not there: a failure as a run that is refused */
      fprintf(stderr, "bench: the device could not copy %llu bytes\n", (unsigned long long)bytes);
      samples_refused++;
    }
  }
  raw_close(raw);
  samples_free(&empty);
  samples_free(&noop);
  samples_free(&gpu);
  samples_free(&wall);
  return ns_per_byte;
}

static void print_latency(daedalus_ctx *ctx, const sample_file *file, const options *o,
                          const char *name,
                          void (*part)(daedalus_ctx *, const sample_items *, int)) {
  bool first = true;
  printf(",\n\"%s\": [", name);
  for (size_t k = 0; k < file->n_kernels; k++) {
    if (chosen(o, &file->kernels[k])) {
      json_next(&first);
      printf("{");
      part(ctx, &file->kernels[k], (int)o->rounds);
      printf("}");
    }
  }
  printf("]");
}

int main(int argc, char **argv) {
  program_name = "bench";
  const options o = parse(argc, argv);
  sample_file file = read_samples(o.data, &daedalus_kernels);
  if (o.layout != NULL) {
    for (size_t k = 0; k < file.n_kernels; k++) {
      if (chosen(&o, &file.kernels[k])) {
        layout_write(&file.kernels[k], o.items, o.layout);
      }
    }
    free_samples(&file);
    return 0;
  }
  daedalus_device_info info = {.size = sizeof(info)};
  daedalus_ctx *ctx = runner.ctx = open_context(&info);
  print_device(&info);
  const double copy_ns_per_byte = print_raw(&info, &o);
  throughput_request request = {.items = o.items,
                                .rounds = (int)o.rounds,
                                .workgroups = o.workgroups,
                                .once = o.once,
                                .class_name = o.class_name,
                                .variant = o.variant,
                                .workgroup = (uint32_t)o.workgroup};
  if (strstr(o.skip, "throughput") == NULL) {
    printf(",\n\"throughput\": ");
    print_throughput(&info, &file, &o, &request);
  }
  if (o.bytes != 0) {
    request.bytes = o.bytes;
    request.workgroups = false;
    request.copy_ns_per_byte = copy_ns_per_byte;
    printf(",\n\"bandwidth\": ");
    print_throughput(&info, &file, &o, &request);
  }
  if (strstr(o.skip, "latency") == NULL) {
    print_latency(ctx, &file, &o, "pool", latency_pool);
    print_latency(ctx, &file, &o, "submit", latency_submit);
  }
  if (strstr(o.skip, "frame") == NULL) {
    printf(",\n\"frame\": {");
    latency_frame(ctx, &file, o.kernels, o.items, SINGLE_ITEMS, (int)o.rounds);
    printf("}");
  }
  printf(",\n\"refused\": %u, \"errors\": %u}\n", samples_refused, logged_errors);
  const bool good = samples_refused == 0 && logged_errors == 0;
  daedalus_ctx_destroy(ctx);
  free_samples(&file);
  return good ? 0 : 1;
}
