/* SPDX-License-Identifier: BSD-2-Clause */
/* Killed at any moment the tuner loses at most what it is at, and goes on where it was. */
#define _POSIX_C_SOURCE 200809L
#include <glob.h>
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
static const char arguments[] = "--points points --group 1 --point-seconds 0.001";

static void write_points(void) {
  char text[GOOD_VARIANTS * POINT_BYTES] = "", name[24];
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
  char name[24], point[POINT_BYTES];
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

/* ------------------------------------------------------------------------- within a group */

static const char together[] = "--points slow-points --group 8 --point-seconds 0.001";

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_slow_points(void) {
  char text[SLOW_VARIANTS * POINT_BYTES] = "", name[24];
  for (int i = 0; i < SLOW_VARIANTS; i++) {
    snprintf(name, sizeof(name), "slow_%d", i);
    strcat(strcat(text, fake_point(name)), "\n");
  }
  support_write("slow-points", text);
}

/* Samples that are kept of points without a result; 0 where there is no file of them. */
static unsigned kept_samples(void) {
  glob_t found;
  unsigned n = 0;
  if (glob("journal.*.samples", 0, NULL, &found) == 0) {
    CHECK_INT(found.gl_pathc, 1);
    n = support_count(found.gl_pathv[0], "\"type\":\"sample\"");
  }
  globfree(&found);
  return n;
}

/* As nothing was ever measured. */
static void forget_all(void) {
  glob_t found;
  remove("journal");
  if (glob("journal.*.samples", 0, NULL, &found) == 0) {
    remove(found.gl_pathv[0]);
  }
  globfree(&found);
}

/* Points that are measured in turns: no process lives long enough to do all that they take. */
static void test_kills_in_a_group(void) {
  unsigned kills = 0, before = 0, most = 0;
  uint32_t state = 7;
  write_slow_points();
  forget_all();
  const double began = seconds_now();
  CHECK_INT(support_run(world, together), 0);
  const double whole = seconds_now() - began;
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), SLOW_VARIANTS);
  CHECK_INT(kept_samples(), 0);
  remove("journal");
  while (support_count("journal", "\"type\":\"result\"") < SLOW_VARIANTS && kills < 100) {
    state = state * 1664525u + 1013904223u;
    const double share = (double)(state >> 8) / 0x1000000, s = (0.2 + 0.45 * share) * whole;
    const int process = support_start(world, together, NULL);
    const struct timespec moment = {.tv_sec = (time_t)s,
                                    .tv_nsec = (long)(1e9 * (s - (double)(time_t)s))};
    nanosleep(&moment, NULL);
    kill((pid_t)process, SIGKILL);
    (void)support_wait(process);
    kills++;
    check_lines();
    const unsigned n = support_count("journal", "\"type\":\"result\"");
    CHECK(kept_samples() >= before || n == SLOW_VARIANTS); /* what was kept stays so */
    before = kept_samples();
    most = before > most ? before : most;
  }
  printf("%u kills in a group, %u samples kept by then\n", kills, most);
  CHECK(kills >= 2 && kills < 100);
  CHECK(most >= SLOW_VARIANTS);
  CHECK_INT(support_run(world, together), 0);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), SLOW_VARIANTS);
  CHECK_INT(kept_samples(), 0);
  CHECK_INT(support_count("journal", "\"samples\":1"), SLOW_VARIANTS); /* ten and some */
}

/* The file's name of samples of the machine that a result is of. */
static void samples_name(const char *line, char *name, size_t size) {
  snprintf(name, size, "journal.%s.samples", support_member(line, "fingerprint"));
}

/* A line of samples that was torn costs that sample alone; those of other code are none. */
static void test_foreign_samples(void) {
  char name[128], line[LINE_BYTES];
  forget_all();
  CHECK_INT(support_run(world, together), 0);
  support_find("journal", "slow_3", "", line);
  samples_name(line, name, sizeof(name));
  json_line sample = json_open("sample");
  json_text(&sample, "key", support_member(line, "key"));
  json_number(&sample, "seconds", 1);
  json_number(&sample, "wall", 1e12); /* the result says whether it was taken up */
  json_close(&sample);
  FILE *file = fopen(name, "w");
  CHECK(file != NULL);
  fprintf(file, "%s\n%.30s\nnonsense\n%s", sample.text, sample.text, sample.text);
  fclose(file);
  json_free(&sample);
  remove("journal");
  CHECK_INT(support_run(world, together), 0);
  support_find("journal", "slow_3", "", line);
  CHECK(atof(support_member(line, "mad")) < 1e9 && atof(support_member(line, "seconds")) > 1);
  CHECK_INT(atoi(support_member(line, "samples")), 10); /* nine of its own */
  CHECK_INT(kept_samples(), 0);
}

/* Samples of points that are not asked for now stay; what was throttled once is nothing, and what
   the group has left goes. */
static void test_samples_of_others(void) {
  static const char other[] = "0123456789abcdef";
  char name[128], line[LINE_BYTES];
  forget_all();
  CHECK_INT(support_run(world, together), 0);
  support_find("journal", "slow_3", "", line);
  samples_name(line, name, sizeof(name));
  FILE *file = fopen(name, "w");
  CHECK(file != NULL);
  for (int i = 0; i < 40; i++) {
    json_line sample = json_open("sample");
    json_text(&sample, "key", i == 0 ? other : support_member(line, "key"));
    json_number(&sample, "seconds", 1);
    if (i == 0) {
      json_number(&sample, "wall", 1000);
    } else {
      json_truth(&sample, "discarded", true); /* as earlier programs wrote it */
    }
    json_close(&sample);
    fprintf(file, "%s\n", sample.text);
    json_free(&sample);
  }
  fclose(file);
  for (int again = 0; again < 2; again++) {
    remove("journal");
    CHECK_INT(support_run(world, together), 0);
    CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), SLOW_VARIANTS);
    support_find("journal", "slow_3", "", line);
    CHECK_INT(atoi(support_member(line, "discarded")), 0);
    CHECK(atof(support_member(line, "seconds")) < 1);
    CHECK_INT(kept_samples(), 1);
    CHECK_INT(support_count(name, other), 1);
  }
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
  RUN(test_kills_in_a_group);
  RUN(test_foreign_samples);
  RUN(test_samples_of_others);
  RUN(test_broken_lines);
  return CHECK_RESULT();
}
