/* SPDX-License-Identifier: BSD-2-Clause */
/* qpu.c - calls done by the GPU, one dispatch each. */
#include "qpu.h"

#include <inttypes.h>
#include <stdlib.h>

#include "stream.h"

static daedalus_ctx *ctx;
static daedalus_batch *batch;
static uint64_t dispatches;

static void log_message(void *user, daedalus_log_level level, const char *message) {
  (void)user;
  if (level == DAEDALUS_LOG_ERROR) {
    stream_fail(EXIT_GPU, "the runtime", message);
  }
}

static void finish(void) {
  daedalus_device_info info = {.size = sizeof(info)};
  if (daedalus_ctx_device(ctx, &info) == 0) {
    printf("device %s\n", info.name);
  }
  printf("dispatches %" PRIu64 "\n", dispatches);
  daedalus_ctx_destroy(ctx);
}

static void open_gpu(void) {
  const daedalus_config config = {.size = sizeof(config), .log = log_message};
  ctx = daedalus_ctx_create_with(&config);
  if (ctx == NULL || daedalus_batch_begin(ctx, &batch) != 0) {
    stream_fail(EXIT_GPU, "no context", "");
  }
  atexit(finish);
}

void stream_few_items(const char *kernel, size_t n_items) {
  if (n_items > STREAM_MOST_ITEMS) {
    stream_fail(EXIT_GPU, kernel, "a call has more items than STREAM_MOST_ITEMS");
  }
}

void stream_on_qpu(const char *kernel, const daedalus_buffer *buffers, size_t n_items,
                   const void *meta) {
  if (ctx == NULL) {
    open_gpu();
  }
  int error = daedalus_append(batch, daedalus_find_kernel(kernel), DAEDALUS_SUBSTRATE_QPU, buffers,
                              n_items, meta);
  daedalus_choice choice;
  if (error == 0 && (daedalus_batch_choice(batch, 0, &choice) != 0 ||
                     choice.substrate != DAEDALUS_SUBSTRATE_QPU)) {
    stream_fail(EXIT_GPU, kernel, "not done by the GPU");
  }
  if (error == 0) {
    error = daedalus_batch_submit(batch);
  }
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1);
  }
  if (error == 0) {
    error = daedalus_batch_reset(batch);
  }
  if (error != 0) {
    stream_fail(EXIT_GPU, kernel, daedalus_strerror(error));
  }
  dispatches++;
}
