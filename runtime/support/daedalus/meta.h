/* SPDX-License-Identifier: BSD-2-Clause */
/* The runtime reads an item's parameters where the kernel table says that they are. */
#ifndef DAEDALUS_META_H
#define DAEDALUS_META_H

#include <assert.h>
#include <stddef.h>

/* Of a kernel's meta: a field begins so many bytes behind its beginning; it has so many bytes. */
#define META_AT(kernel, field, offset) \
  static_assert(offsetof(daedalus_##kernel##_meta, field) == (offset), #kernel ": " #field)
#define META_SIZE(kernel, size) \
  static_assert(sizeof(daedalus_##kernel##_meta) == (size), #kernel ": size")

#endif /* DAEDALUS_META_H */
