/* SPDX-License-Identifier: BSD-2-Clause */
/* When the GPU had done what was submitted before, written by a job of the kernel's CPU queue. */
#ifndef DAEDALUS_DRM_TIMESTAMP_H
#define DAEDALUS_DRM_TIMESTAMP_H

#include "gpu/drm/device.h"

/** Whether the kernel's driver has that queue (Linux 6.8). */
bool daedalus_rt_drm_has_timestamps(daedalus_drm *drm);

/**
 * Writes the time, nanoseconds in a word of 64 bits, once a fence has signaled.
 * @param block   where to
 * @param offset  in it, bytes, a multiple of 8
 * @param after   syncobj of the fence; 0: at once
 * @param sync    syncobj that gets the job's fence
 * @return 0 or an error of daedalus_rt_drm_failed()
 */
int daedalus_rt_drm_timestamp(daedalus_drm *drm, const daedalus_gpu_block *block, uint32_t offset,
                              uint32_t after, uint32_t sync);

#endif /* DAEDALUS_DRM_TIMESTAMP_H */
