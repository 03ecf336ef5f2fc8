/* SPDX-License-Identifier: BSD-2-Clause */
/* Killed at any moment the tuner loses at most what it is at, and goes on where it was. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "support.h"
#include "tune/json.h"
#include "variants.h"

enum { MOST_KILLS = 400 };

static const tune_world *world;
static const char arguments[] = "--points points --group 1 --samples 3 --point-seconds 0.001";

static void write_points(void) {
  char text[GOOD_VARIANTS * POINT_BYTES] = "", name[16];
  for (int i = 0; i < GOOD_VARIANTS; i++) {
    snprintf(name, sizeof(name), "good_%02d", i);
    strcat(strcat(text, fake_point(name)), "\n");
  }
  support_write("points", text);
}

/* Every line is whole but for the last, which may end anywhere. */
static void check_lines(void) {
  char line[LINE_BYTES];
  FILE *file = fopen("journal", "r");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    const size_t n = strcspn(line, "\n");
    CHECK(line[n] == '\0' || n == 0 || json_fault(line, n) == NULL);
  }
  if (file != NULL) {
    fclose(file);
  }
}

static void check_complete(void) {
  char name[16], point[POINT_BYTES];
  for (int i = 0; i < GOOD_VARIANTS; i++) {
    snprintf(name, sizeof(name), "good_%02d", i);
    snprintf(point, sizeof(point), "\"point\":\"%s\"", fake_point(name));
    CHECK_INT(support_count("journal", point), 1); /* none lost, none measured twice */
  }
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), GOOD_VARIANTS);
  CHECK_INT(support_count("journal", "\"type\":\"fingerprint\""), 1);
}

static void test_kills(void) {
  unsigned kills = 0, before = 0, useful = 0, in_vain = 0;
  uint32_t state = 1;
  long longest = 60000000; /* ns; more where this is too little for anything */
  remove("journal");
  while (support_count("journal", "\"type\":\"result\"") < GOOD_VARIANTS && kills < MOST_KILLS) {
    state = state * 1664525u + 1013904223u;
    const int process = support_start(world, arguments, NULL);
    const struct timespec moment = {.tv_nsec =
                                        (long)((double)(state >> 8) / 0x1000000 * (double)longest)};
    nanosleep(&moment, NULL);
    kill((pid_t)process, SIGKILL);
    (void)support_wait(process);
    kills++;
    check_lines();
    const unsigned now = support_count("journal", "\"type\":\"result\"");
    CHECK(now >= before);
    useful += now > before;
    in_vain = now > before ? 0 : in_vain + 1;
    if (in_vain == 8 && longest < 900000000) {
      longest += longest / 2;
      in_vain = 0;
    }
    before = now;
  }
  printf("%u kills, %u of them after a result\n", kills, useful);
  CHECK(useful >= 2);
  CHECK_INT(support_run(world, arguments), 0);
  check_lines();
  check_complete();
}

/* What others left in the file: torn, changed, foreign; all of it stays. */
static void test_broken_lines(void) {
  char first[LINE_BYTES], changed[LINE_BYTES];
  remove("journal");
  CHECK_INT(support_run(world, arguments), 0);
  support_find("journal", "good_05", "", first);
  strcpy(changed, first);
  *strstr(changed, "ok") = 'O';
  FILE *file = fopen("journal", "w");
  CHECK(file != NULL);
  fprintf(file, "%s\nnot a line of ours\n{\"v\":2,\"type\":\"result\"}\n%.40s", changed, first);
  fclose(file);
  CHECK_INT(support_run(world, arguments), 0);
  CHECK_INT(support_count("journal", "not a line of ours"), 1);
  CHECK_INT(support_count("journal", "\"v\":2"), 1);
  CHECK_INT(support_count("journal", changed), 1);
  support_find("journal", "\"type\":\"fingerprint\"", "", first); /* written behind the torn one */
  CHECK(json_fault(first, strlen(first)) == NULL);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), GOOD_VARIANTS);
}

int main(void) {
  world = fake_world();
  support_begin();
  write_points();
  RUN(test_kills);
  RUN(test_broken_lines);
  return CHECK_RESULT();
}
