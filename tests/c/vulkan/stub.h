/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Vulkan driver made of nothing but memory, for tests of the runtime's Vulkan route.
 *
 * It offers one compute queue and the calls that the route needs, through stub_get_proc_addr(),
 * which is a vkGetInstanceProcAddr.  Every call is counted by name; every creation is remembered
 * until it is destroyed; any call can be made to fail once.  A dispatch is handed to the test's own
 * function, with the memory that is bound.  Work waits until somebody waits for it (`deferred`, the
 * default) or is done by the submission.
 *
 * What a Vulkan application must not do is counted and printed as a misuse: a handle that is not
 * alive or of another type, binding or mapping out of range, recording into a command buffer in
 * flight, a binding that was never written, destroying what work in flight uses, using a dma-buf's
 * memory while others have it.
 *
 * One driver a process, for one thread at a time.
 */
#ifndef DAEDALUS_TESTS_VULKAN_STUB_H
#define DAEDALUS_TESTS_VULKAN_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

enum { STUB_MAX_DEVICES = 4, STUB_MAX_BINDINGS = 16, STUB_PUSH_BYTES = 256 };

/* A physical device.  What is 0 or NULL is as stub_reset() has it. */
typedef struct stub_device_desc {
  const char *name;
  VkDriverId driver;
  VkPhysicalDeviceType type;
  uint32_t vendor, device;
  uint32_t max_workgroup; /* invocations, in all and along x */
  uint32_t max_groups;    /* along x */
  uint32_t shared_bytes;
  uint32_t max_range;    /* of a storage buffer */
  uint32_t offset_align; /* of a storage buffer's offset */
  bool no_storage8, no_storage16;
  bool no_external; /* neither dma-buf memory nor exported fences */
  bool no_foreign;  /* no VK_EXT_queue_family_foreign */
  bool no_compute;  /* its one queue only copies */
  /* Property flags of its memory types; the first unused entry is 0. */
  VkMemoryPropertyFlags memory[VK_MAX_MEMORY_TYPES];
} stub_device_desc;

/* What a dispatch is given. */
typedef struct stub_dispatch {
  const uint32_t *code; /* the shader module's words */
  size_t n_words;
  uint32_t workgroup; /* specialisation constant 0; 0 where there is none */
  uint32_t groups[3];
  unsigned char push[STUB_PUSH_BYTES];
  uint32_t push_bytes; /* up to where something was pushed */
  struct {
    void *data; /* NULL where nothing is bound */
    size_t size;
  } bindings[STUB_MAX_BINDINGS];
} stub_dispatch;

typedef struct stub_settings {
  size_t n_devices;
  stub_device_desc devices[STUB_MAX_DEVICES];
  uint32_t api_version;
  bool deferred; /* work is done when it is waited for, not when it is submitted */
  bool hang;     /* work is never done: waiting ends with VK_TIMEOUT */
  /* Does a dispatch's work; NULL does nothing. */
  void (*execute)(void *user, const stub_dispatch *dispatch);
  void *user;
} stub_settings;

/* May be changed at any time; devices before they are asked for. */
extern stub_settings stub;

/* Forgets everything; one device that calls itself V3D, with unified coherent memory. */
void stub_reset(void);

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL stub_get_proc_addr(VkInstance instance, const char *name);

/* Calls of a function so far, failing ones included; ends the program for a name it has not. */
unsigned long stub_calls(const char *function);
/* Calls of all functions that create or allocate something of the driver. */
unsigned long stub_creations(void);
/* Calls of all functions. */
unsigned long stub_all_calls(void);
/* The names of all functions, NULL-terminated. */
const char *const *stub_functions(void);
/* Whether a function can fail, that is returns a VkResult. */
bool stub_can_fail(const char *function);

/*
 * The `nth` call from now (0: the next) of the function gives `result` and does nothing else.  One
 * such order at a time; NULL takes it back.  With VK_ERROR_DEVICE_LOST the device is lost: of the
 * work in flight the first half of the oldest submission's commands is done, and no more.
 */
void stub_fail(const char *function, unsigned long nth, VkResult result);
/* Whether the order was carried out. */
bool stub_failed(void);

/* Objects that are alive, an instance included; prints them when `print`. */
unsigned long stub_live(bool print);
/* Bytes of device memory allocated now. */
uint64_t stub_memory_bytes(void);
/* Misuses so far. */
unsigned long stub_misuses(void);

/* Submissions; dispatches, barriers and bytes copied that they held, and dma-bufs handed over. */
typedef struct stub_work {
  unsigned long submits, dispatches, barriers;
  unsigned long acquires, releases;
  uint64_t copied_bytes;
  uint64_t largest_submit_groups; /* workgroups of the largest submission */
} stub_work;
extern stub_work stub_done;

/* Forgets all that is alive, of a device that was given up while it worked. */
void stub_abandon(void);

/* Does what was submitted, as if its time had come. */
void stub_run_queue(void);

#endif /* DAEDALUS_TESTS_VULKAN_STUB_H */
