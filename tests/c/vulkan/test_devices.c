/* SPDX-License-Identifier: BSD-2-Clause */
/* Which device is taken, what is refused of one, self-tests, and the pipeline cache. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

static add_work work;
static uint8_t expected[sizeof(work.plane)];

static const stub_device_desc rasteriser = {.name = "llvmpipe (LLVM 19.1.7, 256 bits)",
                                            .driver = VK_DRIVER_ID_MESA_LLVMPIPE,
                                            .type = VK_PHYSICAL_DEVICE_TYPE_CPU,
                                            .vendor = 0x10005};
static const stub_device_desc card = {.name = "Some Card",
                                      .driver = VK_DRIVER_ID_NVIDIA_PROPRIETARY,
                                      .type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
                                      .vendor = 0x10de};

/* The name of the device that is taken; "" for none. */
static const char *chosen(const char *wish) {
  static char name[128];
  const daedalus_config config = {.cache_dir = "", .device = wish};
  fixture f;
  daedalus_device_info info = {.size = sizeof(info)};
  fixture_open(&f, &config);
  name[0] = '\0';
  if (daedalus_ctx_device(f.ctx, &info) == 0) {
    snprintf(name, sizeof(name), "%s", info.name);
  } else { /* which is said, unless it was the wish */
    CHECK((f.log.n >= 1) == (wish == NULL || strcmp(wish, "none") != 0));
    if (wish != NULL && strcmp(wish, "none") != 0) {
      CHECK(strstr(f.log.message, wish) != NULL && strstr(f.log.message, "#0 ") != NULL);
    }
  }
  CHECK_INT(fixture_close(&f), 0);
  return name;
}

static void three_devices(void) {
  stub_reset();
  stub.devices[1] = stub.devices[0];
  stub.devices[0] = rasteriser;
  stub.devices[2] = card;
  stub.n_devices = 3;
}

static void test_order_of_preference(void) {
  unsetenv("DAEDALUS_VULKAN_DEVICE");
  three_devices();
  CHECK_STR(chosen(NULL), "V3D 7.1.10.2");
  three_devices();
  stub.devices[1] = card;
  CHECK_STR(chosen(NULL), "Some Card");
  stub_reset();
  stub.devices[0] = rasteriser;
  CHECK_STR(chosen(NULL), "");
  CHECK_STR(chosen("llvmpipe"), rasteriser.name);
  CHECK_STR(chosen("lavapipe"), rasteriser.name);
  stub.n_devices = 0;
  CHECK_STR(chosen(NULL), "");
}

static void test_wishes(void) {
  three_devices();
  CHECK_STR(chosen("some card"), "Some Card");
  CHECK_STR(chosen("v3d"), "V3D 7.1.10.2");
  CHECK_STR(chosen("none"), "");
  CHECK_STR(chosen("no such thing"), "");
  setenv("DAEDALUS_VULKAN_DEVICE", "card", 1);
  CHECK_STR(chosen(NULL), "Some Card");
  CHECK_STR(chosen("v3d"), "V3D 7.1.10.2");
  unsetenv("DAEDALUS_VULKAN_DEVICE");
  char names[3][128] = {""};
  fixture f;
  fixture_open(&f, NULL);
  CHECK_INT(daedalus_device_count(f.ctx), 3);
  for (size_t i = 0; i < 3; i++) {
    daedalus_device_info info = {.size = sizeof(info)};
    CHECK_INT(daedalus_device_at(f.ctx, i, &info), 0);
    snprintf(names[i], sizeof(names[i]), "%s", info.name);
  }
  daedalus_device_info info = {.size = sizeof(info)};
  CHECK_INT(daedalus_device_at(f.ctx, 3, &info), -EINVAL);
  CHECK_INT(fixture_close(&f), 0);
  CHECK_STR(chosen("#0"), names[0]);
  CHECK_STR(chosen("#1"), names[1]);
  CHECK_STR(chosen("#2"), names[2]);
  CHECK_STR(chosen("#3"), "");
}

/* A route that leads nowhere here, and one that there is not, are told; the other one is taken. */
static void test_routes(void) {
  fixture f;
  daedalus_device_info info = {.size = sizeof(info)};
  stub_reset();
  fixture_open(&f, &(daedalus_config){.cache_dir = "", .route = "drm"});
  CHECK_INT(daedalus_ctx_device(f.ctx, &info), 0);
  if (strcmp(info.route, "drm") == 0) {
    printf("this machine has a V3D: what is said without one is not tested\n");
  } else {
    CHECK_STR(info.route, "vulkan");
    CHECK_INT(f.log.n, 1);
    CHECK(strstr(f.log.message, "the QPU's route drm leads nowhere: ") == f.log.message);
    CHECK(strstr(f.log.message, "; vulkan is used instead") != NULL);
  }
  CHECK_INT(fixture_close(&f), 0);
  setenv("DAEDALUS_QPU_ROUTE", "opengl", 1);
  fixture_open(&f, NULL);
  CHECK_INT(daedalus_ctx_device(f.ctx, &info), 0);
  CHECK_STR(info.route, "vulkan");
  CHECK_STR(f.log.message,
            "there is no route \"opengl\" to the QPU: \"vulkan\" and \"drm\" are known");
  CHECK_INT(fixture_close(&f), 0);
  unsetenv("DAEDALUS_QPU_ROUTE");
}

/* A device without a compute queue is none; one without features runs what needs none of them. */
static void test_what_a_device_lacks(void) {
  stub_reset();
  stub.devices[0].no_compute = true;
  CHECK_STR(chosen(NULL), "");

  daedalus_batch *batch = NULL;
  const daedalus_fake_add_meta meta = {.count = 3, .gain = 1};
  const daedalus_buffer buffers[] = {{work.plane, WIDTH}, {work.blocks, 0}};
  fixture f;
  stub_reset();
  stub.devices[0].no_storage8 = true;
  fixture_open(&f, NULL);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(
      daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_BYTE), 0, buffers, 1, &meta),
      -ENODEV);
  CHECK(f.log.n >= 1);
  CHECK(strstr(f.log.message, "8") != NULL);
  CHECK_INT(
      daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_WORD), 0, buffers, 1, &meta),
      0);
  CHECK_INT(fixture_close(&f), 0);

  /* Too little shared memory: refused by name, and the dispatcher takes the next variant. */
  stub_reset();
  stub.devices[0].shared_bytes = 32;
  fixture_open(&f, NULL);
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(
      daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_WORD), 0, buffers, 1, &meta),
      -ENODEV);
  CHECK(strstr(f.log.message, "maxComputeSharedMemorySize") != NULL);
  CHECK_INT(daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, 1, &meta), 0);
  daedalus_choice choice;
  CHECK_INT(daedalus_batch_choice(batch, 0, &choice), 0);
  CHECK_STR(choice.variant, VARIANT(ADD, ADD_GPU_BYTE)->name);
  CHECK_INT(fixture_close(&f), 0);
}

/* --------------------------------------------------------------------------- self-test */

/* The device computes the first variant's self-test wrong: that one is not used, and it is said. */
static void test_self_test(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  stub_reset();
  fixture_open(&f, NULL);
  f.executor.spoil = 0;
  add_fill(&work, 1);
  memcpy(expected, work.plane, sizeof(expected));
  CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
  CHECK_INT(add_append(batch, &work, DAEDALUS_SUBSTRATE_QPU, 0, N_BLOCKS), 0);
  CHECK(f.executor.spoil < 0);
  CHECK_INT(f.log.n, 1);
  CHECK(strstr(f.log.message, VARIANT(ADD, ADD_GPU_WORD)->name) != NULL);
  for (size_t i = 0; i < daedalus_batch_choice_count(batch); i++) {
    daedalus_choice choice;
    CHECK_INT(daedalus_batch_choice(batch, i, &choice), 0);
    CHECK_STR(choice.variant, VARIANT(ADD, ADD_GPU_BYTE)->name);
  }
  CHECK_INT(daedalus_batch_submit(batch), 0);
  CHECK_INT(daedalus_batch_wait(batch, -1), 0);
  add_expect(&work, expected, 0, N_BLOCKS);
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  CHECK_INT(f.log.n, 1);
  CHECK_INT(fixture_close(&f), 0);
}

/* No variant passes: the append is refused, in place or not, each said once. */
static void test_no_variant_passes(void) {
  fixture f;
  daedalus_batch *batch = NULL;
  daedalus_memory *memory = NULL;
  daedalus_buffer buffers[2];
  stub_reset();
  fixture_open(&f, NULL);
  f.executor.spoil_all = true;
  add_fill(&work, 4);
  CHECK_INT(daedalus_memory_create(f.ctx, sizeof(work.plane), &memory), 0);
  for (int i = 0; i < 2; i++) {
    add_buffers(&work, i == 0 ? daedalus_memory_data(memory) : work.plane, 0, buffers);
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(
        daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_QPU, buffers, N_BLOCKS, work.meta),
        -ENODEV);
    CHECK_INT(daedalus_batch_choice_count(batch), 0);
    CHECK_INT(
        daedalus_append(batch, KERNEL(ADD), DAEDALUS_SUBSTRATE_CPU, buffers, N_BLOCKS, work.meta),
        0);
    CHECK_INT(daedalus_batch_submit(batch), 0);
    CHECK_INT(daedalus_batch_wait(batch, -1), 0);
    CHECK_INT(daedalus_append_variant(batch, KERNEL(ADD), VARIANT(ADD, ADD_GPU_BYTE), 0, buffers, 1,
                                      work.meta),
              -EALREADY);
    daedalus_batch_destroy(batch);
  }
  daedalus_memory_destroy(memory);
  CHECK(f.log.n >= 2);
  CHECK_INT(fixture_close(&f), 0);
}

/* Memory that a batch waits to use stays, on either substrate; memory beside it goes. */
static void test_memory_that_is_awaited(void) {
  static const daedalus_substrate substrates[] = {DAEDALUS_SUBSTRATE_CPU, DAEDALUS_SUBSTRATE_QPU};
  for (size_t i = 0; i < 4; i++) {
    fixture f;
    daedalus_memory *used, *other;
    daedalus_batch *batch;
    daedalus_buffer buffers[2];
    stub_reset();
    fixture_open(&f, NULL);
    add_fill(&work, 5);
    CHECK_INT(daedalus_memory_create(f.ctx, sizeof(work.plane), &used), 0);
    CHECK_INT(daedalus_memory_create(f.ctx, sizeof(work.plane), &other), 0);
    add_buffers(&work, daedalus_memory_data(used), 0, buffers);
    CHECK_INT(daedalus_batch_begin(f.ctx, &batch), 0);
    CHECK_INT(daedalus_append(batch, KERNEL(ADD), substrates[i % 2], buffers, N_BLOCKS, work.meta),
              0);
    CHECK_INT(daedalus_memory_destroy(used), -EBUSY);
    CHECK(strstr(f.log.message, "is not destroyed: a batch that is not submitted yet uses it") !=
          NULL);
    CHECK_INT(daedalus_memory_destroy(other), 0);
    if (i < 2) {
      CHECK_INT(daedalus_batch_submit(batch), 0); /* destroy waits for it */
      CHECK_INT(daedalus_memory_destroy(used), 0);
    } else {
      CHECK_INT(daedalus_batch_reset(batch), 0);
      CHECK_INT(daedalus_memory_destroy(used), 0);
    }
    daedalus_batch_destroy(batch);
    CHECK_INT(daedalus_memory_destroy(NULL), 0);
    CHECK_INT(fixture_close(&f), 0);
  }
}

/* ----------------------------------------------------------------------- pipeline cache */

static char folder[] = "/tmp/daedalus-cache-XXXXXX";

/* The one file in the folder; "" where there is none. */
static const char *cache_file(void) {
  static char path[512];
  path[0] = '\0';
  DIR *list = opendir(folder);
  CHECK(list != NULL);
  for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
    if (entry->d_name[0] != '.') {
      CHECK(path[0] == '\0');
      snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    }
  }
  if (list != NULL) {
    closedir(list);
  }
  return path;
}

/* A run with the cache; what the driver says was wrong with it is a misuse.  @return messages */
static int run_cached(void) {
  const daedalus_config config = {.cache_dir = folder};
  fixture f;
  fixture_open(&f, &config);
  add_fill(&work, 2);
  memcpy(expected, work.plane, sizeof(expected));
  CHECK_INT(add_run(f.ctx, &work), 0);
  add_expect(&work, expected, 0, N_BLOCKS);
  CHECK(memcmp(work.plane, expected, sizeof(expected)) == 0);
  const int messages = f.log.n;
  CHECK_INT(fixture_close(&f), 0);
  return messages;
}

static size_t read_file(const char *path, unsigned char *to, size_t most) {
  FILE *file = fopen(path, "rb");
  const size_t n = file != NULL ? fread(to, 1, most, file) : 0;
  if (file != NULL) {
    fclose(file);
  }
  return n;
}

static void write_file(const char *path, const unsigned char *from, size_t n) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(from, 1, n, file) == n);
  if (file != NULL) {
    fclose(file);
  }
}

static void test_pipeline_cache(void) {
  static unsigned char whole[65536], changed[65536];
  CHECK(mkdtemp(folder) != NULL);
  stub_reset();
  CHECK_INT(run_cached(), 0);
  char path[512];
  snprintf(path, sizeof(path), "%s", cache_file());
  const size_t n = read_file(path, whole, sizeof(whole));
  CHECK(n > 32);
  /* Kept, and used as it is. */
  stub_reset();
  CHECK_INT(run_cached(), 0);
  /* Cut off anywhere, or with any byte changed: as if there were none. */
  for (size_t cut = 0; cut < n; cut++) {
    write_file(path, whole, cut);
    stub_reset();
    (void)run_cached();
  }
  for (size_t at = 0; at < n; at++) {
    memcpy(changed, whole, n);
    changed[at] ^= 0x41;
    write_file(path, changed, n);
    stub_reset();
    (void)run_cached();
  }
  /* Longer than it was. */
  memcpy(changed, whole, n);
  memset(changed + n, 0, 100);
  write_file(path, changed, n + 100);
  stub_reset();
  (void)run_cached();
  /* A FIFO, which nobody writes to. */
  CHECK(remove(path) == 0 && mkfifo(path, 0600) == 0);
  stub_reset();
  (void)run_cached();
  /* It is mended on the way. */
  CHECK_INT(read_file(path, changed, sizeof(changed)), n);
  /* Another device's. */
  write_file(path, whole, n);
  stub_reset();
  stub.devices[0].device = 77;
  (void)run_cached();
  /* A folder that cannot be written, or is none. */
  const daedalus_config nowhere = {.cache_dir = "/proc/self/nothing/here"};
  fixture f;
  stub_reset();
  fixture_open(&f, &nowhere);
  add_fill(&work, 3);
  CHECK_INT(add_run(f.ctx, &work), 0);
  CHECK_INT(fixture_close(&f), 0);
  char command[600];
  snprintf(command, sizeof(command), "rm -r %s", folder);
  CHECK_INT(system(command), 0);
}

int main(void) {
  RUN(test_order_of_preference);
  RUN(test_wishes);
  RUN(test_routes);
  RUN(test_what_a_device_lacks);
  RUN(test_self_test);
  RUN(test_no_variant_passes);
  RUN(test_memory_that_is_awaited);
  RUN(test_pipeline_cache);
  return CHECK_RESULT();
}
