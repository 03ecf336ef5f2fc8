/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The self-test: a small batch of items, the same on every machine, that a
 * variant has to compute as the CPU does before it is trusted with any other.
 */
#ifndef DAEDALUS_GPU_SELFTEST_H
#define DAEDALUS_GPU_SELFTEST_H

#include "gpu/gpu.h"

/* What is said of a program that stayed untested: a later try may find otherwise. */
#define DAEDALUS_GPU_UNTESTED_WHY "its self-test could not be run"

/**
 * Decides about a program that is untested.  It stays so when the GPU failed
 * on the way, which has been logged; a mismatch is logged here.
 */
void daedalus_rt_gpu_selftest(daedalus_gpu *gpu, daedalus_gpu_program *program);

#endif /* DAEDALUS_GPU_SELFTEST_H */
