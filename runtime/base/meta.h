/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the meta, whose struct the runtime knows by description only.  The
 * caller's array need not be aligned here: everything goes through memcpy.
 */
#ifndef DAEDALUS_BASE_META_H
#define DAEDALUS_BASE_META_H

#include <daedalus/table.h>

#include <string.h>

/** Bytes of one element or parameter of that type. */
static inline size_t daedalus_type_size(daedalus_type type) {
  switch (type) {
    case DAEDALUS_TYPE_U8:
    case DAEDALUS_TYPE_I8:
      return 1;
    case DAEDALUS_TYPE_U16:
    case DAEDALUS_TYPE_I16:
      return 2;
    case DAEDALUS_TYPE_U32:
    case DAEDALUS_TYPE_I32:
      break;
  }
  return 4;
}

/** The meta of item `index`. */
static inline const unsigned char *daedalus_meta_of(const daedalus_kernel_desc *kernel,
                                                    const void *meta, size_t index) {
  return (const unsigned char *)meta + index * kernel->meta_size;
}

/** A plane's byte offset. */
static inline uint32_t daedalus_meta_offset(const daedalus_buffer_desc *buffer,
                                            const unsigned char *item) {
  uint32_t offset;
  memcpy(&offset, item + buffer->meta_offset, sizeof(offset));
  return offset;
}

/** A parameter; 64 bits hold every type's values. */
static inline int64_t daedalus_meta_param(const daedalus_param_desc *param,
                                          const unsigned char *item) {
  const unsigned char *at = item + param->meta_offset;
  int8_t i8;
  uint16_t u16;
  int16_t i16;
  uint32_t u32;
  int32_t i32;
  switch (param->type) {
    case DAEDALUS_TYPE_U8:
      return *at;
    case DAEDALUS_TYPE_I8:
      memcpy(&i8, at, sizeof(i8));
      return i8;
    case DAEDALUS_TYPE_U16:
      memcpy(&u16, at, sizeof(u16));
      return u16;
    case DAEDALUS_TYPE_I16:
      memcpy(&i16, at, sizeof(i16));
      return i16;
    case DAEDALUS_TYPE_U32:
      memcpy(&u32, at, sizeof(u32));
      return u32;
    case DAEDALUS_TYPE_I32:
      break;
  }
  memcpy(&i32, at, sizeof(i32));
  return i32;
}

#endif /* DAEDALUS_BASE_META_H */
