/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work in a process of its own, so that a crash or a hang of it is a result: the parent waits for
 * its end, and kills it where a step takes too long.
 */
#ifndef DAEDALUS_TUNE_CHILD_H
#define DAEDALUS_TUNE_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared by both processes, at the head of what child_memory() gave. */
typedef struct child_watch {
  _Atomic int64_t began_ns; /* when the step at hand began, of the monotonic clock */
  atomic_int step;          /* what it is: the work's own number */
} child_watch;

typedef enum child_end_kind {
  CHILD_EXITED,   /* by itself, with `status` */
  CHILD_KILLED,   /* by the signal `status` */
  CHILD_TIMEOUT,  /* by the parent: a step took too long */
  CHILD_STUCK,    /* by the parent: it had closed all, and did not end */
  CHILD_INTERRUPT /* by the parent: the program was told to stop */
} child_end_kind;

/* Status of a child that allocate() found no memory in. */
enum { CHILD_NO_MEMORY = 99 };
/* Seconds that a child which has closed all may take to end. */
enum { CHILD_ENDING = 3 };

typedef struct child_end {
  child_end_kind kind;
  int status;
} child_end;

/*
 * Where an end says nothing of what the child did, as there was no memory: says so in `why`, of
 * `size` bytes.
 */
bool child_lacked_memory(const child_end *how, char *why, size_t size);

/* Memory that parent and child share, zeroed; ends the program where there is none. */
void *child_memory(size_t size);
void child_memory_free(void *memory, size_t size);

/* In the child: the next step begins. */
void child_step(child_watch *watch, int step);
/* In the child: lets the parent look at what is there so far. */
void child_notify(void);

/*
 * Runs `work` in a child, whose exit status is what it returns.
 * @param seconds  that a step may take
 * @param notice   called in the parent after child_notify(), and after the end; may be NULL
 */
child_end child_run(int (*work)(void *context), void *context, child_watch *watch, double seconds,
                    void (*notice)(void *context));

/* "SIGSEGV" and the like, or "signal N". */
const char *child_signal_name(int number);

/*
 * SIGINT, SIGTERM and SIGHUP set child_interrupted from now on, instead of ending the program; one
 * that is ignored stays ignored.  What waits here comes back within 250 ms of one, and a child that
 * cannot be killed is waited for a second.
 */
void child_catch_interrupts(void);
bool child_interrupted(void);
/* Waits until there is something to read.  @return false: the program was told to stop */
bool child_await_input(int fd);

#endif
