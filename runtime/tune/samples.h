/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of one measurement and their statistics. */
#ifndef DAEDALUS_TUNE_SAMPLES_H
#define DAEDALUS_TUNE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* In nanoseconds, in any order once a statistic was asked for. */
typedef struct samples {
  double *ns;
  size_t n, capacity;
  unsigned refused; /* runs whose output was wrong or that failed: their times are not here */
} samples;

/* Of the monotonic clock. */
double now_ns(void);
/* ns of CPU that the calling thread has had. */
double thread_ns(void);
void samples_add(samples *s, double ns);
/* Notes a run whose time does not count. */
void samples_refuse(samples *s);
extern unsigned samples_refused; /* of all measurements */

/* @return the quantile q of 0..1, linear between samples; 0 without any */
double samples_quantile(samples *s, double q);
double samples_mean(const samples *s);
/* Median of the distances from the median. */
double samples_mad(samples *s);

typedef struct interval {
  double low, high;
} interval;

/*
 * In which the median lies with a probability of at least 95 %, whatever the distribution: from
 * the k-th smallest sample to the k-th largest, by the binomial distribution.  Of fewer than 6
 * samples it is the whole range, which holds the median less often than that.
 */
interval samples_median_interval(samples *s);

void samples_free(samples *s);

/*
 * Runs each of `n` ways to do the same work once a round, so that what else the machine does falls
 * on all alike; the order changes from round to round.
 * @param rounds   whose times are kept, after `warm_up` others
 * @param run      told whether the round counts; @return ns that the way took; negative: it failed
 * or did it wrongly
 * @param[out] to  `n` of them: a way's times, its failed runs refused
 */
void samples_in_turns(size_t n, size_t warm_up, size_t rounds,
                      double (*run)(void *user, size_t way, bool counts), void *user, samples *to);

#endif
