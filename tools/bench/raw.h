/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device costs without the runtime, which only opens it, by Vulkan alone: M5a, an empty
 * submit waited for; M5b, one workgroup that does nothing; and a copy from buffer to buffer, timed
 * by the device.
 */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "bench.h"

typedef struct raw_device raw_device;

/* The device of that name, with the context's loader.  NULL: it cannot be opened. */
raw_device *raw_open(const daedalus_ctx *ctx, const daedalus_device_info *info);
void raw_close(raw_device *device);

/* Adds a sample.  @return false where a call failed */
bool raw_empty_submit(raw_device *device, samples *s);
bool raw_noop_dispatch(raw_device *device, samples *s);

/*
 * Copies `bytes` in the device's memory `rounds` times, and looks whether they arrived.
 * @param[out] gpu   times that the device measured; empty where it has no timestamps
 * @param[out] wall  from submit to the fence
 * @return false where it could not be done
 */
bool raw_copy(raw_device *device, uint64_t bytes, int rounds, samples *gpu, samples *wall);

#endif
