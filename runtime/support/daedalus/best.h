/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of a kernel's functions a build calls: NEON intrinsics before other vectors, scalar C where
 * neither is built. So DAEDALUS_NEON_OR(a, DAEDALUS_VECTORS_OR(b, c)) names one of three.
 */
#ifndef DAEDALUS_BEST_H
#define DAEDALUS_BEST_H

#if DAEDALUS_HAVE_NEON
#define DAEDALUS_NEON_OR(neon, other) neon
#else
#define DAEDALUS_NEON_OR(neon, other) other
#endif

#if DAEDALUS_HAVE_VECTORS
#define DAEDALUS_VECTORS_OR(vectors, other) vectors
#else
#define DAEDALUS_VECTORS_OR(vectors, other) other
#endif

#endif /* DAEDALUS_BEST_H */
