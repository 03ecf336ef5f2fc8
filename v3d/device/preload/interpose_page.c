/* SPDX-License-Identifier: BSD-2-Clause */
/* The size of pages, where the device was told that the system has others than it has. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload.h"

long preload_page(void) {
  static long page; /* 0: not looked for yet, -1: the system's own */
  long found = __atomic_load_n(&page, __ATOMIC_RELAXED);
  if (found == 0) {
    const char *text = getenv("DAEDALUS_V3D_PAGE_SIZE");
    const long asked = text == NULL ? 0 : atol(text);
    found = asked > 0 ? asked : -1;
    __atomic_store_n(&page, found, __ATOMIC_RELAXED);
  }
  return found;
}

static long real_sysconf(int name) {
  static void *real;
  long (*function)(int);
  void *next = __atomic_load_n(&real, __ATOMIC_RELAXED);
  if (next == NULL) {
    next = dlsym(RTLD_NEXT, "sysconf");
    __atomic_store_n(&real, next, __ATOMIC_RELAXED);
  }
  *(void **)&function = next;
  if (function == NULL) {
    errno = ENOSYS;
    return -1;
  }
  return function(name);
}

PRELOAD_INTERPOSED long sysconf(int name);
PRELOAD_INTERPOSED int getpagesize(void);

long sysconf(int name) {
  const long page = name == _SC_PAGESIZE ? preload_page() : -1;
  return page > 0 ? page : real_sysconf(name);
}

int getpagesize(void) {
  return (int)sysconf(_SC_PAGESIZE);
}
