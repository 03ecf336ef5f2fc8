/* SPDX-License-Identifier: BSD-2-Clause */
/* The stub driver's books: calls, orders to fail, objects, misuses. */
#include "stub_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

stub_settings stub;
stub_work stub_done;
bool stub_is_lost;

static unsigned long calls[STUB_N_FUNCTIONS];
static unsigned long misuses;
static stub_object *alive;

static struct {
  int id; /* -1: none */
  unsigned long left;
  VkResult result;
  bool carried_out;
} order = {.id = -1};

const stub_entry stub_entries[STUB_N_FUNCTIONS] = {
#define X(name, fails, creates) {"vk" #name, (PFN_vkVoidFunction)stub_##name, fails, creates},
    STUB_FUNCTIONS(X)
#undef X
};

static int find(const char *function) {
  for (int i = 0; i < STUB_N_FUNCTIONS; i++) {
    if (strcmp(stub_entries[i].name, function) == 0) {
      return i;
    }
  }
  fprintf(stderr, "the stub driver has no function %s\n", function);
  abort();
}

VkResult stub_enter(stub_id id) {
  calls[id]++;
  if (order.id == (int)id && !order.carried_out && order.left-- == 0) {
    order.carried_out = true;
    if (order.result == VK_ERROR_DEVICE_LOST) {
      stub_lose_queue();
    }
    return order.result;
  }
  return VK_SUCCESS;
}

unsigned long stub_calls(const char *function) {
  return calls[find(function)];
}

unsigned long stub_creations(void) {
  unsigned long n = 0;
  for (int i = 0; i < STUB_N_FUNCTIONS; i++) {
    n += stub_entries[i].creates ? calls[i] : 0;
  }
  return n;
}

unsigned long stub_all_calls(void) {
  unsigned long n = 0;
  for (int i = 0; i < STUB_N_FUNCTIONS; i++) {
    n += calls[i];
  }
  return n;
}

const char *const *stub_functions(void) {
  static const char *names[STUB_N_FUNCTIONS + 1];
  for (int i = 0; i < STUB_N_FUNCTIONS; i++) {
    names[i] = stub_entries[i].name;
  }
  return names;
}

bool stub_can_fail(const char *function) {
  return stub_entries[find(function)].can_fail;
}

void stub_fail(const char *function, unsigned long nth, VkResult result) {
  order.id = function == NULL ? -1 : find(function);
  order.left = nth;
  order.result = result;
  order.carried_out = false;
}

bool stub_failed(void) {
  return order.id >= 0 && order.carried_out;
}

unsigned long stub_misuses(void) {
  return misuses;
}

void stub_misuse(const char *format, ...) {
  va_list arguments;
  misuses++;
  fputs("misuse of Vulkan: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

/* ------------------------------------------------------------------------------ objects */

static const char *const type_names[] = {
    [STUB_INSTANCE] = "instance",
    [STUB_PHYSICAL] = "physical device",
    [STUB_DEVICE] = "device",
    [STUB_QUEUE] = "queue",
    [STUB_BUFFER] = "buffer",
    [STUB_MEMORY] = "memory",
    [STUB_SHADER] = "shader module",
    [STUB_SET_LAYOUT] = "descriptor set layout",
    [STUB_PIPELINE_LAYOUT] = "pipeline layout",
    [STUB_PIPELINE_CACHE] = "pipeline cache",
    [STUB_PIPELINE] = "pipeline",
    [STUB_DESCRIPTOR_POOL] = "descriptor pool",
    [STUB_DESCRIPTOR_SET] = "descriptor set",
    [STUB_COMMAND_POOL] = "command pool",
    [STUB_COMMAND_BUFFER] = "command buffer",
    [STUB_FENCE] = "fence",
    [STUB_QUERIES] = "query pool",
};

void *stub_new(stub_type type, size_t size, stub_object *parent) {
  stub_object *object = calloc(1, size);
  if (object == NULL) {
    abort();
  }
  *object = (stub_object){.next = alive, .type = type, .parent = parent};
  alive = object;
  return object;
}

void *stub_get(const void *handle, stub_type type) {
  for (stub_object *object = alive; object != NULL; object = object->next) {
    if (object == handle && object->type == type) {
      return object;
    }
  }
  fprintf(stderr, "misuse of Vulkan: %p is no %s that is alive\n", handle, type_names[type]);
  abort();
}

stub_object *stub_child_of(const stub_object *parent, stub_type type) {
  stub_object *object = alive;
  while (object != NULL && (object->parent != parent || (type != 0 && object->type != type))) {
    object = object->next;
  }
  return object;
}

void stub_delete(void *given, stub_type type) {
  if (given == NULL) {
    return;
  }
  stub_object *object = stub_get(given, type);
  const stub_object *child = stub_child_of(object, 0);
  if (child != NULL) {
    stub_misuse("a %s is destroyed before its %s", type_names[type], type_names[child->type]);
  }
  if (object->in_flight != 0) {
    stub_misuse("a %s is destroyed while work in flight uses it", type_names[type]);
  }
  stub_object **at = &alive;
  while (*at != object) {
    at = &(*at)->next;
  }
  *at = object->next;
  free(object);
}

/* Devices, their queues and descriptions come and go with what they belong to. */
static bool counts(const stub_object *object) {
  return object->type != STUB_PHYSICAL && object->type != STUB_QUEUE;
}

unsigned long stub_live(bool print) {
  unsigned long n = 0;
  for (const stub_object *object = alive; object != NULL; object = object->next) {
    if (counts(object)) {
      n++;
      if (print) {
        fprintf(stderr, "still alive: %s\n", type_names[object->type]);
      }
    }
  }
  return n;
}

uint64_t stub_memory_bytes(void) {
  uint64_t n = 0;
  for (const stub_object *object = alive; object != NULL; object = object->next) {
    n += object->type == STUB_MEMORY ? ((const stub_memory *)(const void *)object)->size : 0;
  }
  return n;
}

void stub_abandon(void) {
  stub_forget_queue();
  while (alive != NULL) {
    stub_object *next = alive->next;
    free(alive);
    alive = next;
  }
}

void stub_reset(void) {
  if (stub_live(true) != 0) {
    fprintf(stderr, "stub_reset() while objects are alive\n");
    abort();
  }
  stub_forget_queue();
  stub_forget_device();
  memset(calls, 0, sizeof(calls));
  misuses = 0;
  stub_is_lost = false;
  stub_fail(NULL, 0, VK_SUCCESS);
  stub_done = (stub_work){0};
  stub = (stub_settings){
      .n_devices = 1,
      .devices = {{.name = "V3D 7.1.10.2",
                   .driver = VK_DRIVER_ID_MESA_V3DV,
                   .type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                   .vendor = 0x14e4}},
      .api_version = VK_API_VERSION_1_3,
      .deferred = true,
  };
}
