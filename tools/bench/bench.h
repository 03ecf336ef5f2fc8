/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the bench program have in common. */
#ifndef BENCH_H
#define BENCH_H

#include <daedalus/table.h>
#include <stdbool.h>
#include <stdint.h>

#include "tune/base.h"
#include "tune/samples.h"

/* "p50": ..., "p90": ..., "mean": ..., "mad": ..., "samples": ..., "refused": ... */
void samples_print(samples *s);

/* A list's comma, before every element but the first; `first` is set to true by whoever begins. */
void json_next(bool *first);
void json_string(const char *text);

/* Errors that the runtime has logged so far. */
extern unsigned logged_errors;
/* Allocations that contexts have made so far. */
extern unsigned long allocations;

#endif
