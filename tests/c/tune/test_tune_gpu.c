/* SPDX-License-Identifier: BSD-2-Clause */
/* The tuner on the stub driver, which fails, is lost, hangs, or computes wrong things in time. */
#define _GNU_SOURCE
#include <daedalus.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "support.h"
#include "telling.h"
#include "tune/child.h"
#include "tune/journal.h"
#include "tune/json.h"
#include "tune/point.h"
#include "tune/samples.h"

/* Dispatches of all items that a variant gets right before it is timed: two seeds, warming up. */
enum { RIGHT_DISPATCHES = 6 };

static const char word[] = "fake_add/full/daedalus_fake_add__glsl_full_word/-/vulkan/64";
static const char byte[] = "fake_add/full/daedalus_fake_add__glsl_full/-/vulkan/64";
static const char on_cpu[] = "fake_add/full/daedalus_fake_add__c_full/";

static fixture f;
static tune_world world;
static const tune_hash hashes[] = {{"daedalus_fake_add__glsl_full_word", "a3"},
                                   {"daedalus_fake_add__glsl_full", "a4"},
                                   {"daedalus_fake_add__c_full", "a2"},
                                   {NULL, NULL}};

/* What befalls the variant on words, once it was right often enough. */
enum { NOTHING, LOSS, FAILURE, NO_MEMORY, WRONG, HANG, CRASH, STALL, HEAT };
static int misfortune;

static const char flags[] = "sys/devices/platform/soc@0/soc@0:firmware/get_throttled";
/* Of M4, those of 12 slices of 64 runs alone and 64 with the CPU; so many where a run is short. */
enum { HOT_DISPATCHES = 12 * 128, FEW_ITEMS = 10 };

static void execute(void *user, const stub_dispatch *d) {
  static unsigned dispatches, hot;
  const bool is_word =
      memcmp(d->code, VARIANT(ADD, ADD_GPU_WORD)->gpu->spirv, d->n_words * sizeof(*d->code)) == 0;
  uint32_t n_items;
  memcpy(&n_items, d->push + sizeof(uint32_t), sizeof(n_items));
  executor *e = user;
  if (is_word && n_items == ITEMS && ++dispatches > RIGHT_DISPATCHES) {
    if (misfortune == LOSS) {
      stub_fail("vkQueueSubmit", 0, VK_ERROR_DEVICE_LOST);
    } else if (misfortune == FAILURE) {
      stub_fail("vkQueueSubmit", 0, VK_ERROR_INITIALIZATION_FAILED);
    } else if (misfortune == NO_MEMORY) {
      stub_fail("vkQueueSubmit", 0, VK_ERROR_OUT_OF_HOST_MEMORY);
    } else if (misfortune == WRONG) {
      e->spoil = 3;
    } else if (misfortune == HANG) {
      stub.hang = true;
    } else if (misfortune == CRASH) {
      abort();
    }
    while (misfortune == STALL) {
      pause(); /* a driver that never comes back */
    }
  }
  if (misfortune == HEAT && n_items == FEW_ITEMS && ++hot == HOT_DISPATCHES) {
    support_write(flags, "0\n"); /* it has cooled down */
  }
  executor_run(e, d);
}

static daedalus_vulkan_fn loader(void *instance, const char *name) {
  return (daedalus_vulkan_fn)stub_get_proc_addr((VkInstance)instance, name);
}

/* ------------------------------------------------------------------------------------ runs */

/* A driver as new, with that misfortune to come, and no journal. */
static void start(int what) {
  misfortune = what;
  stub_reset();
  stub.execute = execute;
  stub.user = &f.executor;
  remove("journal");
}

/* Measures both variants. */
static int measure_both(int what, const char *options) {
  char text[3 * POINT_BYTES], arguments[512];
  start(what);
  snprintf(text, sizeof(text), "%s\n%s\n", word, byte);
  support_write("points", text);
  snprintf(arguments, sizeof(arguments), "--points points %s", options);
  return support_run(&world, arguments);
}

static const char *result_of(const char *point) {
  static char line[LINE_BYTES];
  char text[POINT_BYTES + 16];
  snprintf(text, sizeof(text), "\"point\":\"%s\"", point);
  support_find("journal", text, "\"type\":\"result\"", line);
  CHECK_INT(support_count("journal", text), 1);
  CHECK(line[0] != '\0' && json_fault(line, strlen(line)) == NULL);
  return line;
}

static void check_good(const char *point) {
  const char *line = result_of(point);
  CHECK_STR(support_member(line, "verdict"), "ok");
  CHECK_STR(support_member(line, "scenario"), "m2 items=200");
  CHECK(atof(support_member(line, "median")) > 0);
  CHECK(atof(support_member(line, "empty")) > 0);
  CHECK(atoi(support_member(line, "samples")) >= 10);
}

static void check_rejected(const char *point, const char *verdict, const char *reason) {
  static const char *const figures[] = {"median", "mad", "low", "high", "empty", "cpu", "gpu"};
  const char *line = result_of(point);
  CHECK_STR(support_member(line, "verdict"), verdict);
  if (strstr(support_member(line, "reason"), reason) == NULL) {
    fprintf(stderr, "%s: reason \"%s\" is not about \"%s\"\n", point,
            support_member(line, "reason"), reason);
    CHECK(false);
  }
  for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
    CHECK_STR(support_member(line, figures[i]), "");
  }
}

static void test_good(void) {
  CHECK_INT(measure_both(NOTHING, ""), 0);
  check_good(word);
  check_good(byte);
  char line[LINE_BYTES];
  support_find("journal", "\"type\":\"fingerprint\"", "", line);
  CHECK(strstr(support_member(line, "driver"), "vulkan ") != NULL);
}

static void test_wrong_when_timed(void) {
  CHECK_INT(measure_both(WRONG, ""), 1);
  check_rejected(word, "wrong", "in the run that was timed: output dst: byte ");
  check_good(byte);
}

static void test_lost(void) {
  CHECK_INT(measure_both(LOSS, ""), 1);
  check_rejected(word, "lost", "the GPU was lost");
  check_good(byte); /* in a process of its own, on a device that was opened anew */
}

static void test_failing_call(void) {
  CHECK_INT(measure_both(FAILURE, ""), 1);
  check_rejected(word, "failed", "vkQueueSubmit failed: ");
  check_good(byte);
}

/* Memory may be there the next time. */
static void test_no_memory(void) {
  CHECK_INT(measure_both(NO_MEMORY, ""), 0);
  check_rejected(word, "unavailable", "vkQueueSubmit failed: VK_ERROR_OUT_OF_HOST_MEMORY");
  check_good(byte);
  misfortune = NOTHING;
  CHECK_INT(support_run(&world, "--points points"), 0);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), 2);
}

static void test_hang(void) {
  CHECK_INT(measure_both(HANG, "--timeout 4"), 1);
  check_rejected(word, "lost", "the GPU was lost");
  check_good(byte);
}

static void test_crash(void) {
  CHECK_INT(measure_both(CRASH, ""), 1);
  check_rejected(word, "failed", "killed by SIGABRT");
  check_good(byte);
}

static void test_spills(void) {
  world.get_instance_proc_addr = telling_loader;
  CHECK_INT(measure_both(NOTHING, ""), 0);
  world.get_instance_proc_addr = loader;
  check_rejected(word, "spills", "the driver's compiler spilled: Spill Size 1, TMU Spills 2");
  check_good(byte);
}

/* All points of the table: each variant's sizes of workgroups that the device has. */
static void test_list(void) {
  start(NOTHING);
  CHECK_INT(support_run(&world, "--list --kernel fake_add"), 0);
  CHECK_INT(support_count("output", "__glsl_full_word/-/vulkan/"), 5); /* 16 to 256 */
  CHECK_INT(support_count("output", on_cpu), 1);
  CHECK_INT(support_count("output", "/-/vulkan/512"), 0);
  CHECK_INT(support_run(&world, "--kernel fake_add --scenario m2"), 0);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), 10);
}

static const char both[] =
    "--cpu-kernel add --qpu-kernel fake_add --neon-threads 1 --qpu-core 0 --duration 0.05";

/* The key is that of the points, what was asked for, and the code: as Python has it. */
static void check_key(const char *line) {
  static const char *const names[] = {"cpu_point", "qpu_point", "scenario",    "instead_point",
                                      "cpu_hash",  "qpu_hash",  "instead_hash"};
  char text[LINE_BYTES] = "", key[17];
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    strcat(strcat(text, i != 0 ? "|" : ""), support_member(line, names[i]));
  }
  const char *const parts[] = {text, NULL};
  journal_hash(key, parts);
  CHECK_STR(support_member(line, "key"), key);
}

static void test_mixed(void) {
  char line[LINE_BYTES];
  start(NOTHING);
  CHECK_INT(support_run(&world, both), 0);
  support_find("journal", "\"type\":\"mixed\"", "", line);
  CHECK(json_fault(line, strlen(line)) == NULL);
  CHECK_STR(support_member(line, "verdict"), "ok");
  CHECK_STR(support_member(line, "scenario"),
            "m4 cpu=fake_add qpu=fake_add threads=1 core=0 items=200 samples=10 seconds=0.05");
  static const char *const figures[] = {"cpu_alone", "cpu_with", "qpu_alone",
                                        "qpu_with",  "cpu_time", "cpu_time_alone"};
  for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
    CHECK(atof(support_member(line, figures[i])) > 0);
  }
  CHECK(atoi(support_member(line, "samples")) >= 10);
  CHECK(strstr(support_member(line, "instead_point"), "fake_add/full/") != NULL);
  CHECK_STR(support_member(line, "instead_hash"), support_member(line, "cpu_hash"));
  check_key(line);
  CHECK_INT(support_run(&world, both), 0);
  CHECK_INT(support_count("journal", "\"type\":\"mixed\""), 1); /* not again, */
  char other[sizeof(both) + 32];
  snprintf(other, sizeof(other), "%s --samples 12", both);
  CHECK_INT(support_run(&world, other), 0);
  snprintf(other, sizeof(other), "%s --items 100", both);
  CHECK_INT(support_run(&world, other), 0);
  CHECK_INT(support_count("journal", "\"type\":\"mixed\""), 3); /* but under other terms */
  snprintf(other, sizeof(other), "%s --budget 0.000001 --items 50", both);
  CHECK_INT(support_run(&world, other), 0);
  CHECK_INT(support_count("journal", "\"type\":\"mixed\""), 3);
  CHECK_INT(support_run(&world, "--cpu-kernel none --qpu-kernel add --qpu-core 0"), 2);
  snprintf(other, sizeof(other), "%s --cpu-instead none", both);
  CHECK_INT(support_run(&world, other), 2);
  char told[512];
  snprintf(told, sizeof(told), "%s --cpu-instead fake_add/dc/daedalus_fake_add__c_dc/%s/-/0", both,
           point_own_compiler());
  CHECK_INT(support_run(&world, told), 2);
  snprintf(told, sizeof(told), "%s --items 60 --cpu-instead %s%s/-/0", both, on_cpu,
           point_own_compiler());
  CHECK_INT(support_run(&world, told), 0);
  CHECK_INT(support_count("journal", "\"type\":\"mixed\""), 4);
  CHECK_INT(support_run(&world, "--cpu-instead add"), 2); /* of no use without m4 */
  stub.n_devices = 0;
  CHECK_INT(support_run(&world, "--cpu-kernel add --qpu-kernel add --qpu-core 0"), 3);
}

/* Unless it is said, with 1 to 4 threads, as far as there are cores. Where other programs keep one
   of these at work, no slice may be complete: then that is what is said. */
static void test_mixed_threads(void) {
  cpu_set_t set;
  char text[64];
  CHECK_INT(sched_getaffinity(0, sizeof(set), &set), 0);
  const int cores = CPU_COUNT(&set), most = cores < 4 ? cores : 4;
  start(NOTHING);
  CHECK_INT(support_run(&world, "--cpu-kernel add --qpu-kernel add --duration 0.01"), 0);
  CHECK_INT(support_count("journal", "\"type\":\"mixed\""), (unsigned)most);
  for (int threads = 1; threads <= most; threads++) {
    snprintf(text, sizeof(text), "\"threads\":%d,", threads);
    CHECK_INT(support_count("journal", text), 1);
  }
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\",\"reason\":\"\",\"threads\":") +
                support_count("journal", "something else kept it from its core"),
            (unsigned)most);
}

/* ------------------------------------------------------------- a device that is slow to be read */

enum { WORK_MS = 5, COPY_MS = 20, SLOW_ITEMS = 2000 }; /* a run is compared by several copies */

/*
 * Of dispatches of all items, shared with the process that measures: how many, how many were the
 * first since memory was read or written, and ns that they took, with what was between them where
 * that was not so.
 */
typedef struct seen {
  atomic_ulong dispatches, stretches;
  _Atomic double ns, last;
  atomic_bool copied;
} seen;

static seen *dispatched;
static const struct timespec work_time = {.tv_nsec = 1000000L * WORK_MS},
                             copy_time = {.tv_nsec = 1000000L * COPY_MS};

static void execute_slowly(void *user, const stub_dispatch *d) {
  uint32_t n_items;
  memcpy(&n_items, d->push + sizeof(uint32_t), sizeof(n_items));
  if (n_items != SLOW_ITEMS) {
    executor_run(user, d);
    return;
  }
  const bool first = atomic_exchange(&dispatched->copied, false);
  const double begin = first ? now_ns() : atomic_load(&dispatched->last);
  nanosleep(&work_time, NULL);
  executor_run(user, d);
  atomic_fetch_add(&dispatched->dispatches, 1);
  atomic_fetch_add(&dispatched->stretches, first);
  atomic_store(&dispatched->last, now_ns());
  atomic_store(&dispatched->ns, dispatched->ns + now_ns() - begin);
}

static VkInstance slow_instance;

static VKAPI_ATTR void VKAPI_CALL copy_slowly(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                              uint32_t n, const VkBufferCopy *regions) {
  nanosleep(&copy_time, NULL);
  atomic_store(&dispatched->copied, true);
  ((PFN_vkCmdCopyBuffer)stub_get_proc_addr(slow_instance, "vkCmdCopyBuffer"))(commands, from, to, n,
                                                                              regions);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL slow_function(VkDevice device, const char *name) {
  if (strcmp(name, "vkCmdCopyBuffer") == 0) {
    return (PFN_vkVoidFunction)copy_slowly;
  }
  return ((PFN_vkGetDeviceProcAddr)stub_get_proc_addr(slow_instance, "vkGetDeviceProcAddr"))(device,
                                                                                             name);
}

static daedalus_vulkan_fn slow_loader(void *instance, const char *name) {
  slow_instance = (VkInstance)instance;
  return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (daedalus_vulkan_fn)slow_function
                                                  : loader(instance, name);
}

/* What setting back and comparing takes is in no rate, and the device does not wait for it. */
static void test_mixed_with_slow_comparing(void) {
  char line[LINE_BYTES];
  start(NOTHING);
  stub.devices[0] = (stub_device_desc){
      .name = "a card",
      .driver = VK_DRIVER_ID_NVIDIA_PROPRIETARY,
      .type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
      .memory = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT}};
  stub.execute = execute_slowly;
  dispatched = child_memory(sizeof(*dispatched));
  world.get_instance_proc_addr = slow_loader;
  char text[sizeof(both) + 32];
  snprintf(text, sizeof(text), "%s --items %d", both, SLOW_ITEMS);
  CHECK_INT(support_run(&world, text), 0);
  world.get_instance_proc_addr = loader;
  support_find("journal", "\"type\":\"mixed\"", "", line);
  CHECK_STR(support_member(line, "verdict"), "ok");
  const double alone = atof(support_member(line, "qpu_alone"));
  const double with = atof(support_member(line, "qpu_with"));
  const unsigned long n = atomic_load(&dispatched->dispatches);
  const unsigned long stretches = atomic_load(&dispatched->stretches);
  const double own = (double)n * SLOW_ITEMS / atomic_load(&dispatched->ns) * 1e9;
  printf("%.0f alone and %.0f with, by the device %.0f items a second; %lu runs, %lu stretches\n",
         alone, with, own, n, stretches);
  CHECK(n > 2 * stretches); /* back to back */
  /* A third: with what setting back and comparing takes in it, it would be a fifth. */
  CHECK(alone > own / 3 && alone < 3 * own);
  CHECK(with > own / 3 && with < 3 * own);
  child_memory_free(dispatched, sizeof(*dispatched));
}

static void test_mixed_that_fails(void) {
  static const struct {
    int misfortune;
    const char *verdict, *reason;
  } ends[] = {{WRONG, "wrong", "output dst: byte"},
              {LOSS, "lost", "the GPU was lost"},
              {CRASH, "failed", "killed by SIGABRT"},
              {STALL, "timeout", "a run was not done in 1.5 s"}};
  char line[LINE_BYTES], text[sizeof(both) + 32];
  snprintf(text, sizeof(text), "%s --timeout 1.5", both);
  for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
    start(ends[i].misfortune);
    CHECK_INT(support_run(&world, text), 1);
    support_find("journal", "\"type\":\"mixed\"", "", line);
    CHECK(json_fault(line, strlen(line)) == NULL);
    CHECK_STR(support_member(line, "verdict"), ends[i].verdict);
    CHECK(strstr(support_member(line, "reason"), ends[i].reason) != NULL);
    CHECK_STR(support_member(line, "cpu_alone"), "");
    CHECK_STR(support_member(line, "qpu_with"), "");
  }
}

/* Slices of a throttled machine are discarded; it is given up on where they are the most.  Of a
 * test of its own, which is skipped where a side had no core in any of its runs: that is told by
 * the tuner, and another machine has to judge. */
static bool no_core;

static void test_mixed_while_throttled(void) {
  char line[LINE_BYTES], text[sizeof(both) + 32];
  snprintf(text, sizeof(text), "%s --sysfs sys --items %d", both, FEW_ITEMS);
  for (int always = 0; always < 2; always++) {
    for (int tries = 0; tries < 5; tries++) {
      start(always ? NOTHING : HEAT);
      support_write(flags, "4\n");
      CHECK_INT(support_run(&world, text), 0);
      support_find("journal", "\"type\":\"mixed\"", "", line);
      if (strcmp(support_member(line, "verdict"), "unavailable") != 0)
        break;
    }
    no_core = strcmp(support_member(line, "verdict"), "unavailable") == 0;
    if (no_core) {
      printf("not judged: %s\n", support_member(line, "reason"));
      return;
    }
    CHECK_STR(support_member(line, "verdict"), always ? "throttled" : "ok");
    const int discarded = atoi(support_member(line, "discarded"));
    if (always) {
      CHECK_INT(discarded, 30);
      CHECK(strstr(support_member(line, "reason"), "30 of 30 slices were run") != NULL);
    } else {
      CHECK(discarded > 10 && atoi(support_member(line, "samples")) >= discarded);
    }
  }
}

int main(int argc, char **argv) {
  fixture_open(&f, NULL); /* makes the table */
  CHECK_INT(fixture_close(&f), 0);
  world = (tune_world){.table = &fixture_table, .hashes = hashes, .get_instance_proc_addr = loader};
  support_begin();
  unsetenv("DAEDALUS_VULKAN_DEVICE");
  setenv("DAEDALUS_QPU_ROUTE", "vulkan", 1);
  setenv("XDG_CACHE_HOME", "cache", 1);
  if (argc > 1 && strcmp(argv[1], "throttled") == 0) {
    RUN(test_mixed_while_throttled);
    return no_core ? 77 : CHECK_RESULT();
  }
  RUN(test_good);
  RUN(test_wrong_when_timed);
  RUN(test_lost);
  RUN(test_failing_call);
  RUN(test_no_memory);
  RUN(test_hang);
  RUN(test_crash);
  RUN(test_spills);
  RUN(test_list);
  RUN(test_mixed);
  RUN(test_mixed_threads);
  RUN(test_mixed_with_slow_comparing);
  RUN(test_mixed_that_fails);
  return CHECK_RESULT();
}
