/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A context on the stub driver, whose dispatches the CPU variants do, and work for the kernels of
 * fake_generated/, which have GPU variants here.
 */
#ifndef DAEDALUS_TESTS_VULKAN_FIXTURE_H
#define DAEDALUS_TESTS_VULKAN_FIXTURE_H

#include <daedalus.h>

#include "executor.h"
#include "recorder.h"
#include "stub.h"

/* Kernels of the table. */
enum { ADD, COPY };
/* Variants of ADD: on the CPU by class, on the GPU by alignment. */
enum { ADD_C_DC, ADD_C_FULL, ADD_GPU_WORD, ADD_GPU_BYTE, ADD_OTHER_ROUTE, ADD_N };
enum { COPY_C, COPY_GPU, COPY_N };

extern const daedalus_kernel_table fixture_table;
#define KERNEL(number) (&fixture_table.kernels[number])
#define VARIANT(kernel, number) (&fixture_table.kernels[kernel].variants[number])

typedef struct fixture {
  counting memory; /* of the context's allocator */
  logged log;      /* messages of level ERROR and WARNING */
  executor executor;
  daedalus_ctx *ctx;
} fixture;

/*
 * Opens a context as `config` says (NULL: all defaults), on the stub as it is set; stub_reset()
 * comes before.  No pipeline cache is kept unless the config names a folder.
 */
void fixture_open(fixture *f, const daedalus_config *config);
/*
 * Destroys the context.  @return 0, or what is wrong, printed: leaks of either side, misuses of
 * Vulkan, dispatches that table.h does not allow
 */
int fixture_close(fixture *f);

/* Gives a GPU variant of ADD other code, before a context is opened.  @return what it had */
const daedalus_gpu_code *fixture_exchange(int variant, const daedalus_gpu_code *code);

/* ------------------------------------------------------------------------------- work */

enum { WIDTH = 64, HEIGHT = 32, N_BLOCKS = WIDTH / 4 * (HEIGHT / 4), BLOCK = 16 };

/* Blocks of 4x4 that are added to a plane; memory around it is not to be touched. */
typedef struct add_work {
  uint8_t before[64];
  uint8_t plane[HEIGHT * WIDTH];
  uint8_t after[64];
  int16_t blocks[N_BLOCKS * BLOCK];
  daedalus_fake_add_meta meta[N_BLOCKS];
} add_work;

/* Fills all of it, by the seed; block i lies at cell i of the plane. */
void add_fill(add_work *w, uint32_t seed);
/* What the plane is to hold after items begin..end. */
void add_expect(const add_work *w, uint8_t *plane, size_t begin, size_t end);
/* Appends items begin..end. */
int add_append(daedalus_batch *batch, const add_work *w, daedalus_substrate substrate, size_t begin,
               size_t end);
/* The buffers of items from `begin` on. */
void add_buffers(const add_work *w, uint8_t *plane, size_t begin, daedalus_buffer *buffers);

/* Begins, appends all for the GPU, submits, waits.  @return the first error */
int add_run(daedalus_ctx *ctx, const add_work *w);

#endif
