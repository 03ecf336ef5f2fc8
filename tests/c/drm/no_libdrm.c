/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded: dlopen() as on a machine without libdrm and Vulkan's loader. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags) {
  static void *(*real)(const char *, int);
  if (real == NULL) {
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
  }
  if (name != NULL && (strstr(name, "libdrm") != NULL || strstr(name, "libvulkan") != NULL)) {
    name = "/nowhere/libnone.so";
  }
  return real(name, flags);
}
