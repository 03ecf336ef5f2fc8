/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON on standard output. */
#include <stdio.h>

#include "bench.h"

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
