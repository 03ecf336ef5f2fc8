/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vulkan/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

/* ISO C has no conversion from an object's pointer to a function's; POSIX wants this one to work.
 */
static PFN_vkGetInstanceProcAddr from_library(char *why, size_t why_size) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *error = dlerror();
    snprintf(why, why_size, "Vulkan's loader is not there (%s; Debian has it in libvulkan1)",
             error == NULL ? "libvulkan.so.1" : error);
    return NULL;
  }
  PFN_vkGetInstanceProcAddr get = NULL;
  *(void **)(&get) = dlsym(library, "vkGetInstanceProcAddr");
  if (get == NULL) {
    snprintf(why, why_size, "libvulkan.so.1 has no vkGetInstanceProcAddr");
  }
  return get;
}

#define MISSING(name)                                                    \
  do {                                                                   \
    snprintf(why, why_size, "this Vulkan has no function vk%s", (name)); \
    return -ENODEV;                                                      \
  } while (0)

static int load_global(daedalus_vk *vk, char *why, size_t why_size) {
#define LOAD(name)                                                                          \
  vk->fn.name = (PFN_vk##name)(void (*)(void))vk->fn.GetInstanceProcAddr(NULL, "vk" #name); \
  if (vk->fn.name == NULL) {                                                                \
    MISSING(#name);                                                                         \
  }
  DAEDALUS_VK_GLOBAL(LOAD)
#undef LOAD
  return 0;
}

static int load_instance(daedalus_vk *vk, char *why, size_t why_size) {
#define LOAD(name)                                                                        \
  vk->fn.name =                                                                           \
      (PFN_vk##name)(void (*)(void))vk->fn.GetInstanceProcAddr(vk->instance, "vk" #name); \
  if (vk->fn.name == NULL) {                                                              \
    MISSING(#name);                                                                       \
  }
  DAEDALUS_VK_INSTANCE(LOAD)
#undef LOAD
  return 0;
}

int daedalus_rt_vk_load_device(daedalus_vk *vk, VkDevice device, char *why, size_t why_size) {
#define LOAD(name) \
  vk->fn.name = (PFN_vk##name)(void (*)(void))vk->fn.GetDeviceProcAddr(device, "vk" #name);
#define LOAD_NEEDED(name)    \
  LOAD(name)                 \
  if (vk->fn.name == NULL) { \
    MISSING(#name);          \
  }
  DAEDALUS_VK_DEVICE(LOAD_NEEDED)
  DAEDALUS_VK_WORK(LOAD_NEEDED)
  DAEDALUS_VK_OPTIONAL(LOAD)
#undef LOAD
#undef LOAD_NEEDED
  return 0;
}

static int create_instance(daedalus_vk *vk, char *why, size_t why_size) {
  uint32_t version = VK_API_VERSION_1_0;
  vk->fn.EnumerateInstanceVersion(&version);
  if (version < VK_API_VERSION_1_1) {
    snprintf(why, why_size, "Vulkan's loader has version %u.%u, 1.1 is needed",
             (unsigned)VK_API_VERSION_MAJOR(version), (unsigned)VK_API_VERSION_MINOR(version));
    return -ENODEV;
  }
  vk->api_version = version < VK_API_VERSION_1_3 ? version : VK_API_VERSION_1_3;
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pEngineName = "daedalus",
      .engineVersion = VK_MAKE_API_VERSION(0, DAEDALUS_VERSION_MAJOR, DAEDALUS_VERSION_MINOR, 0),
      .apiVersion = vk->api_version,
  };
  const VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pApplicationInfo = &application,
  };
  const VkResult result = vk->fn.CreateInstance(&info, NULL, &vk->instance);
  if (result != VK_SUCCESS) {
    vk->instance = VK_NULL_HANDLE;
    snprintf(why, why_size, "vkCreateInstance failed: %s%s", daedalus_rt_vk_result(result),
             result == VK_ERROR_INCOMPATIBLE_DRIVER ? " (no Vulkan driver is installed)" : "");
    return -ENODEV;
  }
  return 0;
}

int daedalus_rt_vk_load(daedalus_vk *vk, const daedalus_ctx *ctx, char *why, size_t why_size) {
  *vk = (daedalus_vk){.ctx = ctx};
  vk->fn.GetInstanceProcAddr =
      ctx->get_instance_proc_addr != NULL
          ? (PFN_vkGetInstanceProcAddr)(void (*)(void))ctx->get_instance_proc_addr
          : from_library(why, why_size);
  if (vk->fn.GetInstanceProcAddr == NULL) {
    return -ENODEV;
  }
  int error = load_global(vk, why, why_size);
  if (error == 0) {
    error = create_instance(vk, why, why_size);
  }
  if (error == 0) {
    error = load_instance(vk, why, why_size);
    if (error != 0) {
      daedalus_rt_vk_unload(vk);
    }
  }
  return error;
}

void daedalus_rt_vk_unload(daedalus_vk *vk) {
  if (vk->instance != VK_NULL_HANDLE && vk->fn.DestroyInstance != NULL) {
    vk->fn.DestroyInstance(vk->instance, NULL);
  }
  vk->instance = VK_NULL_HANDLE;
}

const char *daedalus_rt_vk_result(VkResult result) {
#define RESULT(name) \
  case name:         \
    return #name;
  switch (result) {
    RESULT(VK_SUCCESS)
    RESULT(VK_NOT_READY)
    RESULT(VK_TIMEOUT)
    RESULT(VK_INCOMPLETE)
    RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
    RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    RESULT(VK_ERROR_INITIALIZATION_FAILED)
    RESULT(VK_ERROR_DEVICE_LOST)
    RESULT(VK_ERROR_MEMORY_MAP_FAILED)
    RESULT(VK_ERROR_LAYER_NOT_PRESENT)
    RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
    RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
    RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
    RESULT(VK_ERROR_TOO_MANY_OBJECTS)
    RESULT(VK_ERROR_FRAGMENTED_POOL)
    RESULT(VK_ERROR_UNKNOWN)
    RESULT(VK_ERROR_OUT_OF_POOL_MEMORY)
    RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    RESULT(VK_ERROR_FRAGMENTATION)
    default:
      return "an unknown VkResult";
  }
#undef RESULT
}
