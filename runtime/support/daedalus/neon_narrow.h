/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/neon_narrow.h - beside daedalus/neon.h: two registers narrowed into one, which stays
 * one (there, DAEDALUS_WHOLE): halves of it are taken again.
 */
#ifndef DAEDALUS_NEON_NARROW_H
#define DAEDALUS_NEON_NARROW_H

#include <arm_neon.h>
#include <daedalus/neon.h>

/* The lower and the upper half: of vectors of the type `from`, by an operation that gives `to`. */
#define DAEDALUS_NARROW(op, from, to, lower, upper) \
  daedalus_whole_##to(v##op##_high_##from(v##op##_##from(lower), upper))

/* Likewise, by an operation that shifts. */
#define DAEDALUS_NARROW_N(op, from, to, lower, upper, n) \
  daedalus_whole_##to(v##op##_high_n_##from(v##op##_n_##from(lower, n), upper, n))

#endif /* DAEDALUS_NEON_NARROW_H */
