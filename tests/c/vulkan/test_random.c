/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random batches, of both kernels, on both substrates, in the caller's memory and in that of the
 * device, several in flight, waited for in any order: the memory ends as if one item had been done
 * after the other on the CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixture.h"

enum {
  STRIDE = 48,
  ROWS = 40,
  PLANE = STRIDE * ROWS,
  PLANES = 3,
  BATCHES = 3,
  ROUNDS = 8,
  SEEDS = 200
};

static uint32_t state;
static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

/* Planes 0 and 1 are the caller's, one behind the other; 2 lies in memory of the device. */
static uint8_t own[2 * PLANE];
static uint8_t model[PLANES][PLANE];
static int16_t blocks[64 * BLOCK];
static daedalus_memory *memory;

static uint8_t *plane_of(size_t plane) {
  return plane < 2 ? own + plane * PLANE : daedalus_memory_data(memory);
}

/* Items of one append, their places all different: cells of 8x8 of a plane. */
typedef struct drawn {
  size_t n, kernel, dst, src;
  union {
    daedalus_fake_add_meta add[24];
    daedalus_fake_copy_meta copy[24];
  } meta;
} drawn;

static void draw_items(drawn *d) {
  *d = (drawn){.n = 1 + draw(24), .kernel = draw(2), .dst = draw(PLANES), .src = draw(PLANES)};
  if (draw(2) == 0) {
    d->dst = 2; /* where more can go wrong */
  }
  if (d->kernel == COPY && d->src == d->dst) {
    d->src = (d->dst + 1) % PLANES; /* items may not read what others write */
  }
  uint8_t cells[30]; /* 6 by 5 */
  for (uint8_t i = 0; i < sizeof(cells); i++) {
    cells[i] = i;
  }
  for (size_t i = 0; i < d->n; i++) {
    const size_t k = i + draw((uint32_t)(sizeof(cells) - i));
    const uint8_t cell = cells[k];
    cells[k] = cells[i];
    /* A cell is left at its place or, for blocks of 4x4, shifted within itself. */
    const uint32_t at = cell / 6 * 8 * STRIDE + cell % 6 * 8u;
    if (d->kernel == ADD) {
      d->meta.add[i] = (daedalus_fake_add_meta){.dst_off = at + draw(5) + draw(5) * STRIDE,
                                                .count = (uint8_t)(draw(4) == 0 ? 1 : draw(17)),
                                                .gain = (int8_t)((int)draw(5) - 2)};
    } else {
      const uint32_t rows = 1 + draw(8);
      d->meta.copy[i] = (daedalus_fake_copy_meta){
          .dst_off = at,
          .src_off = draw(ROWS - rows + 1) * STRIDE + draw(STRIDE - 8 + 1),
          .rows = (uint8_t)rows};
    }
  }
}

static void buffers_of(const drawn *d, uint8_t *dst, uint8_t *src, daedalus_buffer *buffers) {
  buffers[0] = (daedalus_buffer){dst, STRIDE};
  buffers[1] = d->kernel == ADD ? (daedalus_buffer){blocks, 0} : (daedalus_buffer){src, STRIDE};
}

static void append(daedalus_batch *batch) {
  drawn d;
  draw_items(&d);
  daedalus_buffer buffers[2];
  buffers_of(&d, plane_of(d.dst), plane_of(d.src), buffers);
  const daedalus_substrate substrate =
      draw(4) == 0 ? DAEDALUS_SUBSTRATE_CPU : DAEDALUS_SUBSTRATE_QPU;
  CHECK_INT(daedalus_append(batch, KERNEL(d.kernel), substrate, buffers, d.n, &d.meta), 0);
  buffers_of(&d, model[d.dst], model[d.src], buffers);
  const daedalus_variant *variant =
      d.kernel == ADD ? VARIANT(ADD, ADD_C_FULL) : VARIANT(COPY, COPY_C);
  uint32_t items[24];
  for (uint32_t i = 0; i < d.n; i++) {
    items[i] = i;
  }
  variant->cpu(buffers, &d.meta, items, d.n);
}

static bool may_be_undefined; /* of this story: -EIO is an answer, and the end */

/* @return whether the call went well */
static bool went_well(int error) {
  CHECK(error == 0 || (may_be_undefined && error == -EIO));
  return error == 0;
}

/* @return whether there is anything to compare */
static bool check_memory(uint32_t seed) {
  if (!went_well(daedalus_memory_invalidate(memory, 0, PLANE))) {
    return false;
  }
  for (size_t i = 0; i < PLANES; i++) {
    const bool equal = memcmp(plane_of(i), model[i], PLANE) == 0;
    if (!equal) {
      fprintf(stderr, "seed %u: plane %zu differs\n", seed, i);
    }
    CHECK(equal);
  }
  return true;
}

/* Some batches at a time, all submitted in the order of the model, then waited for in any. */
static void run(daedalus_batch **batches, uint32_t seed) {
  for (int round = 0; round < ROUNDS; round++) {
    const size_t n = 1 + draw(BATCHES);
    for (size_t i = 0; i < n; i++) {
      for (size_t k = draw(5); k-- > 0;) {
        append(batches[i]);
      }
      bool good = went_well(daedalus_batch_submit(batches[i]));
      if (good && draw(3) == 0) {
        const int polled = daedalus_batch_poll(batches[i]);
        good = went_well(polled < 0 ? polled : 0);
      }
      if (!good) {
        CHECK(daedalus_batch_undefined_count(batches[i]) != 0);
        return;
      }
    }
    for (size_t i = n; i-- > 0;) {
      const size_t k = (i + draw(2)) % n;
      if (!went_well(daedalus_batch_wait(batches[k], -1))) {
        CHECK(daedalus_batch_undefined_count(batches[k]) != 0);
        return;
      }
    }
    for (size_t i = 0; i < n; i++) {
      if (!went_well(daedalus_batch_wait(batches[i], -1))) {
        return;
      }
      CHECK_INT(daedalus_batch_undefined_count(batches[i]), 0);
      CHECK_INT(daedalus_batch_reset(batches[i]), 0);
    }
    if (!check_memory(seed)) {
      return;
    }
  }
}

static void fill(void *data, size_t size) {
  for (size_t i = 0; i < size; i++) {
    ((uint8_t *)data)[i] = (uint8_t)draw(256);
  }
}

/*
 * @param fail    VK_SUCCESS, or what one call in the course of it gives
 * @param shadow  whether every batch keeps what it needs to be done again, or one in two nothing
 */
static void story(uint32_t seed, bool card, VkResult fail, bool shadow) {
  state = seed;
  may_be_undefined = fail != VK_SUCCESS && (card || !shadow);
  stub_reset();
  if (card) {
    stub.devices[0].driver = VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    stub.devices[0].type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    stub.devices[0].memory[0] = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    stub.devices[0].memory[1] = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    stub.devices[0].memory[2] = 0;
  }
  stub.deferred = draw(4) != 0;
  fixture f;
  fixture_open(&f, NULL);
  CHECK_INT(daedalus_memory_create(f.ctx, PLANE, &memory), 0);
  fill(own, sizeof(own));
  fill(daedalus_memory_data(memory), PLANE);
  fill(blocks, sizeof(blocks));
  for (size_t i = 0; i < PLANES; i++) {
    memcpy(model[i], plane_of(i), PLANE);
  }
  CHECK_INT(daedalus_memory_flush(memory, 0, PLANE), 0);
  daedalus_batch *batches[BATCHES];
  for (size_t i = 0; i < BATCHES; i++) {
    CHECK_INT(daedalus_batch_begin(f.ctx, &batches[i]), 0);
    const uint32_t flags = shadow ? 0 : draw(2) * (uint32_t)DAEDALUS_BATCH_NO_SHADOW;
    CHECK_INT(daedalus_batch_set_flags(batches[i], flags), 0);
  }
  if (fail != VK_SUCCESS) {
    static const char *const calls[] = {"vkQueueSubmit",        "vkWaitForFences",
                                        "vkGetFenceStatus",     "vkResetFences",
                                        "vkBeginCommandBuffer", "vkAllocateMemory"};
    const char *call = calls[draw(fail == VK_ERROR_DEVICE_LOST ? 3 : 6)];
    stub_fail(call, draw(25), fail);
  }
  run(batches, seed);
  CHECK(fail != VK_SUCCESS || (f.log.n == 0 && f.executor.items > 100));
  CHECK(fail == VK_SUCCESS || f.log.n <= (may_be_undefined ? 2 + BATCHES : 2));
  for (size_t i = 0; i < BATCHES; i++) {
    daedalus_batch_destroy(batches[i]);
  }
  daedalus_memory_destroy(memory);
  const int closed = fixture_close(&f);
  if (closed != 0) {
    fprintf(stderr, "seed %u: %d complaints\n", seed, closed);
  }
  CHECK_INT(closed, 0);
}

static void test_shared_memory(void) {
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    story(seed, false, VK_SUCCESS, true);
  }
}

static void test_a_card(void) {
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    story(seed, true, VK_SUCCESS, true);
  }
}

/* The device's memory is shared with the CPU, so that nothing is undefined. */
static void test_lost(void) {
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    story(seed, false, VK_ERROR_DEVICE_LOST, true);
  }
}

static void test_out_of_memory(void) {
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    story(seed, false, VK_ERROR_OUT_OF_DEVICE_MEMORY, true);
  }
}

/* Either the answer is -EIO or the memory is right: never neither. */
static void test_what_is_not_undefined_is_right(void) {
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    story(seed, true, VK_ERROR_DEVICE_LOST, true);
    story(seed, true, VK_ERROR_OUT_OF_DEVICE_MEMORY, true);
    story(seed, false, VK_ERROR_DEVICE_LOST, false);
    story(seed, false, VK_ERROR_OUT_OF_DEVICE_MEMORY, false);
  }
}

int main(void) {
  RUN(test_shared_memory);
  RUN(test_a_card);
  RUN(test_lost);
  RUN(test_out_of_memory);
  RUN(test_what_is_not_undefined_is_right);
  return CHECK_RESULT();
}
