/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and opens the device. The Vulkan loader is opened by name; nothing is linked with it. */
#define _GNU_SOURCE
#include "vkrun.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEVICES = 16, MAX_FAMILIES = 16, MAX_EXTENSIONS = 512 };

const char *gpu_result_name(VkResult result) {
  switch (result) {
#define NAME(r) \
  case r:       \
    return #r;
    NAME(VK_SUCCESS)
    NAME(VK_NOT_READY)
    NAME(VK_TIMEOUT)
    NAME(VK_INCOMPLETE)
    NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    NAME(VK_ERROR_INITIALIZATION_FAILED)
    NAME(VK_ERROR_DEVICE_LOST)
    NAME(VK_ERROR_MEMORY_MAP_FAILED)
    NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    NAME(VK_ERROR_TOO_MANY_OBJECTS)
    NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
    NAME(VK_ERROR_UNKNOWN)
#undef NAME
    default:
      break;
  }
  static char number[32];
  snprintf(number, sizeof number, "VkResult %d", (int)result);
  return number;
}

static bool contains(const char *text, const char *part) {
  size_t n = strlen(part);
  for (; strlen(text) >= n; ++text) {
    size_t i = 0;
    while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) {
      ++i;
    }
    if (i == n) {
      return true;
    }
  }
  return false;
}

static int absent(const char *what, const char *why) {
  fprintf(stderr, "vkrun: %s: %s\n", what, why);
  return EXIT_ABSENT;
}

/* Loads the loader and makes the instance, then fills in all functions but those of the device. */
static int open_instance(gpu *g) {
  void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (loader == NULL) {
    return absent("the Vulkan loader cannot be opened", dlerror());
  }
  PFN_vkGetInstanceProcAddr get;
  void *symbol = dlsym(loader, "vkGetInstanceProcAddr");
  if (symbol == NULL) {
    return absent("libvulkan.so.1", "it has no vkGetInstanceProcAddr");
  }
  memcpy(&get, &symbol, sizeof get); /* ISO C has no cast between the two */
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pApplicationName = "vkrun",
      .apiVersion = VK_API_VERSION_1_3,
  };
  VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pApplicationInfo = &application,
  };
  VkResult result = create(&info, NULL, &g->instance);
  if (result != VK_SUCCESS) {
    return absent("vkCreateInstance", gpu_result_name(result));
  }
#define LOAD(name)                                                                                \
  g->name = (PFN_vk##name)get(g->instance, "vk" #name);                                           \
  if (g->name == NULL) {                                                                          \
    return absent("libvulkan.so.1 has no vk" #name, "a loader of Vulkan 1.1 or later is needed"); \
  }
  VKRUN_FUNCTIONS(LOAD)
#undef LOAD
  g->GetPipelineExecutableProperties = (PFN_vkGetPipelineExecutablePropertiesKHR)get(
      g->instance, "vkGetPipelineExecutablePropertiesKHR");
  g->GetPipelineExecutableStatistics = (PFN_vkGetPipelineExecutableStatisticsKHR)get(
      g->instance, "vkGetPipelineExecutableStatisticsKHR");
  return EXIT_OK;
}

static void print_device(const char *verb, const VkPhysicalDeviceProperties2 *p,
                         const VkPhysicalDeviceDriverProperties *driver, uint32_t subgroup) {
  uint32_t version = p->properties.apiVersion;
  printf("%s %s; driver %s %s; Vulkan %u.%u.%u; subgroup size %u\n", verb, p->properties.deviceName,
         driver->driverName, driver->driverInfo, VK_API_VERSION_MAJOR(version),
         VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version), subgroup);
}

/* Chooses the physical device. */
static int choose(gpu *g, const char *wanted, bool list_only) {
  VkPhysicalDevice devices[MAX_DEVICES];
  uint32_t n = MAX_DEVICES;
  VkResult result = g->EnumeratePhysicalDevices(g->instance, &n, devices);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
    return absent("vkEnumeratePhysicalDevices", gpu_result_name(result));
  }
  for (uint32_t i = 0; i < n; ++i) {
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
    };
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
        .pNext = &sizes,
    };
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
        .pNext = &subgroup,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &driver,
    };
    g->GetPhysicalDeviceProperties2(devices[i], &properties);
    bool fits = wanted == NULL || contains(properties.properties.deviceName, wanted) ||
                contains(driver.driverName, wanted);
    if (list_only) {
      print_device("found", &properties, &driver, subgroup.subgroupSize);
    } else if (fits) {
      print_device("device", &properties, &driver, subgroup.subgroupSize);
      g->physical = devices[i];
      g->subgroup = subgroup.subgroupSize;
      g->subgroup_min = sizes.minSubgroupSize != 0 ? sizes.minSubgroupSize : g->subgroup;
      g->subgroup_max = sizes.maxSubgroupSize != 0 ? sizes.maxSubgroupSize : g->subgroup;
      return EXIT_OK;
    } else {
      fprintf(stderr, "vkrun: not taken: %s (%s)\n", properties.properties.deviceName,
              driver.driverName);
    }
  }
  if (list_only && n != 0) {
    return EXIT_OK;
  }
  return absent(wanted == NULL ? "no Vulkan device" : wanted, "no such device was found");
}

static bool has_extension(gpu *g, const char *name) {
  static VkExtensionProperties found[MAX_EXTENSIONS];
  uint32_t n = MAX_EXTENSIONS;
  VkResult result = g->EnumerateDeviceExtensionProperties(g->physical, NULL, &n, found);
  for (uint32_t i = 0; (result == VK_SUCCESS || result == VK_INCOMPLETE) && i < n; ++i) {
    if (strcmp(found[i].extensionName, name) == 0) {
      return true;
    }
  }
  return false;
}

/* The family whose queues compute, and the memory that the host sees without flushing. */
static int choose_queue_and_memory(gpu *g) {
  VkQueueFamilyProperties families[MAX_FAMILIES];
  uint32_t n = MAX_FAMILIES;
  g->GetPhysicalDeviceQueueFamilyProperties(g->physical, &n, families);
  g->family = 0;
  while (g->family < n && (families[g->family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) {
    ++g->family;
  }
  if (g->family == n) {
    return absent("the device", "it has no queue that computes");
  }
  VkPhysicalDeviceMemoryProperties memory;
  g->GetPhysicalDeviceMemoryProperties(g->physical, &memory);
  VkMemoryPropertyFlags least =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (g->memory_type = 0; g->memory_type < memory.memoryTypeCount; ++g->memory_type) {
    if ((memory.memoryTypes[g->memory_type].propertyFlags & least) == least) {
      return EXIT_OK;
    }
  }
  return absent("the device", "it has no memory that the host sees coherently");
}

static int open_device(gpu *g) {
  /* All that the device supports of these is taken. */
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
  };
  VkPhysicalDeviceSubgroupSizeControlFeatures sizes = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
  };
  VkPhysicalDeviceVulkan12Features v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .pNext = &sizes,
  };
  VkPhysicalDeviceVulkan11Features v11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
      .pNext = &v12,
  };
  VkPhysicalDeviceFeatures2 all = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
      .pNext = &v11,
  };
  const char *extensions[2];
  uint32_t n = 0;
  if (has_extension(g, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME)) {
    extensions[n++] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
    sizes.pNext = &executable;
  } else {
    g->GetPipelineExecutableProperties = NULL;
  }
  if (has_extension(g, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
    extensions[n++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
  }
  g->GetPhysicalDeviceFeatures2(g->physical, &all);
  all.features.robustBufferAccess = VK_FALSE;
  g->subgroup_control = sizes.subgroupSizeControl;
  float priority = 1.0F;
  VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = g->family,
      .queueCount = 1,
      .pQueuePriorities = &priority,
  };
  VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &all,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledExtensionCount = n,
      .ppEnabledExtensionNames = extensions,
  };
  VkResult result = g->CreateDevice(g->physical, &info, NULL, &g->device);
  if (result != VK_SUCCESS) {
    return absent("vkCreateDevice", gpu_result_name(result));
  }
  g->GetDeviceQueue(g->device, g->family, 0, &g->queue);
  return EXIT_OK;
}

int gpu_open(gpu *g, const char *wanted, bool list_only) {
  *g = (gpu){.subgroup = 0};
  int code = open_instance(g);
  code = code != EXIT_OK ? code : choose(g, wanted, list_only);
  if (list_only) {
    return code;
  }
  code = code != EXIT_OK ? code : choose_queue_and_memory(g);
  return code != EXIT_OK ? code : open_device(g);
}

void gpu_close(gpu *g) {
  if (g->device != NULL) {
    g->DestroyDevice(g->device, NULL);
  }
  if (g->instance != NULL && g->DestroyInstance != NULL) {
    g->DestroyInstance(g->instance, NULL);
  }
}
