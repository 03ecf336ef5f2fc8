/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tuner on the simulated device, by DRM: run by daedalus-v3d-device, with a fault or without.
 *   test_tune_drm VERDICT REASON   what is to come of the variant
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sum.h"
#include "support.h"
#include "tune/json.h"

enum { DISTINCT = 40, WORDS = 8 };

static const tune_hash hashes[] = {{"daedalus_sum__qpu_full", "b1"},
                                   {"daedalus_sum__qpu_full_wrong", "b2"},
                                   {"daedalus_sum__qpu_full_carry", "b3"},
                                   {"daedalus_sum__qpu_full_four", "b4"},
                                   {NULL, NULL}};

static void put(FILE *file, const void *bytes, size_t n) {
  if (fwrite(bytes, 1, n, file) != n) {
    abort();
  }
}

static void write_items(const char *path, uint64_t seed) {
  static const uint32_t added[] = {0, 1, 1000, 0x10000}; /* by choice */
  static sum_meta metas[DISTINCT];
  static uint32_t given[DISTINCT][WORDS], source[DISTINCT][WORDS], left[DISTINCT][WORDS];
  uint32_t state = (uint32_t)seed;
  for (size_t i = 0; i < DISTINCT; i++) {
    metas[i].choice = (uint32_t)i % 4;
    for (size_t k = 0; k < WORDS; k++) {
      given[i][k] = state = state * 1664525u + 1013904223u;
      source[i][k] = state = state * 1664525u + 1013904223u;
      left[i][k] = given[i][k] + source[i][k] + added[metas[i].choice];
    }
  }
  char name[NAME_BYTES] = "sum";
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    abort();
  }
  put(file, "DAEDBEN2", 8);
  put(file, (const int64_t[]){1, (int64_t)seed}, 16);
  put(file, name, sizeof(name));
  put(file, (const int64_t[]){sizeof(metas[0]), DISTINCT, 2}, 24);
  put(file, metas, sizeof(metas));
  put(file, (const int64_t[]){2, 16, 0, 0, 1}, 40);
  put(file, given, sizeof(given));
  put(file, left, sizeof(left));
  put(file, (const int64_t[]){2, 16, 0, 0, 0}, 40);
  put(file, source, sizeof(source));
  if (fclose(file) != 0) {
    abort();
  }
}

int main(int argc, char **argv) {
  if (argc != 3) {
    return 2;
  }
  char line[LINE_BYTES], point[POINT_BYTES];
  const tune_world world = {.table = sum_table(), .hashes = hashes};
  const bool good = strcmp(argv[1], "ok") == 0;
  snprintf(point, sizeof(point), "%s/full/daedalus_sum__qpu_full/-/drm/0\n",
           world.table->kernels[0].id);
  support_begin();
  unsetenv("DAEDALUS_VULKAN_DEVICE");
  write_items("items-1", 1);
  write_items("items-2", 2);
  support_write("points", point);
  CHECK_INT(support_run(&world, "--points points"), good ? 0 : 1);
  CHECK_INT(support_count("journal", "\"type\":\"result\""), 1);
  support_find("journal", "\"type\":\"result\"", "", line);
  CHECK(json_fault(line, strlen(line)) == NULL);
  CHECK_STR(support_member(line, "verdict"), argv[1]);
  if (strstr(support_member(line, "reason"), argv[2]) == NULL) {
    fprintf(stderr, "reason \"%s\" is not about \"%s\"\n", support_member(line, "reason"), argv[2]);
    CHECK(false);
  }
  CHECK((support_member(line, "median")[0] != '\0') == good);
  CHECK((support_member(line, "empty")[0] != '\0') == good);
  support_find("journal", "\"type\":\"fingerprint\"", "", line);
  CHECK(strncmp(support_member(line, "driver"), "drm ", 4) == 0);
  return CHECK_RESULT();
}
