/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timeouts on a timed device, whose jobs sleep on the wall and take other times by the model.
 * Argument: `stretched`, when waits go by the model, or `plain`, when they go by the wall.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"
#include "drm_client.h"

enum { MS = 1000000, US_OF_MS = 1000 };

static int fd;
static bool stretched;
static struct drm_buffer code;
static uint32_t done;

/* A job that sleeps, and takes milliseconds by the model. */
static void begin(uint32_t sleeps_ms, uint32_t ms) {
  const struct fake_shader shader = {
      .operation = FAKE_SLEEP, .n = ms * US_OF_MS, .value = sleeps_ms};
  CHECK_INT(drm_submit(fd, &code, 0, &shader, &code.handle, 1, 0, done), 0);
}

static void end(void) {
  CHECK_INT(drm_syncobj_wait(fd, &done, 1, ABI_SYNCOBJ_WAIT_ALL, -1, NULL), 0);
}

static int wait_until(int64_t deadline_ns) {
  struct abi_syncobj_wait wait = {
      .handles = (uintptr_t)&done, .n_handles = 1, .timeout_ns = deadline_ns};
  return DRM_CALL(fd, ABI_SYNCOBJ_WAIT, &wait);
}

/*
 * How much these tests see depends on how fast the machine is beside the jobs, and on a busy one
 * that may be slow.  So a try whose answer is wrong, but which took longer than its jobs, says
 * nothing.  Of several one has to be right, and none wrong without that excuse.
 */
enum verdict { RIGHT, BUSY, WRONG };

static int64_t try_ns; /* when the try began */

/* Of a try that takes so long where all else is quick. */
static enum verdict judge(bool is_right, uint32_t takes_ms) {
  enum { QUICK_MS = 5 };
  const int64_t beside_ns = drm_now_ns() - try_ns - (int64_t)takes_ms * MS;
  if (is_right)
    return RIGHT;
  fprintf(stderr, "a wrong answer, and %lld us beside the jobs\n", (long long)beside_ns / US_OF_MS);
  return beside_ns >= QUICK_MS * MS ? BUSY : WRONG;
}

static bool one_of_some(enum verdict (*try)(void)) {
  enum { TRIES = 8 };
  enum verdict verdict = BUSY;
  for (int i = 0; verdict == BUSY && i < TRIES; i++) {
    try_ns = drm_now_ns();
    verdict = try();
  }
  return verdict == RIGHT;
}

/* -- A job of more than the timeout on the wall, and of nothing by the model. -- */

enum { LONG_MS = 200, TIMEOUT_MS = 50, SLEEPS_MS = 200 };

static int64_t begun_ns, last_ns; /* of the first such job, and when the last one was running */
static int n_long;                /* such jobs since then */

/* Waits by the wall do not see its end, however late they begin: it lasts until end_long. */
static void begin_long(bool first) {
  if (first) {
    begun_ns = drm_now_ns();
    n_long = 0;
  }
  n_long++;
  if (stretched)
    begin(LONG_MS, 0);
  else
    CHECK_INT(drm_hold(fd, &code, 0, 0, done), 0);
  drm_wait_bo(fd, code.handle, 0); /* the answer to the next call comes after the job has begun */
  last_ns = drm_now_ns();
}

static void end_long(void) {
  if (!stretched)
    drm_release(&code);
  end();
}

/* By the model a wait for it ends well, but where so much time has gone beside the jobs. */
static bool long_is_right(int result) {
  const int64_t beside_ns = drm_now_ns() - begun_ns - (int64_t)n_long * LONG_MS * MS;
  const int64_t before_ns = last_ns - begun_ns - (int64_t)(n_long - 1) * LONG_MS * MS;
  if (stretched && result == 0)
    return true;
  return result == -ETIME &&
         (!stretched || beside_ns >= TIMEOUT_MS * MS || before_ns >= TIMEOUT_MS * MS);
}

/* The simulator takes longer than the device, and than the timeout. */
static void long_on_the_wall(void) {
  begin_long(true);
  struct abi_wait_bo wait = {.handle = code.handle, .timeout_ns = TIMEOUT_MS * MS};
  const int result = DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait);
  CHECK(long_is_right(result));
  /* What is left. */
  const int64_t beside_ns = drm_now_ns() - begun_ns - LONG_MS * MS;
  if (result == 0)
    CHECK((int64_t)wait.timeout_ns >= TIMEOUT_MS * MS - beside_ns &&
          wait.timeout_ns < TIMEOUT_MS * MS);
  else
    CHECK_INT(wait.timeout_ns, 0);
  end_long();
  begin_long(true);
  CHECK(long_is_right(drm_syncobj_wait(fd, &done, 1, 0, TIMEOUT_MS * MS, NULL)));
  end_long();
}

static int64_t passed_ns;

/* A job that is not done by that time, which is no time to be reckoned anew. */
static enum verdict has_passed(void) {
  begin(SLEEPS_MS, 2 * TIMEOUT_MS);
  const int result = wait_until(passed_ns);
  end();
  return judge(result == -ETIME, SLEEPS_MS);
}

/* A timeout that was reckoned once, for two waits; and one more that has passed in the meantime. */
static void the_same_timeout(void) {
  begin_long(true);
  const int64_t deadline_ns = drm_now_ns() + TIMEOUT_MS * MS;
  CHECK(long_is_right(wait_until(deadline_ns)));
  end_long();
  begin_long(false);
  CHECK(long_is_right(wait_until(deadline_ns)));
  end_long();
  passed_ns = deadline_ns;
  CHECK(one_of_some(has_passed));
}

/* -- A job that takes longer by the model than on the wall. -- */

enum { MODELLED_MS = 60000, LESS_MS = 5000 };

/* It would not be done in time. */
static enum verdict is_late_for_a_buffer(void) {
  begin(SLEEPS_MS, MODELLED_MS);
  const int result = drm_wait_bo(fd, code.handle, LESS_MS * (uint64_t)MS);
  CHECK(result == 0 || (stretched && result == -ETIME));
  CHECK_INT(drm_wait_bo(fd, code.handle, 0), 0); /* but it is when the wait returns */
  return judge(result == (stretched ? -ETIME : 0), SLEEPS_MS);
}

static void long_by_the_model(void) {
  CHECK(one_of_some(is_late_for_a_buffer));
  begin(SLEEPS_MS, MODELLED_MS);
  CHECK_INT(drm_wait_bo(fd, code.handle, 2 * MODELLED_MS * (uint64_t)MS), 0);
}

/* A wait that begins late in a job has to wait for the rest of it only. */
static enum verdict waits_for_the_rest(void) {
  begin(SLEEPS_MS, 2000);
  nanosleep(&(struct timespec){.tv_nsec = 150 * MS}, NULL);
  struct abi_wait_bo wait = {.handle = code.handle, .timeout_ns = 1000 * (uint64_t)MS};
  const int result = DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait);
  end();
  return judge(result == 0 && wait.timeout_ns >= 400 * MS, SLEEPS_MS);
}

static void in_the_midst(void) {
  CHECK(one_of_some(waits_for_the_rest));
}

/* -- Signals -- */

static volatile sig_atomic_t n_signals;

static void count_signal(int number) {
  (void)number;
  n_signals++;
}

static void have_signals(bool on) {
  enum { EACH_US = 5000 };
  const struct timeval each = {.tv_usec = on ? EACH_US : 0};
  const struct itimerval timer = {.it_interval = each, .it_value = each};
  const struct sigaction action = {.sa_handler = count_signal}; /* not SA_RESTART */
  if (on)
    sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* As a program does that is interrupted again and again; -EINTR: it was not. */
static int wait_on_until(int64_t deadline_ns) {
  int result, n_interrupted = 0;
  have_signals(true);
  while ((result = wait_until(deadline_ns)) == -EINTR)
    n_interrupted++;
  have_signals(false);
  return n_interrupted > 0 ? result : -EINTR;
}

static int wait_on_for_buffer(uint64_t timeout_ns) {
  struct abi_wait_bo wait = {.handle = code.handle, .timeout_ns = timeout_ns};
  int result, n_interrupted = 0;
  have_signals(true);
  while ((result = DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait)) == -EINTR)
    n_interrupted++;
  have_signals(false);
  return n_interrupted > 0 ? result : -EINTR;
}

/* Of a wait for a long job: to its end, or by the wall to the timeout. */
static enum verdict judge_long(int result) {
  const enum verdict verdict = judge(long_is_right(result), stretched ? LONG_MS : TIMEOUT_MS);
  end_long();
  return verdict;
}

static enum verdict is_long_for_interrupted_syncobj(void) {
  begin_long(true);
  return judge_long(wait_on_until(drm_now_ns() + TIMEOUT_MS * MS));
}

static enum verdict is_long_for_interrupted_buffer(void) {
  begin_long(true);
  return judge_long(wait_on_for_buffer(TIMEOUT_MS * MS));
}

static enum verdict is_late_for_interrupted_buffer(void) {
  begin(SLEEPS_MS, MODELLED_MS);
  const int result = wait_on_for_buffer(LESS_MS * (uint64_t)MS);
  end();
  return judge(result == (stretched ? -ETIME : 0), SLEEPS_MS);
}

static enum verdict is_late_for_interrupted_syncobj(void) {
  begin(SLEEPS_MS, MODELLED_MS);
  const int result = wait_on_until(drm_now_ns() + LESS_MS * (int64_t)MS);
  end();
  return judge(result == (stretched ? -ETIME : 0), SLEEPS_MS);
}

/* What a signal interrupts goes on with what is left of the device's time. */
static void interrupted(void) {
  CHECK(one_of_some(is_long_for_interrupted_syncobj));
  CHECK(one_of_some(is_long_for_interrupted_buffer));
  CHECK(one_of_some(is_late_for_interrupted_buffer));
  CHECK(one_of_some(is_late_for_interrupted_syncobj));
}

/* Given up in a job's beginning; what waits for the rest of it, with the same arguments, is new. */
static enum verdict begins_anew(void) {
  begin(SLEEPS_MS, 8000);
  struct abi_wait_bo wait = {.handle = code.handle, .timeout_ns = LESS_MS * (uint64_t)MS};
  have_signals(true);
  int result = DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait);
  have_signals(false);
  const bool was_interrupted = result == -EINTR;
  if (stretched && was_interrupted) /* its time stands still */
    CHECK_INT(wait.timeout_ns, LESS_MS * (uint64_t)MS);
  drm_wait_bo(fd, code.handle, 0);
  nanosleep(&(struct timespec){.tv_nsec = 150 * MS}, NULL);
  result = DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait);
  end();
  return judge(was_interrupted && result == 0, SLEEPS_MS);
}

static void given_up(void) {
  CHECK(one_of_some(begins_anew));
}

enum { AWAY_MS = 400 };

/* The buffer's wait is interrupted after so long, and goes on AWAY_MS later. */
static int wait_again(uint32_t after_ms, uint32_t timeout_ms, uint64_t *left_ns, int64_t *took_ns) {
  struct abi_wait_bo wait = {.handle = code.handle, .timeout_ns = timeout_ms * (uint64_t)MS};
  const struct itimerval timer = {.it_value = {.tv_usec = after_ms * US_OF_MS}};
  const struct sigaction action = {.sa_handler = count_signal};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  int result = DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait);
  *left_ns = wait.timeout_ns;
  *took_ns = 0;
  if (result != -EINTR)
    return -EINTR; /* the signal came before or after it */
  nanosleep(&(struct timespec){.tv_nsec = AWAY_MS * MS}, NULL);
  const int64_t again_ns = drm_now_ns();
  result = DRM_CALL(fd, ABI_V3D_WAIT_BO, &wait);
  *took_ns = drm_now_ns() - again_ns;
  return result;
}

/* What is left by the wall is waited for, though the program was away for longer. */
static enum verdict waits_for_what_is_left(void) {
  enum { AFTER_MS = 20, ALL_MS = 200 };
  uint64_t left_ns;
  int64_t took_ns;
  begin_long(true);
  const int result = wait_again(AFTER_MS, ALL_MS, &left_ns, &took_ns);
  const bool right = result == -ETIME && left_ns > 0 && took_ns >= (int64_t)left_ns;
  const enum verdict verdict = judge(right, AWAY_MS + ALL_MS);
  end_long();
  return verdict;
}

/* A job that would be late ends while the program is away: there was time left when it went. */
static enum verdict is_done_while_away(void) {
  uint64_t left_ns;
  int64_t took_ns;
  begin(SLEEPS_MS, 400);
  const int result = wait_again(50, 300, &left_ns, &took_ns);
  end();
  return judge(result == 0, 50 + AWAY_MS);
}

/* There was none left by the model, which shows at the job's end. */
static enum verdict is_late_before_away(void) {
  uint64_t left_ns;
  int64_t took_ns;
  begin(SLEEPS_MS, MODELLED_MS);
  const int result = wait_again(100, LESS_MS, &left_ns, &took_ns);
  end();
  return judge(result == (stretched ? -ETIME : 0), 100 + AWAY_MS);
}

/* A job that goes on for longer than the program is away, of which the wait sees little. */
static enum verdict misses_its_absence(void) {
  uint64_t left_ns;
  int64_t took_ns;
  begin(AWAY_MS + 200, 6000);
  const int result = wait_again(100, 3000, &left_ns, &took_ns);
  end();
  return judge(result == 0 && took_ns > 0, AWAY_MS + 200);
}

/* A relative timeout does not go by between its calls. */
static void away(void) {
  if (!stretched)
    CHECK(one_of_some(waits_for_what_is_left));
  CHECK(one_of_some(is_done_while_away));
  CHECK(one_of_some(is_late_before_away));
  CHECK(one_of_some(misses_its_absence));
}

/* What does not wait does not wait, and while no job runs the device's time is the wall's. */
static void other_times(void) {
  CHECK_INT(drm_hold(fd, &code, 0, 0, done), 0); /* until it is let go, after those waits */
  CHECK_INT(drm_wait_bo(fd, code.handle, 0), -ETIME);
  CHECK_INT(wait_until(0), -ETIME);
  drm_release(&code);
  end();
  const uint32_t never = drm_syncobj(fd, 0);
  const int64_t begun = drm_now_ns();
  CHECK_INT(drm_syncobj_wait(fd, &never, 1, ABI_SYNCOBJ_WAIT_FOR_SUBMIT, 30 * MS, NULL), -ETIME);
  CHECK(drm_now_ns() - begun >= 30 * MS);
}

/* One of two is late by the model: enough of those that are in time count. */
static enum verdict one_is_late(void) {
  const uint32_t both[2] = {done, drm_syncobj(fd, ABI_SYNCOBJ_CREATE_SIGNALED)};
  uint32_t first = 7;
  begin(SLEEPS_MS, MODELLED_MS);
  CHECK_INT(drm_syncobj_wait(fd, both, 2, 0, LESS_MS * (int64_t)MS, &first), 0);
  const int result =
      drm_syncobj_wait(fd, both, 2, ABI_SYNCOBJ_WAIT_ALL, LESS_MS * (int64_t)MS, NULL);
  end();
  return judge(result == (stretched ? -ETIME : 0) && first == 1, SLEEPS_MS);
}

static void one_of_two(void) {
  CHECK(one_of_some(one_is_late));
}

int main(int argc, char **argv) {
  fd = drm_open();
  if (argc != 2 || fd < 0 || drm_create(fd, 4096, &code) != 0) {
    fprintf(stderr, "no device, or not one argument\n");
    return 1;
  }
  stretched = strcmp(argv[1], "stretched") == 0;
  done = drm_syncobj(fd, 0);
  RUN(long_on_the_wall);
  RUN(the_same_timeout);
  RUN(long_by_the_model);
  RUN(in_the_midst);
  RUN(interrupted);
  RUN(given_up);
  RUN(away);
  RUN(other_times);
  RUN(one_of_two);
  return CHECK_RESULT();
}
