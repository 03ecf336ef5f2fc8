/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

recorder_entry recorder[RECORDER_SIZE];
size_t recorder_n;

static void record(const char *variant, const void *meta, const uint32_t *items, size_t n_items) {
  const recorder_meta *metas = meta;
  for (size_t i = 0; i < n_items && recorder_n < RECORDER_SIZE; i++) {
    recorder[recorder_n++] = (recorder_entry){variant, metas[items[i]].tag};
  }
}

#define RECORDING(name)                                                                           \
  static void run_##name(const daedalus_buffer *buffers, const void *meta, const uint32_t *items, \
                         size_t n_items) {                                                        \
    (void)buffers;                                                                                \
    record(#name, meta, items, n_items);                                                          \
  }
RECORDING(one)
RECORDING(one_worse)
RECORDING(few)
RECORDING(full)

static const daedalus_buffer_desc buffers[] = {
    {.name = "dst",
     .type = DAEDALUS_TYPE_U8,
     .is_plane = true,
     .access = DAEDALUS_ACCESS_WRITE,
     .meta_offset = offsetof(recorder_meta, dst_off),
     .hi = 255,
     .writes = {0, 1, 0, 1}},
};
static const daedalus_param_desc params[] = {
    {.name = "value",
     .type = DAEDALUS_TYPE_I32,
     .meta_offset = offsetof(recorder_meta, value),
     .lo = -100,
     .hi = 100},
    {.name = "tag",
     .type = DAEDALUS_TYPE_U32,
     .meta_offset = offsetof(recorder_meta, tag),
     .lo = 0,
     .hi = INT32_MAX},
};
static const daedalus_condition one[] = {{.param = 0, .lo = 1, .hi = 1}};
static const daedalus_condition few[] = {{.param = 0, .lo = 0, .hi = 100},
                                         {.param = 0, .lo = -100, .hi = 10}};
static const daedalus_class_desc classes[] = {
    {.name = "one", .conditions = one, .n_conditions = 1},
    {.name = "few", .conditions = few, .n_conditions = 2},
    {.name = "full"},
};

const daedalus_variant recorder_variants[RECORDER_N] = {
    [RECORDER_BEST] = {.name = "best", .class_index = 0, .rank = 1, .reason = "elsewhere"},
    [RECORDER_ONE_WORSE] = {.name = "one_worse", .class_index = 0, .rank = 9, .cpu = run_one_worse},
    [RECORDER_ONE] =
        {.name = "one", .class_index = 0, .rank = 8, .reason = "the better one", .cpu = run_one},
    [RECORDER_FEW] = {.name = "few", .class_index = 1, .rank = 5, .reason = "f", .cpu = run_few},
    [RECORDER_FULL] =
        {.name = "full", .class_index = 2, .rank = 10, .reason = "f", .cpu = run_full},
    /* The best, for a processor that does not exist. */
    [RECORDER_NEEDY] =
        {.name = "needy", .needs = UINT32_C(1) << 31, .class_index = 2, .rank = 0, .cpu = run_one},
};

const daedalus_kernel_desc recorder_kernel = {
    .id = "recorder",
    .meta_size = sizeof(recorder_meta),
    .buffers = buffers,
    .n_buffers = 1,
    .params = params,
    .n_params = 2,
    .classes = classes,
    .n_classes = 3,
    .variants = recorder_variants,
    .n_variants = RECORDER_N,
};

static uint8_t memory[RECORDER_SIZE];
const daedalus_buffer recorder_buffer = {memory, 1};

void logged_fn(void *user, daedalus_log_level level, const char *message) {
  logged *l = user;
  l->n++;
  l->level = level;
  snprintf(l->message, sizeof(l->message), "%s", message);
}

static void *counting_resize(void *user, void *data, size_t size) {
  counting *state = user;
  if (state->n_allocations++ == state->fail_at) {
    return NULL;
  }
  /* Always moves, so that a pointer kept across an append is found by the sanitizer. */
  void *moved = malloc(size);
  if (moved == NULL) {
    return NULL;
  }
  void *grown = realloc(data, size);
  if (grown == NULL) {
    free(moved);
    return NULL;
  }
  memcpy(moved, grown, size);
  free(grown);
  state->n_live += data == NULL;
  return moved;
}

static void counting_release(void *user, void *data) {
  counting *state = user;
  state->n_live -= data != NULL;
  free(data);
}

daedalus_allocator counting_allocator(counting *state) {
  return (daedalus_allocator){counting_resize, counting_release, state};
}

const char *written_path(void) {
  static char path[64];
  snprintf(path, sizeof(path), "test-of-process-%ld.txt", (long)getpid());
  return path;
}

const char *written(const char *content, size_t size) {
  FILE *file = fopen(written_path(), "wb");
  if (file == NULL || fwrite(content, 1, size, file) != size || fclose(file) != 0) {
    perror(written_path());
    abort();
  }
  return written_path();
}
