/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of threads that dispatch on the simulator at once, each thread on nodes and to buffers
 * of its own (test_processes.c has threads that share one).  Every word of every result is
 * compared. Arguments: processes, threads in each, dispatches of a thread (default 2, 4, 60).
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fault_sequence.h"

static unsigned n_processes = 2, n_threads = 4, n_dispatches = 60;

struct worker {
  pthread_t thread;
  uint32_t first; /* value that tells its results from all others' */
  uint64_t n_done, n_wrong;
};

/* SEQUENCE_JOBS dispatches of all three queues, all on their way at once or each waited for. */
static void run_round(struct worker *worker, uint32_t first, unsigned n, bool each) {
  struct sequence s;
  CHECK_INT(sequence_open(&s, first), 0);
  for (unsigned j = 0; j < n; j++) {
    CHECK_INT(sequence_prepare(&s, (int)j), 0);
    CHECK_INT(sequence_submit(&s, (int)j, SEQUENCE_GOOD), 0);
    if (each)
      CHECK_INT(sequence_wait(&s, (int)j, -1), 0);
  }
  CHECK_INT(sequence_wait(&s, (int)n - 1, -1), 0);
  for (unsigned j = 0; j < n; j++) {
    CHECK_INT(sequence_wait(&s, (int)j, -1), 0);
    worker->n_wrong += sequence_wrong_bits(&s, (int)j) != 0;
    worker->n_done++;
  }
  sequence_close(&s);
}

static void *work(void *argument) {
  struct worker *worker = argument;
  while (worker->n_done < n_dispatches) {
    const uint64_t left = n_dispatches - worker->n_done;
    const unsigned n = left < SEQUENCE_JOBS ? (unsigned)left : SEQUENCE_JOBS;
    const uint64_t before = worker->n_done;
    run_round(worker, worker->first + (uint32_t)before, n, before / SEQUENCE_JOBS % 2 != 0);
    if (worker->n_done == before)
      break; /* told above */
  }
  return NULL;
}

static void be_process(unsigned process) {
  struct worker *workers = calloc(n_threads, sizeof *workers);
  for (unsigned i = 0; i < n_threads; i++) {
    workers[i].first = (process * n_threads + i) << 20;
    CHECK_INT(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (unsigned i = 0; i < n_threads; i++) {
    pthread_join(workers[i].thread, NULL);
    CHECK_INT(workers[i].n_done, n_dispatches);
    CHECK_INT(workers[i].n_wrong, 0);
  }
  free(workers);
}

int main(int argc, char **argv) {
  unsigned *const numbers[] = {&n_processes, &n_threads, &n_dispatches};
  for (int i = 1; i < argc && i <= 3; i++)
    *numbers[i - 1] = (unsigned)strtoul(argv[i], NULL, 10);
  const int64_t begun = drm_now_ns();
  for (unsigned i = 0; i < n_processes; i++) {
    if (fork() == 0) {
      be_process(i);
      exit(CHECK_RESULT());
    }
  }
  for (unsigned i = 0; i < n_processes; i++) {
    int status = -1;
    wait(&status);
    CHECK_INT(status, 0);
  }
  printf("%u processes x %u threads x %u dispatches: %s, %.1f s\n", n_processes, n_threads,
         n_dispatches, check_failures == 0 ? "none wrong" : "FAILED",
         (double)(drm_now_ns() - begun) / 1e9);
  return CHECK_RESULT();
}
