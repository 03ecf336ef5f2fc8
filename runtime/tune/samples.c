/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "tune/samples.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "tune/base.h"

double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

double thread_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

void samples_add(samples *s, double ns) {
  if (s->n == s->capacity) {
    s->capacity = s->capacity != 0 ? 2 * s->capacity : 64;
    s->ns = enlarge(s->ns, s->capacity * sizeof(*s->ns));
  }
  s->ns[s->n++] = ns;
}

unsigned samples_refused;

void samples_refuse(samples *s) {
  s->refused++;
  samples_refused++;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sort(samples *s) {
  if (s->n != 0) {
    qsort(s->ns, s->n, sizeof(*s->ns), ascending);
  }
}

double samples_quantile(samples *s, double q) {
  if (s->n == 0) {
    return 0;
  }
  sort(s);
  const double at = q * (double)(s->n - 1);
  const size_t below = (size_t)at;
  const size_t above = below + 1 < s->n ? below + 1 : below;
  return s->ns[below] + (at - (double)below) * (s->ns[above] - s->ns[below]);
}

double samples_mean(const samples *s) {
  double sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    sum += s->ns[i];
  }
  return s->n != 0 ? sum / (double)s->n : 0;
}

double samples_mad(samples *s) {
  const double median = samples_quantile(s, 0.5);
  samples distances = {0};
  for (size_t i = 0; i < s->n; i++) {
    samples_add(&distances, s->ns[i] > median ? s->ns[i] - median : median - s->ns[i]);
  }
  const double mad = samples_quantile(&distances, 0.5);
  samples_free(&distances);
  return mad;
}

/* The largest k, from 1, with P(fewer than k of n coins show heads) <= 2.5 %; 1 if there is none.
 */
static size_t rank_of_bound(size_t n) {
  double log_choose = 0, below = 0; /* of n over k-1; of what lies below k */
  size_t k = 1;
  for (;; k++) {
    below += exp(log_choose - (double)n * log(2));
    if (below > 0.025 || k > n / 2) {
      break;
    }
    log_choose += log((double)(n - k + 1)) - log((double)k);
  }
  return k > 1 ? k - 1 : 1;
}

interval samples_median_interval(samples *s) {
  if (s->n == 0) {
    return (interval){0, 0};
  }
  sort(s);
  const size_t k = rank_of_bound(s->n);
  return (interval){s->ns[k - 1], s->ns[s->n - k]};
}

void samples_free(samples *s) {
  free(s->ns);
  *s = (samples){0};
}

void samples_in_turns(size_t n, size_t warm_up, size_t rounds,
                      double (*run)(void *user, size_t way, bool counts), void *user, samples *to) {
  for (size_t round = 0; round < warm_up + rounds; round++) {
    for (size_t k = 0; k < n; k++) {
      const size_t way = (k + round) % n;
      const double ns = run(user, way, round >= warm_up);
      if (ns < 0) {
        samples_refuse(&to[way]);
      } else if (round >= warm_up) {
        samples_add(&to[way], ns);
      }
    }
  }
}
