/* SPDX-License-Identifier: BSD-2-Clause */
/* What times of a way to write a frame say of it. */
#ifndef DAEDALUS_SAND_BENCH_SPEED_H
#define DAEDALUS_SAND_BENCH_SPEED_H

#include "tune/samples.h"

/* Medians over rounds: of GB a second, of the distance from that, of the rate by a copy's. */
typedef struct speed {
  double gb_per_s, spread, of_copy;
} speed;

/* Of the times in which so many bytes were written, and those in which they were copied; both in
 * the order of rounds. */
static inline speed speed_of(double bytes, const samples *taken, const samples *copies) {
  samples rates = {0}, shares = {0};
  for (size_t n = 0; n < taken->n; n++) {
    samples_add(&rates, bytes / taken->ns[n]);
    samples_add(&shares, copies->ns[n] / taken->ns[n]);
  }
  const speed s = {samples_quantile(&rates, 0.5), samples_mad(&rates),
                   samples_quantile(&shares, 0.5)};
  samples_free(&rates);
  samples_free(&shares);
  return s;
}

#endif
