/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics, lines, points, fingerprints, jobs. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "check.h"
#include "support.h"
#include "tune/execute.h"
#include "tune/fingerprint.h"
#include "tune/guard.h"
#include "tune/job.h"
#include "tune/journal.h"
#include "tune/names.h"
#include "tune/samples.h"
#include "tune/work.h"
#include "variants.h"

/* ------------------------------------------------------------------------------- statistics */

/* n different samples 1..n in no order. */
static samples permuted(size_t n) {
  samples s = {0};
  for (size_t i = 0; i < n; i++) {
    samples_add(&s, (double)(i * 7 % n + 1)); /* n is no multiple of 7 */
  }
  return s;
}

/* Ranks of the 95 % interval of the median, as tables of the sign test have them. */
static void test_interval(void) {
  static const struct {
    size_t n;
    double low, high;
  } known[] = {{1, 1, 1},    {5, 1, 5},     {6, 1, 6},        {8, 1, 8},        {9, 2, 8},
               {10, 2, 9},   {15, 4, 12},   {20, 6, 15},      {25, 8, 18},      {30, 10, 21},
               {50, 18, 33}, {100, 40, 61}, {1000, 469, 532}, {2000, 956, 1045}};
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    samples s = permuted(known[i].n);
    const interval found = samples_median_interval(&s);
    CHECK_INT(found.low, known[i].low);
    CHECK_INT(found.high, known[i].high);
    samples_free(&s);
  }
}

static void test_median(void) {
  samples s = {0};
  static const double values[] = {5, 1, 4, 100};
  for (size_t i = 0; i < 4; i++) {
    samples_add(&s, values[i]);
  }
  CHECK(samples_quantile(&s, 0.5) == 4.5);
  CHECK(samples_mad(&s) == 2); /* of 0.5, 3.5, 0.5, 95.5 */
  samples_free(&s);
}

/* ------------------------------------------------------------------------------------ lines */

static void test_lines(void) {
  const uint64_t seeds[] = {1, 22};
  json_line line = json_open("result");
  json_text(&line, "reason", "a \"quoted\\\" \x01 \xc3\xa9 \xff,\"key\":\"no\"");
  json_text(&line, "key", "yes");
  json_number(&line, "median", 0.25);
  json_counts(&line, "seeds", seeds, 2);
  json_truth(&line, "modelled", false);
  json_close(&line);
  CHECK_STR(line.text,
            "{\"v\":1,\"type\":\"result\",\"reason\":\"a \\\"quoted\\\\\\\" \\u0001 \xc3\xa9 "
            "\\ufffd,\\\"key\\\":\\\"no\\\"\",\"key\":\"yes\",\"median\":0.250000,\"seeds\":[1,22],"
            "\"modelled\":false,\"sum\":\"0531a4f3b0e5b8a3\"}");
  CHECK_STR(support_member(line.text, "key"), "yes");
  CHECK_STR(support_member(line.text, "type"), "result");
  CHECK_STR(support_member(line.text, "modelled"), "false");
  CHECK_STR(support_member(line.text, "none"), "");
  CHECK(json_fault(line.text, line.size) == NULL);
  for (size_t n = 0; n < line.size; n++) {
    CHECK(json_fault(line.text, n) != NULL);
  }
  for (size_t i = 0; i < line.size; i++) {
    line.text[i] ^= 4;
    CHECK(json_fault(line.text, line.size) != NULL);
    line.text[i] ^= 4;
  }
  json_free(&line);
}

static void test_hash(void) {
  char id[ID_BYTES];
  journal_hash(id, (const char *const[]){"foo", "bar", NULL});
  CHECK_STR(id, "85944171f73967e8"); /* FNV-1a's published value of "foobar" */
}

/* ----------------------------------------------------------------------------------- points */

static void test_points(void) {
  const tune_world *world = fake_world();
  const char *own = point_own_compiler();
  const char *good = fake_point("good_07");
  char why[WHY_BYTES];
  tune_point p;
  CHECK(point_parse(world->table, own, good, &p, why));
  CHECK_STR(p.text, good);
  CHECK_STR(p.variant->name, "daedalus_fake_add__c_good_07");
  static const char *const bad[][2] = {
      {"", "it is not kernel/"},
      {"fake_add/full", "it is not kernel/"},
      {"fake_sub/full/x/gcc/-/0", "there is no kernel fake_sub"},
      {"fake_add/most/daedalus_fake_add__c_good_07/gcc/-/0", "fake_add has no class most"},
      {"fake_add/full/daedalus_fake_add__c_none/gcc/-/0", "fake_add has no variant"},
      {"fake_add/full/daedalus_fake_add__c_good_07/gcc/-/x", "workgroup x is no number"},
      {"fake_add/full/daedalus_fake_add__c_good_07/-/drm/0", "here that variant is fake_add/full"},
      {"fake_add/full/daedalus_fake_add__c_good_07/gcc/-/00", "here that variant is fake_add/full"},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    CHECK(!point_parse(world->table, "gcc", bad[i][0], &p, why));
    CHECK(strncmp(why, bad[i][1], strlen(bad[i][1])) == 0);
  }
}

/* Short names, of the ids and the aliases that there are. */
static void test_names(void) {
  static const char *const ids[] = {"h264_idct4",   "h264_idct8",   "h264_qpel_mc20", "vp9_idct8",
                                    "vp9_idct8_10", "vp9_lpf4_h",   "vp9_lpf4_v",     "vp9_lpf8_h",
                                    "vp9_mc_8h",    "vp9_mc_8h_avg"};
  enum { N_IDS = sizeof(ids) / sizeof(ids[0]) };
  static const daedalus_alias aliases[] = {{"vp9_lpf4", 5}, {"vp9_lpf8", 7}};
  static const char *const known[][2] = {
      {"mc", "vp9_mc_8h"},        {"lpf4", "vp9_lpf4_h"},         {"vp9_lpf4", "vp9_lpf4_h"},
      {"lpf4_v", "vp9_lpf4_v"},   {"mc_8h_avg", "vp9_mc_8h_avg"}, {"mc20", "h264_qpel_mc20"},
      {"vp9_idct8", "vp9_idct8"}, {"idct4", "h264_idct4"},        {"lpf8_h", "vp9_lpf8_h"}};
  static const char *const unknown[][2] = {
      {"idct8", "in the names of several kernels: h264_idct8 vp9_idct8 vp9_idct8_10"},
      {"vp9", "several kernels"},
      {"lp", "no word of a kernel's name"},
      {"", "no word"},
      {"_", "no word"}};
  daedalus_kernel_desc kernels[N_IDS] = {{0}};
  for (size_t i = 0; i < N_IDS; i++) {
    kernels[i].id = ids[i];
  }
  const daedalus_kernel_table table = {
      .kernels = kernels, .n_kernels = N_IDS, .aliases = aliases, .n_aliases = 2};
  char why[WHY_BYTES];
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    const daedalus_kernel_desc *found = names_kernel(&table, known[i][0], why);
    CHECK_STR(found != NULL ? found->id : why, known[i][1]);
  }
  for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
    CHECK(names_kernel(&table, unknown[i][0], why) == NULL);
    CHECK(strstr(why, unknown[i][1]) != NULL);
  }
}

/* --------------------------------------------------------------------------------- machines */

static void test_fingerprint(void) {
  const tune_world *world = fake_world();
  const tune_setup setup = {.world = world, .sysfs = "board"};
  support_write("board/firmware/devicetree/base/model", "Raspberry Pi 5  Model B\tRev 1.0\n");
  support_write("board/devices/system/cpu/cpu0/cpufreq/scaling_governor", "ondemand\n");
  support_write("board/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2400000\n");
  support_write("board/devices/system/cpu/cpu1/cpufreq/scaling_governor", "ondemand\n");
  support_write("board/devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "2400000\n");
  support_write("board/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
  support_write("board/devices/system/cpu/cpu2/cpufreq/scaling_max_freq", "2800000\n");
  const tune_fingerprint f = fingerprint_take(&setup, "", "clang 19.1", NULL);
  CHECK_STR(f.soc, "Raspberry Pi 5 Model B Rev 1.0");
  CHECK_STR(f.driver, "-");
  CHECK_STR(f.compiler, "clang 19.1");
  CHECK_STR(f.generator, "0123456789abcdef");
  CHECK_STR(f.clocks, "ondemand 2400000 kHz, performance 2800000 kHz");
  const tune_fingerprint other = fingerprint_take(&setup, "v3d", "clang 19.1", NULL);
  CHECK(strcmp(f.id, other.id) != 0);
  char text[2048], id[ID_BYTES];
  snprintf(text, sizeof(text),
           "soc=%s\nrevision=%s\nkernel=%s\ndriver=-\ncompiler=clang 19.1\n"
           "generator=0123456789abcdef\nclocks=%s\n",
           f.soc, f.revision, f.kernel, f.clocks);
  journal_hash(id, (const char *const[]){text, NULL});
  CHECK_STR(f.id, id);
}

/* Sticky flags count when they appear, and not for ever. */
static void test_flags(void) {
  static const char path[] = "pi/devices/platform/soc/soc:firmware/get_throttled";
  char why[GUARD_WHY];
  tune_guard guard;
  support_write(path, "50000\n"); /* happened before */
  guard_open(&guard, "pi");
  CHECK(!guard_look(&guard, why));
  support_write(path, "70000\n"); /* the clock was capped, and is not now */
  CHECK(guard_look(&guard, why));
  CHECK_STR(why, "the firmware's throttle flags are 0x70000");
  CHECK(guard_look(&guard, why)); /* at the look before it was */
  CHECK(!guard_look(&guard, why));
  support_write(path, "70002\n");
  CHECK(guard_look(&guard, why));
  support_write(path, "70000\n");
  CHECK(guard_look(&guard, why));
  CHECK(!guard_look(&guard, why));
}

/* --------------------------------------------------------------------------------- memory */

static void test_guards(void) {
  const tune_world *world = fake_world();
  sample_file file = read_samples("items-1", world->table);
  workload w;
  char why[WHY_BYTES];
  CHECK_INT(file.seed, 1);
  CHECK(work_make(&w, &file.kernels[0], -1, ITEMS));
  w.margin = 64;
  CHECK(work_place(&w, NULL, false));
  CHECK(!work_intact(&w, why, sizeof(why))); /* nothing was done yet */
  memcpy(w.buffers[0].data, w.buffers[0].expected, w.buffers[0].bytes);
  CHECK(work_intact(&w, why, sizeof(why)));
  for (size_t b = 0; b < 2; b++) {
    const long n = (long)w.buffers[b].bytes, places[] = {-64, -1, 0, n / 2, n - 1, n, n + 63};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
      w.buffers[b].data[places[i]] ^= 0x10;
      CHECK(!work_intact(&w, why, sizeof(why)));
      w.buffers[b].data[places[i]] ^= 0x10;
    }
  }
  CHECK(work_intact(&w, why, sizeof(why)));
  work_free(&w);
  free_samples(&file);
}

/* ------------------------------------------------------------------------------- jobs of M4 */

/* A while of the CPU alone may be longer than a step may take: it is not one step. */
static void test_steps_of_a_while(void) {
  const tune_world *world = fake_world();
  sample_file file = read_samples("items-1", world->table);
  const tune_setup setup = {.world = world, .files = &file, .n_files = 1, .items = ITEMS};
  tune_point point;
  child_watch watch = {0};
  job j;
  char why[WHY_BYTES];
  cpu_set_t set;
  int core = 0;
  CHECK_INT(sched_getaffinity(0, sizeof(set), &set), 0);
  while (!CPU_ISSET(core, &set)) {
    core++;
  }
  CHECK(point_parse(world->table, point_own_compiler(), fake_point("slow_0"), &point, why));
  CHECK(job_open(&j, &setup, &watch, &point, core));
  CHECK(job_copy(&j, 1000 / SLOW_MS + 10)); /* one a call, of which none is faster */
  job_part part = {.watch = &watch, .seconds = 1};
  j.part = &part;
  pthread_barrier_init(&part.start, NULL, 1);
  double longest = 0;
  const double began = now_ns();
  child_step(&watch, 0);
  CHECK_INT(pthread_create(&j.thread, NULL, job_work, &j), 0);
  while (pthread_tryjoin_np(j.thread, NULL) != 0) {
    const struct timespec pause = {.tv_nsec = 5000000};
    const double age = now_ns() - (double)atomic_load(&watch.began_ns);
    longest = age > longest ? age : longest;
    nanosleep(&pause, NULL);
  }
  CHECK_INT(j.verdict, TUNE_OK);
  CHECK(j.items > 0 && now_ns() - began >= 1e9);
  CHECK(longest < 0.5e9);
  pthread_barrier_destroy(&part.start);
  job_close(&j);
  free_samples(&file);
}

/* ---------------------------------------------------------------------- files that could block */

/* A FIFO that nobody writes to, and a folder, are refused where a file is read. */
static void test_special_files(void) {
  static const char *const options[] = {"--journal", "--data", "--points"};
  CHECK_INT(mkfifo("fifo", 0600), 0);
  for (size_t i = 0; i < 3; i++) {
    for (size_t k = 0; k < 2; k++) {
      char arguments[64];
      snprintf(arguments, sizeof(arguments), "%s %s", options[i], k == 0 ? "fifo" : "/");
      CHECK_INT(support_run(fake_world(), arguments), 2);
    }
  }
  CHECK_INT(remove("fifo"), 0); /* and it is still there */
}

/* -------------------------------------------------------------------------------- messages */

/* Why a run failed is told by an error, whatever was logged since. */
static void test_runner_keeps_errors(void) {
  tune_runner runner = {0};
  runner_log(&runner, DAEDALUS_LOG_ERROR, "the first");
  runner_log(&runner, DAEDALUS_LOG_ERROR, "the second");
  runner_log(&runner, DAEDALUS_LOG_WARNING, "a warning");
  runner_log(&runner, DAEDALUS_LOG_INFO, "news");
  CHECK_INT(runner.errors, 2);
  CHECK_STR(runner.said, "the second");
}

int main(void) {
  support_begin();
  RUN(test_interval);
  RUN(test_median);
  RUN(test_lines);
  RUN(test_hash);
  RUN(test_points);
  RUN(test_names);
  RUN(test_fingerprint);
  RUN(test_flags);
  RUN(test_guards);
  RUN(test_steps_of_a_while);
  RUN(test_special_files);
  RUN(test_runner_keeps_errors);
  return CHECK_RESULT();
}
