/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every fault at every submission of 20: what the client is told and finds, that the server and its
 * simulator go on, serve other clients and a fresh process, and keep nothing back.  The server runs
 * in this process, so that sanitizers see it; each client is a process of its own.
 * Argument: seed of the random part (default 1).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fault_sequence.h"
#include "main.h"
#include "server.h"

enum { MS = 1000000, LATE_MS = 15, FLIPPED = 3 };

/* What becomes of the job that is struck. */
enum result { RIGHT, ABSENT, ABSENT_OF_LISTS, FLIPPED_BITS };

/* Which of its calls is the one that fails. */
enum call { SUBMIT, BUFFER, SYNCOBJ };

/* What the job before it does, so that it is not done when the device is lost. */
enum before { WORKS, ENDLESS, HANGS };

struct campaign {
  const char *name;
  const char *fault; /* with %d for the number; NULL: the client's own doing */
  enum sequence_program program;
  enum call call;
  int error; /* of that call */
  bool late; /* a short wait is over before the job is */
  enum result result;
  bool lost, lost_for_all, reopens;
  enum before before;
  unsigned reset_ms; /* of the profile; 0: 500, or with before: never */
};

static const struct campaign campaigns[] = {
    {"hang", "hang@%d:ms=15", .late = true, .result = ABSENT},
    {"hang, results there", "hang@%d:ms=15,batches=1", .late = true, .result = ABSENT_OF_LISTS},
    {"slow", "slow@%d:ms=15", .late = true},
    {"flip", "flip@%d:bits=3,seed=7", .result = FLIPPED_BITS},
    {"no memory, buffer", "no-memory@%d", .call = BUFFER, .error = -ENOMEM},
    {"no memory, syncobj", "no-memory@%d:of=syncobj", .call = SYNCOBJ, .error = -ENOMEM},
    {"no memory, submit", "no-memory@%d:of=submit", .error = -ENOMEM},
    {"lost", "lost@%d", .error = -ENODEV, .lost = true, .lost_for_all = true},
    {"lost, opened again", "lost@%d:reopen=yes", .error = -ENODEV, .lost = true,
     .lost_for_all = true, .reopens = true},
    {"lost by a client", "lost@%d:of=client", .error = -ENODEV, .lost = true, .reopens = true},
    {"lost while a job runs", "lost@%d:of=client", .error = -ENODEV, .lost = true, .reopens = true,
     .before = ENDLESS},
    {"lost while a job hangs", "hang@%d:ms=3600000;lost@%d:of=client", .error = -ENODEV,
     .lost = true, .reopens = true, .before = HANGS},
    {"endless program", NULL, SEQUENCE_ENDLESS, .result = ABSENT, .reset_ms = 2},
    {"access to nothing", NULL, SEQUENCE_ASTRAY, .result = ABSENT},
};

/* -- Clients, each in a process -- */

static int n_checked; /* cases */

/* Job j, submitted not before a time, takes LATE_MS more than it should. */
static void expect_late(struct sequence *s, int j, int64_t submitted_ns) {
  const int result = sequence_wait(s, j, MS);
  /* This process may not have been given a processor all the while. */
  CHECK(result == -ETIME || drm_now_ns() - submitted_ns >= (int64_t)LATE_MS * MS);
  CHECK_INT(sequence_wait(s, j, -1), 0);
  CHECK(drm_now_ns() - submitted_ns >= (int64_t)LATE_MS * MS);
}

/* Submits the jobs of the sequence, of which n is struck, and waits for each, or does not. Returns
 * the time before job n was submitted. */
static int64_t submit_all(struct sequence *s, const struct campaign *c, int n, bool each) {
  int64_t submitted_ns = 0;
  for (int j = 0; j < SEQUENCE_JOBS; j++) {
    const bool struck = j == n && c->fault != NULL, gone = c->lost && j > n;
    const bool early = struck && c->call != SUBMIT;
    int result = sequence_prepare(s, j);
    CHECK_INT(result, gone ? -ENODEV : early ? c->error : 0);
    if (early) /* who asks again is served */
      CHECK_INT(sequence_prepare(s, j), 0);
    if (j == n)
      submitted_ns = drm_now_ns();
    const bool endless = c->before == ENDLESS && j == n - 1;
    result = sequence_submit(s, j,
                             endless  ? SEQUENCE_ENDLESS
                             : j == n ? c->program
                                      : SEQUENCE_GOOD);
    CHECK_INT(result, gone ? -ENODEV : struck && !early ? c->error : 0);
    if (result == -ENOMEM)
      CHECK_INT(sequence_submit(s, j, SEQUENCE_GOOD), 0);
    if (c->before != WORKS && j < n - 1) /* so that the next one begins at once */
      CHECK_INT(sequence_wait(s, j, -1), 0);
    if (!each || c->lost || result == -ENODEV)
      continue;
    if (struck && c->late)
      expect_late(s, j, submitted_ns);
    CHECK_INT(sequence_wait(s, j, -1), 0);
  }
  return submitted_ns;
}

/* Every call of a descriptor whose device is lost. */
static void expect_lost(int fd) {
  struct abi_create_bo create = {.size = 4096};
  struct abi_get_param param = {.param = 4};
  struct abi_gem_close close = {.handle = 1};
  CHECK_INT(DRM_CALL(fd, ABI_V3D_CREATE_BO, &create), -ENODEV);
  CHECK_INT(DRM_CALL(fd, ABI_V3D_GET_PARAM, &param), -ENODEV);
  CHECK_INT(DRM_CALL(fd, ABI_GEM_CLOSE, &close), -ENODEV);
  CHECK_INT(drm_wait_bo(fd, 1, 0), -ENODEV);
  CHECK_INT(drm_syncobj_wait(fd, (const uint32_t[]){1}, 1, 0, 0, NULL), -ENODEV);
}

static void check_results(const struct sequence *s, const struct campaign *c, int n) {
  for (int j = 0; j < SEQUENCE_JOBS; j++) {
    if (c->lost && j < n) /* they may not have been run any more, nor to their end */
      CHECK(sequence_is_partial(s, j));
    else if (c->lost)
      CHECK(j > n ? s->out[j].map == NULL : sequence_is_untouched(s, j));
    else if (j != n || c->result == RIGHT || (c->result == ABSENT_OF_LISTS && !sequence_is_list(j)))
      CHECK_INT(sequence_wrong_bits(s, j), 0);
    else if (c->result == FLIPPED_BITS)
      CHECK_INT(sequence_wrong_bits(s, j), FLIPPED);
    else
      CHECK(sequence_is_untouched(s, j));
  }
}

/* Three jobs of a client that has had nothing to do with it. */
static void expect_service(uint32_t first) {
  struct sequence fresh;
  CHECK_INT(sequence_open(&fresh, first), 0);
  for (int j = 0; j < 3 && fresh.fd >= 0; j++) {
    CHECK_INT(sequence_prepare(&fresh, j), 0);
    CHECK_INT(sequence_submit(&fresh, j, SEQUENCE_GOOD), 0);
    CHECK_INT(sequence_wait(&fresh, j, -1), 0);
    CHECK_INT(sequence_wrong_bits(&fresh, j), 0);
  }
  sequence_close(&fresh);
}

static void expect_no_service(void) {
  const int fd = drm_open();
  CHECK(fd < 0 && errno == ENODEV);
}

/* The client that meets the fault, and another one of the same process. */
static void be_client(const struct campaign *c, int n, bool each) {
  struct sequence s, other;
  CHECK_INT(sequence_open(&other, 0x11213141), 0); /* takes buffer 1 */
  CHECK_INT(sequence_open(&s, 0x12345678), 0);     /* and 2 */
  const int64_t submitted_ns = submit_all(&s, c, n, each);
  if (c->lost) {
    expect_lost(s.fd);
  } else if (!each) {
    if (c->fault != NULL && c->late)
      expect_late(&s, n, submitted_ns);
    CHECK_INT(sequence_wait(&s, SEQUENCE_JOBS - 1, -1), 0);
    for (int j = 0; j < SEQUENCE_JOBS; j++)
      CHECK_INT(sequence_wait(&s, j, -1), 0);
  }
  if (c->before != WORKS) /* its end shows that the jobs before it have ended */
    expect_service(0x31415161);
  check_results(&s, c, n);
  if (c->lost_for_all) {
    expect_lost(other.fd);
  } else {
    CHECK_INT(sequence_prepare(&other, 0), 0);
    CHECK_INT(sequence_submit(&other, 0, SEQUENCE_GOOD), 0);
    CHECK_INT(sequence_wait(&other, 0, -1), 0);
    CHECK_INT(sequence_wrong_bits(&other, 0), 0);
  }
  if (c->lost_for_all && !c->reopens)
    expect_no_service();
  else
    expect_service(0x21314151);
}

/* -- The server -- */

struct children {
  pid_t pids[2];
  int ended; /* pipe that is at its end when both have ended */
  int begin; /* pipe to the first: the server is there */
};

static char path[64];

/* Two clients, one after the other; the second one is fresh. Forked while there are no threads. */
static void start(struct children *children, void (*first)(const void *),
                  void (*second)(const void *), const void *argument) {
  int begin[2], next[2], ended[2];
  if (pipe(begin) != 0 || pipe(next) != 0 || pipe(ended) != 0)
    abort();
  fflush(NULL);
  for (int i = 0; i < 2; i++) {
    children->pids[i] = fork();
    if (children->pids[i] != 0)
      continue;
    char byte;
    const int mine = i == 0 ? begin[0] : next[0];
    close(begin[1]);
    if (i == 0)
      close(next[0]);
    else
      close(next[1]); /* held by the first until it ends */
    check_failures = 0;
    setenv("DAEDALUS_V3D_SOCKET", path, 1);
    if (read(mine, &byte, 1) < 0)
      abort();
    (i == 0 ? first : second)(argument);
    fflush(NULL);
    _exit(check_failures != 0);
  }
  close(begin[0]);
  close(next[0]);
  close(next[1]);
  close(ended[1]);
  children->begin = begin[1];
  children->ended = ended[0];
}

/* Both have ended; what they left in the sockets is still to be seen. */
static void on_event(struct dev_server *server) {
  struct children *children = server->self;
  for (int i = 0; i < 2; i++) {
    int status = -1;
    if (children->pids[i] == 0)
      continue;
    waitpid(children->pids[i], &status, 0);
    CHECK_INT(status, 0);
    children->pids[i] = 0;
  }
  server->stop =
      server->connections == NULL && server->device.queues[DEV_QUEUE_CSD].running == NULL;
}

/* Serves the children on a device with a fault; returns how often that struck. */
static uint64_t serve(struct children *children, const char *fault, unsigned reset_ms) {
  struct dev_options options = {.profile = daedalus_v3d_profile_default()};
  struct dev_server server;
  daedalus_v3d_executor executor;
  const char *what;
  char message[200];
  uint64_t struck = 0;
  options.profile.reset_ms = reset_ms;
  CHECK_INT(dev_make_simulator(&options, &executor), 0);
  CHECK_INT(dev_server_init(&server, path, &executor, &options.profile, UINT64_C(1) << 30, &what),
            0);
  server.device.quiet = true;
  CHECK_INT(dev_faults_add_list(&server.device.faults, fault, message, sizeof message), 0);
  server.event_fd = children->ended;
  server.on_event = on_event;
  server.self = children;
  close(children->begin);
  signal(SIGPIPE, SIG_IGN); /* as dev_server_loop demands; the children are as they were */
  CHECK_INT(dev_server_loop(&server), 0);
  const struct dev_device *device = &server.device;
  dev_sweep(&server.device); /* a process lets go of its node after its sockets, perhaps */
  CHECK(device->clients == NULL && device->waits == NULL);
  for (int i = 0; i < DEV_N_QUEUES; i++)
    CHECK(device->queues[i].first == NULL && device->queues[i].held == NULL &&
          device->queues[i].running == NULL);
  CHECK_INT(device->memory.used, 0);
  CHECK_INT(device->memory.n_live, 0);
  for (size_t i = 0; i < device->faults.n; i++)
    struck += device->faults.items[i].n_struck;
  dev_server_destroy(&server);
  dev_faults_free(&server.device.faults);
  executor.destroy(executor.self);
  close(children->ended);
  unlink(path);
  return struck;
}

/* -- The campaign -- */

struct test_case {
  const struct campaign *campaign;
  int n;
  bool each;
};

static void first_client(const void *argument) {
  const struct test_case *t = argument;
  be_client(t->campaign, t->n, t->each);
}

static void second_client(const void *argument) {
  const struct campaign *c = ((const struct test_case *)argument)->campaign;
  if (c->lost_for_all && !c->reopens)
    expect_no_service();
  else
    expect_service(0x41516171);
}

static void run_case(const struct campaign *c, int n, bool each) {
  const struct test_case t = {c, n, each};
  struct children children;
  char fault[64] = "";
  const int before = check_failures;
  if (c->before == HANGS)
    snprintf(fault, sizeof fault, c->fault, n, n + 1);
  else if (c->fault != NULL) /* two buffers come before the first of the sequence */
    snprintf(fault, sizeof fault, c->fault, c->call == BUFFER ? n + 3 : n + 1);
  start(&children, first_client, second_client, &t);
  const unsigned reset_ms = c->reset_ms != 0 ? c->reset_ms : c->before != WORKS ? 0 : 500;
  CHECK_INT(serve(&children, fault, reset_ms), (c->fault != NULL) + (c->before == HANGS));
  n_checked++;
  if (check_failures != before)
    fprintf(stderr, "in: %s at job %d, %s\n", c->name, n, each ? "each waited for" : "all at once");
}

static bool applies(const struct campaign *c, int n) {
  if (c->program != SEQUENCE_GOOD && !sequence_is_compute(n))
    return false; /* programs are of compute jobs */
  if (c->before == ENDLESS)
    return n > 0 && sequence_is_compute(n - 1);
  return c->before == WORKS || n > 0;
}

static void every_fault_at_every_job(void) {
  for (size_t i = 0; i < sizeof campaigns / sizeof *campaigns; i++) {
    const struct campaign *c = &campaigns[i];
    const int64_t begun = drm_now_ns();
    const int before = n_checked;
    for (int n = 0; n < SEQUENCE_JOBS; n++) {
      if (!applies(c, n))
        continue;
      if (c->before == WORKS)
        run_case(c, n, true);
      run_case(c, n, false);
    }
    printf("%-24s %3d cases, %4d ms\n", c->name, n_checked - before,
           (int)((drm_now_ns() - begun) / MS));
  }
}

/* -- All at random -- */

static unsigned seed = 1;

static void be_unlucky(const void *argument) {
  (void)argument;
  int n_right = 0;
  struct sequence s;
  for (int round = 0; round < 10; round++) {
    int result = -ENOMEM, tries = 0;
    for (; result == -ENOMEM && tries < 100; tries++)
      result = sequence_open(&s, 0x12345678);
    CHECK_INT(result, 0);
    for (int j = 0; j < SEQUENCE_JOBS; j++) {
      bool submitted = false;
      while (result != -ENODEV && !submitted && tries++ < 1000) {
        result = sequence_prepare(&s, j);
        if (result == 0)
          result = sequence_submit(&s, j, SEQUENCE_GOOD);
        submitted = result == 0;
        CHECK(result == 0 || result == -ENOMEM || result == -ENODEV);
      }
      if (submitted && j % 3 == 0)
        result = sequence_wait(&s, j, -1);
    }
    for (int j = 0; j < SEQUENCE_JOBS && result == 0; j++) {
      CHECK_INT(sequence_wait(&s, j, -1), 0);
      const int bits = sequence_wrong_bits(&s, j);
      CHECK(bits <= 2 || sequence_is_untouched(&s, j));
      n_right += bits == 0;
    }
    sequence_close(&s);
  }
  CHECK(n_right > 0);
}

static void nothing(const void *argument) {
  (void)argument;
}

static void faults_at_random(void) {
  for (unsigned i = 0; i < 5; i++) {
    struct children children;
    char faults[256];
    snprintf(faults, sizeof faults,
             "hang@1/11:ms=2,seed=%u;slow@1/7:factor=20,seed=%u;flip@1/5:bits=2,seed=%u;"
             "no-memory@1/9:seed=%u;no-memory@1/9:of=submit,seed=%u;"
             "no-memory@1/9:of=syncobj,seed=%u;lost@1/100:of=client,seed=%u",
             seed + i, seed + i, seed + i, seed + i, seed + i, seed + i, seed + i);
    start(&children, be_unlucky, nothing, NULL);
    const uint64_t struck = serve(&children, faults, 500);
    CHECK(struck > 20);
    printf("seed %u: %llu faults\n", seed + i, (unsigned long long)struck);
  }
}

int main(int argc, char **argv) {
  const char *tmp = getenv("TMPDIR");
  if (argc > 1)
    seed = (unsigned)strtoul(argv[1], NULL, 10);
  snprintf(path, sizeof path, "%s/faults-%d", tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp",
           (int)getpid());
  RUN(every_fault_at_every_job);
  printf("%d cases, each with three clients\n", n_checked);
  RUN(faults_at_random);
  return CHECK_RESULT();
}
