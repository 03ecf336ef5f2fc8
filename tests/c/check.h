/* SPDX-License-Identifier: BSD-2-Clause */
/* The tests' own checks: a failing one is printed and the program goes on. */
#ifndef DAEDALUS_TESTS_CHECK_H
#define DAEDALUS_TESTS_CHECK_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* One program is one file, so each has its own; atomic, as some tests use threads. */
static atomic_int check_failures;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      atomic_fetch_add(&check_failures, 1);                           \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (0)

#define CHECK_INT(actual, expected)                                                               \
  do {                                                                                            \
    const long long check_a = (long long)(actual), check_e = (long long)(expected);               \
    if (check_a != check_e) {                                                                     \
      atomic_fetch_add(&check_failures, 1);                                                       \
      fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #actual, check_a, \
              check_e);                                                                           \
    }                                                                                             \
  } while (0)

#define CHECK_STR(actual, expected)                                                          \
  do {                                                                                       \
    const char *check_a = (actual), *check_e = (expected);                                   \
    if (check_a == NULL || strcmp(check_a, check_e) != 0) {                                  \
      atomic_fetch_add(&check_failures, 1);                                                  \
      fprintf(stderr, "%s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, #actual, \
              check_a == NULL ? "(null)" : check_a, check_e);                                \
    }                                                                                        \
  } while (0)

#define RUN(test)                                                                   \
  do {                                                                              \
    const int check_before = check_failures;                                        \
    test();                                                                         \
    printf("%s %s\n", check_failures == check_before ? "ok    " : "FAILED", #test); \
  } while (0)

#define CHECK_RESULT() (check_failures == 0 ? 0 : 1)

#endif /* DAEDALUS_TESTS_CHECK_H */
