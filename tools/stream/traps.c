/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traps.c - tells of a decoder's own functions that are executed.
 *
 * The first instruction of each is replaced by one that stops the program; the
 * handler notes the function, puts the instruction back and goes on. So a
 * function is noted once, and what is never entered costs nothing.
 */
#define _GNU_SOURCE
#include "stream.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__aarch64__)
enum { SIGNAL = SIGILL };
typedef uint32_t instruction;
static const instruction stops = 0; /* udf #0 */
#elif defined(__x86_64__)
enum { SIGNAL = SIGTRAP };
typedef uint8_t instruction;
static const instruction stops = 0xcc; /* int3 */
#else
#error "how a program is stopped is known for aarch64 and x86-64 only"
#endif

enum { MOST = 4096 };

typedef struct trap {
  unsigned char *at;
  instruction was;
  bool entered;
  const char *where;
} trap;

static trap traps[MOST];
static size_t n_traps;

static void put(unsigned char *at, instruction what) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  unsigned char *first = at - (uintptr_t)at % page;
  const size_t size = (size_t)(at - first) + sizeof(what);
  if (mprotect(first, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    stream_fail(EXIT_DECODER, "the decoder's code cannot be changed", "");
  }
  memcpy(at, &what, sizeof(what));
  __builtin___clear_cache((char *)at, (char *)at + sizeof(what));
}

static void entered(int number, siginfo_t *info, void *context) {
  (void)info;
  ucontext_t *u = context;
#if defined(__aarch64__)
  unsigned char *at = (unsigned char *)(uintptr_t)u->uc_mcontext.pc;
#else
  unsigned char *at = (unsigned char *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP] - 1;
#endif
  for (size_t i = 0; i < n_traps; i++) {
    if (traps[i].at == at) {
      traps[i].entered = true;
      put(at, traps[i].was);
#if defined(__x86_64__)
      u->uc_mcontext.gregs[REG_RIP]--;
#endif
      return;
    }
  }
  /* None of ours: it ends the program, also where the instruction would not do so once more. */
  signal(number, SIG_DFL);
  raise(number);
}

void stream_trap(stream_any_fn *fn, const char *where) {
  unsigned char *at;
  memcpy(&at, &fn, sizeof(at));
  for (size_t i = 0; i < n_traps; i++) {
    if (traps[i].at == at) {
      return;
    }
  }
  if (n_traps == MOST) {
    stream_fail(EXIT_DECODER, "the decoder has more functions than traps.c has room for", "");
  }
  if (n_traps == 0) {
    struct sigaction action = {.sa_sigaction = entered, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGNAL, &action, NULL);
  }
  trap *t = &traps[n_traps++];
  t->at = at;
  memcpy(&t->was, at, sizeof(t->was));
  t->where = where;
  put(at, stops);
}

void stream_print_trapped(void) {
  for (size_t i = 0; i < n_traps; i++) {
    if (traps[i].entered) {
      printf("stock %p %s\n", (void *)traps[i].at, traps[i].where);
    }
  }
  printf("watched %zu\n", n_traps);
}
