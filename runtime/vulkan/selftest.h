/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The self-test: a small batch of items, the same on every machine, that a
 * variant has to compute as the CPU does before it is trusted with any other.
 */
#ifndef DAEDALUS_VULKAN_SELFTEST_H
#define DAEDALUS_VULKAN_SELFTEST_H

#include "vulkan/gpu.h"

/**
 * Decides about a pipeline that is untested.  It stays so when the GPU failed
 * on the way, which has been logged; a mismatch is logged here.
 */
void daedalus_rt_vk_selftest(daedalus_gpu *gpu, daedalus_vk_pipeline *pipeline);

#endif /* DAEDALUS_VULKAN_SELFTEST_H */
