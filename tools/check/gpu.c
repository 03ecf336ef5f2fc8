/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AROUND = 65536, PATTERN = 0x5c, NO_DEVICE = 4 };

static daedalus_ctx *ctx;
static unsigned errors;
static daedalus_memory *memory[MAX_BUFFERS]; /* of images in place, made for the first such run */

static void log_message(void *user, daedalus_log_level level, const char *message) {
  (void)user;
  if (level != DAEDALUS_LOG_INFO) {
    fprintf(stderr, "check: %s\n", message);
  }
  errors += level == DAEDALUS_LOG_ERROR;
}

static void open_device(void) {
  const daedalus_config config = {.size = sizeof(config), .log = log_message};
  daedalus_device_info info = {.size = sizeof(info)};
  ctx = daedalus_ctx_create_with(&config);
  if (ctx == NULL) {
    die("no context", "");
  }
  if (daedalus_ctx_device(ctx, &info) != 0) {
    fprintf(stderr, "check: no GPU\n");
    exit(NO_DEVICE);
  }
}

void gpu_list(void) {
  static const char *const kinds[] = {"v3d", "gpu", "cpu"};
  const daedalus_config config = {.size = sizeof(config), .log = log_message};
  ctx = daedalus_ctx_create_with(&config);
  for (size_t i = 0; ctx != NULL && i < daedalus_device_count(ctx); i++) {
    daedalus_device_info info = {.size = sizeof(info)};
    if (daedalus_device_at(ctx, i, &info) == 0) {
      printf("%zu\t%s\t%u\t%s\t%s %s\n", i, kinds[info.kind], (unsigned)info.subgroup_size,
             info.name, info.driver, info.driver_version);
    }
  }
  daedalus_ctx_destroy(ctx);
}

/* ------------------------------------------------------------------- images in place */

/* Where an image begins, such that it ends as far into a page as the guarded copy does. */
static size_t offset_in(const image *i) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return AROUND + (size_t)(uintptr_t)i->bytes % page;
}

static size_t bytes_with(const image *i) {
  return offset_in(i) + i->size + AROUND;
}

static uint8_t *put(size_t b, const image *i) {
  if (memory[b] == NULL && daedalus_memory_create(ctx, bytes_with(i), &memory[b]) != 0) {
    die("no memory of the device", "");
  }
  uint8_t *data = daedalus_memory_data(memory[b]);
  memset(data, PATTERN, bytes_with(i));
  memcpy(data + offset_in(i), i->bytes, i->size);
  if (daedalus_memory_flush(memory[b], 0, bytes_with(i)) != 0) {
    errors++;
  }
  return data + offset_in(i);
}

/* @return whether the pattern around it is whole */
static bool get(size_t b, const image *i) {
  const uint8_t *data = daedalus_memory_data(memory[b]);
  if (daedalus_memory_invalidate(memory[b], 0, bytes_with(i)) != 0) {
    errors++;
  }
  memcpy(i->bytes, data + offset_in(i), i->size);
  for (size_t at = 0; at < bytes_with(i); at++) {
    if ((at < offset_in(i) || at >= offset_in(i) + i->size) && data[at] != PATTERN) {
      fprintf(stderr, "check: byte %zd from the start of buffer %zu's image (%zu bytes) changed\n",
              (ptrdiff_t)at - (ptrdiff_t)offset_in(i), b, i->size);
      return false;
    }
  }
  return true;
}

/* ----------------------------------------------------------------------- block buffers */

static size_t type_size(daedalus_type type) {
  return type <= DAEDALUS_TYPE_I8 ? 1 : type <= DAEDALUS_TYPE_I16 ? 2 : 4;
}

/* Bytes of an item in a block buffer; 0 for a plane. */
static size_t item_bytes(const daedalus_buffer_desc *desc) {
  return desc->is_plane ? 0 : desc->item_stride * type_size(desc->type);
}

/* The chosen items' blocks, one after the other, as an append has them; `back`: to the image. */
static void gather(const daedalus_buffer_desc *desc, image *whole, image *chosen,
                   const uint32_t *items, size_t n, bool back) {
  const size_t size = item_bytes(desc);
  for (size_t k = 0; k < n; k++) {
    uint8_t *in_image = whole->bytes + whole->origin + items[k] * size;
    if (back) {
      memcpy(in_image, chosen->bytes + k * size, size);
    } else {
      memcpy(chosen->bytes + k * size, in_image, size);
    }
  }
}

/* --------------------------------------------------------------------------------- runs */

/* Items begin..begin+n of what was gathered; buffers as for item 0. */
static int append(daedalus_batch *batch, const daedalus_kernel_desc *kernel,
                  const daedalus_variant *variant, uint32_t workgroup,
                  const daedalus_buffer *buffers, const uint8_t *meta, size_t begin, size_t n) {
  daedalus_buffer shifted[MAX_BUFFERS];
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    shifted[b] = buffers[b];
    shifted[b].data = (uint8_t *)buffers[b].data + begin * item_bytes(&kernel->buffers[b]);
  }
  meta += begin * kernel->meta_size;
  return variant == NULL
             ? daedalus_append(batch, kernel, DAEDALUS_SUBSTRATE_QPU, shifted, n, meta)
             : daedalus_append_variant(batch, kernel, variant, workgroup, shifted, n, meta);
}

/* Whether everything was to be done by that variant, on the GPU. */
static bool as_asked(const daedalus_batch *batch, const daedalus_variant *variant) {
  for (size_t i = 0; i < daedalus_batch_choice_count(batch); i++) {
    daedalus_choice choice;
    if (daedalus_batch_choice(batch, i, &choice) != 0 ||
        choice.substrate != DAEDALUS_SUBSTRATE_QPU ||
        (variant != NULL && strcmp(choice.variant, variant->name) != 0)) {
      return false;
    }
  }
  return true;
}

static uint64_t run_batch(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                          gpu_way way, const daedalus_buffer *buffers, const uint8_t *meta,
                          size_t n) {
  daedalus_batch *batch = NULL;
  int error = daedalus_batch_begin(ctx, &batch);
  size_t done = 0;
  for (size_t size = 0; error == 0 && done < n; size++) {
    size_t now = way.one_append ? n : size == 0 ? n - n / 2 : size;
    now = now < n - done ? now : n - done;
    error = append(batch, kernel, variant, way.workgroup, buffers, meta, done, now);
    done += now;
  }
  if (error != 0) {
    fprintf(stderr, "check: append: %s\n", daedalus_strerror(error));
    daedalus_batch_destroy(batch);
    return REFUSED;
  }
  error = daedalus_batch_submit(batch);
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1);
  }
  if (error != 0) {
    fprintf(stderr, "check: batch: %s\n", daedalus_strerror(error));
  }
  const bool asked = as_asked(batch, variant);
  if (!asked) {
    fprintf(stderr, "check: another variant was taken\n");
  }
  daedalus_batch_destroy(batch);
  return error == 0 && asked ? DONE : GPU_FAILED;
}

uint64_t gpu_run(const daedalus_kernel_desc *kernel, const daedalus_variant *variant, gpu_way way,
                 image *images, const void *meta, const uint32_t *items, size_t n) {
  if (ctx == NULL) {
    open_device();
  }
  errors = 0;
  uint8_t *own_meta = allocate(n * kernel->meta_size);
  for (size_t k = 0; k < n; k++) {
    memcpy(own_meta + k * kernel->meta_size,
           (const uint8_t *)meta + items[k] * (size_t)kernel->meta_size, kernel->meta_size);
  }
  image used[MAX_BUFFERS];
  daedalus_buffer buffers[MAX_BUFFERS];
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    used[b] = images[b];
    const size_t size = item_bytes(&kernel->buffers[b]);
    if (size != 0) {
      used[b] = (image){.bytes = allocate(n * size), .size = n * size};
      gather(&kernel->buffers[b], &images[b], &used[b], items, n, false);
    }
    uint8_t *data = way.in_place ? put(b, &used[b]) : used[b].bytes;
    buffers[b] = (daedalus_buffer){data + used[b].origin, used[b].stride};
  }
  uint64_t outcome = run_batch(kernel, variant, way, buffers, own_meta, n);
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    if (way.in_place && !get(b, &used[b])) {
      outcome = GPU_FAILED;
    }
    if (item_bytes(&kernel->buffers[b]) != 0) {
      gather(&kernel->buffers[b], &images[b], &used[b], items, n, true);
      free(used[b].bytes);
    }
    /* Another run may have more items, or need another place in the page. */
    daedalus_memory_destroy(memory[b]);
    memory[b] = NULL;
  }
  free(own_meta);
  const bool failing = getenv("DAEDALUS_CHECK_FAULTS") != NULL;
  if (failing && errors == 0) {
    fprintf(stderr, "check: the GPU did not fail, as it was to\n");
  }
  return outcome == DONE && (errors != 0) != failing ? GPU_FAILED : outcome;
}

void gpu_close(void) {
  daedalus_ctx_destroy(ctx);
  ctx = NULL;
}
