/* SPDX-License-Identifier: BSD-2-Clause */
/* The opens of libc, in all the forms that headers make of them. */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#include "preload.h"

/* Not <fcntl.h>, which may declare these under other names. */
enum { FLAG_CREATE = 0100, FLAG_TMPFILE = 020000000, HERE = -100 };

typedef int open_fn(const char *, int, ...);
typedef int openat_fn(int, const char *, int, ...);

static void *next(void **slot, const char *name) {
  void *function = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (function == NULL) {
    function = dlsym(RTLD_NEXT, name);
    __atomic_store_n(slot, function, __ATOMIC_RELAXED);
  }
  return function;
}

static int pass_openat(void **slot, const char *name, int folder, const char *path, int flags,
                       unsigned mode) {
  openat_fn *function;
  *(void **)&function = next(slot, name);
  if (function == NULL) {
    errno = ENOSYS;
    return -1;
  }
  return function(folder, path, flags, mode);
}

#define MODE_OF(flags)                          \
  unsigned mode = 0;                            \
  if ((flags) & (FLAG_CREATE | FLAG_TMPFILE)) { \
    va_list values;                             \
    va_start(values, flags);                    \
    mode = va_arg(values, unsigned);            \
    va_end(values);                             \
  }

/* A relative path is never one of the device's. */
#define DEFINE_OPEN(name)                                           \
  PRELOAD_INTERPOSED int name(const char *path, int flags, ...);    \
  int name(const char *path, int flags, ...) {                      \
    static void *real;                                              \
    MODE_OF(flags)                                                  \
    const enum preload_path is = preload_path_of(path);             \
    if (is != PRELOAD_OTHER)                                        \
      return preload_open(is, flags);                               \
    open_fn *function;                                              \
    *(void **)&function = next(&real, #name);                       \
    if (function == NULL)                                           \
      return pass_openat(&real, "openat", HERE, path, flags, mode); \
    return function(path, flags, mode);                             \
  }

#define DEFINE_OPENAT(name)                                                  \
  PRELOAD_INTERPOSED int name(int folder, const char *path, int flags, ...); \
  int name(int folder, const char *path, int flags, ...) {                   \
    static void *real;                                                       \
    MODE_OF(flags)                                                           \
    const enum preload_path is = preload_path_of(path);                      \
    if (is != PRELOAD_OTHER)                                                 \
      return preload_open(is, flags);                                        \
    return pass_openat(&real, #name, folder, path, flags, mode);             \
  }

/* What <fcntl.h> calls where it can tell that no mode is needed. */
#define DEFINE_OPEN_2(name, plain)                          \
  PRELOAD_INTERPOSED int name(const char *path, int flags); \
  int name(const char *path, int flags) {                   \
    return plain(path, flags);                              \
  }

#define DEFINE_OPENAT_2(name, plain)                                    \
  PRELOAD_INTERPOSED int name(int folder, const char *path, int flags); \
  int name(int folder, const char *path, int flags) {                   \
    return plain(folder, path, flags);                                  \
  }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)
DEFINE_OPEN_2(__open_2, open)
DEFINE_OPEN_2(__open64_2, open64)
DEFINE_OPENAT_2(__openat_2, openat)
DEFINE_OPENAT_2(__openat64_2, openat64)
