/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/drm/libdrm.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

/*
 * Looked for among all that the process has, not in the library alone: a library that was preloaded
 * may have its own view of some of them, as the one of the simulated device has.
 */
int daedalus_rt_drm_load(daedalus_drm_functions *fn, char *why, size_t why_size) {
  if (dlopen("libdrm.so.2", RTLD_NOW | RTLD_GLOBAL) == NULL) {
    const char *error = dlerror();
    snprintf(why, why_size, "libdrm is not there (%s); Debian has it in libdrm2",
             error == NULL ? "libdrm.so.2" : error);
    return -ENODEV;
  }
  void *all = dlopen(NULL, RTLD_NOW);
  if (all == NULL) {
    snprintf(why, why_size, "the process cannot look at its own symbols");
    return -ENODEV;
  }
#define LOAD(result, name, parameters)                       \
  *(void **)(&fn->name) = dlsym(all, #name);                 \
  if (fn->name == NULL) {                                    \
    snprintf(why, why_size, "libdrm.so.2 has no %s", #name); \
    return -ENODEV;                                          \
  }
  DAEDALUS_DRM_FUNCTIONS(LOAD)
#undef LOAD
  return 0;
}
