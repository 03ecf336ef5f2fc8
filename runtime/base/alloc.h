/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the runtime.  Every allocation goes through the allocator of its
 * context, so that tests can count and fail them without any global state.
 */
#ifndef DAEDALUS_BASE_ALLOC_H
#define DAEDALUS_BASE_ALLOC_H

#include <stddef.h>

typedef struct daedalus_allocator {
  /** As realloc(); `size` is never 0. */
  void *(*resize)(void *user, void *memory, size_t size);
  /** As free(); `memory` may be NULL. */
  void (*release)(void *user, void *memory);
  void *user;
} daedalus_allocator;

/** realloc() and free() of the C library. */
extern const daedalus_allocator daedalus_rt_libc_allocator;

/** A growing array; `size` and `capacity` count elements. */
typedef struct daedalus_vec {
  void *data;
  size_t size;
  size_t capacity;
} daedalus_vec;

/**
 * Makes room for `extra` elements beyond `size`, which stays as it is, so that
 * a caller can reserve everything first and then go on without failing.
 * @return 0 or -ENOMEM
 */
int daedalus_rt_vec_reserve(const daedalus_allocator *allocator, daedalus_vec *vec, size_t extra,
                            size_t element_size);

void daedalus_rt_vec_free(const daedalus_allocator *allocator, daedalus_vec *vec);

#endif /* DAEDALUS_BASE_ALLOC_H */
