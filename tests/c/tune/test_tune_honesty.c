/* SPDX-License-Identifier: BSD-2-Clause */
/* Variants that misbehave get a verdict with a reason and no time; those beside them get theirs. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "support.h"
#include "tune/engine.h"
#include "tune/json.h"
#include "variants.h"

static const tune_world *world;

/* Measures points named with blanks between; an empty journal. */
static int measure_points(const char *names, const char *options) {
  char text[8192] = "", copy[1024], arguments[1024];
  strcpy(copy, names);
  for (char *name = strtok(copy, " "); name != NULL; name = strtok(NULL, " ")) {
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", fake_point(name));
  }
  support_write("points", text);
  remove("journal");
  snprintf(arguments, sizeof(arguments), "--points points %s", options);
  return support_run(world, arguments);
}

/* The result of a point, which is to be there once and to be whole. */
static const char *result_of(const char *name) {
  static char line[LINE_BYTES];
  char point[POINT_BYTES];
  snprintf(point, sizeof(point), "\"point\":\"%s\"", fake_point(name));
  support_find("journal", point, "\"type\":\"result\"", line);
  CHECK_INT(support_count("journal", point), 1);
  CHECK(line[0] != '\0' && json_fault(line, strlen(line)) == NULL);
  return line;
}

static void check_no_times(const char *line) {
  static const char *const figures[] = {"median", "mad", "low", "high", "empty", "cpu", "gpu"};
  for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
    CHECK_STR(support_member(line, figures[i]), "");
  }
  CHECK_STR(support_member(line, "samples"), "0");
}

static void check_rejected(const char *name, const char *verdict, const char *reason) {
  const char *line = result_of(name);
  CHECK_STR(support_member(line, "verdict"), verdict);
  if (strstr(support_member(line, "reason"), reason) == NULL) {
    fprintf(stderr, "%s: reason \"%s\" is not about \"%s\"\n", name, support_member(line, "reason"),
            reason);
    CHECK(false);
  }
  check_no_times(line);
}

static void check_good(const char *name, unsigned samples) {
  const char *line = result_of(name);
  CHECK_STR(support_member(line, "verdict"), "ok");
  CHECK_STR(support_member(line, "reason"), "");
  const double median = atof(support_member(line, "median"));
  CHECK(median > 0);
  CHECK(atof(support_member(line, "low")) <= median);
  CHECK(atof(support_member(line, "high")) >= median);
  CHECK((unsigned)atoi(support_member(line, "samples")) >= samples);
  CHECK(atof(support_member(line, "empty")) > 0);
  CHECK_STR(support_member(line, "verified_before"), "true");
  CHECK_STR(support_member(line, "verified_after"), "true");
  CHECK_STR(support_member(line, "seeds"), "[1");
}

static void test_good(void) {
  CHECK_INT(measure_points("good_00 good_01 good_02", "--samples 12"), 0);
  check_good("good_00", 12);
  check_good("good_01", 12);
  check_good("good_02", 12);
  CHECK_INT(support_count("journal", "\"type\":\"fingerprint\""), 1);
  CHECK_INT(support_count("journal", "\"seeds\":[1,2]"), 3);
  CHECK_INT(support_count("journal", "\"ended\":\"done\""), 1);
}

static void test_wrong(void) {
  CHECK_INT(measure_points("good_00 wrong good_01 idle", ""), 1);
  check_good("good_00", 10);
  check_good("good_01", 10);
  check_rejected("wrong", "wrong", "before it was timed, seed 1: output dst: byte ");
  check_rejected("idle", "wrong", "before it was timed, seed 1: output dst: byte ");
}

static void test_wrong_when_timed(void) {
  CHECK_INT(measure_points("good_00 later", ""), 1);
  check_good("good_00", 10);
  check_rejected("later", "wrong", "in the run that was timed: output dst: byte ");
  CHECK_STR(support_member(result_of("later"), "verified_before"), "true");
  CHECK_STR(support_member(result_of("later"), "verified_after"), "false");
}

static void test_stray(void) {
  CHECK_INT(measure_points("stray spoils good_00", ""), 1);
  check_rejected("stray", "wrong", "it wrote before buffer src");
  check_rejected("spoils", "wrong", "input src: byte 0 of ");
  check_good("good_00", 10); /* on memory that the others spoilt */
}

static void test_crash(void) {
  CHECK_INT(measure_points("good_00 crash crash_later leaves good_01", ""), 1);
  check_good("good_00", 10);
  check_good("good_01", 10);
  check_rejected("crash", "failed", "killed by SIGSEGV");
  check_rejected("crash_later", "failed", "killed by SIGILL");
  check_rejected("leaves", "failed", "it ended the process with status 7");
}

static void test_hang(void) {
  CHECK_INT(measure_points("good_00 hang good_01", "--timeout 1.5"), 1);
  check_good("good_00", 10);
  check_good("good_01", 10);
  check_rejected("hang", "timeout", "it was not done in 1.5 s");
}

/* Of what ends without a word, or does not end: neither waits for ever. */
static void test_ends(void) {
  const time_t began = time(NULL);
  CHECK_INT(measure_points("good_00 forks good_01 stuck", "--timeout 60"), 1);
  CHECK(time(NULL) - began < 30);
  check_good("good_00", 10);
  check_good("good_01", 10);
  check_rejected("forks", "failed", "it ended the process with status 7");
  check_rejected("stuck", "failed", "had closed all, and did not end in 3 s");
}

/* What was not to be had is tried again. */
static void test_unavailable(void) {
  fake_no_memory = true;
  CHECK_INT(measure_points("killed good_00", ""), 0);
  check_rejected("killed", "unavailable", "killed by SIGKILL");
  check_good("good_00", 10);
  fake_no_memory = false;
  CHECK_INT(support_run(world, "--points points"), 0);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), 2);
  CHECK_INT(measure_points("good_00", "--core 1023"), 0);
  check_rejected("good_00", "unavailable", "this process cannot run on core 1023");
  CHECK_INT(support_run(world, "--points points"), 0);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), 1);
}

static void test_refused(void) {
  /* The text names a compiler that this program is not of. */
  char text[POINT_BYTES];
  snprintf(text, sizeof(text), "%s", fake_point("good_00"));
  char *compiler = strstr(text, point_own_compiler());
  compiler[0] = 'x';
  support_write("points", text);
  remove("journal");
  CHECK_INT(support_run(world, "--points points"), 2);
  CHECK_INT(support_count("journal", "\"type\":\"result\""), 0);
}

/* ------------------------------------------------------------------------------ throttling */

static const char flags[] = "sys/devices/platform/soc@0/soc@0:firmware/get_throttled";

static void test_throttled_samples(void) {
  support_write(flags, "0\n");
  CHECK(getcwd(fake_flags, sizeof(fake_flags) - sizeof(flags) - 1) != NULL);
  strcat(strcat(fake_flags, "/"), flags);
  CHECK_INT(measure_points("throttled good_00", "--sysfs sys"), 0);
  check_good("throttled", 10);
  check_good("good_00", 10);
  /* The slow rounds, and the one after, which began throttled. */
  enum { SLOW = THROTTLED_LAST - THROTTLED_FIRST + 1 };
  CHECK_INT(atoi(support_member(result_of("throttled"), "discarded")), SLOW + 1);
  CHECK_INT(atoi(support_member(result_of("good_00"), "discarded")), SLOW + 1);
  CHECK(atof(support_member(result_of("throttled"), "high")) < 20e6 / ITEMS);
}

/* A pause that is longer than what a run may take is none that hangs. */
static void test_long_pauses(void) {
  support_write(flags, "0\n");
  CHECK_INT(measure_points("throttled", "--sysfs sys --timeout 0.3 --cool-down 0.4"), 0);
  check_good("throttled", 10);
  CHECK(atoi(support_member(result_of("throttled"), "discarded")) > 0);
}

static void test_throttled_always(void) {
  support_write(flags, "50005\n");
  CHECK_INT(measure_points("good_00", "--sysfs sys"), 0);
  check_rejected("good_00", "throttled", "the firmware's throttle flags are 0x50005");
  CHECK(atoi(support_member(result_of("good_00"), "discarded")) >= 10);
  /* What was throttled is measured again. */
  support_write(flags, "0\n");
  CHECK_INT(support_run(world, "--points points --sysfs sys"), 0);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), 1);
}

static void test_hot(void) {
  support_write(flags, "0\n");
  support_write("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
  support_write("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical\n");
  support_write("sys/class/thermal/thermal_zone0/trip_point_0_temp", "60000\n");
  support_write("sys/class/thermal/thermal_zone0/trip_point_1_type", "passive\n");
  support_write("sys/class/thermal/thermal_zone0/trip_point_1_temp", "85000\n");
  support_write("sys/class/thermal/thermal_zone0/temp", "85500\n");
  CHECK_INT(measure_points("good_00", "--sysfs sys"), 0);
  check_rejected("good_00", "throttled", "thermal zone 0 was at 85.5 C, its passive limit is 85.0");
  support_write("sys/class/thermal/thermal_zone0/temp", "61000\n");
  CHECK_INT(measure_points("good_00", "--sysfs sys"), 0);
  check_good("good_00", 10);
}

static void test_slow_clock(void) {
  support_write("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "cpufreq-dt\n");
  support_write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  support_write("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2400000\n");
  support_write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1500000\n");
  CHECK_INT(measure_points("good_00", "--sysfs sys"), 0);
  check_rejected("good_00", "throttled", "core 0 ran at 1500000 of 2400000 kHz");
  support_write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n");
  CHECK_INT(measure_points("good_00", "--sysfs sys"), 0);
  check_good("good_00", 10);
  char line[LINE_BYTES];
  support_find("journal", "\"type\":\"fingerprint\"", "", line);
  CHECK_STR(support_member(line, "clocks"), "performance 2400000 kHz");
}

/* ---------------------------------------------------------------------------------- driving */

static void test_driven(void) {
  char text[4 * POINT_BYTES], line[LINE_BYTES];
  snprintf(text, sizeof(text), "%s %s\nnonsense\n%s\n", fake_point("good_03"), fake_point("crash"),
           fake_point("good_03"));
  support_write("input", text);
  remove("journal");
  CHECK_INT(support_wait(support_start(world, "--points -", "input")), 1);
  CHECK_INT(support_count("journal", "\"type\":\"result\""), 2);
  CHECK_INT(support_count("output", "\"type\":\"result\""), 3); /* the repeated one from the file */
  CHECK_INT(support_count("output", "\"type\":\"refused\",\"point\":\"nonsense\""), 1);
  CHECK_INT(support_count("output", "\"v\":1"), 4); /* nothing but answers */
  support_find("output", "good_03", "", line);
  CHECK_INT(support_count("journal", line), 1);
}

static void test_resume(void) {
  CHECK_INT(measure_points("good_00 wrong hang good_01", "--timeout 1.5"), 1);
  CHECK_INT(support_count("journal", "\"type\":\"result\""), 4);
  CHECK_INT(support_run(world, "--points points --timeout 1.5"), 1); /* the hang again */
  CHECK_INT(support_count("journal", "\"type\":\"result\""), 5);
  CHECK_INT(support_count("journal", "\"verdict\":\"timeout\""), 2);
  /* Another fingerprint: nothing of the above holds. */
  CHECK_INT(support_run(world, "--points points --timeout 1.5 --generator fedcba9876543210"), 1);
  CHECK_INT(support_count("journal", "\"type\":\"result\""), 9);
  CHECK_INT(support_count("journal", "\"type\":\"fingerprint\""), 2);
}

static double of_last_result(const char *member) {
  char line[LINE_BYTES];
  support_find("journal", "\"verdict\":\"ok\"", "", line);
  return strtod(support_member(line, member), NULL);
}

static void run_terms(const char *terms, unsigned results) {
  char arguments[128];
  snprintf(arguments, sizeof(arguments), "--points points %s", terms);
  CHECK_INT(support_run(world, arguments), 0);
  CHECK_INT(support_count("journal", "\"verdict\":\"ok\""), results);
}

/* A time that was taken in haste does for a run in haste, and for no other. How long a run takes
   is the machine's affair, so terms are set by what the last one did. */
static void test_terms(void) {
  char terms[96];
  (void)measure_points("", "");
  support_write("points", fake_point("uneven"));
  remove("journal");
  run_terms("--precision 0 --point-seconds 0.01", 1);
  run_terms("--precision 0 --point-seconds 0.01", 1);
  snprintf(terms, sizeof(terms), "--precision 0 --point-seconds %.6f",
           2 * of_last_result("seconds") + 0.3);
  run_terms(terms, 2);
  snprintf(terms, sizeof(terms), "--precision 0 --point-seconds %.6f",
           0.9 * of_last_result("seconds"));
  run_terms(terms, 2);
  snprintf(terms, sizeof(terms), "--precision 0 --point-seconds 0.01 --samples %.0f",
           of_last_result("samples") + 1);
  run_terms(terms, 3);
  run_terms("--precision 1 --point-seconds 9", 3);
  run_terms("--precision 1 --samples 20", 3);
  CHECK_INT(support_run(world, "--points points --samples 9"), 2);
}

/* What nohup has it ignore it does not end of. */
static void test_hang_up(void) {
  static const struct timespec moment = {.tv_nsec = 10000000};
  char text[2 * POINT_BYTES];
  snprintf(text, sizeof(text), "%s\n%s\n", fake_point("good_00"), fake_point("slow_0"));
  support_write("points", text);
  for (int ignored = 0; ignored < 2; ignored++) {
    remove("journal");
    signal(SIGHUP, ignored ? SIG_IGN : SIG_DFL);
    const int process = support_start(world, "--points points --group 1", NULL);
    for (int i = 0; i < 1000 && support_count("journal", "\"type\":\"result\"") == 0; i++) {
      nanosleep(&moment, NULL);
    }
    kill((pid_t)process, SIGHUP);
    CHECK_INT(support_wait(process), ignored ? 0 : 130);
    CHECK_INT(support_count("journal", "\"type\":\"result\""), ignored ? 2 : 1);
  }
  signal(SIGHUP, SIG_DFL);
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One that waits to be told points ends as soon, whenever the signal comes. */
static void test_interrupt_while_waiting(void) {
  CHECK(mkfifo("fifo", 0600) == 0);
  remove("journal");
  const int keeper = open("fifo", O_RDWR);
  for (long ns = 0; ns < 400000000; ns += 80000000) {
    const struct timespec moment = {.tv_nsec = ns};
    const int process = support_start(world, "--points -", "fifo");
    nanosleep(&moment, NULL);
    const double began = seconds_now();
    kill((pid_t)process, SIGTERM);
    const int status = support_wait(process);
    CHECK(status == 130 || status == 128 + SIGTERM); /* the latter before it catches any */
    CHECK(seconds_now() - began < 1.5);
  }
  close(keeper);
}

static void test_interrupt(void) {
  static const int signals[] = {SIGINT, SIGTERM};
  for (size_t i = 0; i < 2; i++) {
    char text[2 * POINT_BYTES];
    snprintf(text, sizeof(text), "%s\n%s\n", fake_point("good_00"), fake_point("hang"));
    support_write("points", text);
    remove("journal");
    const int process = support_start(world, "--points points --group 1 --timeout 60", NULL);
    const struct timespec moment = {.tv_nsec = 10000000};
    for (int tries = 0; tries < 1000 && support_count("journal", "\"type\":\"result\"") == 0;
         tries++) {
      nanosleep(&moment, NULL);
    }
    const double began = seconds_now();
    kill((pid_t)process, signals[i]);
    CHECK_INT(support_wait(process), 130);
    CHECK(seconds_now() - began < 1.5);
    CHECK_INT(support_count("journal", "\"type\":\"result\""), 1);
    CHECK_INT(support_count("journal", "\"ended\":\"interrupted\""), 1);
  }
}

static void test_budget(void) {
  CHECK_INT(measure_points("good_00 good_01", "--group 1 --budget 0.000001"), 0);
  CHECK_INT(support_count("journal", "\"type\":\"result\""), 0);
  CHECK_INT(support_count("journal", "\"ended\":\"budget\""), 1);
}

int main(void) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGINT, SIG_DFL); /* whatever this was begun by */
  world = fake_world();
  support_begin();
  RUN(test_good);
  RUN(test_wrong);
  RUN(test_wrong_when_timed);
  RUN(test_stray);
  RUN(test_crash);
  RUN(test_hang);
  RUN(test_ends);
  RUN(test_unavailable);
  RUN(test_refused);
  RUN(test_throttled_samples);
  RUN(test_long_pauses);
  RUN(test_throttled_always);
  RUN(test_hot);
  RUN(test_slow_clock);
  RUN(test_driven);
  RUN(test_resume);
  RUN(test_terms);
  RUN(test_hang_up);
  RUN(test_interrupt_while_waiting);
  RUN(test_interrupt);
  RUN(test_budget);
  return CHECK_RESULT();
}
