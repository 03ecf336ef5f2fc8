/* SPDX-License-Identifier: BSD-2-Clause */
/* Times, their statistics, and JSON. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

void samples_add(samples *s, double ns) {
  if (s->n == s->capacity) {
    s->capacity = s->capacity != 0 ? 2 * s->capacity : 64;
    s->ns = realloc(s->ns, s->capacity * sizeof(*s->ns));
    if (s->ns == NULL) {
      die("out of memory", "");
    }
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

double samples_quantile(samples *s, double q) {
  if (s->n == 0) {
    return 0;
  }
  qsort(s->ns, s->n, sizeof(*s->ns), ascending);
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

void samples_free(samples *s) {
  free(s->ns);
  *s = (samples){0};
}

void samples_print(samples *s) {
  printf(
      "\"p50_ns\": %.0f, \"p90_ns\": %.0f, \"mean_ns\": %.0f, \"mad_ns\": %.0f, "
      "\"samples\": %zu, \"refused\": %u",
      samples_quantile(s, 0.5), samples_quantile(s, 0.9), samples_mean(s), samples_mad(s), s->n,
      s->refused);
}

void json_next(bool *first) {
  printf(*first ? "\n  " : ",\n  ");
  *first = false;
}

void json_string(const char *text) {
  putchar('"');
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') {
      printf("\\%c", *text);
    } else if ((unsigned char)*text < 0x20) {
      printf("\\u%04x", (unsigned)*text);
    } else {
      putchar(*text);
    }
  }
  putchar('"');
}
