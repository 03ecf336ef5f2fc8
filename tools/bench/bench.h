/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the bench program have in common. */
#ifndef BENCH_H
#define BENCH_H

#include <daedalus/table.h>
#include <stdbool.h>
#include <stdint.h>

enum { MAX_BUFFERS = 16, NAME_BYTES = 128 };

_Noreturn void die(const char *what, const char *detail);
/* Ends the program without memory. */
void *allocate(size_t n);

/* -------------------------------------------------------------------------- samples */

/* Times of one measurement, in nanoseconds, and how they came about. */
typedef struct samples {
  double *ns;
  size_t n, capacity;
  unsigned refused; /* runs whose output was wrong or that failed: their times are not here */
} samples;

double now_ns(void);
void samples_add(samples *s, double ns);
/* Notes a run whose time does not count. */
void samples_refuse(samples *s);
extern unsigned samples_refused; /* of all measurements */
/* Sorts them.  @return the quantile q of 0..1, linear between samples; 0 without any */
double samples_quantile(samples *s, double q);
double samples_mean(const samples *s);
/* Median of the distances from the median. */
double samples_mad(samples *s);
void samples_free(samples *s);
/* "p50": ..., "p90": ..., "mean": ..., "mad": ..., "samples": ..., "refused": ... */
void samples_print(samples *s);

/* ----------------------------------------------------------------------------- JSON */

/* A list's comma, before every element but the first; `first` is set to true by whoever begins. */
void json_next(bool *first);
void json_string(const char *text);

/* ------------------------------------------------------------------------- the device */

/* Errors that the runtime has logged so far. */
extern unsigned logged_errors;
/* Allocations that contexts have made so far. */
extern unsigned long allocations;

#endif
