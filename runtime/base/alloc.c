/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static void *libc_resize(void *user, void *memory, size_t size) {
  (void)user;
  return realloc(memory, size);
}

static void libc_release(void *user, void *memory) {
  (void)user;
  free(memory);
}

const daedalus_allocator daedalus_rt_libc_allocator = {libc_resize, libc_release, NULL};

int daedalus_rt_vec_reserve(const daedalus_allocator *allocator, daedalus_vec *vec, size_t extra,
                            size_t element_size) {
  if (extra <= vec->capacity - vec->size) {
    return 0;
  }
  const size_t most = SIZE_MAX / element_size;
  if (vec->size > most || extra > most - vec->size) {
    return -ENOMEM;
  }
  /* Doubling keeps the number of reallocations logarithmic in what is appended. */
  size_t capacity = vec->size + extra;
  if (vec->capacity <= most / 2 && capacity < 2 * vec->capacity) {
    capacity = 2 * vec->capacity;
  }
  void *data = allocator->resize(allocator->user, vec->data, capacity * element_size);
  if (data == NULL) {
    return -ENOMEM;
  }
  vec->data = data;
  vec->capacity = capacity;
  return 0;
}

void daedalus_rt_vec_free(const daedalus_allocator *allocator, daedalus_vec *vec) {
  allocator->release(allocator->user, vec->data);
  *vec = (daedalus_vec){NULL, 0, 0};
}
